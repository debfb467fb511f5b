"""torchvision's classifiers that can be quantized: the float network and its quantizable twin.

Needs (Debian 12): python3-torch python3-torchvision
"""

import torch
import torchvision
from torch import Tensor, nn
from torchvision.models import mobilenetv3
from torchvision.models.quantization import mobilenetv3 as quantizable_mobilenetv3

import preprocess
import quantize
from failure import BAD_DATA, Failure, reason

ARCHES = (
    "mobilenet_v2",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
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
RANDOM_SEED = 0


class Logits(nn.Module):
    """GoogLeNet and Inception return a tuple once scripted, even without auxiliary heads."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        x = self.model.quant(x)
        x = self.model._forward(x)[0]
        return self.model.dequant(x)


class FloatLogits(nn.Module):
    """The same for their float forms."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model._forward(x)[0]


class Rotated(nn.Module):
    """Rotates the input by 180 degrees."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model(torch.flip(x, [2, 3]))


def default_size(arch):
    return 299 if arch == "inception_v3" else 224


def default_normalization(arch):
    """(mean, std) of the pixels, in 0..1."""
    if arch in TENSORFLOW_INPUT:
        return (0.5,) * 3, (0.5,) * 3
    return preprocess.IMAGENET_MEAN, preprocess.IMAGENET_STD


def model_arguments(arch, classes):
    arguments = {"weights": None, "num_classes": classes}
    if arch in TENSORFLOW_INPUT:
        arguments.update(aux_logits=False, transform_input=False, init_weights=False)
    return arguments


def float_model(arch, classes):
    torch.manual_seed(RANDOM_SEED)
    return torchvision.models.get_model(arch, **model_arguments(arch, classes)).eval()


def quantizable_model(arch, classes):
    if arch == "mobilenet_v3_small":
        # torchvision has the parts of a quantizable one, but no function that makes it.
        setting, last_channel = mobilenetv3._mobilenet_v3_conf(arch)
        return quantizable_mobilenetv3._mobilenet_v3_model(
            setting, last_channel, None, False, False, num_classes=classes
        )
    return getattr(torchvision.models.quantization, arch)(**model_arguments(arch, classes))


def head_name(model):
    """The name of the last linear layer."""
    return [name for name, module in model.named_modules() if isinstance(module, nn.Linear)][-1]


def head_of(model):
    return model.get_submodule(head_name(model))


def exchange_head(model, head):
    """Puts another module in the place of the last linear layer, which it returns."""
    path, _, name = head_name(model).rpartition(".")
    parent = model.get_submodule(path)
    old = getattr(parent, name)
    setattr(parent, name, head)
    return old


def turned(batch, rotated):
    """The batch as a network sees it whose archive rotates its input, or does not."""
    return batch.flip(2, 3) if rotated else batch


def converted(model, options, classes, batches, rotated, drawn=False):
    """`model` in the form in which it is written: a module, or for ONNX an onnx_format.model.Model.
    Either takes and returns a tensor.

    `options` is the command line. `batches` are pictures for the calibration as the archive takes
    them: not rotated yet; `drawn`: where photographs will come.
    """
    if options.format == "onnx":
        from onnx_format.convert import convert

        return convert(model, options, batches, rotated)
    wrapper = Logits
    if options.activations == quantize.FLOAT:
        wrapper = FloatLogits
    else:
        seen = (turned(batch, rotated) for batch in batches)
        twin = quantizable_model(options.arch, classes)
        model = quantize.quantize(model, twin, seen, options.activations, drawn)
    if options.arch in TENSORFLOW_INPUT:
        model = wrapper(model)
    return Rotated(model) if rotated else model


def outputs(model, batches):
    with torch.inference_mode():
        return torch.cat([model(batch) for batch in batches])


def float_outputs(model, arch, batches):
    try:
        return outputs(model, batches)
    except RuntimeError as error:
        height, width = batches[0].shape[2:]
        raise Failure(
            BAD_DATA, f"{arch} does not take {width}x{height}: {reason(error)}"
        ) from error


def compare(expected, model, batches):
    """(top-1 agreement in percent, mean absolute difference of the logits)"""
    got = outputs(model, batches)
    same = (got.argmax(1) == expected.argmax(1)).double().mean().item()
    return 100 * same, (got - expected).abs().mean().item()
