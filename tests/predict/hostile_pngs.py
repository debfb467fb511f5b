"""PNG files that a stranger may send: few bytes that inflate to many, in pixels, texts and profiles."""

import struct
import zlib

from tiff_headers import tiffs

SIGNATURE = b"\x89PNG\r\n\x1a\n"
END = b"\0\0\0\0IEND\xaeB`\x82"
PIECE = 1 << 20  # bytes that are compressed once and repeated
TEXT = 7_990_000  # bytes: libpng takes texts of 8 MB
GRAY, RGB, PALETTE, RGBA = 0, 2, 3, 6


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def header(size, bits=8, color=RGB, interlaced=0, method=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", *size, bits, color, method, 0, interlaced))


def zeros(count):
    """Compressed; of gigabytes in a moment, since a block that is flushed can be repeated."""
    if count < PIECE:
        return zlib.compress(bytes(count), 9)
    packer = zlib.compressobj(9)
    first = packer.compress(bytes(PIECE)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(PIECE)) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = zlib.compressobj(9, wbits=-15)
    end = rest.compress(bytes(count % PIECE)) + rest.flush()
    return first + again * (count // PIECE - 1) + end + struct.pack(">I", (count % 65521) << 16 | 1)


def row_bytes(width, bits, color):
    return -(-width * bits * {GRAY: 1, RGB: 3, PALETTE: 1, RGBA: 4}[color] // 8)


def pixels(size, bits, color, interlaced):
    """How many bytes the rows have, each with the byte of its filter."""
    width, height = size
    if not interlaced:
        return height * (1 + row_bytes(width, bits, color))
    total = 0
    for left, top, across, down in (
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ):
        columns, rows = -(-(width - left) // across), -(-(height - top) // down)
        total += rows * (1 + row_bytes(columns, bits, color)) if columns > 0 else 0
    return total


def drawn(size, bits=8, color=RGB, interlaced=0, before=b"", after=b""):
    data = zeros(pixels(size, bits, color, interlaced))
    return SIGNATURE + header(size, bits, color, interlaced) + before + chunk(b"IDAT", data) + after + END


def good(before=b"", after=b"", size=(8, 8)):
    return drawn(size, before=before, after=after)


def hidden(size, seen=(100, 100)):
    """A reader that expects the size at byte 16 finds another one there."""
    first = chunk(b"xyZz", struct.pack(">IIBBBBB", *seen, 8, 2, 0, 0, 0))
    return SIGNATURE + first + drawn(size, 1, GRAY)[8:]


def sizes():
    yield "hidden-6mp", hidden((3000, 2000))
    yield "hidden-400mp", hidden((20000, 20000))
    yield "hidden-1gp", hidden((65500, 16390))
    yield "bits-400mp", drawn((20000, 20000), 1, GRAY)
    yield "interlaced-400mp", drawn((20000, 20000), 1, GRAY, 1)
    yield "huge", SIGNATURE + header((0x7FFFFFFF, 0x7FFFFFFF)) + chunk(b"IDAT", zeros(9)) + END
    yield "negative", SIGNATURE + header((0xFFFFFFFF, 0xFFFFFFFF)) + chunk(b"IDAT", zeros(9)) + END
    yield "one-row", drawn((1_000_000, 1), 1, GRAY)
    yield "one-column", drawn((1, 1_000_000), 1, GRAY)
    yield "no-width", SIGNATURE + header((0, 8)) + chunk(b"IDAT", zeros(8)) + END
    yield "two-headers", SIGNATURE + header((8, 8)) + drawn((20000, 20000), 1, GRAY)[8:]
    yield "header-behind", drawn((8, 8), after=header((20000, 20000)))
    yield "apple", SIGNATURE + chunk(b"CgBI", b"\x50\0\x20\2") + good()[8:]
    deep = drawn((16384, 1525), 16, RGBA)  # as large as is allowed
    yield "deep", deep
    yield "deep-cut", deep[:-60_000]
    yield "deep-interlaced", drawn((16384, 1525), 16, RGBA, 1)
    yield "missing-pixels", SIGNATURE + header((5000, 5000)) + chunk(b"IDAT", zeros(1000)) + END
    yield "no-pixels", SIGNATURE + header((5000, 5000)) + END


def inflating():
    """Small pictures, whose other parts inflate."""
    text = zlib.compress(bytes(TEXT), 9)
    yield "ztxt-100", good(chunk(b"zTXt", b"k\0\0" + text) * 100)
    yield "ztxt-1000", good(chunk(b"zTXt", b"k\0\0" + text) * 1000)
    yield "ztxt-behind", good(after=chunk(b"zTXt", b"k\0\0" + text) * 900)
    yield "itxt-1000", good(chunk(b"iTXt", b"k\0\1\0\0\0" + text) * 1000)
    yield "text", good(chunk(b"tEXt", b"k\0" + b"a" * 7_000_000))
    yield "text-many", good(chunk(b"tEXt", b"k\0a") * 500_000)
    yield "profile", good(chunk(b"iCCP", b"p\0\0" + zeros(4_000_000_000)))
    length = struct.pack(">I", 0xFFFFFFF0)
    yield "profile-length", good(chunk(b"iCCP", b"p\0\0" + zlib.compress(length + bytes(10_000_000))))
    yield "profiles", good(chunk(b"iCCP", b"p\0\0" + text) * 900)
    yield (
        "suggested-palette",
        good(b"".join(chunk(b"sPLT", b"%d\0\x08" % i + bytes(600_000)) for i in range(12))),
    )
    yield "unknown", good(chunk(b"abCd", bytes(7_000_000)))
    yield "unknown-many", good(chunk(b"abCd", b"") * 600_000)
    yield "unknown-critical", good(chunk(b"ABCD", bytes(1000)))
    yield "unknown-behind", good(after=chunk(b"abCd", bytes(1000)) * 7000)
    yield "pixels-behind-pixels", SIGNATURE + header((8, 8)) + chunk(b"IDAT", zeros(7_000_000_000)) + END
    small = zlib.compress(bytes(8 * 25))
    yield (
        "pixels-in-bytes",
        SIGNATURE
        + header((8, 8))
        + b"".join(chunk(b"IDAT", small[i : i + 1]) for i in range(len(small)))
        + END,
    )
    yield (
        "pixels-empty",
        SIGNATURE + header((8, 8)) + chunk(b"IDAT", b"") * 600_000 + chunk(b"IDAT", small) + END,
    )
    yield (
        "filters",
        SIGNATURE + header((64, 64), 8, GRAY) + chunk(b"IDAT", zlib.compress(b"\xff" * 65 * 64)) + END,
    )
    for name, data in tiffs():
        yield f"exif-{name}", good(chunk(b"eXIf", data))
    yield "exif-large", good(chunk(b"eXIf", b"II*\0\x08\0\0\0" + bytes(7_000_000)))
    yield "exif-behind", good(after=chunk(b"eXIf", b"MM\0*\0\0\0\x08" + bytes(60)) * 1000)


def structures():
    frame = struct.pack(">IIIIIHHBB", 0, 8, 8, 0, 0, 1, 1, 0, 0)
    small = zlib.compress(bytes(8 * 25))
    frames = b"".join(
        chunk(b"fcTL", frame) + chunk(b"fdAT", struct.pack(">I", i) + small) for i in range(1000)
    )
    yield "animation", good(chunk(b"acTL", struct.pack(">II", 1000, 0)), frames)
    yield "animation-lies", good(chunk(b"acTL", struct.pack(">II", 0x7FFFFFFF, 0x7FFFFFFF)))
    inflates = chunk(b"fdAT", struct.pack(">I", 1) + zeros(1_000_000_000))
    yield (
        "animation-inflates",
        good(chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", frame) + inflates),
    )
    palette = chunk(b"PLTE", bytes(range(6)))
    yield (
        "palette-small",
        SIGNATURE
        + header((64, 64), 8, PALETTE)
        + palette
        + chunk(b"IDAT", zlib.compress((b"\0" + b"\xff" * 64) * 64))
        + END,
    )
    yield (
        "palette-large",
        SIGNATURE
        + header((64, 64), 1, PALETTE)
        + chunk(b"PLTE", bytes(771))
        + chunk(b"IDAT", zeros(9 * 64))
        + END,
    )
    yield "palette-absent", drawn((64, 64), 8, PALETTE)
    yield "palettes", good(chunk(b"PLTE", bytes(768)) * 9000)
    yield "transparency", drawn((64, 64), 8, PALETTE, before=palette + chunk(b"tRNS", bytes(256)))


def faults():
    small = zlib.compress(bytes(8 * 25))
    yield "gamma-0", good(chunk(b"gAMA", bytes(4)) + chunk(b"cHRM", b"\xff" * 32) + chunk(b"sBIT", bytes(3)))
    yield (
        "histogram",
        good(
            chunk(b"hIST", bytes(512))
            + chunk(b"pCAL", b"a\0" + b"\xff" * 40)
            + chunk(b"sCAL", b"\1" + b"9" * 5000)
        ),
    )
    yield "checksum", good()[:-16] + b"\0\0\0\0" + END
    yield "length-huge", SIGNATURE + header((8, 8)) + b"\xff\xff\xff\xffIDAT" + bytes(1000)
    yield "length-2gb", SIGNATURE + header((8, 8)) + b"\x7f\xff\xff\xffabCd" + bytes(1000)
    yield "bits-3", SIGNATURE + header((8, 8), 3) + chunk(b"IDAT", small) + END
    yield "method-1", SIGNATURE + header((8, 8), method=1) + chunk(b"IDAT", small) + END
    dictionary = zlib.compressobj(zdict=b"abc")
    yield (
        "dictionary",
        SIGNATURE
        + header((8, 8))
        + chunk(b"IDAT", dictionary.compress(bytes(200)) + dictionary.flush())
        + END,
    )
    yield "window", SIGNATURE + header((8, 8)) + chunk(b"IDAT", b"\xf8\x91" + small[2:]) + END
    yield "ends", SIGNATURE + END * 100_000
    yield "signature", SIGNATURE
    yield "two-pictures", good() + drawn((20000, 20000), 1, GRAY)


def pictures():
    for group in (sizes, inflating, structures, faults):
        for name, data in group():
            yield f"{name}.png", data
