#!/usr/bin/python3
"""Teaches one of torchvision's classifiers your classes, and writes the model that `lookout` runs.

    /usr/bin/python3 models/train.py PICTURES -o garage.pt     a folder of pictures for each class

Needs what `deploy/install-deps.sh --models` installs: python3-torch python3-torchvision python3-pil
python3-numpy libopenblas0
"""

import copy
import io
import math
import os
import signal
import sys

# Before torch is imported: OpenMP's waiting threads would take the cores from those that read.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

try:
    import torch
    import torchvision  # noqa: F401
    from PIL import Image  # noqa: F401
except ImportError as error:
    print(
        f"train.py: {error}: run deploy/install-deps.sh --models, and use /usr/bin/python3",
        file=sys.stderr,
    )
    sys.exit(os.EX_NOINPUT)

import archive
import arguments
import classes as class_folders
import finetune
import networks
import quantize
import weights as float_weights
from failure import CANNOT_CREATE, Failure, reason
from progress import Progress

TOOL = "models/train.py"
HELD_OUT_BLOCK = 2  # the middle one
SHOWN_MISTAKES, SHOWN_CLASSES = 10, 10
INTERRUPTED = 130


def make_parser():
    parser = arguments.Parser(
        prog="train.py", description="Teach a classifier of torchvision your classes, for lookout."
    )
    parser.add_argument("pictures", metavar="PICTURES", help="a folder with one for each class")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the model")
    arguments.add_network(parser)
    arguments.add_input(parser)
    parser.add_argument(
        "--name", metavar="NAME", help="what results call the model (default: that of OUT)"
    )
    parser.add_argument(
        "--mirror", action="store_true", help="mirrored pictures are of the same class"
    )
    parser.add_argument(
        "--cross-validate",
        action="store_true",
        help="train six times: with each fifth held out in turn, and last with all pictures",
    )
    for flag, default, low, high, text in (
        ("--epochs", 12, 0, 1000, "train the last blocks so often at most; 0: the head alone"),
        ("--blocks", finetune.BLOCKS, 1, 1000, "so many blocks learn, the head is one"),
        ("--seed", 1, 0, 2**31, "the same seed and pictures make the same archive"),
        ("--threads", len(os.sched_getaffinity(0)), 1, 64, "all processors"),
    ):
        parser.add_argument(
            flag,
            type=arguments.integer(low, high),
            default=default,
            metavar="N",
            help=f"{text} (default: %(default)s)",
        )
    parser.add_argument("--float-weights", metavar="FILE", help="also keep the float state dict")
    return parser


def complete(options):
    arguments.complete_network(options)
    arguments.check_output(options.output)
    if options.float_weights:
        arguments.check_output(options.float_weights)
    options.name = options.name or os.path.splitext(os.path.basename(options.output))[0]
    return options


def warn(sentence):
    print(f"train.py: {sentence}", file=sys.stderr)


def read_classes(options, progress):
    classes = class_folders.read(options.pictures, progress)
    text = f"{len(classes.pictures)} pictures of {len(classes.labels)} classes"
    if len(classes.labels) <= SHOWN_CLASSES:
        text += ": " + ", ".join(f"{label} {count}" for label, count in classes.counts().items())
    progress.line(text)
    for sentence in classes.broken:
        warn(f"skipped: {sentence}")
    if classes.doubles:
        warn(f"files left out because they are the same as another one: {classes.doubles}")
    for label, count in classes.counts().items():
        if count < class_folders.FEW_PICTURES:
            warn(f"{label} has {count} pictures; {class_folders.FEW_PICTURES} or more are better")
    return classes


class Base:
    """The network with the weights that the training starts from."""

    def __init__(self, options):
        weights = float_weights.read(options)
        classes = float_weights.class_count(weights.state, options.arch) if weights else 2
        self.network = networks.float_model(options.arch, classes)
        self.rotated = weights is not None and float_weights.load_into(
            self.network, weights, options.arch, options.size
        )
        self.provenance = weights.provenance if weights else "random weights"
        # Not every network takes every size.
        networks.float_outputs(
            self.network, options.arch, [torch.zeros(1, 3, options.size, options.size)]
        )

    def model(self, labels):
        """A copy with a new head for the labels."""
        model = copy.deepcopy(self.network)
        finetune.replace_head(model, len(labels))
        return model.to(memory_format=torch.channels_last)


class Check:
    """What the float network and its quantized form answer for pictures that were held out."""

    def __init__(self):
        self.pictures, self.epochs = [], []
        self.rows = {"float": [], "quantized": []}

    def add(self, held_out, rows, epoch):
        self.pictures += held_out
        self.epochs.append(epoch)
        for kind, values in rows.items():
            self.rows[kind].append(values)

    def answers(self, kind):
        return torch.cat(self.rows[kind]).argmax(1)

    def right(self, kind):
        """How many are right."""
        return int((self.answers(kind) == finetune.labels_of(self.pictures)).sum())

    def percent(self, kind):
        return 100 * self.right(kind) / len(self.pictures)

    def accuracy(self, kind):
        right, count = self.right(kind), len(self.pictures)
        return {
            "right": right,
            "pictures": count,
            "percent": round(self.percent(kind), 2),
            "interval_percent": [round(end, 2) for end in interval(right, count)],
        }

    def same_percent(self):
        same = self.answers("float") == self.answers("quantized")
        return 100 * same.double().mean().item()

    def mistakes(self):
        """(picture, index of the quantized network's answer), in the order of the pictures."""
        pairs = zip(self.pictures, self.answers("quantized").tolist())
        return [(picture, answer) for picture, answer in pairs if answer != picture.label]


class Training:
    def __init__(self, options, classes, base, progress):
        self.options, self.classes, self.base, self.progress = options, classes, base, progress
        self.loader = finetune.Loader(options, base.rotated)
        self.check = Check()

    def teach(self, train, held_out, epochs):
        """(float network, the form in which it is written)"""
        model = self.base.model(self.classes.labels)
        epoch = finetune.fine_tune(
            model, self.loader, train, held_out, self.options, epochs, self.progress
        )
        self.progress.begin("quantizing", 1)
        converted = finetune.convert(model, self.loader, train, self.options, self.classes.labels)
        if held_out:
            rows = {
                "float": finetune.float_outputs(model, self.loader, held_out),
                "quantized": networks.outputs(converted, self.loader.read(held_out)),
            }
            self.check.add(held_out, rows, epoch)
        self.progress.show("")
        return model, converted

    def hold_out(self, block):
        held_out = [picture for picture in self.classes.pictures if picture.block == block]
        train = [picture for picture in self.classes.pictures if picture.block != block]
        return self.teach(train, held_out, self.options.epochs)

    def cross_validate(self):
        for block in range(class_folders.BLOCKS):
            self.progress.line(f"fifth {block + 1} of {class_folders.BLOCKS} held out")
            self.hold_out(block)
        epochs = round(sum(self.check.epochs) / len(self.check.epochs))
        self.progress.line(f"with all pictures, as many epochs as were best in the mean: {epochs}")
        return self.teach(self.classes.pictures, [], epochs)

    def run(self):
        if self.options.cross_validate:
            return self.cross_validate()
        return self.hold_out(HELD_OUT_BLOCK)

    def validation(self):
        middle = "" if self.options.cross_validate else "the middle of "
        return f"{middle}{class_folders.BLOCKS} blocks in the order of names"

    def producer_info(self):
        return {
            "tool": TOOL,
            "base": {"name": self.options.arch, "weights": self.base.provenance},
            "classes": self.classes.counts(),
            "pictures": len(self.classes.pictures),
            "pictures_sha256": self.classes.digest(),
            "validation": self.validation(),
            "accuracy": self.check.accuracy("quantized"),
            "accuracy_float": self.check.accuracy("float"),
            "epochs": self.check.epochs,
            "seed": self.options.seed,
        }


def interval(right, count):
    """The 95 % interval of a share by Wilson's score, in percent."""
    z, share = 1.96, right / count
    center = share + z * z / (2 * count)
    spread = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return [100 * (center + sign * spread) / (1 + z * z / count) for sign in (-1, 1)]


def write(training, model, converted):
    options, classes = training.options, training.classes
    archive.save_network(
        options,
        converted,
        classes.labels,
        tool=f"lookout {TOOL}",
        weights=f"{training.base.provenance}, fine-tuned by {TOOL} on "
        f"{len(classes.pictures)} pictures of {len(classes.labels)} classes",
        trained=True,
        producer_info=training.producer_info(),
    )
    if options.float_weights:
        data = io.BytesIO()
        torch.save(model.state_dict(), data)
        try:
            with archive.replacing(options.float_weights) as temporary:
                archive.write_bytes(temporary, data.getbuffer())
        except OSError as error:
            raise Failure(
                CANNOT_CREATE, f"cannot write {options.float_weights}: {reason(error)}"
            ) from error


def report_classes(labels, check):
    wrong = [picture.label for picture, _ in check.mistakes()]
    all_labels = [picture.label for picture in check.pictures]
    for i, label in enumerate(labels):
        count = all_labels.count(i)
        print(f"  {label}: {count - wrong.count(i)} of {count}")


def report_mistakes(labels, check):
    mistakes = check.mistakes()
    if mistakes:
        print("wrong (look whether they are in the right folder):")
    for picture, answer in mistakes[:SHOWN_MISTAKES]:
        print(f"  {picture.path}: {labels[answer]}")
    if len(mistakes) > SHOWN_MISTAKES:
        print(f"  and {len(mistakes) - SHOWN_MISTAKES} more")


def report(training):
    options, check, labels = training.options, training.check, training.classes.labels
    size = os.path.getsize(options.output)
    print(
        f"{options.output}: {options.arch}, {options.activations}, {len(labels)} labels, "
        f"{size} bytes"
    )
    count, right = len(check.pictures), check.right("quantized")
    low, high = interval(right, count)
    what = "cross-validated" if options.cross_validate else "held out"
    print(
        f"{what}: {right} of {count} pictures right, {check.percent('quantized'):.1f} % "
        f"(95 % interval {low:.0f} to {high:.0f} %)"
    )
    report_classes(labels, check)
    print(
        f"float against {quantize.kind(options.activations)}: {check.percent('float'):.1f} % and "
        f"{check.percent('quantized'):.1f} % right, same top-1 {check.same_percent():.1f} %"
    )
    report_mistakes(labels, check)
    lost = check.right("float") - right
    other_kernels = (options.format, options.activations) == ("torchscript", "qint8")
    if lost > 1 and 100 * lost > count:
        warn(
            f"quantization costs {lost} of {count} pictures, more than 1 %"
            + ("; try --activations quint8" if other_kernels else "")
        )


def train(options):
    progress = Progress()
    torch.set_num_threads(options.threads)
    base = Base(options)
    training = Training(options, read_classes(options, progress), base, progress)
    model, converted = training.run()
    write(training, model, converted)
    if options.format == "onnx":
        print(converted.parity)
    report(training)


def main(argv=None):
    try:
        train(complete(make_parser().parse_args(argv)))
    except Failure as failure:
        warn(failure)
        return failure.status
    except KeyboardInterrupt:
        warn("interrupted; nothing was written")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
