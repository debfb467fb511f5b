"""Reads picture files for training and calibration.

Needs (Debian 12): python3-numpy python3-pil python3-torch
"""

import os

import torch
from PIL import Image, ImageOps

import preprocess
from failure import NO_INPUT, Failure

BATCH = 16
# What Pillow raises for a file that it cannot read.
UNREADABLE = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)
# Made by systems for themselves, in lower case: those of is_system_folder() in `lookout`.
SYSTEM_FOLDERS = frozenset(
    (
        *("@eadir", "@tmp", "@recycle", "@recently-snapshot", "@sharebin", "#recycle"),
        *("#snapshot", "$recycle.bin", "$extend", "system volume information", "found.000"),
        *("__macosx", "network trash folder", "temporary items", "lost.dir", "lost+found"),
        "__pycache__",
    )
)


def is_left_out(folder):
    """Whether a folder of this name is hidden or a system's."""
    return folder.startswith(".") or folder.lower() in SYSTEM_FOLDERS


def find_files(directory, kind):
    """The files in the folder and those within it, sorted, without hidden ones and folders that
    are left out; `kind` is the folder's word in errors."""
    if not os.path.isdir(directory):
        raise Failure(NO_INPUT, f"there is no {kind} folder {directory}")
    found = []
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not is_left_out(name)]
        found += [os.path.join(folder, name) for name in names if not name.startswith(".")]
    return sorted(found)


def read_picture(file):
    """The RGB picture in a file (its path, or an open one), turned upright by its EXIF data as
    `lookout` turns it."""
    with Image.open(file) as picture:
        return ImageOps.exif_transpose(picture).convert("RGB")


def as_input(picture, options):
    """3 x height x width; `options` has the model's size, resize, mean and std."""
    pixels = preprocess.preprocess(
        picture, (options.size, options.size), options.resize, options.mean, options.std
    )
    return torch.from_numpy(pixels).permute(2, 0, 1)


def batches_of(inputs):
    return [torch.stack(inputs[i : i + BATCH]) for i in range(0, len(inputs), BATCH)]
