#!/usr/bin/python3
"""The reference for preprocessing: picture -> normalised float tensor, for each resize mode.

Scaling is Pillow's BILINEAR (a triangle filter that widens when it scales down, so it averages over
the area), then torchvision's ToTensor and Normalize. The C++ preprocessing is held against the
files that `--reference DIR` writes.

Needs (Debian 12): python3-numpy python3-pil
"""

import argparse
import os

import numpy as np
from PIL import Image

RESIZE_MODES = ("center-square", "stretch", "letterbox")
# The mean and deviation of ImageNet that torchvision's published weights were trained with.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

REFERENCE_SOURCES = ((640, 480), (320, 180), (100, 150))
REFERENCE_TARGET = (32, 24)


def round_half_up(numerator, denominator):
    return (2 * numerator + denominator) // (2 * denominator)


def center_crop_box(size, target):
    """(left, top, width, height) of the largest centred crop with the target's aspect ratio."""
    (width, height), (w, h) = size, target
    crop_w, crop_h = width, height
    if width * h > height * w:
        crop_w = max(1, round_half_up(height * w, h))
    else:
        crop_h = max(1, round_half_up(width * h, w))
    return (width - crop_w) // 2, (height - crop_h) // 2, crop_w, crop_h


def letterbox_box(size, target):
    """(left, top, width, height) of the scaled picture inside the target."""
    (width, height), (w, h) = size, target
    if w * height <= h * width:
        new_w, new_h = w, max(1, round_half_up(height * w, width))
    else:
        new_w, new_h = max(1, round_half_up(width * h, height)), h
    return (w - new_w) // 2, (h - new_h) // 2, new_w, new_h


def scale(picture, target):
    return np.asarray(picture.resize(target, Image.BILINEAR))


def normalize(pixels, mean=IMAGENET_MEAN, std=IMAGENET_STD):
    """ToTensor and Normalize, but height x width x channels."""
    return (pixels.astype(np.float32) / np.float32(255) - np.float32(mean)) / np.float32(std)


def preprocess(picture, target, resize, mean=IMAGENET_MEAN, std=IMAGENET_STD):
    """A Pillow RGB picture as float32, height x width x RGB; `target` is the (width, height)."""
    if resize == "stretch":
        return normalize(scale(picture, target), mean, std)
    if resize == "center-square":
        left, top, width, height = center_crop_box(picture.size, target)
        cropped = picture.crop((left, top, left + width, top + height))
        return normalize(scale(cropped, target), mean, std)
    if resize == "letterbox":
        left, top, width, height = letterbox_box(picture.size, target)
        # The border is the mean color, which no byte holds: it is 0 after normalisation.
        result = np.zeros((target[1], target[0], 3), np.float32)
        pixels = scale(picture, (width, height))
        result[top : top + height, left : left + width] = normalize(pixels, mean, std)
        return result
    raise ValueError(f"no resize mode is called {resize!r}")


def reference_picture(width, height):
    """A picture that any language draws from the same formula."""
    x, y = np.arange(width)[None, :, None], np.arange(height)[:, None, None]
    c = np.arange(3)[None, None, :]
    return Image.fromarray(((x * 7 + y * 13 + c * 61 + (x * y) // 11) & 255).astype(np.uint8))


def reference_arrays():
    """(file name, array) for each resize mode and source size."""
    w, h = REFERENCE_TARGET
    for mode in RESIZE_MODES:
        for width, height in REFERENCE_SOURCES:
            result = preprocess(reference_picture(width, height), REFERENCE_TARGET, mode)
            yield f"{mode}_{width}x{height}_to_{w}x{h}.f32", result


def write_reference(directory):
    os.makedirs(directory, exist_ok=True)
    for name, array in reference_arrays():
        array.astype("<f4").tofile(os.path.join(directory, name))


def main():
    parser = argparse.ArgumentParser(description="Reference data for the C++ preprocessing tests.")
    parser.add_argument(
        "--reference",
        metavar="DIR",
        required=True,
        help="write MODE_WxH_to_wxh.f32 (little-endian float32, rows of RGB) into DIR",
    )
    write_reference(parser.parse_args().reference)


if __name__ == "__main__":
    main()
