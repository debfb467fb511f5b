#!/usr/bin/python3
"""What networks and input sizes cost on a Cortex-A72: counts their instructions, and draws accuracy
against them.

  costs.py count    counts the instructions of a frame in the emulator, as instructions.py does, and
                    writes them into costs.csv
  costs.py plot     draws costs.svg from costs.csv

Counted is the bare forward of an archive with two classes and random weights: instructions depend on
neither. The accuracies in costs.csv are measured by hand, see tests/bench/README.md.

`count` needs what `deploy/install-deps.sh --bench` and `--target` install, and the target
bare_forward of a cross build.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))

import emulator
import plot
import running

TABLE, PICTURE = HERE / "costs.csv", HERE / "costs.svg"
FEW, MANY = 1, 2  # frames; bare_forward runs three before
PYTHON = "/usr/bin/python3"


def read_table():
    with open(TABLE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_table(rows):
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def export(folder, network, size):
    labels, archive = folder / "labels.txt", folder / f"{network}-{size}.pt"
    labels.write_text("open\nclosed\n", encoding="utf-8")
    command = [PYTHON, str(ROOT / "models" / "export.py"), "--no-weights", "--arch", network]
    command += ["--size", size, "--labels", str(labels), "-o", str(archive)]
    subprocess.run(command, check=True, capture_output=True)
    return archive


def count_frame(build, plugin, folder, row):
    """The instructions of one frame."""
    archive = export(folder, row["network"], row["size"])
    counts = emulator.Counts()
    totals = []
    for frames in (FEW, MANY):
        command = [f"{build}/tests/bare_forward", str(archive), str(frames), row["size"]]
        out = f"{folder}/counts"
        emulator.count(plugin, emulator.sysroot_of(build), command, out)
        totals.append(sum(counts.read(out).values()))
        os.remove(out)
    return (totals[1] - totals[0]) / (MANY - FEW)


def count(options):
    rows = read_table()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plugin = emulator.build_plugin(folder)
        for row in rows:
            if options.networks and row["network"] not in options.networks:
                continue
            frame = count_frame(options.build, plugin, folder, row)
            row["million_instructions"] = f"{frame / 1e6:.1f}"
            print(row["network"], row["size"], row["million_instructions"], flush=True)
            write_table(rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("count", "plot"))
    parser.add_argument("networks", nargs="*", help="count only these")
    parser.add_argument("--build", default=str(ROOT / "build" / "pi4"), help="default build/pi4")
    options = parser.parse_args()
    if options.what == "count":
        count(options)
    else:
        PICTURE.write_text(plot.draw(read_table()), encoding="utf-8")


if __name__ == "__main__":
    running.run_main(main)
