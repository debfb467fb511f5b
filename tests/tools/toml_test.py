#!/usr/bin/python3
"""What Python's tomllib reads, lookout reads alike; what it refuses, lookout refuses with a place.

    toml_test.py TOML_DUMP CONFIGURATION

Compares both on documents listed here, and on mutations of CONFIGURATION. Known differences:
lookout skips a byte order mark, and refuses files over 256 KB, keys of over 200 parts, values nested
over 32 deep, integers of over 64 bits and ` as an escape; it takes a key that is written once with
escapes and once without for two.
"""

import datetime
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import tomllib

MUTATIONS = 3000
SEED = 1
VALUES = [
    '"a # b"', "'a # b'", '"a\\tb\\\\c\\u00e9"', '"""a\nb"""', "'''\na'b\n'''", '"""a \\\n   \u00e9 b"""',
    '"""a \\\n \u00a0b"""', '""""a"""""', "''''a'''''", '"\\x41"', '"\\\u00e9"', '"""\\ a"""', '"a\nb"', '"a', "'a",
    '"\x01"', '"\x7f"', '"a\tb"', "1", "+1", "-0", "01", "1_000", "1__0", "_1", "0xDEAD_beef", "0o17",
    "0b101", "0x", "-0x1", "9223372036854775807", "1.5", "-1e3", "1.", ".5", "1.e3", "1e1_0", "inf", "-nan",
    "+inf", "Inf", "true", "True", "false", "yes", "1979-05-27", "07:32:00", "07:32", "1979-05-27T07:32:00Z",
    "1979-05-27 07:32:00.5+01:00", "1979-13-27", "1980-05-2", "[]", "[1, 'a', [2]]", "[1,]", "[,]", "[1 2]",
    "[1,\n# c\n2]", "{}", "{a = 1, b.c = 2}", "{a = 1,}", "{a = 1\n}", "{a = 1, a = 2}", "touch x", "",
    '1979-10-27T"\u00bc"', '1979-10-27 "\u00bc"', '1."\u00bc"', '[1."\u00bc"]', '"a""\u00bc"', "x'\u00bc'",
    '{"\u00e9" . "b" = ["\u00e9", \'\u00e9\'], c = {"\u00e9".d = "\u00e9"}}', '[[["\u00e9"]], ["\u00e9"]]',
    "\u00e9", "1 \u00a0", "#", "1 # \u00e9", "1\r", "1 # \x02",
]  # fmt: skip
DOCUMENTS = [
    "", "\n", "[", "[\n", "[]", "[a", "[a]\n[a]", "[a.b]\n[a]", "[a]\nb.c = 1\n[a.b]", "a.b = 1\na.c = 2",
    "a = 1\na.b = 2", "[[a]]\n[[a]]\nx = 1", "[a]\n[[a]]", "[ a . 'b' ]", '["\u00e9" . \'\u00e9\']\n"\u00e9" . b = 1', '[[ "\u00e9" ]]\n',
    '[a] # c\n# c\n"\u00e9" = [ # c\n"\u00e9", # c\n]', "[[a]", "[a]]", "[+a]", "\u03f4",
    "a", "a =", "= 1", "'' = 1", '"a b" = 1', "a b = 1", "a = 1 b = 2", "a = 1\r\nb = 2\r\n", "a = 1\rb = 2",
    '"""a""" = 1', "a = 1\n a = 2", "a = {b = 1}\n[a.c]", "a = [{b = 1}]\n[[a]]", "\x00", "a = 1 \x00", "\x0c",
]  # fmt: skip


def expected_of(data):
    """tomllib's value, or None for what it refuses."""
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return None


def equal_scalar(kind, text, want):
    if isinstance(want, bool):
        return kind == "a boolean" and text == str(want).lower()
    if isinstance(want, int):
        return kind == "an integer" and int(text) == want
    if isinstance(want, float):
        return kind == "a float" and repr(abs(float(text))) == repr(abs(want))
    if isinstance(want, (datetime.date, datetime.time)):
        return kind == "a date"
    return kind == "a string" and text == want


def equal(got, want):
    """Whether lookout's value is tomllib's."""
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(equal(got[key], want[key]) for key in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(equal, got, want))
    return equal_scalar(got["type"], got["text"], want)


def mutations(text):
    """Copies of `text` with a few bytes changed."""
    chance = random.Random(SEED)
    pieces = b"\"'[]{}=#\\.,\n\r\t _-+0e1\x00\x80\xc3\xa9"
    for _ in range(MUTATIONS):
        data = bytearray(text)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            piece = pieces[chance.randrange(len(pieces))]
            chance.choice((lambda: data.insert(at, piece), lambda: data.__setitem__(at, piece),
                           lambda: data.__delitem__(slice(at, at + chance.randint(1, 8)))))()  # fmt: skip
        yield bytes(data)


def all_documents(configuration):
    documents = [f"k = {value}\n".encode() for value in VALUES]
    documents += [text.encode() for text in DOCUMENTS]
    documents += [b"a = '\xff'", b"a = 1 # \xc3", b"\xed\xa0\x80", configuration]
    lines = configuration.split(b"\n")
    short = b"\n".join(line for line in lines if not line.startswith(b"# "))
    return documents + list(mutations(short))


def read_by_lookout(dump, documents):
    """For each document what toml_dump prints."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, data in enumerate(documents):
            paths.append(pathlib.Path(folder, f"{number}.toml"))
            paths[-1].write_bytes(data)
        text = "".join(f"{path}\n" for path in paths)
        result = subprocess.run([dump], input=text, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def is_right(got, want):
    if want is None:
        return "error" in got and got["line"] >= 1 and got["column"] >= 1
    return "value" in got and equal(got["value"], want)


def main():
    dump, configuration = sys.argv[1:]
    documents = all_documents(pathlib.Path(configuration).read_bytes())
    failures = refused = 0
    for data, got in zip(documents, read_by_lookout(dump, documents), strict=True):
        want = expected_of(data)
        refused += want is None
        if not is_right(got, want):
            failures += 1
            print(f"{data[:300]!r}: lookout: {str(got)[:200]}; tomllib: {str(want)[:200]}")
    print(f"{len(documents)} documents, {refused} of them refused by tomllib; {failures} differences")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
