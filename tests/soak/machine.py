"""The list of violations, and the machine: its load, and processes that keep it busy."""

import glob
import os
import subprocess
import sys

PROCESSORS = sorted(os.sched_getaffinity(0))

violations = []


def violated(sentence):
    violations.append(sentence)
    print(f"soak: VIOLATED: {sentence}", flush=True)


def load():
    """How many times slower things may be: processes that want a processor, for each of them."""
    return max(1.0, os.getloadavg()[0] / len(PROCESSORS), 1 + len(Hogs.running) / len(PROCESSORS))


def find_faketime():
    """Debian's libfaketime, which changes the clock of one process alone."""
    found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    return found[0] if found else None


class Hogs:
    """Processes that take the processors."""

    running = []

    @classmethod
    def start(cls, count):
        command = [sys.executable, "-c", "while True: pass"]
        cls.running = [subprocess.Popen(command) for _ in range(count)]

    @classmethod
    def stop(cls):
        for hog in cls.running:
            hog.kill()
            hog.wait()
        cls.running = []
