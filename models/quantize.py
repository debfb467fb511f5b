"""Post-training quantization of torchvision's classifiers for LibTorch's QNNPACK engine.

Two kinds of activations run under that engine: "qint8" uses XNNPACK's kernels, "quint8" the
older QNNPACK ones. The weights are the same for both.

Needs (Debian 12): python3-torch
"""

import copy
import warnings

import torch
from torch import nn
from torch.ao.nn.intrinsic import ConvReLU2d
from torch.ao.quantization import QConfig, convert, prepare
from torch.ao.quantization.observer import (
    FixedQParamsObserver,
    HistogramObserver,
    MinMaxObserver,
    PerChannelMinMaxObserver,
)

ACTIVATIONS = ("qint8", "quint8")
FLOAT = "float32"  # no quantization
# XNNPACK takes requantization scales from 2^-32 on: derived in torch/ao/quantization/qconfig.py.
EPS = 2**-12
RELU6_SCALE = 6 / 255


class Relu6Observer(FixedQParamsObserver):
    """The range 0..6 and no other, and the clamp itself while calibrating.

    torchvision's quantizable MobileNetV2 has ReLU in place of ReLU6, which no fusion knows; with
    this range the 8-bit output saturates at 6 all the same.
    """

    def forward(self, x):
        return x.clamp(0, 6)


def relu6_observer(dtype):
    low = torch.iinfo(dtype).min
    return Relu6Observer.with_args(
        scale=RELU6_SCALE, zero_point=low, dtype=dtype, quant_min=low, quant_max=low + 255
    )


class LogitsOfDrawings(MinMaxObserver):
    """The range of the logits, measured on drawn pictures, which excite a network half as much as
    photographs: MobileNetV2's largest logit was 12.7 on drawings, 25.2 on 300 photographs. Without the
    factor, several classes of most photographs have the largest number that there is."""

    FACTOR = 2

    def calculate_qparams(self):
        return self._calculate_qparams(self.min_val * self.FACTOR, self.max_val * self.FACTOR)


def activation_observer(dtype):
    return HistogramObserver.with_args(dtype=dtype, reduce_range=False, eps=EPS)


def weight_observer(observer, scheme):
    # Symmetric and without -128: what XNNPACK asks for.
    return observer.with_args(
        dtype=torch.qint8, qscheme=scheme, quant_min=-127, quant_max=127, eps=EPS
    )


def set_qconfigs(model, activations, relu6, drawn):
    """Convolutions per channel; linear layers per tensor, because XNNPACK's refuses the other."""
    dtype = getattr(torch, activations)
    per_channel = weight_observer(PerChannelMinMaxObserver, torch.per_channel_symmetric)
    per_tensor = weight_observer(MinMaxObserver, torch.per_tensor_symmetric)
    model.qconfig = QConfig(activation=activation_observer(dtype), weight=per_channel)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.qconfig = QConfig(activation=activation_observer(dtype), weight=per_tensor)
        elif relu6 and isinstance(module, ConvReLU2d):
            module.qconfig = QConfig(activation=relu6_observer(dtype), weight=per_channel)
    if drawn:
        head = [module for module in model.modules() if isinstance(module, nn.Linear)][-1]
        logits = LogitsOfDrawings.with_args(dtype=dtype, reduce_range=False, eps=EPS)
        head.qconfig = QConfig(activation=logits, weight=per_tensor)


def quantize(float_model, quantizable_model, batches, activations, drawn=False):
    """The quantized form of `float_model`.

    `quantizable_model` is its quantizable twin of torchvision, `batches` an iterable of
    calibration inputs, which may be `drawn` where photographs will come. Sets the quantized engine: weights are packed for it.
    """
    torch.backends.quantized.engine = "qnnpack"
    model = copy.deepcopy(quantizable_model).eval()
    model.load_state_dict(float_model.state_dict())
    model.fuse_model()
    relu6 = any(isinstance(m, nn.ReLU6) for m in float_model.modules())
    set_qconfigs(model, activations, relu6, drawn)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of observers that a layer without input has
        prepare(model, inplace=True)
        for batch in batches:
            model(batch)
        return convert(model, inplace=True)


def kind(activations):
    """What reports call the form of a network that is written."""
    return "written" if activations == FLOAT else "quantized"


def description(activations):
    """The text of metadata.json's "quantization"."""
    if activations == FLOAT:
        return "none"
    kernels = {"qint8": "XNNPACK", "quint8": "QNNPACK"}[activations]
    return (
        f"{activations} ({kernels} kernels) activations, qint8 weights (convolutions per channel, "
        "classifier per tensor); post-training, qengine qnnpack"
    )
