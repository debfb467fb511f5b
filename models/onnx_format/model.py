"""An ONNX model in memory, which runs; and its file, with what belongs to it.

Needs (PyPI): onnx onnxruntime
"""

import os
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch

import archive

INPUT, LOGITS, FEATURES = "input", "logits", "features"
ERRORS_ONLY = 3


class Model:
    """Takes and returns a tensor, like the PyTorch module that it was made of."""

    def __init__(self, proto):
        onnx.checker.check_model(proto, full_check=True)
        self.proto = proto
        self.parity = None  # a sentence about the float form and PyTorch, where they were compared
        self.session = open_session(proto)

    def outputs(self, inputs):
        """(logits, features)"""
        values = self.session.run([LOGITS, FEATURES], {INPUT: inputs.numpy()})
        return tuple(torch.from_numpy(np.asarray(value)) for value in values)

    def __call__(self, inputs):
        return self.outputs(inputs)[0]


def session_options():
    """Those of `lookout`. Every session has them: what it computes depends on them."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Sums of 8-bit products saturate without it on x86 processors that have no VNNI.
    options.add_session_config_entry("session.x64quantprecision", "1")
    return options


def open_session(proto, options=None):
    """`options`: made by session_options()."""
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options or session_options(), providers=["CPUExecutionProvider"]
    )


def simplified(proto):
    """The same model with batch norms and other constants folded into the layers."""
    options = session_options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    with tempfile.TemporaryDirectory() as folder:
        path = options.optimized_model_filepath = os.path.join(folder, "simplified.onnx")
        open_session(proto, options)
        return without_unused_domains(onnx.load(path))


def without_unused_domains(proto):
    """ONNX Runtime names all domains that it knows."""
    used = {node.domain for node in proto.graph.node}
    kept = [opset for opset in proto.opset_import if opset.domain in used]
    del proto.opset_import[:]
    proto.opset_import.extend(kept)
    return proto


def save(path, model, metadata, labels, class_ids=None, producer_info=None):
    """Writes the file, complete or not at all. What a TorchScript archive holds as files are here
    properties: metadata.json is `lookout.metadata`."""
    versions = {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__}
    metadata = {**metadata, "producer": {**metadata["producer"], **versions}}
    files = archive.extra_files(metadata, labels, class_ids, producer_info)
    names = {f"lookout.{name.rpartition('.')[0]}": text for name, text in files.items()}
    onnx.helper.set_model_props(model.proto, names)
    with archive.replacing(path) as temporary:
        archive.write_bytes(temporary, model.proto.SerializeToString(deterministic=True))


def load(path):
    return Model(onnx.load(path))
