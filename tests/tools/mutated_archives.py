#!/usr/bin/env python3
"""Gives the real program damaged models: each is refused with a sentence, or works.

usage: mutated_archives.py [--program PATH] [--archive PT|ONNX] [--count N] [--seed N] [--keep DIR]

Before that, `inspect` reads the archive with JSON in it that is nested deeper than any stack.

A half of the variants of an archive are damaged in what it holds, a half of an ONNX model's where its
graph and its texts are: elsewhere are weights. Each variant is loaded and run in a child process with a limit on its memory and its time. It may end
with 65 and one sentence that names the archive, run normally where the damage hit nothing that
matters, or be ended by a limit. Exits with 1 after a sentence for each that did otherwise: a crash
above all. A seed decides on the variants; --keep saves the offending ones.
"""

import argparse
import collections
import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import zipfile

SECONDS = 60
MEMORY = 2 << 30  # bytes of address space
PART = 64 << 10  # bytes of a small network's graph


def flip_bits(data, rng, max_flips=8):
    data = bytearray(data)
    for _ in range(rng.randint(1, max_flips)):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def overwrite(data, rng):
    start = rng.randrange(len(data)) if data else 0
    size = rng.randint(1, 64)
    return data[:start] + rng.randbytes(size) + data[start + size :]


def zero(data, rng):
    start = rng.randrange(len(data)) if data else 0
    size = rng.randint(1, 4096)
    return data[:start] + bytes(len(data[start : start + size])) + data[start + size :]


def cut(data, rng):
    return data[: rng.randrange(len(data))] if data else data


def drop(data, rng):
    start = rng.randrange(len(data)) if data else 0
    return data[:start] + data[start + rng.randint(1, 64) :]


def noise(_, rng):
    return rng.randbytes(rng.randint(0, 4096))


RAW = [flip_bits, overwrite, zero, cut, drop, noise]


# ---- variants of the members, packed again with right checksums

def pack(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


def pick(members, rng, ending=""):
    return rng.choice([i for i, (name, _) in enumerate(members) if name.endswith(ending)])


def change(members, i, data):
    return members[:i] + [(members[i][0], data)] + members[i + 1 :]


def member_removed(members, rng):
    i = pick(members, rng)
    return members[:i] + members[i + 1 :]


def members_swapped(members, rng):
    i, j = pick(members, rng), pick(members, rng)
    return change(change(members, i, members[j][1]), j, members[i][1])


def member_zeroed(members, rng):
    i = pick(members, rng)
    return change(members, i, bytes(len(members[i][1])))


def member_emptied(members, rng):
    return change(members, pick(members, rng), b"")


def member_cut(members, rng):
    i = pick(members, rng)
    return change(members, i, cut(members[i][1], rng))


def member_damaged(members, rng):
    i = pick(members, rng)
    return change(members, i, rng.choice(RAW)(members[i][1], rng))


def pickle_damaged(members, rng):
    i = pick(members, rng, "data.pkl")
    return change(members, i, rng.choice([flip_bits, overwrite, cut])(members[i][1], rng))


def code_damaged(members, rng):
    i = pick(members, rng, ".py")
    return change(members, i, rng.choice([flip_bits, overwrite, cut])(members[i][1], rng))


def labels_damaged(members, rng):
    i = pick(members, rng, "labels.txt")
    return change(members, i, rng.choice(RAW)(members[i][1], rng))


VALUES = [None, True, -1, 0, 3, 1e308, 1 << 64, "", "x", [], [1, 2, 3], [0, 0, 0], {}, "\u0000"]


def metadata_changed(members, rng):
    """Valid JSON with a wrong, missing or unknown value."""
    i = pick(members, rng, "metadata.json")
    root = json.loads(members[i][1])
    target = rng.choice([root, root["input"]])
    key = rng.choice(list(target))
    if rng.random() < 0.3:
        del target[key]
    else:
        target[key] = rng.choice(VALUES)
    return change(members, i, json.dumps(root).encode())


def metadata_damaged(members, rng):
    i = pick(members, rng, "metadata.json")
    return change(members, i, rng.choice(RAW)(members[i][1], rng))


REPACKED = [
    member_removed,
    members_swapped,
    member_zeroed,
    member_emptied,
    member_cut,
    member_damaged,
    pickle_damaged,
    code_damaged,
    labels_damaged,
    metadata_changed,
    metadata_damaged,
]


def near_an_end(data, mutation, rng):
    """Damages the first or the last part of the data."""
    part = min(PART, len(data))
    if rng.random() < 0.5:
        return mutation(data[:part], rng) + data[part:]
    return data[:-part] + mutation(data[-part:], rng)


def variants_of_onnx(whole, count, rng):
    for number in range(count):
        mutation = RAW[number // 2 % len(RAW)]
        if number % 2 == 0:
            yield mutation.__name__, mutation(whole, rng)
        else:
            yield f"{mutation.__name__}_near_an_end", near_an_end(whole, mutation, rng)


def variants(archive, count, rng):
    """(name, bytes): half of them damaged as a file, half in what it holds."""
    with open(archive, "rb") as file:
        whole = file.read()
    if not zipfile.is_zipfile(archive):
        yield from variants_of_onnx(whole, count, rng)
        return
    with zipfile.ZipFile(archive) as original:
        members = [(info.filename, original.read(info)) for info in original.infolist()]
    for number in range(count):
        if number % 2 == 0:
            mutation = RAW[number // 2 % len(RAW)]
            yield mutation.__name__, mutation(whole, rng)
        else:
            mutation = REPACKED[number // 2 % len(REPACKED)]
            yield mutation.__name__, pack(mutation(members, rng))


# ---- JSON that is nested deeper than any stack

NESTED = b"[" * 200_000 + b"]" * 200_000


def varint(number):
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def message(field, content):
    """A field of a protobuf message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def nested_in_archive(whole):
    """(name, bytes)"""
    with zipfile.ZipFile(io.BytesIO(whole)) as original:
        members = [(info.filename, original.read(info)) for info in original.infolist()]
    root = members[0][0].split("/")[0]
    for text in ("metadata", "producer_info"):
        name = f"{root}/extra/{text}.json"
        yield text, pack([member for member in members if member[0] != name] + [(name, NESTED)])


def nested_in_onnx(whole):
    """(name, bytes): the last text of a name counts."""
    metadata_props = 14
    texts = {"lookout.metadata": NESTED}, {"lookout.producer_info": NESTED}
    ultralytics = {"lookout.metadata": b"", "task": b"classify", "names": b"{0: 'a'}", "imgsz": NESTED}
    for case in (*texts, ultralytics):
        name = list(case)[-1]
        yield name, whole + b"".join(
            message(metadata_props, message(1, key.encode()) + message(2, value))
            for key, value in case.items()
        )


def inspect_nested(program, archive, folder):
    """Returns a sentence for each file that inspect neither describes nor refuses."""
    with open(archive, "rb") as file:
        whole = file.read()
    nested = nested_in_archive if zipfile.is_zipfile(archive) else nested_in_onnx
    failures = []
    for name, data in nested(whole):
        path = os.path.join(folder, "nested.pt")
        with open(path, "wb") as file:
            file.write(data)
        for kind in ("text", "json"):
            run = subprocess.run(
                [program, "inspect", path, "--format", kind], capture_output=True, check=False
            )
            described = run.returncode == 0 and name.endswith("producer_info")
            if not described and (run.returncode != 65 or path not in run.stderr.decode()):
                failures.append(f"nested {name}, {kind}: exit status {run.returncode}")
    return failures


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def judge(program, path):
    """(what became of it, what is wrong with that or nothing)"""
    command = [program, "test://checkers?fps=0&frames=3&size=64x64", "--threads", "1"]
    try:
        run = subprocess.run(
            [*command, "--model", path, "--log-level", "off"],
            capture_output=True,
            timeout=SECONDS,
            preexec_fn=limit_memory,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "ended by the time limit", None
    said = run.stderr.decode(errors="replace").strip()
    if run.returncode == 0:
        return "works", None
    if run.returncode == 65 and path in said and "\n" not in said:
        return "refused", None
    if run.returncode > 0 and ("bad_alloc" in said or "not enough memory" in said):
        return "ended by the memory limit", None
    if run.returncode < 0:
        return "CRASHED", f"{signal.Signals(-run.returncode).name}: {said[-300:]}"
    return "WRONG", f"exit status {run.returncode}: {said[-300:]}"


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(root, "build/host/app/lookout"))
    parser.add_argument("--archive", default=os.path.join(root, "models/selftest.pt"))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for the variants that did otherwise")
    options = parser.parse_args()

    outcomes = collections.Counter()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="mutated") as folder:
        wrong_nested = inspect_nested(options.program, options.archive, folder)
        for sentence in wrong_nested:
            print(f"mutated_archives: {sentence}", flush=True)
        failures = len(wrong_nested)
        for number, (name, data) in enumerate(variants(options.archive, options.count, rng)):
            path = os.path.join(folder, f"{number}-{name}.pt")
            with open(path, "wb") as file:
                file.write(data)
            outcome, wrong = judge(options.program, path)
            outcomes[outcome] += 1
            if wrong:
                failures += 1
                print(f"mutated_archives: {number} {name}: {wrong}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    os.rename(path, os.path.join(options.keep, os.path.basename(path)))
                    continue
            os.remove(path)
    found = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"mutated_archives: seed {options.seed}, {options.count} variants: {found}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
