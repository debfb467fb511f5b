#!/usr/bin/python3
"""Instructions a frame on an emulated Cortex-A72: lookout against the bare run of its model.

The whole process is counted by a plug-in of qemu-aarch64 (emulator.py), for n frames and for n + k:
the difference, divided by k, is a frame's cost, without start and end. It is not time: an emulator
has no caches, no memory bandwidth and no pipelines. The emulated /proc/cpuinfo is a Raspberry Pi
4's: make-sysroot.sh writes it.

Whatever else the machine does, the figure of a qint8 archive is the same each time, to 0.1 %. That
of a quint8 archive moves by 2 %: QNNPACK makes a layer's indirection buffer again whenever its input
lies elsewhere in memory than the time before, which depends on the allocator.

Frames come from `test://`, which draws its picture with the first frame; what a frame costs then is
a copy of its pixels, as from a driver's buffer, and a small marker. That is in lookout's figure and
has a line of its own in the table of parts. `--csi` counts what a frame of a CSI camera costs instead,
without the kernel's part.

  instructions.py                  a table: both archives, 224x224 and 640x480
  instructions.py --onnx FILE      a table of an ONNX model instead
  instructions.py --profile        what profiles and traces add to a frame
  instructions.py --functions 30   also the functions with the largest surplus
  instructions.py --csi            frames of a CSI camera alone, of the model's size and 640x480

Needs what `deploy/install-deps.sh --bench` and `--target` install, a build of `cmake --preset pi4
-DBUILD_TESTING=ON` (targets lookout, bare_forward, bare_session and csi_frames), and the archives of one network
with qint8 and with quint8 activations (not for --csi).
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import tempfile

from emulator import Counts, build_plugin, count, sysroot_of
from running import Failure, run_main

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SIZES = ("224x224", "640x480")
# Limits of the ratio to the bare program, and of the whole, in million instructions.
RATIOS = {"qint8": {"224x224": 0.99, "640x480": 1.01}, "onnx": {"224x224": 1.04}}
TOTALS = {"onnx": {"224x224": 118}}
# Options of a run that profiles, and limits of the ratio to one that does not.
PROFILES = {
    "off": [],
    "1 % by layer": ["--set", "profile.op-sampling=0.01", "--set", "profile.op-by=layer"],
    "everything": ["--set", "profile.op-sampling=1", "--set", "profile.op-by=layer", "--trace", "/dev/shm/lookout-trace.json"],
}
PROFILE_RATIOS = {"1 % by layer": 1.002, "everything": 1.03}
CSI_SIZES = ((298, 224), (640, 480))  # the first is asked for when the model takes 224x224
CSI_FORMATS = ("RGB888", "NV12")

# Parts of the surplus: the first whose pattern is found in "LIBRARY FUNCTION".
PARTS = (
    ("preprocess", r"Preprocessor"),
    ("softmax, top k, state", r"softmax|top_k|StateTracker|^libm\."),
    ("report: JSON, statistics, writing", r"Json|Reporter|append_|fmt|NonBlockingWriter|Statistics|Histogram"),
    # The C library's own copying has no name in a stripped library.
    ("take the frame: its copy and marker",
     r"TestSource|copy_shifted|draw_marker|^libc\.so\S* \(local"),
    ("the engine", r"^libtorch|^libc10|TorchClassifier|^libonnxruntime|Onnx"),
    ("rest of lookout", r"^lookout "),
    ("rest: C library, C++ library, ...", r""),
)


def parts_of(surplus):
    parts = collections.Counter()
    for function, instructions in surplus.items():
        part = next(name for name, pattern in PARTS if re.search(pattern, function))
        parts[part] += instructions
    return parts


def models_of(options):
    """{kind: file}"""
    if options.onnx:
        return {"onnx": options.onnx}
    return {"qint8": options.qint8, "quint8": options.quint8}


def runs_of(options):
    """{(archive's kind, what): {frames: command}}"""
    program = [f"{options.build}/app/lookout", "run"]
    settings = ["--threads", "1", "--format", "json", "--log-level", "off"]
    # A frame takes a second in the emulator: statistics would come with each.
    settings += ["--set", "log.stats-interval=1h"]
    few, many = options.few, options.few + options.frames
    runs = {}
    for kind, archive in models_of(options).items():
        bare = "bare_session" if kind == "onnx" else "bare_forward"
        runs[kind, "bare"] = {
            n: [f"{options.build}/tests/{bare}", archive, str(n)] for n in (few, many)
        }
        for size in SIZES:
            source = f"test://colorsquares?size={size}&fps=0&frames="
            runs[kind, size] = {
                n: program + [f"{source}{n}", "--model", archive, *settings] for n in (few, many)
            }
    return runs


def profile_runs_of(options):
    """{(archive's kind, profile): {frames: command}}"""
    runs = runs_of(options)
    return {
        (kind, profile): {
            n: [*command, *added] for n, command in runs[kind, SIZES[0]].items()
        }
        for kind in ("qint8",)
        for profile, added in PROFILES.items()
    }


def csi_runs_of(options):
    """{(format, size): {frames: command}}"""
    counts = (options.few, options.few + options.frames)
    return {
        (pixels, f"{width}x{height}"): {
            n: [f"{options.build}/tests/csi_frames", pixels, str(width), str(height), str(n)]
            for n in counts
        }
        for pixels in CSI_FORMATS
        for width, height in CSI_SIZES
    }


def read_options():
    shared = ROOT.parent / "shared" / "models"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=str(ROOT / "build" / "pi4"), help="default build/pi4")
    parser.add_argument("--qint8", default=str(shared / "mobilenet_v2_xnnpack.pt"), metavar="FILE")
    parser.add_argument("--quint8", default=str(shared / "mobilenet_v2_qnnpack.pt"), metavar="FILE")
    parser.add_argument("--onnx", metavar="FILE", help="an ONNX model instead of both archives")
    parser.add_argument("--few", type=int, default=3, help="n; default 3")
    parser.add_argument("--frames", type=int, default=4, help="k; default 4")
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side; default 2")
    parser.add_argument("--csi", action="store_true", help="count frames of a CSI camera")
    parser.add_argument("--profile", action="store_true", help="count what profiles add")
    parser.add_argument("--functions", type=int, default=0, metavar="N",
                        help="print so many functions of each surplus")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write everything that was counted")
    options = parser.parse_args()
    needed = [f"{options.build}/app/lookout", *models_of(options).values()]
    for file in [f"{options.build}/tests/csi_frames"] if options.csi else needed:
        if not os.path.exists(file):
            raise Failure(f"{file} is not there; see --help")
    return options


def count_all(options, runs):
    """{key of a run: {function: instructions a frame}}"""
    sysroot = sysroot_of(options.build)
    counts = Counts()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plugin = build_plugin(folder)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            files = {}
            for number, (key, commands) in enumerate(runs.items()):
                files[key] = [
                    pool.submit(count, plugin, sysroot, command, f"{folder}/{number}-{n}")
                    for n, command in sorted(commands.items())
                ]
            return {
                key: counts.a_frame(few.result(), many.result(), options.frames)
                for key, (few, many) in files.items()
            }


def verdict(value, limits, kind, what):
    """Whether the value holds its limit; empty when it has none."""
    limit = limits.get(kind, {}).get(what)
    if limit is None:
        return ""
    return f" <= {limit} {'holds' if value <= limit else 'misses'}"


def print_totals(frames):
    """Prints a line for each run, and returns them."""
    rows = []
    print("million instructions a frame, whole process, 1 thread, Cortex-A72 emulated")
    for (kind, what), functions in frames.items():
        total = sum(functions.values())
        ratio = total / sum(frames[kind, "bare"].values())
        rows.append({"archive": kind, "run": what, "instructions": total, "ratio": ratio})
        line = f"{kind:<7} {what:<13} {total / 1e6:9.3f}"
        if what in SIZES:
            line += f"  / bare {ratio:.4f}" + verdict(ratio, RATIOS, kind, what)
            line += verdict(total / 1e6, TOTALS, kind, what)
        print(line)
    return rows


def print_largest(functions, count):
    """Prints a line for each of the functions with the most instructions, of either sign."""
    largest = sorted(functions.items(), key=lambda entry: -abs(entry[1]))
    for function, instructions in largest[:count]:
        print(f"{instructions / 1e6:9.3f} M      {function[:110]}")


def print_profiles(frames, functions_to_print):
    """Prints a line for each profile and its largest functions, and returns the totals."""
    rows = []
    print("million instructions a frame, whole process, 1 thread, Cortex-A72 emulated")
    for (kind, profile), functions in frames.items():
        total = sum(functions.values())
        ratio = total / sum(frames[kind, "off"].values())
        rows.append({"archive": kind, "profile": profile, "instructions": total, "ratio": ratio})
        limit = verdict(ratio, {kind: PROFILE_RATIOS}, kind, profile)
        print(f"{kind:<7} {profile:<13} {total / 1e6:9.3f}  / off {ratio:.4f}{limit}")
        surplus = collections.Counter(functions)
        surplus.subtract(frames[kind, "off"])
        print_largest(surplus, functions_to_print)
    return rows


def print_csi(frames, functions):
    """Prints a line for each run and its largest functions, and returns the totals."""
    rows = []
    print("million instructions a frame of a CSI camera, 1 thread, Cortex-A72 emulated")
    for (pixels, size), counted in frames.items():
        total = sum(counted.values())
        rows.append({"format": pixels, "size": size, "instructions": total})
        print(f"{pixels:<7} {size:<13} {total / 1e6:9.3f}")
        print_largest(counted, functions)
    return rows


def print_surplus(kind, what, surplus, functions):
    """Prints the parts of a surplus and its largest functions, and returns the parts."""
    parts = parts_of(surplus)
    print(f"\nsurplus of {kind} {what}: {sum(parts.values()) / 1e6:.3f} M")
    for part, instructions in parts.most_common():
        print(f"{instructions / 1e6:9.3f} M  {part}")
    print_largest(surplus, functions)
    return {"archive": kind, "run": what, "surplus": dict(parts.most_common())}


def main():
    options = read_options()
    if options.csi:
        rows = print_csi(count_all(options, csi_runs_of(options)), options.functions)
    elif options.profile:
        rows = print_profiles(count_all(options, profile_runs_of(options)), options.functions)
    else:
        frames = count_all(options, runs_of(options))
        rows = print_totals(frames)
        for (kind, what), functions in frames.items():
            if what in SIZES:
                surplus = collections.Counter(functions)
                surplus.subtract(frames[kind, "bare"])
                rows.append(print_surplus(kind, what, surplus, options.functions))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    run_main(main)
