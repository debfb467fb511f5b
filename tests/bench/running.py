"""Runs commands for measurements: their output, their CPU time, and what others did meanwhile."""

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time


class Failure(Exception):
    pass


def run_main(main):
    """Ends the program with the sentence of a Failure."""
    try:
        main()
    except Failure as failure:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)


def processor():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


class Others:
    """How much of the processors' time others take while this lives, steal included."""

    def __init__(self):
        self.start = time.monotonic()
        self.busy = self.busy_seconds() - self.own_seconds()

    @staticmethod
    def busy_seconds():
        with open("/proc/stat", encoding="utf-8") as stat:
            user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
        ticks = user + nice + system + irq + softirq + steal
        return ticks / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def own_seconds():
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def share(self):
        available = (time.monotonic() - self.start) * os.cpu_count()
        others = self.busy_seconds() - self.own_seconds() - self.busy
        return max(0.0, others / available)


@contextlib.contextmanager
def busy_processes(count):
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def run(command):
    """Runs it to its end: (stdout, CPU seconds of the process)."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            lines = err.read().decode(errors="replace").splitlines() or ["no message"]
            raise Failure(f"{' '.join(command)}: status {process.returncode}: {lines[-1]}")
        return out.read().decode(), usage.ru_utime + usage.ru_stime


class Runner:
    """Runs commands; again, when others took more of the processors' time than `limit` (0..1)."""

    def __init__(self, limit, tries):
        self.limit = limit
        self.tries = tries
        self.again = 0  # runs that were thrown away
        self.disturbed = 0  # runs that count although others took more
        self.shares = []  # what others took, of those that count

    def run(self, command):
        """(stdout, CPU seconds of the process)"""
        for last in [False] * (self.tries - 1) + [True]:
            others = Others()
            result = run(command)
            share = others.share()
            if share <= self.limit or last:
                self.shares.append(share)
                self.disturbed += share > self.limit
                return result
            self.again += 1
        return None


def read_peer(stdout):
    return json.loads(stdout)


def read_lookout(stdout):
    """The summary; and the share of the frames' time that is not the model's."""
    lines = [json.loads(line) for line in stdout.splitlines()]
    frames = [line["timing_ms"] for line in lines if line["type"] == "classification"]
    summary = lines[-1]
    if frames:
        total = sum(frame["total"] for frame in frames)
        summary["rest"] = 1 - sum(frame["inference"] for frame in frames) / total
    return summary
