#!/usr/bin/python3
"""Gives the real program damaged pictures and videos, and compares it with Pillow.

usage: damaged_pictures.py [--program PATH] [--count N] [--seed N] [--keep DIR]

No picture that Pillow refuses may be classified, and none that Pillow reads whole may be refused, but
for the cases of excuse(), each with its reason. A damaged GIF or video ends with 0, or with 66 and a
sentence, and never with more frames than it had. Exits with 1 after a line for each that did
otherwise. A seed decides on the damage; --keep leaves the files in DIR. Needs python3-pil: without it
the test is skipped (77).
"""

import argparse
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

from mutated_archives import cut, drop, flip_bits, overwrite

try:
    from PIL import Image, ImageDraw
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

KINDS = [
    ("jpg", "JPEG", {"quality": 85}),
    ("jpg", "JPEG", {"progressive": True}),
    ("png", "PNG", {}),
    ("webp", "WEBP", {}),
    ("webp", "WEBP", {"lossless": True}),
    ("tif", "TIFF", {}),
    ("tif", "TIFF", {"compression": "tiff_lzw"}),
    ("bmp", "BMP", {}),
]
FRAMES = 8
FILM_SHARE = 12  # one in so many is a GIF or a video, which each need a run of their own
SECONDS = 60


def picture(rng, size=(160, 120)):
    coarse = Image.frombytes("RGB", (40, 30), rng.randbytes(40 * 30 * 3))
    image = coarse.resize(size, Image.BICUBIC)
    draw = ImageDraw.Draw(image)
    for _ in range(6):
        corners = sorted(rng.randrange(size[0]) for _ in range(2)) + sorted(rng.randrange(size[1]) for _ in range(2))
        color = tuple(rng.randrange(256) for _ in range(3))
        draw.rectangle((corners[0], corners[2], corners[1], corners[3]), fill=color)
    return image


def encoded(image, form, options):
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def cut_end(data, rng):
    return data[: len(data) - rng.randrange(1, 20)]


def header(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(min(64, len(data)))] = rng.randrange(256)
    return bytes(data)


def tail(data, rng):
    return data + rng.randbytes(50)


DAMAGES = [cut, cut_end, flip_bits, header, overwrite, drop, tail]


def film(rng, number):
    """A GIF or, as cameras pipe it, JPEG after JPEG."""
    images = [picture(rng, (96, 64)) for _ in range(FRAMES)]
    if number % 2:
        return "gif", encoded(images[0], "GIF", {"save_all": True, "append_images": images[1:]})
    return "mjpeg", b"".join(encoded(image, "JPEG", {}) for image in images)


def make(folder, count, rng):
    """{path: data before} of pictures, and the paths of films"""
    stills, films = {}, []
    for i in range(count):
        damage = DAMAGES[i % len(DAMAGES)]
        is_film = i % FILM_SHARE == 0
        if is_film:
            extension, data = film(rng, i // FILM_SHARE)
        else:
            extension, form, options = KINDS[rng.randrange(len(KINDS))]
            data = encoded(picture(rng), form, options)
        place = "films" if is_film else "stills"
        path = os.path.join(folder, place, f"{i:03d}-{damage.__name__}.{extension}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(damage(data, rng))
        if is_film:
            films.append(path)
        else:
            stills[path] = data
    return stills, films


def run(program, source):
    arguments = [program, source, "--format", "json", "--top-k", "1", "--threads", "1", "--log-level", "warn"]
    return subprocess.run(arguments, capture_output=True, timeout=SECONDS, check=False)


def results(out):
    lines = (json.loads(line) for line in out.decode().splitlines())
    return [line for line in lines if line["type"] == "classification"]


def pillow_reads(path):
    """None, or why not"""
    try:
        with Image.open(path) as image:
            image.convert("RGB")
    except Exception as error:  # pylint: disable=broad-except  # decoders raise anything
        return repr(error)[:100]
    return None


def excuse(path, before, refused):
    """Why the program may differ from Pillow here, or None. refused: what Pillow says, or None"""
    if "Unsupported BMP header type" in (refused or ""):
        return "OpenCV ignores the size of a BMP's header; the pixels are those of the file"
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".png") and len(data) < len(before) and before.startswith(data):
        if len(before) - len(data) <= 20:
            return "libpng demands the checksums behind the pixels and the end chunk, Pillow does not"
    return None


def check_stills(program, folder, stills):
    """A line for each that differs from Pillow."""
    done = run(program, folder)
    if done.returncode != 0:
        return [f"the folder ended with {done.returncode}: {done.stderr.decode()[-500:]}"]
    ours = {line["file"] for line in results(done.stdout)}
    wrong = []
    for path, before in sorted(stills.items()):
        refused = pillow_reads(path)
        if (path in ours) == (refused is None):
            continue
        reason = excuse(path, before, refused)
        what = f"is classified, though Pillow says {refused}" if refused else "is refused, though Pillow reads it"
        if reason is None:
            wrong.append(f"{path} {what}")
        else:
            print(f"{os.path.basename(path)} {what}: {reason}")
    return wrong


def check_film(program, path):
    done = run(program, path)
    frames = len(results(done.stdout))
    sentences = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode not in (0, 66) or (done.returncode == 66 and path not in sentences[-1]):
        return f"{path} ended with {done.returncode}: {sentences[-1:]}"
    if frames > FRAMES:
        return f"{path} has {FRAMES} frames, {frames} were classified"
    return None


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--program", default=os.path.join(here, "../../build/host/app/lookout"))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--keep")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        stills, films = make(folder, options.count, random.Random(options.seed))
        wrong = check_stills(options.program, os.path.join(folder, "stills"), stills)
        wrong += filter(None, (check_film(options.program, path) for path in sorted(films)))
    print("\n".join(wrong))
    print(f"{len(stills)} pictures and {len(films)} films, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
