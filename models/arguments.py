"""The command lines of export.py and train.py, as far as they are the same.

Needs (Debian 12): python3-torch python3-torchvision
"""

import argparse
import os
import sys

import networks
import preprocess
import quantize
from failure import BAD_DATA, CANNOT_CREATE, NO_INPUT, USAGE, Failure, reason
from onnx_format import packages


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(USAGE, f"{message} (see --help)")


def integer(low, high):
    """A type for argparse: an integer from `low` to `high`."""

    def number(text):
        value = int(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value} is not between {low} and {high}")
        return value

    return number


def triple(text):
    values = tuple(float(part) for part in text.split(","))
    if len(values) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not three numbers R,G,B")
    return values


def positive_triple(text):
    values = triple(text)
    if min(values) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} holds a number that is not above 0")
    return values


def add_network(parser):
    parser.add_argument(
        "--arch",
        default="mobilenet_v2",
        choices=networks.ARCHES,
        metavar="ARCH",
        help=f"{', '.join(networks.ARCHES)} (default: %(default)s)",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--weights",
        metavar="FILE",
        help="state dict with torchvision's names, or TorchScript (default: torchvision's hub)",
    )
    source.add_argument("--no-weights", action="store_true", help="random: for tests and timing")
    source.add_argument(
        "--base-url", metavar="URL", help="fetch the hub's file from this folder instead"
    )
    parser.add_argument(
        "--format",
        choices=("torchscript", "onnx"),
        default="torchscript",
        help="of the file (default: %(default)s)",
    )
    parser.add_argument(
        "--activations",
        choices=(*quantize.ACTIVATIONS, quantize.FLOAT),
        default="qint8",
        help="qint8 (default); quint8: QNNPACK's kernels, with TorchScript; float32: not quantized",
    )


def add_input(parser):
    parser.add_argument("--resize", choices=preprocess.RESIZE_MODES, default="center-square")
    parser.add_argument(
        "--size", type=integer(32, 1024), metavar="N", help="input of N x N pixels"
    )
    parser.add_argument("--mean", type=triple, metavar="R,G,B", help="of pixels in 0..1")
    parser.add_argument("--std", type=positive_triple, metavar="R,G,B", help="of pixels in 0..1")


def check_format(options):
    if options.format != "onnx":
        return
    if options.activations == "quint8":
        raise Failure(USAGE, "ONNX models take --activations qint8 or float32, not quint8")
    packages.check()


def complete_network(options):
    """Fills in the defaults that depend on the architecture."""
    check_format(options)
    mean, std = networks.default_normalization(options.arch)
    options.size = options.size or networks.default_size(options.arch)
    options.mean, options.std = options.mean or mean, options.std or std


def check_output(path):
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise Failure(NO_INPUT, f"there is no folder {folder} to write to")
    if os.path.isdir(path):
        raise Failure(USAGE, f"{path} is a folder; -o takes a file")


def warn(sentence):
    print(f"{os.path.basename(sys.argv[0])}: {sentence}", file=sys.stderr)
