#!/usr/bin/python3
"""Modelled cycles of a model on a Cortex-A72 beside its instructions, and an estimated rate.

  cycles.py                       the archives of both kinds, and the ONNX model
  cycles.py --models A.pt,B.onnx  others; those of the calibration are still run
  cycles.py --llvm 14             another scheduling model
  cycles.py --blocks 10           also the blocks with the most cycles

Instructions alone mislead: engines with fewer of them can take longer. So each block of instructions
is counted in the emulator (emulator.py) and its cycles are those of llvm-mca, LLVM's simulator of a
processor's pipelines, for the same block again and again. It knows neither caches (each load hits),
nor a bus, nor branches that were predicted wrongly, and its Cortex-A72 is LLVM's Cortex-A57, which is
older and alike. What it leaves out is in one factor: the cycles that four cores of a Raspberry Pi 4
took, by times that others published, over the modelled ones.

All of this is an estimate. Nothing was measured on a Raspberry Pi.

Needs what instructions.py needs, and llvm-mca and llvm-mc (Debian 12: package llvm-19). Without one of
the tools, the build or a model it ends with the exit status 77, which means skipped, and the reason.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import emulator
import running

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
FEW, RUNS = 2, 2  # a run's cost is the difference of FEW + RUNS and FEW, a run
ITERATIONS = 100  # of a block, in llvm-mca
COVERED = 0.97  # of the instructions; the other blocks take as many cycles an instruction
CLOCKS = (1.5, 1.8)  # GHz: of a Raspberry Pi 4, and of one with newer firmware
CORES = 4

# Milliseconds of MobileNetV2 on a Raspberry Pi 4 with four threads, by the kernels that an archive of
# this kind runs on. Neither source tells its clock. 1.5 GHz is taken, which was the default before
# firmware of late 2021; 1.8 GHz would make the factor, and with it each estimate, a fifth larger.
# quint8: "Model Time" in PyTorch's tutorial "Real Time Inference on Raspberry Pi 4" (QNNPACK).
# qint8: "INT8 MobileNet v2 1.0X", RPi 4 (BCM2711, ARM64), in XNNPACK's README of 2022.
PUBLISHED_MS = {"quint8": 26.4, "qint8": 17.0}
PUBLISHED_CLOCK = 1.5
CLOCK_ERROR = CLOCKS[1] / CLOCKS[0] - 1

# They jump away, and llvm-mca has no cycles for what is there.
LEAVES = re.compile(r"\s*(bl|blr|br|ret|svc)\b")


class Skipped(Exception):
    pass


def difference(few, many, runs):
    """{block: executions a run}"""
    return {
        block: (executions - few.get(block, 0)) / runs
        for block, executions in many.items()
        if executions > few.get(block, 0)
    }


def hottest(blocks, share):
    """The blocks with the most instructions, until they have that share of all."""
    total = sum(instructions * count for (_, _, instructions), count in blocks.items())
    chosen, covered = [], 0
    for block in sorted(blocks, key=lambda block: -block[2] * blocks[block]):
        if covered >= share * total:
            break
        if block[0] != "-":
            chosen.append(block)
            covered += block[2] * blocks[block]
    return chosen


def regions_of(assembly):
    """What llvm-mca reads of blocks, each the lines of llvm-mc; a region is called as its number."""
    text = []
    for number, lines in enumerate(assembly):
        kept = [line for line in lines if not LEAVES.match(line)] or ["nop"]
        text += [f"# LLVM-MCA-BEGIN {number}", *kept, "# LLVM-MCA-END"]
    return "\n".join(text) + "\n"


def cycles_of(output):
    """{number of a region: cycles of one iteration} of llvm-mca's text."""
    cycles = {}
    region, iterations = None, None
    for line in output.splitlines():
        if found := re.match(r"\[\d+\] Code Region - (\d+)", line):
            region = int(found[1])
        elif found := re.match(r"Iterations:\s+(\d+)", line):
            iterations = int(found[1])
        elif found := re.match(r"Total Cycles:\s+(\d+)", line):
            cycles[region] = int(found[1]) / iterations
    return cycles


def modelled_cycles(blocks, cycles):
    """All blocks' cycles a run, of which `cycles` has some: {block: cycles of one execution}."""
    total = sum(block[2] * count for block, count in blocks.items())
    known = sum(block[2] * blocks[block] for block in cycles)
    return sum(each * blocks[block] for block, each in cycles.items()) * total / known


def factor_of(modelled):
    """The factor from modelled cycles to those of four cores, and its relative error.

    `modelled`: the cycles of each kind of archive in PUBLISHED_MS.
    """
    factors = [
        ms * PUBLISHED_CLOCK * 1e6 * CORES / modelled[kind] for kind, ms in PUBLISHED_MS.items()
    ]
    middle = (min(factors) + max(factors)) / 2
    return middle, (max(factors) - middle) / middle + CLOCK_ERROR


def is_float(assembly):
    """Whether a kernel, by the lines of llvm-mc, multiplies floats: its model moves four times the bytes."""
    return any(re.match(r"\s*(fmla|fmul|fmadd)\b", line) for line in assembly)


class Model:
    """llvm-mca."""

    def __init__(self, version):
        self.disassembler, self.simulator = f"llvm-mc-{version}", f"llvm-mca-{version}"
        for tool in (self.disassembler, self.simulator):
            if shutil.which(tool) is None:
                raise Skipped(f"{tool} is not there: apt install llvm-{version}")
        self.version = self.run([self.simulator, "--version"], "").splitlines()[0].strip()

    @staticmethod
    def run(command, text):
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout

    def disassemble(self, block):
        path, offset, instructions = block
        with open(path, "rb") as file:
            file.seek(offset)
            code = file.read(4 * instructions)
        text = " ".join(f"{byte:#04x}" for byte in code)
        lines = self.run([self.disassembler, "-disassemble", "-triple=aarch64"], text).splitlines()
        return [line for line in lines if line.strip() and not line.strip().startswith(".")]

    def cycles(self, blocks):
        """{block: cycles of one execution}"""
        text = regions_of(self.disassemble(block) for block in blocks)
        command = [self.simulator, "-mtriple=aarch64", "-mcpu=cortex-a72"]
        command += [f"-iterations={ITERATIONS}", "-instruction-info=0", "-resource-pressure=0"]
        found = cycles_of(self.run(command, text))
        return {block: found[number] for number, block in enumerate(blocks)}


class Bench:
    """Counts and models the bare run of a model: bare_forward or bare_session."""

    def __init__(self, options, folder):
        self.build, self.folder = options.build, folder
        self.sysroot = emulator.sysroot_of(self.build)
        self.plugin = emulator.build_plugin(folder)
        self.model = Model(options.llvm)

    def blocks(self, archive):
        counts = []
        for runs in (FEW, FEW + RUNS):
            out = f"{self.folder}/counts"
            emulator.count_bare(self.plugin, self.sysroot, self.build, archive, runs, out)
            counts.append(emulator.read_blocks(out))
        return difference(*counts, RUNS)

    def row(self, archive):
        blocks = self.blocks(archive)
        cycles = self.model.cycles(hottest(blocks, COVERED))
        largest = sorted(cycles.items(), key=lambda entry: -entry[1] * blocks[entry[0]])
        return {
            "model": os.path.basename(archive),
            "instructions": sum(block[2] * count for block, count in blocks.items()),
            "cycles": modelled_cycles(blocks, cycles),
            "float": is_float(self.model.disassemble(largest[0][0])),
            "blocks": [
                {"file": os.path.basename(block[0]), "offset": block[1], "instructions": block[2],
                 "cycles": each, "executions": blocks[block]}
                for block, each in largest
            ],
        }  # fmt: skip


def print_row(row, factor, error):
    core = ", ".join(f"{row['cycles'] / clock / 1e6:.1f}" for clock in CLOCKS)
    line = f"{row['model']:<28} {row['instructions'] / 1e6:8.1f} {row['cycles'] / 1e6:8.1f} {core:>13}"
    if row["float"]:
        print(f"{line}   of floats: the factor is not theirs")
        return
    four = [factor * row["cycles"] / (CORES * clock * 1e6) for clock in CLOCKS]
    row["four_threads_ms"], row["error"] = four, error
    print(f"{line} {', '.join(f'{ms:.1f}' for ms in four):>13}"
          f" {', '.join(f'{1000 / ms:.0f}' for ms in four):>8} +- {100 * error:.0f} %")  # fmt: skip


def print_blocks(row, count):
    for block in row["blocks"][:count]:
        total = block["cycles"] * block["executions"]
        print(f"  {total / 1e6:8.2f} M cycles: {block['instructions']} instructions in {block['cycles']:.1f}, "
              f"{block['executions']:.0f} times, {block['file']} {block['offset']:#x}")  # fmt: skip


def read_options():
    shared = ROOT.parent / "shared" / "models"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=str(ROOT / "build" / "pi4"), help="default build/pi4")
    parser.add_argument("--qint8", default=str(shared / "mobilenet_v2_xnnpack.pt"), metavar="FILE")
    parser.add_argument("--quint8", default=str(shared / "mobilenet_v2_qnnpack.pt"), metavar="FILE")
    parser.add_argument("--models", default=str(shared / "mobilenet_v2_s8.onnx"), metavar="FILES")
    parser.add_argument("--llvm", default="19", metavar="VERSION", help="default 19")
    parser.add_argument("--blocks", type=int, default=0, metavar="N", help="print so many of each")
    parser.add_argument("--json", metavar="FILE", help="write everything")
    options = parser.parse_args()
    options.models = [name for name in options.models.split(",") if name]
    for file in (f"{options.build}/tests/bare_forward", options.qint8, options.quint8, *options.models):
        if not os.path.exists(file):
            raise Skipped(f"{file} is not there; see --help")
    for tool in ("qemu-aarch64", "gcc"):
        if shutil.which(tool) is None:
            raise Skipped(f"{tool} is not there; see --help")
    return options


def main():
    options = read_options()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        calibration = {"quint8": bench.row(options.quint8), "qint8": bench.row(options.qint8)}
        rows = [*calibration.values(), *(bench.row(model) for model in options.models)]
    factor, error = factor_of({kind: row["cycles"] for kind, row in calibration.items()})
    print(f"{bench.model.version}, cortex-a72: cycles that are modelled, times and rates that are "
          f"estimated of a Raspberry Pi 4\nfour threads take {factor:.2f} times the modelled cycles\n"
          f"{'model alone, a run':<28} {'M instr.':>8} {'M cycles':>8} {'ms, one core':>13}"
          f" {'ms, 4 threads':>13} {'fps':>8}   at 1.5, 1.8 GHz")  # fmt: skip
    for row in rows:
        print_row(row, factor, error)
        print_blocks(row, options.blocks)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"llvm": bench.model.version, "factor": factor, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    try:
        running.run_main(main)
    except Skipped as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
