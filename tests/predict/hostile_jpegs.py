"""JPEG files that a stranger may send: headers that lie, scans without end, tables without number.

All of one gray level, so that few bits make many pixels: a Huffman code of one bit means "as before".
"""

import struct

from tiff_headers import tiffs

SOI, EOI = b"\xff\xd8", b"\xff\xd9"
SOF0, SOF1, SOF2, SOF3, SOF5, SOF9, SOF10 = 0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC9, 0xCA
DHT, DAC, DQT, DNL, DRI, DHP, EXP, COM = 0xC4, 0xCC, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF, 0xFE
APP0, APP1, APP2, APP13, APP14, SOS = 0xE0, 0xE1, 0xE2, 0xED, 0xEE, 0xDA
MEGAPIXEL_BOMB = (20000, 20000)
LARGEST = (16384, 1525)  # that http.max-pixels allows


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def frame(size, components=1, marker=SOF0, precision=8, sampling=0x11):
    data = struct.pack(">BHHB", precision, size[1], size[0], components)
    data += b"".join(bytes([i + 1 & 0xFF, sampling, 0]) for i in range(components))
    return segment(marker, data)


def table(kind, symbol=0):
    """Of one code, the bit 0. kind: 0 for DC, 1 for AC."""
    return segment(DHT, bytes([kind << 4, 1]) + bytes(15) + bytes([symbol]))


def scan(components=1, first=0, last=63, approximation=0):
    data = bytes([components])
    data += b"".join(bytes([i + 1 & 0xFF, 0]) for i in range(components))
    return segment(SOS, data + bytes([first, last, approximation]))


def one_scan(components=()):
    data = bytes([len(components)]) + b"".join(bytes([i, 0]) for i in components)
    return segment(SOS, data + bytes([0, 63, 0]))


TABLES = segment(DQT, b"\0" + b"\1" * 64) + table(0) + table(1)


def gray(size, components=1, marker=SOF0, data=None, head=b"", **fields):
    """A picture; without `data` its pixels are missing, which most decoders take for gray."""
    if data is None:
        data = b"\0\0"
    body = TABLES + frame(size, components, marker, **fields)
    return SOI + head + body + scan(components, last=0 if marker in (SOF2, SOF10) else 63) + data + EOI


def good(size=(640, 480), head=b""):
    blocks = (size[0] + 7) // 8 * ((size[1] + 7) // 8)
    return gray(size, data=bytes(blocks * 2 // 8 + 1), head=head)


def hidden(size, seen=(100, 100), components=1, marker=SOF0):
    """A reader that takes FF 00 for a segment jumps into a comment, where another size stands."""
    last = 0 if marker == SOF2 else 63
    body = TABLES + frame(size, components, marker) + scan(components, last=last) + b"\0\0"
    comment = segment(COM, frame(seen))
    jump = body + comment[:4]
    return SOI + b"\xff\x00" + struct.pack(">H", len(jump) + 2) + jump + comment[4:] + EOI


def run_of_blocks(blocks):
    """Entropy-coded data: ends of band, each of 32767 blocks."""
    count = -(-blocks // 32767)
    bits = "".join("0" + "1" * 14 for _ in range(count))
    bits += "1" * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, "big")
    return data.replace(b"\xff", b"\xff\0")


def progressive(size, marker=SOF2):
    head = SOI + TABLES + frame(size, 1, marker) + table(1, 0xE0)
    return head + scan(last=0) + b"\0\0"


def scans(size, megabytes):
    """So many bytes of scans, each of which says nothing new."""
    blocks = -(-size[0] // 8) * -(-size[1] // 8)
    one = scan(1, 1, 63) + run_of_blocks(blocks)
    return progressive(size) + one * int(megabytes * 1e6 / len(one)) + EOI


def refinements(size, count, megabytes):
    """A bit more of every block in each scan: the most work that a scan of few bytes makes."""
    blocks = -(-size[0] // 8) * -(-size[1] // 8)
    one = scan(last=0, approximation=0x10) + b"\x55" * min(blocks // 8, int(megabytes * 1e6 / count))
    return progressive(size) + one * count + EOI


def baseline_scans(size, count):
    head = SOI + TABLES + frame(size, 3)
    return head + b"".join(one_scan([i % 3 + 1]) + b"\0\0" for i in range(count)) + EOI


def restarts(size, megabytes, step):
    """A restart marker behind every block, with numbers that are right or wrong."""
    head = SOI + TABLES + segment(DRI, struct.pack(">H", 1)) + frame(size) + scan()
    eight = b"".join(b"\x3f" + bytes([0xFF, 0xD0 + i * step % 8]) for i in range(8))
    return head + eight * int(megabytes * 1e6 / len(eight)) + EOI


def exif(data):
    return segment(APP1, (b"Exif\0\0" + data)[:65533])


def with_thumbnail(thumbnail):
    """A good picture; the one in its EXIF is not."""
    ifd0 = struct.pack(">HHHIII", 1, 0x0112, 3, 1, 6 << 16, 26)
    entries = ((0x0103, 3, 1, 6 << 16), (0x0201, 4, 1, 68), (0x0202, 4, 1, len(thumbnail)))
    ifd1 = struct.pack(">H", 3) + b"".join(struct.pack(">HHII", *entry) for entry in entries)
    return good((64, 64), exif(b"MM\0\x2a\0\0\0\x08" + ifd0 + ifd1 + bytes(4) + thumbnail))


def liars():
    huge = MEGAPIXEL_BOMB
    yield "hidden-6mp", hidden((3000, 2000))
    yield "hidden-400mp", hidden(huge)
    yield "hidden-1gp", hidden((65500, 16390))
    yield "hidden-1gp-progressive", hidden((65500, 16390), components=3, marker=SOF2)
    yield "garbage-144mp", SOI + b"zz" + gray((12000, 12000))[2:]
    yield "garbage-64kb", SOI + b"z" * 65536 + gray(huge)[2:]
    yield "fill-bytes", SOI + b"\xff" * 7_000_000 + gray(huge)[2:]
    yield "small-then-huge", SOI + frame((100, 100)) + gray(huge)[2:]
    yield "huge-then-small", SOI + frame(huge) + gray((100, 100))[2:]
    yield "frame-after-scan", gray((100, 100))[:-2] + frame(huge) + scan() + b"\0\0" + EOI
    yield "size-in-comment", gray(huge, head=segment(COM, frame((100, 100))))
    yield "two-starts", SOI + SOI + gray(huge)[2:]
    yield "picture-behind", good((64, 64)) + gray(huge)
    yield "pictures-behind", good((64, 64)) * 5000
    yield "tables-only", SOI + TABLES + EOI
    yield "no-tables", SOI + frame((100, 100)) + scan() + b"\0\0" + EOI
    yield "one-row", gray((65535, 1))
    yield "one-column", gray((1, 65535))
    yield "largest", gray((65535, 65535))
    yield "no-width", gray((0, 100))
    yield "thumbnail-400mp", with_thumbnail(gray(huge))
    yield "thumbnail-in-itself", with_thumbnail(with_thumbnail(hidden(huge)))


def processes():
    """What few decoders know, and sizes that come late."""
    huge = MEGAPIXEL_BOMB
    yield "no-height", gray((100, 0))
    yield "late-height", gray((100, 0), data=bytes(8) + segment(DNL, struct.pack(">H", 65000)))
    yield "late-height-changes", gray((100, 8), data=bytes(8) + segment(DNL, struct.pack(">H", 65000)))
    yield "arithmetic", gray((4000, 4000), marker=SOF9)
    yield "arithmetic-conditions", gray((4000, 4000), marker=SOF9, head=segment(DAC, b"\x00\xff\x10\xff"))
    yield "arithmetic-400mp", gray(huge, 3, marker=SOF10)
    yield "twelve-bits", gray((4000, 4000), marker=SOF1, precision=12)
    yield "sixteen-bits", gray((4000, 4000), marker=SOF1, precision=16)
    yield "lossless", gray((4000, 4000), marker=SOF3, precision=8)
    yield "lossless-16", gray((4000, 4000), marker=SOF3, precision=16)
    hierarchy = frame(huge, marker=DHP) + TABLES + frame((100, 100), marker=SOF5) + scan() + b"\0\0"
    yield "hierarchical", SOI + hierarchy + segment(EXP, b"\x11") * 50 + EOI
    yield "components-0", gray((100, 100), 0)
    yield "components-4", gray((2500, 2500), 4, head=segment(APP14, b"Adobe\0d\0\0\0\0\2"))
    yield "components-255", SOI + TABLES + frame((4000, 4000), 255) + scan(4) + b"\0\0" + EOI
    yield "sampling-4", gray((5000, 5000), 1, sampling=0x44)
    yield "sampling-4-of-three", gray((5000, 5000), 3, sampling=0x44)
    yield "sampling-0", gray((5000, 5000), 3, sampling=0)
    yield "sampling-15", gray((5000, 5000), 3, sampling=0xFF)


def scan_bombs():
    square = (5000, 5000)
    yield "scans-0.1", scans(square, 0.1)
    yield "scans-1", scans(square, 1)
    yield "scans-7.9", scans(square, 7.9)
    yield "scans-of-8x8", scans((8, 8), 7.9)
    yield "scans-99", scans(square, 44 * 99 / 1e6)
    yield "scans-arithmetic", SOI + progressive(square, SOF10)[2:-2] + (scan(1, 1, 63) + b"\0\0") * 50_000
    yield "refinements-90", refinements(square, 90, 7.8)
    yield "refinements-5000", refinements((640, 640), 5000, 7.8)
    yield "scans-of-baseline", baseline_scans((4000, 4000), 100_000)
    yield "coefficients", progressive(LARGEST)[:-2] + EOI
    yield "coefficients-of-three", gray(LARGEST, 3, SOF2)
    yield "restarts", restarts((5000, 5000), 7.8, 1)
    yield "restarts-wrong", restarts((5000, 5000), 7.8, 3)
    yield "restarts-alone", gray((5000, 5000), data=b"\xff\xd0" * 3_900_000)
    yield "markers", gray((5000, 5000), data=b"\xff\x01" * 3_900_000)


def floods():
    """Segments without number, or as large as they can be."""
    small = (64, 64)
    yield "tables-flood", good(small, TABLES * (7_800_000 // len(TABLES)))
    wrong = segment(DHT, b"\0" + b"\xff" * 16 + bytes(4080))
    yield "table-too-large", good(small, wrong)
    yield "table-many", good(small, segment(DHT, (b"\0\1" + bytes(16)) * 3600))
    yield "comments", good(small, segment(COM, b"a" * 65533) * 118)
    yield "comments-empty", good(small, segment(COM, b"") * 1_900_000)
    profile = b"ICC_PROFILE\0"
    yield "profile-parts", good(small, b"".join(
        segment(APP2, profile + bytes([i + 1, 118]) + bytes(65000)) for i in range(118)
    ))  # fmt: skip
    yield "adobe-many", good(small, segment(APP14, b"Adobe\0d\0\0\0\0\1") * 400_000)
    yield "jfif-thumbnail", good(small, segment(APP0, b"JFIF\0\1\2\0\0\1\0\1\xff\xff" + bytes(65000)))
    yield (
        "photoshop",
        good(small, segment(APP13, b"Photoshop 3.0\x008BIM\4\4\0\0\xff\xff\xff\xff" + bytes(60000))),
    )
    yield "exif-many", good(small, exif(b"II*\0\x08\0\0\0" + bytes(40)) * 100_000)
    for name, data in tiffs():
        yield f"exif-{name}", good(small, exif(data))
    yield "length-0", SOI + b"\xff\xe1\0\0" + good(small)[2:]
    yield "length-1", SOI + b"\xff\xe1\0\1" * 1000 + good(small)[2:]
    yield "length-past-end", SOI + b"\xff\xe1\xff\xff"


def pictures():
    for group in (liars, processes, scan_bombs, floods):
        for name, data in group():
            yield f"{name}.jpg", data
