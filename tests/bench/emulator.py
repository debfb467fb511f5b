"""Counts what a program executes on an emulated Cortex-A72, block by block (tcg_count.c)."""

import bisect
import collections
import os
import pathlib
import subprocess

from running import Failure

HERE = pathlib.Path(__file__).resolve().parent


def build_plugin(folder):
    plugin = folder / "tcg_count.so"
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run(command + ["-o", str(plugin), str(HERE / "tcg_count.c")], check=True)
    return plugin


def emulated(plugin, sysroot, command, out):
    """The command that runs `command` in the emulator, and writes its counts into the file `out`."""
    emulator = ["qemu-aarch64", "-plugin", f"{plugin},out={out}", "-cpu", "cortex-a72"]
    return [*emulator, "-L", sysroot, "-U", "LD_LIBRARY_PATH", *command]


def count(plugin, sysroot, command, out):
    """Runs it in the emulator; its counts are in the file `out` then."""
    command = emulated(plugin, sysroot, command, out)
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    if done.returncode != 0 or not os.path.exists(out):
        raise Failure(f"{' '.join(command)}: {done.returncode}: {done.stderr[-300:]}")
    return out


def count_bare(plugin, sysroot, build, archive, runs, out):
    """The same for so many runs of a model alone: bare_forward or bare_session."""
    program = "bare_session" if archive.endswith(".onnx") else "bare_forward"
    return count(plugin, sysroot, [f"{build}/tests/{program}", archive, str(runs)], out)


class Symbols:
    """The functions of an ELF file, by offset in the file."""

    def __init__(self, path):
        self.segments = []  # offset, address, size
        headers = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout
        for line in headers.splitlines():
            words = line.split()
            if words and words[0] == "LOAD":
                self.segments.append(tuple(int(words[i], 16) for i in (1, 2, 4)))
        self.functions = {}  # address: end, name
        for table in ([], ["-D"]):
            listing = subprocess.run(
                ["nm", "-CS", "--defined-only", *table, path], capture_output=True, text=True
            ).stdout
            for line in listing.splitlines():
                words = line.split(None, 3)
                if len(words) == 4 and words[2] in "tTwWiu":
                    address, size = (int(word, 16) for word in words[:2])
                    self.functions.setdefault(address, (address + size, words[3]))
        self.addresses = sorted(self.functions)

    def find(self, offset):
        for start, address, size in self.segments:
            if start <= offset < start + size:
                address += offset - start
                place = bisect.bisect_right(self.addresses, address) - 1
                end, name = self.functions[self.addresses[place]] if place >= 0 else (0, "")
                return name if address < end else f"(local, near {name or 'the start'})"
        return "(local)"


def read_maps(lines):
    """The mappings before the empty line, by address: (low, high, offset in the file, path)."""
    maps = []
    for line in lines:
        if line == "\n":
            break
        words = line.split(None, 5)
        low, high = (int(word, 16) for word in words[0].split("-"))
        maps.append((low, high, int(words[2], 16), words[5].strip() if words[5:] else ""))
    return sorted(maps)


def read_blocks(file):
    """{(path, offset, instructions): executions} of a file of counts.

    Code outside of files has the path "-" and the offset 0.
    """
    blocks = collections.Counter()
    with open(file, encoding="utf-8") as lines:
        maps = read_maps(lines)
        lows = [entry[0] for entry in maps]
        for line in lines:
            address, instructions, executions = line.split()
            address = int(address, 16)
            low, high, offset, path = maps[bisect.bisect_right(lows, address) - 1]
            place = ("-", 0)
            if address < high and path.startswith("/"):
                place = (path, address - low + offset)
            blocks[(*place, int(instructions))] += int(executions)
    return blocks


class Counts:
    """Reads counts; keeps the symbols of libraries, which most runs share."""

    def __init__(self):
        self.symbols = {}

    def symbol(self, path, offset):
        if path not in self.symbols:
            self.symbols[path] = Symbols(path)
        return self.symbols[path].find(offset)

    def read(self, file):
        """{(path, offset): instructions}; code outside of files is ("-", 0)."""
        counts = collections.Counter()
        for (path, offset, instructions), executions in read_blocks(file).items():
            counts[path, offset] += instructions * executions
        return counts

    def a_frame(self, few, many, frames):
        """{"LIBRARY FUNCTION": instructions a frame}"""
        first, second = self.read(few), self.read(many)
        functions = collections.Counter()
        for key in first.keys() | second.keys():
            difference = (second[key] - first[key]) / frames
            if difference:
                path, offset = key
                name = self.symbol(path, offset) if path != "-" else ""
                functions[f"{os.path.basename(path)} {name}"] += difference
        return functions


def sysroot_of(build):
    with open(f"{build}/CMakeCache.txt", encoding="utf-8") as cache:
        for line in cache:
            if line.startswith("LOOKOUT_SYSROOT:"):
                return line.split("=", 1)[1].strip()
    raise Failure(f"{build} is no cross build")
