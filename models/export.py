#!/usr/bin/python3
"""Quantizes one of torchvision's classifiers and writes the archive that `lookout` runs.

    /usr/bin/python3 models/export.py                          MobileNetV2, as mobilenet_v2.pt
    /usr/bin/python3 models/export.py --calibration PICTURES   the same, tuned to your pictures

Needs what `deploy/install-deps.sh --models` installs: python3-torch python3-torchvision python3-pil
python3-numpy libopenblas0
"""

import argparse
import os
import sys

try:
    import torch
    import torchvision
    from PIL import Image, ImageOps
    from torch import Tensor, nn
except ImportError as error:
    print(
        f"export.py: {error}: run deploy/install-deps.sh --models, and use /usr/bin/python3",
        file=sys.stderr,
    )
    sys.exit(os.EX_NOINPUT)

import archive
import augment
import preprocess
import quantize
import weights as float_weights
from failure import BAD_DATA, CANNOT_CREATE, NO_INPUT, USAGE, Failure, reason

ARCHES = (
    "mobilenet_v2",
    "mobilenet_v3_large",
    "resnet18",
    "resnet50",
    "resnext101_32x8d",
    "resnext101_64x4d",
    "googlenet",
    "inception_v3",
    "shufflenet_v2_x0_5",
    "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0",
)
# These were trained on pixels scaled to -1..1. torchvision gets there from ImageNet's
# normalisation, by `transform_input`; here the archive simply asks for it.
TENSORFLOW_INPUT = ("googlenet", "inception_v3")
MAX_CALIBRATION = 500
DRAWN_CALIBRATION, DRAWN_SEED = 48, 4
BATCH = 16
ENOUGH_AGREEMENT = 90  # percent


class Logits(nn.Module):
    """GoogLeNet and Inception return a tuple once scripted, even without auxiliary heads."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        x = self.model.quant(x)
        x = self.model._forward(x)[0]
        return self.model.dequant(x)


class Rotated(nn.Module):
    """Rotates the input by 180 degrees."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model(torch.flip(x, [2, 3]))


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(USAGE, f"{message} (see --help)")


def size_argument(text):
    size = int(text)
    if not 32 <= size <= 1024:
        raise argparse.ArgumentTypeError(f"{size} is not between 32 and 1024")
    return size


def triple(text):
    values = tuple(float(part) for part in text.split(","))
    if len(values) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not three numbers R,G,B")
    return values


def positive_triple(text):
    values = triple(text)
    if min(values) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} holds a number that is not above 0")
    return values


def make_parser():
    parser = Parser(
        prog="export.py", description="Quantize a classifier of torchvision for lookout."
    )
    parser.add_argument(
        "--arch",
        default="mobilenet_v2",
        choices=ARCHES,
        metavar="ARCH",
        help=f"{', '.join(ARCHES)} (default: %(default)s)",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--weights",
        metavar="FILE",
        help="state dict with torchvision's names, or TorchScript (default: torchvision's hub)",
    )
    source.add_argument("--no-weights", action="store_true", help="random: for tests and timing")
    source.add_argument(
        "--base-url", metavar="URL", help="fetch the hub's file from this folder instead"
    )
    parser.add_argument(
        "--activations",
        choices=quantize.ACTIVATIONS,
        default="qint8",
        help="qint8 (default): XNNPACK's kernels; quint8: QNNPACK's",
    )
    parser.add_argument(
        "--calibration",
        metavar="DIR",
        help="pictures like those the camera will see (default: drawn ones)",
    )
    for flag, content in (
        ("--labels", "one label a line, in the order of the outputs"),
        ("--class-ids", "one identifier a line (default: WordNet's, of ImageNet's classes)"),
    ):
        parser.add_argument(flag, metavar="FILE", help=content)
    parser.add_argument("--resize", choices=preprocess.RESIZE_MODES, default="center-square")
    parser.add_argument("--size", type=size_argument, metavar="N", help="input of N x N pixels")
    parser.add_argument("--mean", type=triple, metavar="R,G,B", help="of pixels in 0..1")
    parser.add_argument("--std", type=positive_triple, metavar="R,G,B", help="of pixels in 0..1")
    parser.add_argument(
        "--name", metavar="NAME", help="what results call the model (default: ARCH)"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT.pt", help="default: ARCH.pt, unless there is one"
    )
    return parser


def complete(options):
    """Fills in the defaults that depend on the architecture."""
    tensorflow = options.arch in TENSORFLOW_INPUT
    options.size = options.size or (299 if options.arch == "inception_v3" else 224)
    options.mean = options.mean or ((0.5,) * 3 if tensorflow else preprocess.IMAGENET_MEAN)
    options.std = options.std or ((0.5,) * 3 if tensorflow else preprocess.IMAGENET_STD)
    options.name = options.name or options.arch
    if not options.output:
        options.output = f"{options.arch}.pt"
        if os.path.exists(options.output):
            raise Failure(
                CANNOT_CREATE, f"{options.output} is there already; -o FILE names another, or it"
            )
    folder = os.path.dirname(os.path.abspath(options.output))
    if not os.path.isdir(folder):
        raise Failure(NO_INPUT, f"there is no folder {folder} to write to")
    if os.path.isdir(options.output):
        raise Failure(USAGE, f"{options.output} is a folder; -o takes a file")
    return options


def read_labels(path):
    try:
        with open(path, encoding="utf-8") as file:
            labels = file.read().splitlines()
    except UnicodeDecodeError as error:
        raise Failure(BAD_DATA, f"the labels file {path} is not UTF-8 text") from error
    except OSError as error:
        raise Failure(NO_INPUT, f"cannot read the labels file {path}: {reason(error)}") from error
    if not labels or not all(label.strip() for label in labels):
        raise Failure(BAD_DATA, f"the labels file {path} is empty or has an empty line")
    return labels


def model_arguments(arch, classes):
    arguments = {"weights": None, "num_classes": classes}
    if arch in TENSORFLOW_INPUT:
        arguments.update(aux_logits=False, transform_input=False, init_weights=False)
    return arguments


def float_model(arch, classes):
    torch.manual_seed(float_weights.RANDOM_SEED)
    return torchvision.models.get_model(arch, **model_arguments(arch, classes)).eval()


def quantizable_model(arch, classes):
    return getattr(torchvision.models.quantization, arch)(**model_arguments(arch, classes))


def read_weights(options):
    """Weights, or None for random ones."""
    if options.no_weights:
        return None
    if options.weights:
        return float_weights.from_file(options.weights)
    return float_weights.from_hub(options.arch, options.base_url)


def choose_labels(options, weights, given):
    """As many labels as the weights have classes; `given` are those of --labels, or None."""
    if weights is None:
        return given or float_weights.categories(options.arch)
    classes = float_weights.class_count(weights.state, options.arch)
    # Weights of 1000 classes without a list of their own are taken for ImageNet's.
    labels = given or weights.labels or float_weights.categories(options.arch)
    if len(labels) != classes:
        where = options.labels or "the list of ImageNet's labels"
        raise Failure(
            BAD_DATA,
            f"the weights have {classes} classes but {where} has {len(labels)} labels"
            + ("" if given else "; give the right ones with --labels FILE"),
        )
    return labels


def choose_class_ids(options, labels):
    """The classes' identifiers, or None; of ImageNet's classes those of WordNet."""
    given = read_labels(options.class_ids) if options.class_ids else None
    if given and len(given) != len(labels):
        counts = f"{len(given)} lines, but there are {len(labels)} labels"
        raise Failure(BAD_DATA, f"{options.class_ids} has {counts}")
    return given or float_weights.class_ids(options.arch, labels)


def warn(sentence):
    print(f"export.py: {sentence}", file=sys.stderr)


def find_files(directory):
    if not os.path.isdir(directory):
        raise Failure(NO_INPUT, f"there is no calibration folder {directory}")
    files = sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(directory)
        for name in names
        if not name.startswith(".")
    )
    step = max(1, -(-len(files) // MAX_CALIBRATION))
    if step > 1:
        warn(f"of {len(files)} calibration files every {step}th is used")
    return files[::step]


def read_picture(path):
    """An RGB picture, turned upright by its EXIF data as `lookout` turns it."""
    with Image.open(path) as picture:
        return ImageOps.exif_transpose(picture).convert("RGB")


def as_input(picture, options):
    pixels = preprocess.preprocess(
        picture, (options.size, options.size), options.resize, options.mean, options.std
    )
    return torch.from_numpy(pixels).permute(2, 0, 1)


def read_calibration(options):
    inputs = []
    for path in find_files(options.calibration):
        try:
            inputs.append(as_input(read_picture(path), options))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            warn(f"skipped {path}, which is not a readable picture ({reason(error)})")
    if not inputs:
        raise Failure(
            BAD_DATA, f"no readable picture is in the calibration folder {options.calibration}"
        )
    return inputs


def draw_calibration(options):
    print(
        "no --calibration DIR: the ranges of the activations are measured on drawn pictures",
        file=sys.stderr,
    )
    pictures = (augment.sample(DRAWN_SEED, i, options.size)[0] for i in range(DRAWN_CALIBRATION))
    return [augment.to_tensor(pixels, options.mean, options.std) for pixels in pictures]


def calibration_batches(options):
    inputs = read_calibration(options) if options.calibration else draw_calibration(options)
    return [torch.stack(inputs[i : i + BATCH]) for i in range(0, len(inputs), BATCH)]


def run_float(model, batches, options):
    try:
        with torch.inference_mode():
            return torch.cat([model(batch) for batch in batches])
    except RuntimeError as error:
        raise Failure(
            BAD_DATA, f"{options.arch} does not take {options.size}x{options.size}: {reason(error)}"
        ) from error


def compare(expected, model, batches):
    """(top-1 agreement in percent, mean absolute difference of the logits)"""
    with torch.inference_mode():
        outputs = torch.cat([model(batch) for batch in batches])
    same = (outputs.argmax(1) == expected.argmax(1)).double().mean().item()
    return 100 * same, (outputs - expected).abs().mean().item()


def adapt(quantized, options, rotated):
    """The quantized model as something that takes and returns a tensor."""
    if options.arch in TENSORFLOW_INPUT:
        quantized = Logits(quantized)
    return Rotated(quantized) if rotated else quantized


def write_archive(quantized, options, weights, labels, class_ids):
    metadata = archive.make_metadata(
        name=options.name,
        size=(options.size, options.size),
        quantization=quantize.description(options.activations),
        tool="lookout models/export.py",
        weights=weights.provenance if weights else "none",
        trained=weights is not None,
        resize=options.resize,
        mean=options.mean,
        std=options.std,
    )
    try:
        archive.save(options.output, quantized, metadata, labels, class_ids)
    except archive.ArchiveError as error:
        advice = "; try --activations quint8" if options.activations == "qint8" else ""
        raise Failure(
            BAD_DATA,
            f"{options.arch} does not run with {options.activations} activations ({error}){advice}",
        ) from error
    except OSError as error:
        raise Failure(CANNOT_CREATE, f"cannot write {options.output}: {reason(error)}") from error


def report(options, labels, trained, pictures, agreement, difference):
    size = os.path.getsize(options.output)
    print(
        f"{options.output}: {options.arch}, {options.activations}, {len(labels)} labels, "
        f"{size} bytes"
    )
    print(
        f"float against quantized on {pictures} calibration pictures: "
        f"same top-1 {agreement:.1f} %, mean absolute difference of the logits {difference:.4f}"
    )
    if trained and agreement < ENOUGH_AGREEMENT:
        warn(
            f"the quantized model's top-1 equals the float model's on only {agreement:.1f} % of "
            "the calibration pictures: do not trust it without a check on pictures of your own"
        )


def export(options):
    given = read_labels(options.labels) if options.labels else None
    weights = read_weights(options)
    labels = choose_labels(options, weights, given)
    class_ids = choose_class_ids(options, labels)
    model = float_model(options.arch, len(labels))
    rotated = False
    if weights:
        float_weights.load_into(model, weights, options.arch)
        rotated = bool(weights.scripted) and float_weights.is_rotated(model, weights, options.size)
    batches = calibration_batches(options)
    # A rotating model sees the pictures rotated, and so must whoever calibrates or compares.
    seen = [batch.flip(2, 3) for batch in batches] if rotated else batches
    expected = run_float(model, seen, options)
    twin = quantizable_model(options.arch, len(labels))
    quantized = quantize.quantize(model, twin, seen, options.activations)
    write_archive(adapt(quantized, options, rotated), options, weights, labels, class_ids)
    loaded, _, _ = archive.load(options.output)
    agreement, difference = compare(expected, loaded, batches)
    report(options, labels, weights is not None, len(expected), agreement, difference)


def main(arguments=None):
    try:
        export(complete(make_parser().parse_args(arguments)))
    except Failure as failure:
        warn(failure)
        return failure.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
