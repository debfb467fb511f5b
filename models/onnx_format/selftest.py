#!/usr/bin/python3
"""Makes the self-test model for ONNX Runtime, selftest.onnx, of the weights in selftest.pt.

    python models/onnx_format/selftest.py    with the Python of models/export.py --format onnx

Needs (Debian 12): python3-torch python3-torchvision python3-pil python3-numpy; (PyPI): see
requirements.txt
"""

import argparse
import os
import sys
import types

import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(os.path.dirname(HERE), "selftest.pt")
sys.path.insert(0, os.path.dirname(HERE))
import archive  # noqa: E402
import augment  # noqa: E402
import patterns  # noqa: E402
import quantize  # noqa: E402
import train_selftest  # noqa: E402
from onnx_format import model as onnx_model  # noqa: E402
from onnx_format.convert import convert  # noqa: E402
from onnx_format.quantization import description  # noqa: E402


def unpacked(module):
    """(weight, bias) of a quantized layer; nothing of another module."""
    packed = getattr(module, "_packed_params", None)
    if isinstance(packed, torch.nn.Module):  # of a linear layer, which has a module for them
        return torch.ops.quantized.linear_unpack(packed._packed_params)
    return torch.ops.quantized.conv2d_unpack(packed) if packed is not None else None


def float_model(quantized):
    """The network with the quantized weights as numbers; batch normalisation is part of them."""
    model = train_selftest.float_model()
    for name, layer in quantized.named_modules():
        values = None if name.endswith("_packed_params") else unpacked(layer)
        if values is None:
            continue
        weight, bias = values
        own = model.get_submodule(name)
        own.weight, own.bias = nn.Parameter(weight.dequantize()), nn.Parameter(bias)
    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, nn.BatchNorm2d):
                setattr(module, name, nn.Identity())
    return model.eval()


def metadata():
    made = train_selftest.metadata()
    made["quantization"] = description(quantize.ACTIVATIONS[0])
    made["weights"] = f"of selftest.pt, sha256 {archive.sha256(SOURCE)}"
    return made


def right_answers(model):
    counts = train_selftest.confusion(
        model, augment.Patterns(train_selftest.HELD_OUT_SEED, train_selftest.HELD_OUT_PICTURES)
    )
    return train_selftest.accuracy(counts)


def main():
    parser = argparse.ArgumentParser(description="Make the self-test model for ONNX Runtime.")
    parser.add_argument("-o", "--output", default=os.path.join(HERE, "selftest.onnx"))
    output = parser.parse_args().output
    quantized, _, _ = archive.load(SOURCE)
    options = types.SimpleNamespace(
        arch="the self-test model", size=train_selftest.SIDE, activations=quantize.ACTIVATIONS[0]
    )
    calibration = augment.Patterns(
        train_selftest.CALIBRATION_SEED, train_selftest.CALIBRATION_PICTURES
    )
    batches = [batch for batch, _ in train_selftest.batches_of(calibration)]
    made = convert(float_model(quantized), options, batches, rotated=False)
    onnx_model.save(output, made, metadata(), patterns.LABELS)
    print(made.parity)
    written = onnx_model.load(output)
    (right, frames, lowest) = train_selftest.check_patterns((written,))[0]
    accuracy = right_answers(written)
    print(f"{output}: {accuracy:.2f} % of the held-out pictures right; of the patterns as test:// "
          f"draws them {right} of {frames}, with a probability of at least {lowest:.3f}")  # fmt: skip
    return 0 if accuracy >= 99 and right == frames else 1


if __name__ == "__main__":
    sys.exit(main())
