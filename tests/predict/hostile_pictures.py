#!/usr/bin/python3
"""Pictures that a stranger may send to stop a server, and what chance makes of them.

  hostile_pictures.py FOLDER [--names REGEX] [--mutation N] [--seed N]

writes those whose name matches into a folder, and good ones beside them; with --mutation instead of each
picture what chance made of it as the Nth, as hostile_test.py counts. Each is smaller than the default of
http.max-upload.
"""

import argparse
import functools
import itertools
import pathlib
import random
import re
import struct
import sys
import zlib

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import hostile_jpegs  # noqa: E402
import hostile_pngs  # noqa: E402
import hostile_webps  # noqa: E402
from mutated_archives import cut, drop, flip_bits, overwrite  # noqa: E402

GOOD = {"good.jpg": hostile_jpegs.good(), "good.png": hostile_pngs.good(size=(640, 480))}
MAX_UPLOAD = 8_000_000
MAX_PARTS = 2000  # of a file that is taken apart; the rest stays one part
NUMBERS = (
    0,
    1,
    2,
    7,
    8,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
)


def hostile_pictures():
    """{name: data}"""
    found = {}
    for group in (
        hostile_jpegs.pictures,
        hostile_pngs.pictures,
        hostile_webps.pictures,
        hostile_webps.others,
    ):
        for name, data in group():
            assert name not in found and len(data) <= MAX_UPLOAD, name
            found[name] = data
    return found


def jpeg_parts(data):
    """The marker at the begin, then segments; entropy-coded data belongs to its scan."""
    at = 0
    while at < len(data):
        end = data.find(b"\xff", at + 2)
        while 0 <= end < len(data) - 1 and data[end + 1] in (0, 0xFF, *range(0xD0, 0xD8)):
            end = data.find(b"\xff", end + 2)
        end = len(data) if end < 0 else end
        yield data[at:end]
        at = end


def sized_parts(data, begin, number, lead, trail):
    """Of PNG and RIFF: kind and length are `lead` bytes, and trail() bytes follow the data."""
    yield data[:begin]
    at = begin
    while at < len(data):
        length = struct.unpack_from(number, data, at)[0] if at + 8 <= len(data) else 0
        end = at + lead + length + trail(length)
        yield data[at:end]
        at = end


@functools.lru_cache(64)
def parts_of(data):
    """The begin, then parts that can be exchanged; joined, they are `data`."""
    if data.startswith(hostile_pngs.SIGNATURE):
        found = sized_parts(data, 8, ">I", 8, lambda length: 4)
    elif data.startswith(b"RIFF"):
        found = sized_parts(data, 12, "<4xI", 8, lambda length: length % 2)
    else:
        found = jpeg_parts(data)
    parts = []
    for part in found:
        parts.append(part)
        if len(parts) == MAX_PARTS:
            break
    rest = data[sum(map(len, parts)) :]
    return parts + [rest] if rest else parts


def with_checksum(part):
    """A chunk of PNG is not refused for its checksum alone."""
    return part[:-4] + struct.pack(">I", zlib.crc32(part[4:-4])) if len(part) >= 12 else part


def number_changed(data, rng):
    """Two or four bytes near the begin of a part, where sizes and lengths are."""
    form = rng.choice((">H", "<H", ">I", "<I"))
    size = struct.calcsize(form)
    if len(data) < size + 2:
        return data
    at = rng.randrange(2, min(len(data) - size, 30) + 1)
    value = rng.choice(NUMBERS) + rng.choice((0, 0, -1, 1))
    return data[:at] + struct.pack(form, value & ((1 << 8 * size) - 1)) + data[at + size :]


class Mutations:
    def __init__(self, data, others, seed):
        self.data = data
        self.others = others  # of the same kind, to take parts from
        self.rng = random.Random(seed)
        self.parts = parts_of(data)

    def part_changed(self, parts):
        at = self.rng.randrange(len(parts))
        change = self.rng.choice((number_changed, number_changed, flip_bits, overwrite, cut, drop))
        parts[at] = change(parts[at], self.rng)
        if at > 0 and self.data.startswith(hostile_pngs.SIGNATURE):
            parts[at] = with_checksum(parts[at])

    def part_repeated(self, parts):
        at = self.rng.randrange(len(parts))
        room = MAX_UPLOAD - sum(map(len, parts))
        count = min(self.rng.choice((1, 2, 100, 10_000)), room // max(1, len(parts[at])))
        parts[at : at + 1] = [parts[at]] * (count + 1)

    def part_moved(self, parts):
        part = parts.pop(self.rng.randrange(len(parts)))
        parts.insert(self.rng.randrange(len(parts) + 1), part)

    def part_removed(self, parts):
        parts.pop(self.rng.randrange(len(parts)))

    def part_of_another(self, parts):
        other = parts_of(self.rng.choice(self.others)) or [b""]
        parts.insert(self.rng.randrange(len(parts) + 1), self.rng.choice(other))

    def spliced(self):
        """The begin of this one, and the end of another."""
        other = self.rng.choice(self.others)
        return (
            self.data[: self.rng.randrange(len(self.data) + 1)] + other[self.rng.randrange(len(other) + 1) :]
        )

    def next(self):
        if self.rng.random() < 0.3:
            change = self.rng.choice((flip_bits, overwrite, cut, drop, number_changed))
            return change(self.data, self.rng)
        if self.rng.random() < 0.1:
            return self.spliced()[:MAX_UPLOAD]
        parts = list(self.parts)
        changes = (
            self.part_changed,
            self.part_changed,
            self.part_repeated,
            self.part_moved,
            self.part_removed,
        )
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            if parts:
                self.rng.choice((*changes, self.part_of_another))(parts)
        return b"".join(parts)[:MAX_UPLOAD]


def mutations(pictures, name, seed=1):
    """Without end."""
    suffix = pathlib.Path(name).suffix
    others = [data for other, data in pictures.items() if other.endswith(suffix)]
    made = Mutations(pictures[name], others, f"{seed}/{name}")
    while True:
        yield made.next()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--names", type=re.compile, default=re.compile(""))
    parser.add_argument("--mutation", type=int, default=0)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    pictures = hostile_pictures()
    for name, data in GOOD.items():
        (options.folder / name).write_bytes(data)
    for name in filter(options.names.search, pictures):
        data = pictures[name]
        if options.mutation:
            made = mutations(pictures, name, options.seed)
            data = next(itertools.islice(made, options.mutation - 1, None))
        (options.folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
