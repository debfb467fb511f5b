"""The model archive that `lookout` loads: TorchScript with metadata.json and labels.txt inside, and
class_ids.txt where the classes have identifiers.

Needs (Debian 12): python3-torch python3-torchvision
"""

import contextlib
import hashlib
import json
import os
import subprocess
import zipfile

import torch
import torchvision

import preprocess
import quantize
from failure import BAD_DATA, CANNOT_CREATE, Failure
from failure import reason as reason_of


class ArchiveError(Exception):
    """The model cannot be scripted, or the saved archive does not run; the text says why."""


def debian_release(package):
    """The upstream release of a Debian package, or None."""
    try:
        version = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True
        ).stdout
    except OSError:
        return None
    return version.split("+")[0].split("-")[0] or None


def release(module, package):
    """Debian's build calls itself 1.13.0a0 where the package, rightly, says 1.13.1."""
    installed_by_debian = module.__file__.startswith("/usr/lib/python3/dist-packages/")
    return (debian_release(package) if installed_by_debian else None) or module.__version__


def producer(tool):
    return {
        "torch": release(torch, "python3-torch"),
        "torchvision": release(torchvision, "python3-torchvision"),
        "tool": tool,
    }


def make_metadata(
    *,
    name,
    size,
    quantization,
    tool,
    weights,
    trained,
    resize="center-square",
    mean=preprocess.IMAGENET_MEAN,
    std=preprocess.IMAGENET_STD,
):
    """`size` is the input's (width, height)."""
    return {
        "name": name,
        "input": {
            "width": size[0],
            "height": size[1],
            "mean": list(mean),
            "std": list(std),
            "channel_order": "RGB",
            "resize": resize,
        },
        "output": "logits",
        "quantization": quantization,
        "producer": producer(tool),
        "weights": weights,
        "trained": trained,
    }


def form_of(options):
    """(the text of metadata.json's "quantization", the function that writes the file)"""
    if options.format == "onnx":
        from onnx_format import model, quantization

        return quantization.description(options.activations), model.save
    return quantize.description(options.activations), save


def load_network(options):
    """What save_network wrote: it takes and returns a tensor."""
    if options.format == "onnx":
        from onnx_format import model

        return model.load(options.output)
    return load(options.output)[0]


def save_network(options, model, labels, *, class_ids=None, producer_info=None, **facts):
    """Saves what networks.converted made, with what the command line says of it.

    `producer_info`: of a training on pictures, with the names that `lookout train` gives them.
    `facts` are the arguments of make_metadata that `options` do not tell.
    """
    quantization, writer = form_of(options)
    metadata = make_metadata(
        name=options.name,
        size=(options.size, options.size),
        quantization=quantization,
        resize=options.resize,
        mean=options.mean,
        std=options.std,
        **facts,
    )
    try:
        writer(options.output, model, metadata, labels, class_ids, producer_info)
    except ArchiveError as error:
        advice = "; try --activations quint8" if options.activations == "qint8" else ""
        raise Failure(
            BAD_DATA,
            f"{options.arch} does not run with {options.activations} activations ({error}){advice}",
        ) from error
    except OSError as error:
        raise Failure(CANNOT_CREATE, f"cannot write {options.output}: {reason_of(error)}") from error


@contextlib.contextmanager
def replacing(path):
    """The name of a temporary file, which takes the place of `path` if all goes well."""
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name}-{os.getpid()}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def save(path, model, metadata, labels, class_ids=None, producer_info=None):
    """Scripts `model` and writes the archive, complete or not at all."""
    extra = extra_files(metadata, labels, class_ids, producer_info)
    scripted = script(model)
    with replacing(path) as temporary:
        write(scripted, temporary, extra)
        check(temporary)


def extra_files(metadata, labels, class_ids=None, producer_info=None):
    """The texts that belong to a model, by the names that they have in an archive."""
    extra = {
        "metadata.json": json.dumps(metadata, indent=2) + "\n",
        "labels.txt": "".join(f"{label}\n" for label in labels),
    }
    if class_ids:
        extra["class_ids.txt"] = "".join(f"{identifier}\n" for identifier in class_ids)
    if producer_info:
        extra["producer_info.json"] = json.dumps(producer_info, indent=2) + "\n"
    return extra


def script(model):
    try:
        return torch.jit.script(model)
    except RuntimeError as error:
        raise ArchiveError(f"TorchScript refuses it: {reason(error)}") from error


def write(scripted, path, extra):
    # Through memory: when the disk is full, torch's own writer ends the process.
    write_bytes(path, scripted.save_to_buffer(_extra_files=extra))


def write_bytes(path, data):
    with open(path, "wb") as file:
        file.write(data)


def load(path):
    """(scripted model, metadata, labels). Sets the engine: loading packs the weights for it."""
    torch.backends.quantized.engine = "qnnpack"
    extra = {"metadata.json": "", "labels.txt": ""}
    model = torch.jit.load(path, map_location="cpu", _extra_files=extra)
    # 1.13 hands extra files back as bytes, later releases as text.
    texts = {key: v.decode() if isinstance(v, bytes) else v for key, v in extra.items()}
    return model, json.loads(texts["metadata.json"]), texts["labels.txt"].splitlines()


def extra(path, name):
    """The text `name` in the archive."""
    with zipfile.ZipFile(path) as members:
        inside = [member for member in members.namelist() if member.endswith(f"/extra/{name}")]
        return members.read(inside[0]).decode()


def check(path):
    """Loads the archive and runs it once: some operators refuse a kind of activations only then."""
    model, metadata, labels = load(path)
    shape = (1, 3, metadata["input"]["height"], metadata["input"]["width"])
    try:
        with torch.inference_mode():
            output = model(torch.zeros(shape))
    except RuntimeError as error:
        raise ArchiveError(reason(error)) from error
    if not isinstance(output, torch.Tensor) or output.shape != (1, len(labels)):
        raise ArchiveError(f"the output is not one row of {len(labels)} scores")


def reason(error):
    """The last line of TorchScript's long error text: the operator's own message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
