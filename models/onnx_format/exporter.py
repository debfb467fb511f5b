"""PyTorch's exporter, of either kind.

Needs (Debian 12): python3-torch; from torch 2.9 on also onnxscript (PyPI)
"""

import warnings

import torch

OPSET = 13  # the first one with quantization per channel


def follows_torch_export():
    """From 2.9 on PyTorch's exporter takes the graph of torch.export, before that TorchScript's."""
    return tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 9)


def write(network, inputs, path, input_name, output_names):
    """Writes an ONNX model with one input and a batch of any size. `inputs` is a batch of two or
    more: the size one would be taken for a constant."""
    names = [input_name, *output_names]
    if follows_torch_export():
        shapes = ({0: torch.export.Dim("batch")},)
        kind = {"dynamo": True, "dynamic_shapes": shapes, "external_data": False, "verbose": False}
    else:
        kind = {"opset_version": OPSET, "dynamic_axes": {name: {0: "batch"} for name in names}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            *(network, (inputs,), path),
            input_names=[input_name],
            output_names=list(output_names),
            **kind,
        )
