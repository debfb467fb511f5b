"""WebP files that a stranger may send, and pictures of kinds that are not taken."""

import itertools
import struct
import zlib

from tiff_headers import directory, tiff, tiffs

LOSSLESS_SIZE = (16384, 16384)  # the largest, of 34 bytes
ONE_SYMBOL = "1000"  # a prefix code that takes no bits: the symbol is always 0
ALL_BYTES = "0" + "0001" + "000" + "100" + "000" * 9 + "100" + "0"  # code lengths: 8 is "0", 18 is "1"


def chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def riff(*chunks, size=None):
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body


def packed(bits):
    """Bits as text, of which the first is the lowest of the first byte."""
    bits += "0" * (-len(bits) % 8)
    return int(bits[::-1], 2).to_bytes(len(bits) // 8, "little")


def number(value, width):
    return format(value, f"0{width}b")[::-1]


def lossless(size=(64, 64), bits="0" + "0" + "0" + ONE_SYMBOL * 5):
    """By default of one color: no transformation, no cache, one group of codes."""
    return chunk(b"VP8L", b"\x2f" + packed(number(size[0] - 1, 14) + number(size[1] - 1, 14) + "0000" + bits))


def groups_of_codes():
    """65536 groups of codes, each of which takes 12 KB of a decoder's memory."""
    green = ALL_BYTES + "0" * 256 + "1" + number(24 - 11, 7)
    red = ALL_BYTES + "0" * 256
    image = "".join(number(i, 16) for i in range(65536))
    bits = "0" + "0" + "1" + "000" + "0" + green + red + ONE_SYMBOL * 3 + image + ONE_SYMBOL * 5 * 65536
    return lossless((1024, 1024), bits)


def lossy(size, data=bytes(20000)):
    partition = min(len(data), (1 << 19) - 1)
    tag = struct.pack("<I", partition << 5 | 1 << 4)[:3]
    return chunk(b"VP8 ", tag + b"\x9d\x01\x2a" + struct.pack("<HH", *size) + data)


def little24(value):
    return struct.pack("<I", value)[:3]


def extended(size, flags=0):
    return chunk(b"VP8X", bytes([flags, 0, 0, 0]) + little24(size[0] - 1) + little24(size[1] - 1))


def animated(frame, count, size=(64, 64), at=(0, 0), canvas=(64, 64)):
    head = (
        little24(at[0] // 2)
        + little24(at[1] // 2)
        + little24(size[0] - 1)
        + little24(size[1] - 1)
        + little24(1)
    )
    one = chunk(b"ANMF", head + b"\0" + frame)
    return riff(extended(canvas, 2), chunk(b"ANIM", bytes(6)), one * count)


def webps():
    yield "lossless-268mp", riff(lossless(LOSSLESS_SIZE))
    yield "lossless-25mp", riff(lossless((16384, 1525)))
    yield "lossless-groups", riff(groups_of_codes())
    transforms = "".join(
        "1" + number(i, 2) + ("000" + "0" + ONE_SYMBOL * 5 if i < 2 else "") for i in range(3)
    )
    yield (
        "lossless-transforms",
        riff(lossless(LOSSLESS_SIZE, transforms + "1" + "11" + number(255, 8) + bytes(400).hex())),
    )
    yield "lossless-cache", riff(lossless((4000, 4000), "0" + "1" + number(11, 4) + "0" + ONE_SYMBOL * 5))
    yield "lossless-bits", riff(lossless((4000, 4000), "01" * 80_000))
    yield "lossy-268mp", riff(lossy((16383, 16383)))
    yield "lossy-flood", riff(lossy((16383, 1525), bytes(7_000_000)))
    yield (
        "lossy-noise",
        riff(lossy((5000, 5000), bytes(itertools.islice(itertools.cycle(range(251)), 500_000)))),
    )
    yield "lossy-none", riff(lossy((640, 480), b""))
    yield "lossy-0", riff(lossy((0, 0)))
    yield "lossy-scaled", riff(lossy((640 | 0xC000, 480 | 0xC000)))
    yield "canvas-huge", riff(extended((1 << 24, 1 << 24)), lossless())
    yield "canvas-large", riff(extended((16384, 16384)), lossless())
    yield "canvas-small", riff(extended((16, 16)), lossless(LOSSLESS_SIZE))
    yield "canvas-absent", riff(extended((64, 64)))
    yield "two-frames", riff(extended((64, 64)), lossless(), lossless(LOSSLESS_SIZE))
    alpha = b"\1" + lossless(LOSSLESS_SIZE)[13:]
    yield "alpha", riff(extended((16383, 1525), 16), chunk(b"ALPH", alpha), lossy((16383, 1525)))
    yield "animation", animated(lossless(), 1000)
    yield "animation-flood", animated(lossless(), 90_000)
    yield "animation-huge", animated(lossless(LOSSLESS_SIZE), 1000, LOSSLESS_SIZE, canvas=LOSSLESS_SIZE)
    yield "animation-canvas", animated(lossless(), 3, at=(32000, 32000), canvas=(1 << 24, 1 << 24))
    yield "animation-outside", animated(lossless(), 3, at=(1 << 24, 1 << 24))
    yield "animation-in-itself", animated(animated(lossless(), 3)[12:], 3)
    for name, data in tiffs():
        yield f"exif-{name}", riff(extended((64, 64), 8), lossless(), chunk(b"EXIF", data))
    yield (
        "exif-large",
        riff(extended((64, 64), 8), lossless(), chunk(b"EXIF", b"II*\0\x08\0\0\0" + bytes(7_000_000))),
    )
    yield "profile", riff(extended((64, 64), 32), chunk(b"ICCP", bytes(7_000_000)), lossless())
    yield "unknown-many", riff(extended((64, 64)), chunk(b"abcd", b"") * 900_000, lossless())
    yield "size-small", riff(lossless(), size=4)
    yield "size-huge", riff(lossless(), size=0xFFFFFFFE)
    yield "size-odd", riff(lossless(), size=0xFFFFFFFF)
    yield "chunk-huge", riff(b"VP8L\xff\xff\xff\xff" + lossless()[8:])
    yield "signature", riff()


def gif():
    image = b"\x2c" + bytes(4) + struct.pack("<HHB", 65535, 65535, 0) + b"\x02\x02\x4c\x01\0"
    return b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(6) + image * 5000 + b";"


def bmp(size, compression=0, bits=24):
    head = struct.pack("<IiiHHIIiiII", 40, *size, 1, bits, compression, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + 1000, 0, 0, 54) + head + bytes(1000)


def tiff_picture():
    strips = zlib.compress(bytes(50_000_000))
    rows = (
        (256, 4, 1, 65535),
        (257, 4, 1, 65535),
        (258, 3, 1, 8),
        (259, 3, 1, 8),
        (262, 3, 1, 1),
        (273, 4, 1, 200),
        (278, 4, 1, 65535),
        (279, 4, 1, len(strips)),
    )
    return (b"II*\0\x08\0\0\0" + directory(rows)).ljust(200, b"\0") + strips


def others():
    yield "screen.gif", gif()
    yield "huge.bmp", bmp((60000, -60000))
    yield "runs.bmp", bmp((30000, 30000), 1, 8)
    yield "strips.tif", tiff_picture()
    yield "loop.tif", tiff([(256, 4, 1, 64)], 8)
    yield "phone.heic", struct.pack(">I", 24) + b"ftypheic" + bytes(4) + b"mif1heic" + bytes(100_000)
    yield (
        "boxes.avif",
        struct.pack(">I", 24)
        + b"ftypavif"
        + bytes(4)
        + b"mif1avif"
        + struct.pack(">I4sQ", 1, b"meta", 1 << 63),
    )
    yield (
        "boxes.jp2",
        b"\0\0\0\x0cjP  \r\n\x87\n" + struct.pack(">I4s", 0, b"jp2c") + b"\xff\x4f\xff\x51" + b"\xff" * 200,
    )
    yield "code.jxl", b"\xff\x0a" + b"\xff" * 1000
    yield "text.pnm", b"P3 60000 60000 255 " + b"9 " * 100_000
    yield "text.hdr", b"#?RADIANCE\n\n-Y 60000 +X 60000\n" + b"\x02\x02\xff\xff" * 1000
    yield "text.svg", b"<svg xmlns='http://www.w3.org/2000/svg'>" + b"<g>" * 100_000
    yield "text.txt", b"no picture"
    yield "zeros.bin", bytes(7_900_000)
    yield "empty.bin", b""
    yield "byte.bin", b"\xff"


def pictures():
    for name, data in webps():
        yield f"{name}.webp", data
