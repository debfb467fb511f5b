#!/usr/bin/python3
"""The test patterns: what each class of the self-test model looks like, and what it is called.

The C++ source `test://NAME` draws the same pictures byte for byte; `--checksums` prints the values
that both sides are held against. The set follows what the kernel's `vivid` camera (v4l2-tpg) can
show; that is a source of facts only, no code comes from there.

Needs (Debian 12): python3-numpy
"""

import argparse
import zlib

import numpy as np

# (name in test://NAME, label), in the order of the model's outputs.
CLASSES = (
    ("colorbars", "color bars"),
    ("hcolorbars", "horizontal color bars"),
    ("colorsquares", "color squares"),
    ("black", "black"),
    ("white", "white"),
    ("red", "red"),
    ("green", "green"),
    ("blue", "blue"),
    ("gray", "gray"),
    ("checkers", "checkers"),
    ("colorcheckers", "red-blue checkers"),
    ("hlines", "horizontal lines"),
    ("vlines", "vertical lines"),
    ("cross", "cross"),
    ("ramp", "gray ramp"),
    ("noise", "noise"),
)
NAMES = tuple(name for name, _ in CLASSES)
LABELS = tuple(label for _, label in CLASSES)

# White, yellow, cyan, green, magenta, red, blue, black: the order of the EBU and SMPTE color bars.
BAR_BITS = np.array(
    [(1, 1, 1), (1, 1, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (0, 0, 1), (0, 0, 0)], bool
)
SOLIDS = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "gray": (127, 127, 127),
}
BLACK, WHITE, RED, BLUE = (SOLIDS[name] for name in ("black", "white", "red", "blue"))
CHECKSUM_SIZES = ((224, 224), (320, 180), (640, 480), (1280, 720))


def grid(width, height):
    """Column and row numbers that broadcast to height x width."""
    return np.arange(width)[None, :], np.arange(height)[:, None]


def two_colors(mask, if_true, if_false):
    return np.where(mask[..., None], np.uint8(if_true), np.uint8(if_false))


def bar_colors(high=255, low=0):
    return np.where(BAR_BITS, high, low).astype(np.uint8)


def color_bars(width, height, colors):
    x, y = grid(width, height)
    return colors[x * 8 // width + 0 * y]


def horizontal_color_bars(width, height, colors):
    x, y = grid(width, height)
    return colors[y * 8 // height + 0 * x]


def color_squares(width, height, colors):
    x, y = grid(width, height)
    return colors[(y * 8 // height + x * 8 // width) % 8]


def solid(width, height, color):
    return np.full((height, width, 3), color, np.uint8)


def checkers(width, height, cell, odd, even):
    x, y = grid(width, height)
    return two_colors((x // cell + y // cell) & 1 == 1, odd, even)


def horizontal_lines(width, height, thickness, odd, even):
    x, y = grid(width, height)
    return two_colors((y // thickness + 0 * x) & 1 == 1, odd, even)


def vertical_lines(width, height, thickness, odd, even):
    x, y = grid(width, height)
    return two_colors((x // thickness + 0 * y) & 1 == 1, odd, even)


def cross(width, height, half, foreground, background):
    x, y = grid(width, height)
    vertical = (x >= width // 2 - half) & (x < width // 2 + half)
    horizontal = (y >= height // 2 - half) & (y < height // 2 + half)
    return two_colors(vertical | horizontal, foreground, background)


def ramp(width, height):
    x, y = grid(width, height)
    return np.repeat((x * 256 // width + 0 * y).astype(np.uint8)[..., None], 3, axis=2)


def gray_noise(width, height, rng):
    grain = noise_grain(width, height)
    shape = (-(-height // grain), -(-width // grain), 1)
    grains = rng.integers(0, 256, shape, np.uint8)
    pixels = grains.repeat(grain, axis=0)[:height].repeat(grain, axis=1)[:, :width]
    return np.repeat(pixels, 3, axis=2)


def noise_grain(width, height):
    return max(1, min(width, height) // 240)


def fine(width, height):
    return max(2, min(width, height) // 56)


def cross_half_width(width, height):
    return max(2, min(width, height) // 48)


# Functions that draw the other patterns, from (width, height). "noise" needs random numbers, too.
DRAWN = {
    "colorbars": lambda *size: color_bars(*size, bar_colors(high=191)),  # the 75 % set
    "hcolorbars": lambda *size: horizontal_color_bars(*size, bar_colors()),
    "colorsquares": lambda *size: color_squares(*size, bar_colors()),
    "checkers": lambda *size: checkers(*size, 16, BLACK, WHITE),
    "colorcheckers": lambda *size: checkers(*size, fine(*size), RED, BLUE),
    "hlines": lambda *size: horizontal_lines(*size, fine(*size), WHITE, BLACK),
    "vlines": lambda *size: vertical_lines(*size, fine(*size), WHITE, BLACK),
    "cross": lambda *size: cross(*size, cross_half_width(*size), WHITE, BLACK),
    "ramp": ramp,
}


def draw(name, width, height, rng=None):
    """The pattern `name` as height x width x RGB bytes. Only "noise" takes numbers from `rng`."""
    if name in SOLIDS:
        return solid(width, height, SOLIDS[name])
    if name == "noise":
        return gray_noise(width, height, rng or np.random.default_rng())
    if name in DRAWN:
        return DRAWN[name](width, height)
    raise ValueError(f"no pattern is called {name!r}")


def shift(picture, pixels):
    """Shifted to the right, wrapped around: the movement of the animated source."""
    return np.roll(picture, pixels, axis=1)


def max_shift(width):
    return width // 16


def marker_side(width, height):
    return max(4, min(width, height) // 16)


def draw_marker(picture, left, top):
    """Inverts the top bit of a small square in place: the moving marker of the animated source."""
    side = marker_side(picture.shape[1], picture.shape[0])
    picture[top : top + side, left : left + side] ^= 0x80


def checksum(picture):
    return zlib.crc32(np.ascontiguousarray(picture[..., ::-1]).tobytes())


def checksum_lines():
    for name in NAMES:
        if name == "noise":
            continue
        for width, height in CHECKSUM_SIZES:
            yield f"{name} {width}x{height} {checksum(draw(name, width, height)):08x}"


def main():
    parser = argparse.ArgumentParser(description="Names and checksums of the test patterns.")
    parser.add_argument("--checksums", action="store_true", help="NAME WxH CRC32 of the BGR bytes")
    if parser.parse_args().checksums:
        print("\n".join(checksum_lines()))
    else:
        print("\n".join(f"{name}\t{label}" for name, label in CLASSES))


if __name__ == "__main__":
    main()
