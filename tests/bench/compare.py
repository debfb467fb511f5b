#!/usr/bin/python3
"""Whole runs of lookout and its peers, side by side: ratios with their spread.

Rounds are interleaved (A B C A B C ..., each beginning with another one), and a ratio is taken of
two runs of one round, so that what else the machine does, or did to its clock, touches both. Prints
for each figure the minimum, the median and the maximum of the rounds, its bar, and the machine with
what others did on it. Figures of a shared or virtual machine are that machine's.

  compare.py                                  everything, about half an hour
  compare.py --rows rates --rounds 3          the rates alone
  compare.py --tflite M.tflite --json FILE

Needs what `deploy/install-deps.sh --bench` installs, a build of `cmake --preset host`, and the
archives of one network with qint8 and with quint8 activations.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics

from paced import jitter, memory, priority, reporting
from rates import rates
from report import Report
from running import Failure, Runner, processor, run, run_main

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = {
    "rates": rates,
    "jitter": jitter,
    "priority": priority,
    "reporting": reporting,
    "memory": memory,
}


def make_parser():
    shared = ROOT.parent / "shared" / "models"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=ROOT / "build" / "host", help="default build/host")
    parser.add_argument("--qint8", default=str(shared / "mobilenet_v2_xnnpack.pt"), metavar="FILE")
    parser.add_argument("--quint8", default=str(shared / "mobilenet_v2_qnnpack.pt"), metavar="FILE")
    parser.add_argument("--tflite", metavar="FILE", help="of the same network; else no LiteRT")
    parser.add_argument("--rows", default=",".join(ROWS), help=f"of {','.join(ROWS)}; default all")
    parser.add_argument("--rounds", type=int, default=7, help="of the rates; default 7")
    parser.add_argument("--seconds", type=float, default=3, help="a run of the rates; default 3")
    parser.add_argument("--paced-rounds", type=int, default=3, help="default 3")
    parser.add_argument("--paced-seconds", type=float, default=60, help="a run; default 60")
    parser.add_argument("--memory-frames", type=int, default=100_000, help="default 100000")
    parser.add_argument(
        "--max-others", type=float, default=100, metavar="PERCENT",
        help="repeat a run in which others took more of the processors' time",
    )  # fmt: skip
    parser.add_argument("--tries", type=int, default=20, help="of such a run, at most; default 20")
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    return parser


def read_options():
    parser = make_parser()
    options = parser.parse_args()
    options.lookout = f"{options.build}/app/lookout"
    options.runner = Runner(options.max_others / 100, options.tries)
    options.rows = options.rows.split(",")
    for name in options.rows:
        if name not in ROWS:
            parser.error(f"there is no row {name}, only {', '.join(ROWS)}")
    for file in (options.lookout, options.qint8, options.quint8, options.tflite):
        if file and not os.path.exists(file):
            raise Failure(f"{file} is not there; see --help")
    return options


def describe_machine(options):
    machine = {
        "processor": processor(),
        "processors": os.cpu_count(),
        "system": platform.release(),
        "lookout": run([options.lookout, "--version"])[0].strip().splitlines(),
        "load_before": os.getloadavg(),
    }
    print(f"{machine['processor']}, {machine['processors']} processors, Linux {machine['system']}")
    print(f"{'; '.join(machine['lookout'])}; load {machine['load_before'][0]:.2f}")
    return machine


def describe_others(runner):
    others = {
        "median": statistics.median(runner.shares),
        "max": max(runner.shares),
        "runs": len(runner.shares),
        "runs_thrown_away": runner.again,
        "runs_above_limit": runner.disturbed,
    }
    print(
        f"of the processors' time others took {100 * others['median']:.0f} % in the "
        f"median of {others['runs']} runs and {100 * others['max']:.0f} % at most; "
        f"{runner.again} other runs were thrown away"
    )
    return others


def main():
    options = read_options()
    machine = describe_machine(options)
    print(f"{'':<62} {'min':>8} {'median':>8} {'max':>8}")
    report = Report()
    for name in options.rows:
        ROWS[name](options, report)
    machine["load_after"] = os.getloadavg()
    if options.runner.shares:
        machine["others"] = describe_others(options.runner)
    if options.json:
        content = {"machine": machine, "rows": report.rows, "commands": report.variants}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)


if __name__ == "__main__":
    run_main(main)
