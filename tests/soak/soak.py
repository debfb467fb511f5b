#!/usr/bin/python3
"""Runs the real program for minutes under faults, and checks that it takes no harm.

usage: soak.py [--program PATH] [--camera PATH] [--minutes M] [--seed N] [--memory MB]

The program watches the paced test camera, or the V4L2 camera of fake_camera.h with faults of its
own, and is restarted at times. A seed decides what happens when; the same seed gives the same
faults again, on a machine that does as it did. Exits with 1 after a sentence for each thing that was
wrong.
"""

import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from broker import Broker
from camera_life import CameraLife
from life import SOURCE, Life
from machine import Hogs, find_faketime, load, violated, violations


class Totals:
    def __init__(self):
        self.faults = collections.Counter()
        self.visits = collections.Counter()
        self.frames = dict.fromkeys(("captured", "classified", "dropped", "in_flight"), 0)
        self.results = 0
        self.skipped = 0
        self.losses = 0
        self.stop = 0.0
        self.silence = 0.0
        self.grown_kb = -(1 << 60)
        self.resident_kb = 0
        self.address_space_kb = 0
        self.descriptors = set()
        self.threads = set()


def closed_stdout(options, totals):
    command = [options.program, SOURCE, "--format", "json", "--log-level", "off"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(20):
            process.stdout.readline()
        process.stdout.close()
        closed = time.monotonic()
        try:
            status = process.wait(30 * load())
        except subprocess.TimeoutExpired:
            process.kill()
            status = "none: it still ran"
        took = time.monotonic() - closed
    totals.faults["closed stdout"] += 1
    if status != 0:
        violated(f"closed stdout: exit status {status}")
    print(f"soak: closed stdout: exit status {status} after {took:.2f} s")


def full_stdout(options, totals):
    command = [options.program, SOURCE, "--format", "json", "--log-level", "off"]
    with open("/dev/full", "wb") as full:
        try:
            process = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, timeout=60 * load(), check=False
            )
        except subprocess.TimeoutExpired:
            violated("full stdout: it still ran")
            return
    said = process.stderr.decode(errors="replace").strip()
    totals.faults["full stdout"] += 1
    if process.returncode != 74 or "stdout" not in said or "\n" in said:
        violated(f"full stdout: exit status {process.returncode}: {said}")
    print(f"soak: full stdout: exit status {process.returncode}: {said}")


def report(totals, options, lives, seconds):
    print(f"\nsoak: seed {options.seed}, {seconds / 60:.1f} minutes, {lives} runs, load {load():.1f}")
    for fault, times in sorted(totals.faults.items()):
        print(f"  {times:6}  {fault}")
    if not find_faketime():
        print("  skipped  clock set back: no libfaketime here")
    if not os.path.exists(options.camera):
        print(f"  skipped  faults of a camera: no {options.camera}")
    if not Broker.exists():
        print("  skipped  a broker that comes and goes: no mosquitto here")
    print("  visits   " + ", ".join(f"{kind} {count}" for kind, count in sorted(totals.visits.items())))
    print("  frames   " + ", ".join(f"{key} {count}" for key, count in totals.frames.items()))
    print(f"  camera   lost {totals.losses} times, {totals.skipped} damaged frames were skipped")
    print(f"  results  {totals.results} read")
    print(f"  stopped  within {totals.stop * 1000:.0f} ms")
    print(f"  silence  {totals.silence:.2f} s at most while somebody read")
    memory = f"{totals.address_space_kb >> 10} of {options.memory} MB address space"
    if totals.resident_kb:
        memory += f", {totals.resident_kb >> 10} MB resident, growth {totals.grown_kb} kB"
        print(f"  stayed   {totals.descriptors} descriptors, {totals.threads} threads")
    print(f"  memory   {memory}")


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(root, "build/host/app/lookout"))
    camera = os.path.join(root, "build/host/tests/libfake_camera.so")
    parser.add_argument("--camera", default=camera, help="the library made of fake_camera.cpp")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--memory", type=int, default=1536, help="MB of address space")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which ends what this started
    print(f"soak: {options.program} for {options.minutes:g} minutes, seed {options.seed}", flush=True)

    totals = Totals()
    begin = time.monotonic()
    end = begin + options.minutes * 60
    closed_stdout(options, totals)
    full_stdout(options, totals)
    kinds = [Life, CameraLife] if os.path.exists(options.camera) else [Life]
    chooser = random.Random(options.seed)
    lives = 0
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        while time.monotonic() < end and len(violations) < 10:
            # The first of each kind are long, so that slow growth shows; then restarts.
            first = lives < len(kinds)
            seconds = options.minutes * 40 / len(kinds) if first else chooser.uniform(1, 30)
            seconds = min(seconds, end - time.monotonic())
            life = kinds[lives % len(kinds)](options, lives, seconds, folder, totals)
            lives += 1
            try:
                life.live()
            finally:
                Hogs.stop()
                life.clean_up()
    report(totals, options, lives, time.monotonic() - begin)
    print(f"soak: {'FAILED: ' + str(len(violations)) + ' violations' if violations else 'passed'}")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
