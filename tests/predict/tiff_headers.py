"""Headers of TIFF, as EXIF has them, that are loops or lies."""

import struct


def directory(entries, next_offset=0, order="<"):
    data = struct.pack(order + "H", len(entries))
    data += b"".join(struct.pack(order + "HHII", *entry) for entry in entries)
    return data + struct.pack(order + "I", next_offset)


def tiff(entries, next_offset=0, offset=8):
    return struct.pack("<2sHI", b"II", 42, offset) + directory(entries, next_offset)


def tiffs():
    orientation = (0x0112, 3, 1, 6)
    yield "next-is-itself", tiff([orientation], 8)
    yield "directory-in-itself", tiff([(0x8769, 4, 1, 8), (0x014A, 4, 1, 8), (0x8825, 4, 1, 8)], 8)
    yield "directories-in-itself", tiff([(0x014A, 4, 0x3FFFFFFF, 8)])
    yield "far-away", tiff([orientation], 0xFFFFFFFF, 0xFFFFFFF0)
    yield "at-the-header", tiff([orientation], 0, 0)
    yield "of-text", tiff([(0x0112, 2, 0xFFFFFFFF, 4)])
    yield "of-no-type", tiff([(0x0112, 0xFFFF, 1, 6)])
    yield "of-many", tiff([(0x0112, 3, 0x80000001, 6)])
    yield "orientation-200", tiff([(0x0112, 3, 1, 200)])
    yield "entries-65535", tiff([orientation] * 5000)[:-4].replace(b"\x88\x13", b"\xff\xff", 1)
    yield (
        "chain",
        b"II*\0\x08\0\0\0" + b"".join(directory([orientation], 8 + 18 * (i + 1)) for i in range(3000)),
    )
    yield "maker-note", tiff([(0x927C, 7, 0xFFFFFFFF, 8)])
    yield "cut", tiff([orientation])[:14]
