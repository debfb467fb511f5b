"""Turns torchvision's networks into ONNX models, and checks that they compute the same.

Needs (Debian 12): python3-torch python3-torchvision; (PyPI): onnx onnxruntime, and onnxscript from
torch 2.9 on
"""

import copy
import os
import tempfile

import onnx
import torch
from torch import nn

import networks
import pictures
import quantize
from failure import BAD_DATA, Failure, reason
from onnx_format import exporter
from onnx_format.model import FEATURES, INPUT, LOGITS, Model
from onnx_format.quantization import quantized

RTOL, ATOL = 1e-3, 1e-5
CHECKED_PICTURES, CHECKED_BATCHES = 32, (1, 2, 16)
RANDOM_SEED = 0


class TwoOutputs(nn.Module):
    """A network that also returns what its last linear layer takes: the features."""

    def __init__(self, model, rotated):
        super().__init__()
        self.body, self.rotated = copy.deepcopy(model), rotated
        self.head = networks.exchange_head(self.body, nn.Identity())

    def forward(self, x):
        features = self.body(networks.turned(x, self.rotated))
        return self.head(features), features


def convert(model, options, batches, rotated):
    """The model.Model of a float network of torchvision.

    `options` is the command line. `batches` are pictures as the ONNX model takes them: the float form
    is checked with them, and its quantization calibrated.
    """
    network = TwoOutputs(model, rotated).eval()
    batches = list(batches)
    try:
        result = Model(to_onnx(network, options.size))
        parity = check(network, result, some_inputs(batches))
        if options.activations != quantize.FLOAT:
            result = Model(quantized(result.proto, batches))
        result.parity = parity
    except Failure:
        raise
    except Exception as error:  # the libraries have no common class of theirs
        raise Failure(
            BAD_DATA, f"{options.arch} cannot be written as an ONNX model ({reason(error)})"
        ) from error
    return result


def to_onnx(network, size):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        exporter.write(network, torch.zeros(2, 3, size, size), path, INPUT, (LOGITS, FEATURES))
        return without_origin(onnx.load(path))


def without_origin(proto):
    """Without the lines of source that torch notes: they hold paths of the machine."""
    proto.doc_string = ""
    for node in proto.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    return proto


def some_inputs(batches):
    """Enough inputs for a check: pictures first, then random numbers."""
    shape = (CHECKED_PICTURES, *batches[0].shape[1:])
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(RANDOM_SEED))
    return torch.cat([*batches[: CHECKED_PICTURES // pictures.BATCH], noise])[:CHECKED_PICTURES]


def allowed(wanted):
    """The differences that rounding explains: it grows with the largest terms of a sum."""
    return RTOL * wanted.abs() + ATOL * max(1.0, wanted.abs().max().item())


def check(network, model, inputs):
    """A sentence about how well they agree. Fails where they do not."""
    with torch.inference_mode():
        expected = network(inputs)
    largest = 0.0
    for size in CHECKED_BATCHES:
        rows = zip(*(model.outputs(batch) for batch in inputs.split(size)))
        for name, wanted, got in zip((LOGITS, FEATURES), expected, rows):
            difference = (torch.cat(got) - wanted).abs()
            largest = max(largest, difference.max().item())
            # Not the other way round: NaN is no agreement.
            if not bool((difference <= allowed(wanted)).all()):
                raise Failure(
                    BAD_DATA,
                    f"ONNX Runtime computes other {name} than PyTorch with batches of {size}: "
                    f"they differ by up to {difference.max().item():.2g}",
                )
    return (
        f"float in ONNX Runtime against PyTorch on {len(inputs)} inputs, in batches of "
        f"{', '.join(str(size) for size in CHECKED_BATCHES)}: largest difference {largest:.1e} of "
        f"values up to {max(rows.abs().max().item() for rows in expected):.1f}"
    )
