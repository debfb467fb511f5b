#!/usr/bin/python3
"""Quantizes one of torchvision's classifiers and writes the model that `lookout` runs.

    /usr/bin/python3 models/export.py                          MobileNetV2, as mobilenet_v2.pt
    /usr/bin/python3 models/export.py --calibration PICTURES   the same, tuned to your pictures

Needs what `deploy/install-deps.sh --models` installs: python3-torch python3-torchvision python3-pil
python3-numpy libopenblas0
"""

import os
import sys

try:
    import torch
    import torchvision  # noqa: F401
    from PIL import Image  # noqa: F401
except ImportError as error:
    print(
        f"export.py: {error}: run deploy/install-deps.sh --models, and use /usr/bin/python3",
        file=sys.stderr,
    )
    sys.exit(os.EX_NOINPUT)

import archive
import arguments
import augment
import networks
import pictures
import quantize
import weights as float_weights
from failure import BAD_DATA, CANNOT_CREATE, NO_INPUT, Failure, reason

MAX_CALIBRATION = 500
DRAWN_CALIBRATION, DRAWN_SEED = 48, 4
ENOUGH_AGREEMENT = 90  # percent


def make_parser():
    parser = arguments.Parser(
        prog="export.py", description="Quantize a classifier of torchvision for lookout."
    )
    arguments.add_network(parser)
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
    arguments.add_input(parser)
    parser.add_argument(
        "--name", metavar="NAME", help="what results call the model (default: ARCH)"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="default: ARCH.pt or ARCH.onnx, unless there is one"
    )
    return parser


def complete(options):
    """Fills in the defaults that depend on the architecture."""
    arguments.complete_network(options)
    options.name = options.name or options.arch
    if not options.output:
        options.output = options.arch + {"torchscript": ".pt", "onnx": ".onnx"}[options.format]
        if os.path.exists(options.output):
            raise Failure(
                CANNOT_CREATE, f"{options.output} is there already; -o FILE names another, or it"
            )
    arguments.check_output(options.output)
    return options


def read_labels(path):
    try:
        with open(path, encoding="utf-8-sig") as file:
            labels = [line.strip() for line in file.read().rstrip().splitlines()]
    except UnicodeDecodeError as error:
        raise Failure(BAD_DATA, f"the labels file {path} is not UTF-8 text") from error
    except OSError as error:
        raise Failure(NO_INPUT, f"cannot read the labels file {path}: {reason(error)}") from error
    if not labels or not all(labels):
        raise Failure(BAD_DATA, f"the labels file {path} is empty or has an empty line")
    return labels


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
    files = pictures.find_files(directory, "calibration")
    step = max(1, -(-len(files) // MAX_CALIBRATION))
    if step > 1:
        warn(f"of {len(files)} calibration files every {step}th is used")
    return files[::step]


def read_calibration(options):
    inputs = []
    for path in find_files(options.calibration):
        try:
            inputs.append(pictures.as_input(pictures.read_picture(path), options))
        except pictures.UNREADABLE as error:
            warn(f"skipped {path}, which is not a readable picture ({reason(error)})")
    if not inputs:
        raise Failure(
            BAD_DATA, f"no readable picture is in the calibration folder {options.calibration}"
        )
    return inputs


def draw_calibration(options):
    if options.activations != quantize.FLOAT:
        print(
            "no --calibration DIR: the ranges of the activations are measured on drawn pictures",
            file=sys.stderr,
        )
    drawn = (augment.sample(DRAWN_SEED, i, options.size)[0] for i in range(DRAWN_CALIBRATION))
    return [augment.to_tensor(pixels, options.mean, options.std) for pixels in drawn]


def calibration_batches(options):
    inputs = read_calibration(options) if options.calibration else draw_calibration(options)
    return pictures.batches_of(inputs)


def report(options, labels, trained, count, agreement, difference):
    size = os.path.getsize(options.output)
    kind = quantize.kind(options.activations)
    print(
        f"{options.output}: {options.arch}, {options.activations}, {len(labels)} labels, "
        f"{size} bytes"
    )
    if not options.calibration and options.activations != quantize.FLOAT:
        print(
            f"float against {kind}: not measured, since there are no pictures; "
            "--calibration DIR with a hundred like those of the camera measures it"
        )
        return
    print(
        f"float against {kind} on {count} calibration pictures: "
        f"same top-1 {agreement:.1f} %, mean absolute difference of the logits {difference:.4f}"
    )
    if trained and agreement < ENOUGH_AGREEMENT:
        warn(
            f"the {kind} model's top-1 equals the float model's on only {agreement:.1f} % of "
            "the calibration pictures: do not trust it without a check on pictures of your own"
        )


def export(options):
    given = read_labels(options.labels) if options.labels else None
    weights = float_weights.read(options)
    labels = choose_labels(options, weights, given)
    class_ids = choose_class_ids(options, labels)
    model = networks.float_model(options.arch, len(labels))
    rotated = weights is not None and float_weights.load_into(
        model, weights, options.arch, options.size
    )
    batches = calibration_batches(options)
    seen = [networks.turned(batch, rotated) for batch in batches]
    expected = networks.float_outputs(model, options.arch, seen)
    drawn = not options.calibration
    converted = networks.converted(model, options, len(labels), batches, rotated, drawn)
    archive.save_network(
        options,
        converted,
        labels,
        tool="lookout models/export.py",
        weights=weights.provenance if weights else "none",
        trained=weights is not None,
        class_ids=class_ids,
    )
    written = archive.load_network(options)
    agreement, difference = networks.compare(expected, written, batches)
    if options.format == "onnx":
        print(converted.parity)
    report(options, labels, weights is not None, len(expected), agreement, difference)


def main(argv=None):
    try:
        export(complete(make_parser().parse_args(argv)))
    except Failure as failure:
        warn(failure)
        return failure.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
