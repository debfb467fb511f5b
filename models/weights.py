"""Float weights for torchvision's classifiers: from torchvision's hub, from a file, or random.

Needs (Debian 12): python3-torch python3-torchvision
"""

import http.client
import os
import pickle
import re
import socket
import sys
import zipfile

import torch
import torchvision
from torch import nn

import archive
from failure import BAD_DATA, NO_INPUT, Failure, reason

TIMEOUT_SECONDS = 60
# Auxiliary heads serve the training of GoogLeNet and Inception only.
AUXILIARY = ("aux1.", "aux2.", "AuxLogits.")
RANDOM_SEED = 0


class Weights:
    """A state dict with what belongs to it."""

    def __init__(self, state, provenance, labels=None, scripted=None):
        self.state = {k: v for k, v in state.items() if not k.startswith(AUXILIARY)}
        self.provenance = provenance  # text for metadata.json
        self.labels = labels  # or None
        self.scripted = scripted  # the TorchScript model that the state came from, or None


def published(arch):
    """torchvision's first published weights: the later ones are trained for other picture sizes and
    with smoothed labels, which makes every score small."""
    return torchvision.models.get_model_weights(arch).IMAGENET1K_V1


def published_url(arch):
    return published(arch).url


def categories(arch):
    return list(published(arch).meta["categories"])


def class_ids(arch, labels):
    """WordNet's numbers of ImageNet's classes, or None for other labels."""
    if labels != categories(arch):
        return None
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "imagenet_class_ids.txt")
    with open(path, encoding="ascii") as file:
        return file.read().split()


def hash_prefix(url):
    """The start of the sha256 that torch.hub's file names carry."""
    match = re.search(r"-([0-9a-f]{8,})\.[^.]*$", url)
    return match.group(1) if match else None


def fetch(url, path, prefix):
    """Downloads to `path`, checked against `prefix`."""
    socket.setdefaulttimeout(TIMEOUT_SECONDS)
    progress = sys.stderr.isatty()
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        torch.hub.download_url_to_file(url, path, hash_prefix=prefix, progress=progress)
    except RuntimeError as error:  # torch.hub's word for a wrong hash
        raise Failure(
            BAD_DATA, f"{url} is not the published file (its sha256 does not start with {prefix})"
        ) from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Failure(
            NO_INPUT,
            f"cannot fetch {url} ({reason(error)}); give the weights with --weights FILE",
        ) from error


def from_hub(arch, base_url=None):
    """The published weights, kept in torch.hub's cache (TORCH_HOME)."""
    url = published_url(arch)
    name = os.path.basename(url)
    path = os.path.join(torch.hub.get_dir(), "checkpoints", name)
    prefix = hash_prefix(url)
    if not os.path.exists(path):
        fetch(f"{base_url.rstrip('/')}/{name}" if base_url else url, path, prefix)
    digest = archive.sha256(path)
    if prefix and not digest.startswith(prefix):
        raise Failure(BAD_DATA, f"{path} is not the published file; delete it to fetch it again")
    state = read_state_dict(path)
    return Weights(state, f"{url} sha256 {digest}", labels=categories(arch))


def is_torchscript(path):
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as file:
        return any(name.endswith("/constants.pkl") for name in file.namelist())


def read_state_dict(path):
    """The state dict in `path`, also as torchvision's training scripts save it, inside "model"."""
    try:
        # weights_only: a pickle may otherwise run anything.
        state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise Failure(
            BAD_DATA,
            f"{path} holds more than names and tensors, perhaps a whole model; save its weights alone, "
            "with torch.save(model.state_dict(), FILE)",
        ) from error
    except (RuntimeError, EOFError, KeyError, ValueError) as error:
        raise Failure(
            BAD_DATA, f"{path} is not a state dict that torch.save wrote ({reason(error)})"
        ) from error
    for key in ("model", "state_dict"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict) or not all(isinstance(v, torch.Tensor) for v in state.values()):
        raise Failure(BAD_DATA, f"{path} holds no state dict (names and tensors)")
    return {key.removeprefix("module."): value for key, value in state.items()}


def read_torchscript(path):
    """(scripted model, labels or None)"""
    extra = {"labels.txt": ""}
    try:
        model = torch.jit.load(path, map_location="cpu", _extra_files=extra).eval()
    except RuntimeError as error:
        raise Failure(
            BAD_DATA, f"{path} is a damaged TorchScript archive ({reason(error)})"
        ) from error
    if "quantized::" in str(model.inlined_graph):
        raise Failure(
            BAD_DATA,
            f"{path} is a quantized archive, which has no float weights; --weights takes what it was "
            "made from: a state dict or a float TorchScript archive",
        )
    text = extra["labels.txt"]
    return model, (text.decode() if isinstance(text, bytes) else text).splitlines() or None


def from_file(path):
    if not os.path.isfile(path):
        raise Failure(NO_INPUT, f"there is no weights file {path}")
    try:
        provenance = f"{os.path.basename(path)} sha256 {archive.sha256(path)}"
    except OSError as error:
        raise Failure(NO_INPUT, f"cannot read {path}: {reason(error)}") from error
    if not is_torchscript(path):
        return Weights(read_state_dict(path), provenance)
    model, labels = read_torchscript(path)
    return Weights(model.state_dict(), provenance, labels, scripted=model)


def read(options):
    """The weights that the command line asks for, or None for random ones."""
    if options.no_weights:
        return None
    if options.weights:
        return from_file(options.weights)
    return from_hub(options.arch, options.base_url)


def norm_after_each_convolution(model):
    """Pairs of names: torchvision registers each batch norm right behind its convolution."""
    convolution = None
    for name, module in model.named_modules():
        if isinstance(module, nn.Conv2d):
            convolution = name
        elif isinstance(module, nn.BatchNorm2d) and convolution:
            yield convolution, name, module.eps
            convolution = None


def unfold(model, state):
    """Gives weights whose batch norms are folded into the convolutions neutral batch norms."""
    result = dict(state)
    for convolution, norm, eps in norm_after_each_convolution(model):
        bias = result.get(f"{convolution}.bias")
        if bias is None or f"{norm}.weight" in result:
            continue
        del result[f"{convolution}.bias"]
        result[f"{norm}.weight"] = torch.ones_like(bias)
        result[f"{norm}.bias"] = bias
        result[f"{norm}.running_mean"] = torch.zeros_like(bias)
        result[f"{norm}.running_var"] = torch.full_like(bias, 1 - eps)
        result[f"{norm}.num_batches_tracked"] = torch.tensor(0)
    return result


def class_count(state, arch):
    """The outputs of the last linear layer."""
    rows = [v.shape[0] for k, v in state.items() if k.endswith(".weight") and v.dim() == 2]
    if not rows:
        raise Failure(
            BAD_DATA,
            f"the weights do not end in a linear layer as torchvision's {arch} does",
        )
    return rows[-1]


def load_into(model, weights, arch, size):
    """Whether `model` with these weights wants its input rotated by 180 degrees."""
    try:
        model.load_state_dict(unfold(model, weights.state))
    except RuntimeError as error:
        detail = str(error).splitlines()[1:2] or [reason(error)]
        raise Failure(
            BAD_DATA,
            f"the weights are not those of torchvision's {arch}: {detail[0].strip()[:300]}",
        ) from error
    return bool(weights.scripted) and is_rotated(model, weights, size)


def is_rotated(model, weights, size):
    """Whether the TorchScript model that the weights come from rotates its input by 180 degrees.

    Models converted from TensorFlow may do so, because it pads at the other edges. Fails if the
    model computes anything else than `model` does.
    """
    inputs = torch.rand(1, 3, size, size, generator=torch.Generator().manual_seed(RANDOM_SEED))
    with torch.inference_mode():
        wanted = weights.scripted(inputs)
        errors = [(wanted - model(seen)).abs().max() for seen in (inputs, inputs.flip(2, 3))]
    if min(errors) > 0.01 * wanted.abs().max():
        raise Failure(
            BAD_DATA, "the TorchScript model computes something else than torchvision's does"
        )
    return bool(errors[1] < errors[0])
