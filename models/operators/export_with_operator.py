#!/usr/bin/python3
"""Puts calibrated scores, and one for "unknown", behind a model that `lookout` runs.

    /usr/bin/python3 models/operators/export_with_operator.py mobilenet_v2.pt \\
        --operators build/operators/liblookout_example_torch.so --pictures PICTURES -o calibrated.pt

MODEL is an archive of models/export.py, or an ONNX model of its --format onnx. The library is for the
same engine: it has the operator lookout_example::calibrated_scores, which the result needs, too.

Needs what `deploy/install-deps.sh --models` installs; for ONNX also models/onnx_format/requirements.txt
"""

import json
import os
import sys
import zipfile

MODELS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, MODELS)

try:
    import torch
    import torchvision  # noqa: F401
except ImportError as error:
    print(f"export_with_operator.py: {error}: run deploy/install-deps.sh --models", file=sys.stderr)
    sys.exit(os.EX_NOINPUT)

import archive
import arguments
import pictures
import preprocess
from failure import BAD_DATA, CANNOT_CREATE, NO_INPUT, USAGE, Failure, reason
from onnx_format import packages

NAMESPACE, UNKNOWN, SCORES = "lookout_example", "unknown", "scores"
FAMILIAR = 0.05  # the share of --pictures that may be unknown


class WithScores(torch.nn.Module):
    def __init__(self, model, temperature: float, threshold: float):
        super().__init__()
        self.model, self.temperature, self.threshold = model, temperature, threshold

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.lookout_example.calibrated_scores(
            self.model(x), self.temperature, self.threshold
        )


class TorchModel:
    """An archive: what is in it, and how it is written with the operator behind it."""

    def __init__(self, options):
        try:
            torch.ops.load_library(os.path.abspath(options.operators))
        except OSError as error:
            raise Failure(
                BAD_DATA, f"{options.operators} is no library for this torch: {reason(error)}"
            ) from error
        if not hasattr(torch.ops.lookout_example, "calibrated_scores"):
            raise Failure(
                BAD_DATA,
                f"{options.operators} registers no {NAMESPACE}::calibrated_scores: an archive takes "
                "liblookout_example_torch.so",
            )
        self.model, self.metadata, self.labels = archive.load(options.model)
        self.class_ids = member(options.model, "class_ids.txt").splitlines()

    def __call__(self, inputs):
        return self.model(inputs)

    def write(self, options, metadata, labels, class_ids):
        network = WithScores(self.model, options.temperature, options.threshold).eval()
        archive.save(options.output, network, metadata, labels, class_ids)


class OnnxModel:
    """The same of an ONNX model."""

    def __init__(self, options):
        packages.check()
        import onnx

        from onnx_format import model

        self.model = model.Model(onnx.load(options.model))
        texts = {entry.key: entry.value for entry in self.model.proto.metadata_props}
        self.metadata = json.loads(texts["lookout.metadata"])
        self.labels = texts["lookout.labels"].splitlines()
        self.class_ids = texts.get("lookout.class_ids", "").splitlines()

    def __call__(self, inputs):
        return self.model(inputs)

    def write(self, options, metadata, labels, class_ids):
        import onnx

        from onnx_format import model

        graph, floats = self.model.proto.graph, onnx.TensorProto.FLOAT
        node = onnx.helper.make_node(
            *("CalibratedScores", [model.LOGITS], [SCORES]),
            domain=NAMESPACE,
            temperature=options.temperature,
            threshold=options.threshold,
        )
        graph.node.append(node)
        self.model.proto.opset_import.append(onnx.helper.make_opsetid(NAMESPACE, 1))
        others = [output for output in graph.output if output.name != model.LOGITS]
        scores = onnx.helper.make_tensor_value_info(SCORES, floats, ["batch", len(labels)])
        del graph.output[:]
        graph.output.extend([scores, *others])
        session_options = model.session_options()
        try:
            session_options.register_custom_ops_library(os.path.abspath(options.operators))
        except Exception as error:  # of onnxruntime's own classes, which have no base in common
            raise Failure(
                BAD_DATA,
                f"{options.operators} has no operators for ONNX Runtime, whose library is "
                f"liblookout_example_onnx.so ({reason(error)})",
            ) from error
        model.open_session(self.model.proto, session_options)
        model.save(options.output, self.model, metadata, labels, class_ids)


def member(path, name):
    """The text `name` in the archive; empty if there is none."""
    with zipfile.ZipFile(path) as members:
        inside = any(entry.endswith(f"/extra/{name}") for entry in members.namelist())
    return archive.extra(path, name) if inside else ""


def make_parser():
    parser = arguments.Parser(
        prog="export_with_operator.py",
        description='Put calibrated scores, and one for "unknown", behind a model.',
    )
    parser.add_argument("model", metavar="MODEL", help="archive (.pt) or ONNX model (.onnx)")
    parser.add_argument(
        "--operators",
        metavar="LIBRARY",
        required=True,
        help="liblookout_example_torch.so, or liblookout_example_onnx.so",
    )
    parser.add_argument(
        "--temperature", type=float, default=1.0, metavar="N", help="above 1: less sure (default: 1)"
    )
    known = parser.add_mutually_exclusive_group(required=True)
    known.add_argument(
        "--threshold", type=float, metavar="N", help="the energy below which a picture is unknown"
    )
    known.add_argument(
        "--pictures",
        metavar="DIR",
        help="pictures of the classes: the threshold that makes 5 %% of them unknown",
    )
    parser.add_argument("-o", "--output", metavar="OUT", required=True)
    return parser


def complete(options):
    for path in (options.model, options.operators):
        if not os.path.isfile(path):
            raise Failure(NO_INPUT, f"there is no file {path}")
    if not options.temperature > 0:
        raise Failure(USAGE, f"--temperature {options.temperature} is not above 0 (see --help)")
    arguments.check_output(options.output)
    return options


def read_input(path, metadata):
    """The picture in the file, as the model takes it."""
    description = metadata["input"]
    size = (description["width"], description["height"])
    pixels = preprocess.preprocess(
        pictures.read_picture(path),
        *(size, description["resize"], description["mean"], description["std"]),
    )
    return torch.from_numpy(pixels).permute(2, 0, 1)[None]


def energies(model, options):
    """Of every readable picture in the folder."""
    found = []
    for path in pictures.find_files(options.pictures, "pictures"):
        try:
            logits = model(read_input(path, model.metadata))
        except pictures.UNREADABLE as error:
            arguments.warn(f"skipped {path}, which is not a readable picture ({reason(error)})")
            continue
        scaled = logits / options.temperature
        found.append(options.temperature * torch.logsumexp(scaled, 1).item())
    if not found:
        raise Failure(BAD_DATA, f"no readable picture is in the folder {options.pictures}")
    return torch.tensor(found)


def read_model(options):
    try:
        with open(options.model, "rb") as file:
            is_archive = file.read(2) == b"PK"
        return TorchModel(options) if is_archive else OnnxModel(options)
    except (RuntimeError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise Failure(
            BAD_DATA, f"{options.model} is no model of models/export.py ({reason(error)})"
        ) from error


def export(options):
    model = read_model(options)
    if model.metadata.get("output", "logits") != "logits" or UNKNOWN in model.metadata:
        raise Failure(BAD_DATA, f"{options.model} gives no logits, or knows unknown already")
    with torch.inference_mode():
        if options.pictures:
            options.threshold = torch.quantile(energies(model, options), FAMILIAR).item()
    metadata = {**model.metadata, "output": "probabilities", UNKNOWN: len(model.labels)}
    class_ids = [*model.class_ids, UNKNOWN] if model.class_ids else None
    try:
        model.write(options, metadata, [*model.labels, UNKNOWN], class_ids)
    except archive.ArchiveError as error:
        raise Failure(
            BAD_DATA, f"{options.model} does not run with the operator ({error})"
        ) from error
    except OSError as error:
        raise Failure(CANNOT_CREATE, f"cannot write {options.output}: {reason(error)}") from error
    print(
        f"{options.output}: {len(model.labels)} labels and {UNKNOWN}, temperature "
        f"{options.temperature:g}, threshold {options.threshold:.4f}"
    )


def main(argv=None):
    try:
        export(complete(make_parser().parse_args(argv)))
    except Failure as failure:
        print(f"export_with_operator.py: {failure}", file=sys.stderr)
        return failure.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
