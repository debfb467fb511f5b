#!/usr/bin/python3
"""Writes an ONNX model that is no classifier, and what PyTorch computes with it.

    super_resolution.py OUTPUT_DIR

The network is the one of PyTorch's tutorial on ONNX, with random weights: it enlarges pictures of one
channel and 224x224 pixels to three times their size. Writes super_resolution.onnx, and for batches of
1 and 3 input_N.f32 and output_N.f32: little-endian float32.

Needs (Debian 12): python3-torch python3-numpy
"""

import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models"))
from onnx_format import exporter  # noqa: E402

SIZE, UPSCALE, SEED = 224, 3, 1
BATCHES = (1, 3)


def convolution(inputs, outputs, kernel, gain):
    layer = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2)
    nn.init.orthogonal_(layer.weight, gain)
    return layer


def make_network():
    gain = nn.init.calculate_gain("relu")
    return nn.Sequential(
        convolution(1, 64, 5, gain),
        nn.ReLU(),
        convolution(64, 64, 3, gain),
        nn.ReLU(),
        convolution(64, 32, 3, gain),
        nn.ReLU(),
        convolution(32, UPSCALE**2, 3, 1),
        nn.PixelShuffle(UPSCALE),
    ).eval()


def write_pair(folder, batch, inputs, outputs):
    for name, tensor in (("input", inputs), ("output", outputs)):
        tensor.numpy().astype("<f4").tofile(os.path.join(folder, f"{name}_{batch}.f32"))


def write(folder):
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(SEED)
    network = make_network()
    model = os.path.join(folder, "super_resolution.onnx")
    exporter.write(network, torch.randn(2, 1, SIZE, SIZE), model, "input", ["output"])
    for batch in BATCHES:
        inputs = torch.randn(batch, 1, SIZE, SIZE)
        with torch.inference_mode():
            outputs = network(inputs)
        write_pair(folder, batch, inputs, outputs)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
