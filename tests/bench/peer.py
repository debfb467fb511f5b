"""Shared by the loops of the peers: frames as a camera would give them, and the measuring.

Needs (Debian 12): python3-numpy python3-opencv
"""

import argparse
import json
import pathlib
import sys
import time

import cv2
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models"))
import patterns  # noqa: E402

WARM_UP = 10  # frames
SIDE = 224  # of the model's input, pixels


class Camera:
    """Frames drawn before and copied when they are read, as lookout's `test://` does."""

    def __init__(self, width, height):
        picture = patterns.draw("colorsquares", width, height)[..., ::-1]
        self.frames = [np.ascontiguousarray(patterns.shift(picture, n)) for n in range(16)]
        self.frame = np.empty_like(self.frames[0])
        self.number = 0

    def read(self):
        np.copyto(self.frame, self.frames[self.number % len(self.frames)])
        self.number += 1
        return self.frame


def model_sized(image):
    """The centre square, scaled; nothing at all for a frame of the model's size."""
    height, width = image.shape[:2]
    if (width, height) == (SIDE, SIDE):
        return image
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    square = image[top : top + side, left : left + side]
    return cv2.resize(square, (SIDE, SIDE), interpolation=cv2.INTER_AREA)


def main(description, load):
    """`load(archive, threads)` gives a function from a BGR frame to the ten best (class, score)."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("archive")
    parser.add_argument("--size", default="640x480", help="of the frames; default 640x480")
    parser.add_argument("--seconds", type=float, default=5, help="to measure; default 5")
    parser.add_argument("--threads", type=int, default=1, help="default 1")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    camera = Camera(*map(int, arguments.size.split("x")))
    classify = load(arguments.archive, arguments.threads)
    for _ in range(WARM_UP):
        classify(camera.read())
    times = []
    start = now = time.perf_counter()
    while now - start < arguments.seconds:
        before = now
        best = classify(camera.read())
        now = time.perf_counter()
        times.append((now - before) * 1000)
    ms = {name: round(float(np.percentile(times, p)), 3) for name, p in (("p50", 50), ("p99", 99))}
    print(json.dumps({"fps": round(len(times) / (now - start), 3), "ms": ms, "best": best[0]}))
