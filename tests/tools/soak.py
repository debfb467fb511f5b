#!/usr/bin/env python3
"""Runs the real program for minutes under faults, and checks that it takes no harm.

usage: soak.py [--program PATH] [--camera PATH] [--minutes M] [--seed N] [--memory MB]

The program watches the paced test camera, or the V4L2 camera of fake_camera.cpp with faults of its
own, and is started anew at times. A seed decides what happens when; the same seed gives the same
faults again, on a machine that does as it did. Exits with 1 after a sentence for each thing that was
wrong.
"""

import argparse
import collections
import contextlib
import glob
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = "test://all?size=320x240&fps=30"
WARM_UP = 10.0  # s, after which memory, descriptors and threads are to stay as they are
SILENCE = 10.0  # s without a result that are a hang, times the load
GROWTH_KB = 4096  # of resident memory after the warm-up that is no leak yet
BACK = 20.0  # s from the end of a camera's fault to its next frame, times the load
STOP = 0.2  # s from SIGTERM to the end, without the inference that is under way
STOP_ALLOWANCE = 0.3  # s more for the machine, times the load
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


class Reader(threading.Thread):
    """The reader of the program's stdout: fast, slow or asleep. Checks every line."""

    def __init__(self, fd, name):
        super().__init__(daemon=True)
        self.fd = fd
        self.life = name
        self.rate = None  # bytes a second; None: as they come; 0: none
        self.results = 0
        self.label = None  # the best of the last result
        self.states = []  # of the camera: offline, online, ...
        self.seq = -1
        self.summary = None
        self.went_back = 0.0  # s, the largest step of the time stamps to the past
        self.timestamp = 0.0
        self.inference = 0.0  # s, the longest
        self.last = time.monotonic()  # when a result came
        self.rest = b""

    def run(self):
        while True:
            rate = self.rate
            if rate == 0:
                time.sleep(0.02)
                continue
            chunk = os.read(self.fd, 65536 if rate is None else max(1, rate // 20))
            if not chunk:
                return
            *lines, self.rest = (self.rest + chunk).split(b"\n")
            for line in lines:
                self.take(line)
            if rate is not None:
                time.sleep(0.05)

    def take(self, line):
        try:
            value = json.loads(line)
        except ValueError:
            violated(f"{self.life}: a line that is no JSON: {line[:200]!r}")
            return
        if value["type"] == "summary":
            self.summary = value
        if value["type"] == "status":
            self.states.append(value["state"])
        if value["type"] != "classification":
            return
        if value["seq"] <= self.seq:
            violated(f"{self.life}: frame {value['seq']} came after {self.seq}")
        if value["frame_age_ms"] < 0:
            violated(f"{self.life}: frame {value['seq']} is from the future")
        self.seq = value["seq"]
        self.results += 1
        self.label = value["results"][0]["label"]
        self.went_back = max(self.went_back, self.timestamp - value["timestamp"])
        self.timestamp = value["timestamp"]
        self.inference = max(self.inference, value["timing_ms"]["inference"] / 1000)
        self.last = time.monotonic()


class Life:
    """One run of the program, from its start to SIGTERM, on the test camera."""

    def __init__(self, options, number, seconds, folder, totals):
        self.options = options
        self.name = f"run {number}"
        self.random = random.Random(f"{options.seed}/{number}")
        self.seconds = seconds
        self.totals = totals
        self.log = os.path.join(folder, f"{number}.log")
        self.samples = []  # (s since the start, kB, descriptors, threads)
        self.stopped_amid = self.random.random() < 0.3
        self.clock_file = None
        arguments, environment = self.prepare(number, folder)
        limit = options.memory << 20
        command = [options.program, *arguments]
        command += ["--format", "json", "--top-k", "3", "--threads", "1"]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **environment},
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
            )
        self.started = time.monotonic()
        self.reader = Reader(self.process.stdout.fileno(), self.name)
        self.reader.start()

    def prepare(self, number, folder):
        """The program's source, and what it is to find in its environment beside ours."""
        faketime = find_faketime()
        if not faketime or number % 4:
            return [SOURCE], {}
        self.clock_file = os.path.join(folder, f"{number}.clock")
        self.set_clock("+0")
        return [SOURCE], {
            "LD_PRELOAD": faketime,
            "FAKETIME_TIMESTAMP_FILE": self.clock_file,
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    # ---- faults: each lasts `seconds`, or into the end when that comes amid it

    def slow_reader(self, seconds):
        self.reader.rate = self.random.randrange(1000, 6000)
        if self.wait(seconds, may_be_silent=True):
            self.reader.rate = None

    def paused_reader(self, seconds):
        self.reader.rate = 0
        before = self.processor_time()
        if not self.wait(seconds, may_be_silent=True):
            return
        if self.running() and self.processor_time() == before:
            violated(f"{self.name}: does nothing while nobody reads")
        self.reader.rate = None

    def frozen(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(min(seconds, 3))
        finally:
            self.process.send_signal(signal.SIGCONT)
        self.reader.last = time.monotonic()

    def busy_machine(self, seconds):
        Hogs.start(self.random.randrange(1, 3) * len(PROCESSORS))
        if self.wait(seconds):
            Hogs.stop()

    def one_processor(self, seconds):
        self.pin([self.random.choice(PROCESSORS)])
        if self.wait(seconds):
            self.pin(PROCESSORS)

    def clock_set_back(self, seconds):
        back = self.random.randrange(60, 86400)
        self.set_clock(f"-{back}")
        if not self.wait(max(seconds, 3)):  # the library looks once a second
            return
        gone = self.reader.went_back
        if self.running() and gone < back - 30:
            violated(f"{self.name}: the clock was set back by {back} s, time stamps by {gone:.0f}")
        self.set_clock("+0")
        self.wait(2)
        self.reader.went_back = 0.0

    def set_clock(self, offset):
        # In one step: the program may read it now.
        with open(self.clock_file + ".new", "w", encoding="ascii") as file:
            file.write(offset + "\n")
        os.rename(self.clock_file + ".new", self.clock_file)

    def pin(self, processors):
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread), processors)

    # ---- what goes on meanwhile

    def running(self):
        return self.process.poll() is None

    def processor_time(self):
        """In clock ticks."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def ending(self):
        return time.monotonic() >= self.started + self.seconds

    def sample(self):
        folder = f"/proc/{self.process.pid}"
        with open(f"{folder}/status", encoding="utf-8") as file:
            status = dict(line.split(":", 1) for line in file)
        if "VmRSS" not in status:  # just ended
            return
        # Some are open for a moment only, of /proc/stat, or of the fake camera's file of faults.
        descriptors = min(len(os.listdir(f"{folder}/fd")) for _ in range(3))
        resident = int(status["VmRSS"].split()[0])
        now = time.monotonic() - self.started
        self.samples.append((now, resident, descriptors, int(status["Threads"])))
        self.totals.address_space_kb = max(
            self.totals.address_space_kb, int(status["VmPeak"].split()[0])
        )

    def wait(self, seconds, may_be_silent=False):
        """Watches the program for a while. False: its life ends now, amid this."""
        end = time.monotonic() + seconds
        while self.running() and time.monotonic() < end:
            if self.ending() and self.stopped_amid:
                return False
            time.sleep(min(0.5, max(0, end - time.monotonic())))
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                self.sample()
            silence = time.monotonic() - self.reader.last
            if may_be_silent:
                continue
            self.totals.silence = max(self.totals.silence, silence)
            if silence > SILENCE * load():
                violated(f"{self.name}: no result for {silence:.1f} s")
                self.reader.last = time.monotonic()
        if may_be_silent:
            self.reader.last = time.monotonic()
        return True

    def await_first_result(self):
        end = time.monotonic() + 60 * load()
        while self.running() and self.reader.results == 0 and time.monotonic() < end:
            time.sleep(0.05)
        if self.reader.results == 0:
            violated(f"{self.name}: no result after its start: {self.last_words()}")
        self.started = time.monotonic()

    # ---- the whole of it

    def faults(self):
        faults = [self.slow_reader, self.paused_reader, self.frozen, self.busy_machine]
        faults.append(self.one_processor)
        if self.clock_file:
            faults.append(self.clock_set_back)
        return faults

    def live(self):
        faults = self.faults()
        bag = []
        self.await_first_result()
        while self.running() and not self.ending():
            if not bag:  # each of them once before one comes again
                bag = self.random.sample(faults, len(faults))
            fault = bag.pop()
            seconds = self.random.uniform(1, 6)
            self.totals.faults[fault.__name__.replace("_", " ")] += 1
            fault(seconds)
            self.wait(self.random.uniform(0.5, 3))
        self.end()

    def end(self):
        if not self.running():
            violated(f"{self.name}: ended by itself with {self.process.poll()}: {self.last_words()}")
            return
        unread = self.reader.rate is not None
        asked = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(30 * load())
        except subprocess.TimeoutExpired:
            violated(f"{self.name}: still runs {time.monotonic() - asked:.0f} s after SIGTERM")
            self.process.kill()
            status = self.process.wait()
        took = time.monotonic() - asked
        allowed = STOP + STOP_ALLOWANCE * load()
        Hogs.stop()
        self.reader.rate = None
        self.reader.join(30)
        allowed += self.reader.inference
        self.totals.stop = max(self.totals.stop, took)
        if took > allowed:
            violated(f"{self.name}: took {took:.2f} s to stop, {allowed:.2f} s are allowed")
        if status != 0:
            violated(f"{self.name}: exit status {status}: {self.last_words()}")
        self.check_counts(unread)
        self.check_flat()

    def last_words(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return " / ".join(file.read().splitlines()[-3:])

    def check_counts(self, unread):
        self.totals.results += self.reader.results
        summary = self.reader.summary
        if summary is None:
            if not unread:  # a full pipe takes no summary
                violated(f"{self.name}: no summary")
            return
        self.totals.skipped += summary["skipped"]
        counts = {key: summary[key] for key in self.totals.frames}
        for key, count in counts.items():
            self.totals.frames[key] += count
        parts = counts["classified"] + counts["dropped"] + counts["in_flight"]
        if counts["captured"] != parts:
            violated(f"{self.name}: the counts do not add up: {counts}")
        if self.reader.results > counts["classified"]:
            violated(f"{self.name}: {self.reader.results} results, but {counts}")

    def check_flat(self):
        settled = [sample for sample in self.samples if sample[0] >= WARM_UP]
        if len(settled) < 16:  # too short a life
            return
        quarter = len(settled) // 4
        grown = min(s[1] for s in settled[-quarter:]) - max(s[1] for s in settled[:quarter])
        self.totals.grown_kb = max(self.totals.grown_kb, grown)
        self.totals.resident_kb = max(self.totals.resident_kb, max(s[1] for s in settled))
        if grown > GROWTH_KB:
            violated(f"{self.name}: resident memory grew by {grown} kB in {self.seconds:.0f} s")
        for index, what in ((2, "descriptors"), (3, "threads")):
            seen = {sample[index] for sample in settled}
            getattr(self.totals, what).update(seen)
            if len(seen) > 1:
                violated(f"{self.name}: {what} did not stay the same: {sorted(seen)}")

    def clean_up(self):
        if self.running():
            self.process.kill()
            self.process.wait()
        self.reader.rate = None
        self.reader.join(5)
        self.process.stdout.close()


class CameraLife(Life):
    """One run on the V4L2 camera of fake_camera.cpp."""

    def prepare(self, number, folder):
        self.camera = os.path.join(folder, f"{number}.camera")
        self.fault_file = os.path.join(folder, f"{number}.fault")
        self.losses = 0
        self.whole = True  # no fault, and it was seen that there is none
        self.plug()
        environment = {
            "LD_PRELOAD": self.options.camera,
            "LOOKOUT_FAKE_CAMERA": self.camera,
            "LOOKOUT_FAKE_FAULT": self.fault_file,
        }
        arguments = [self.camera, "--stats-interval", "1h"]
        if number % 4 == 1:  # which the camera gives as MJPG only
            arguments += ["--width", "640", "--height", "480"]
        return arguments, environment

    def faults(self):
        faults = [self.lost, self.unplugged, self.stalled, self.hiccup, self.resized]
        faults += [self.corrupt, self.short, self.empty, self.error_flag, self.gaps]
        faults += [self.frozen, self.busy_machine]
        return faults

    def plug(self):
        os.symlink("/dev/null", self.camera)

    def set_fault(self, words):
        if words:
            self.whole = False
        with open(self.fault_file + ".new", "w", encoding="ascii") as file:
            file.write(words)
        os.rename(self.fault_file + ".new", self.fault_file)

    def lost(self, seconds):
        self.set_fault("lost")
        if self.is_away(seconds):
            self.come_back()

    def unplugged(self, seconds):
        self.set_fault("lost")
        os.unlink(self.camera)
        if self.is_away(seconds):
            self.plug()
            self.come_back()

    def stalled(self, seconds):
        self.set_fault("stalled")
        if self.is_away(seconds):
            self.come_back()

    def hiccup(self, seconds):
        """A silence too short to be a loss."""
        self.set_fault("stalled")
        if self.wait(seconds / 10, may_be_silent=True):
            self.come_back()

    def resized(self, seconds):
        self.set_fault("lost resized")
        if not self.is_away(0):
            return
        if not self.come_back("resized") or not self.wait(seconds):
            return
        self.set_fault("lost")
        if self.is_away(0):
            self.come_back()

    def corrupt(self, seconds):
        self.spoil("corrupt", seconds)

    def short(self, seconds):
        self.spoil("short", seconds)

    def empty(self, seconds):
        self.spoil("empty", seconds)

    def error_flag(self, seconds):
        self.spoil("error", seconds)

    def gaps(self, seconds):
        self.spoil("gaps", seconds)

    def spoil(self, fault, seconds):
        self.set_fault(fault)
        if self.wait(seconds, may_be_silent=True):
            self.come_back()

    def is_away(self, seconds):
        """Waits until that is said, and some more. False: the life ends now, amid this."""
        self.losses += 1
        if not self.until(lambda: self.reader.states[-1:] == ["offline"], SILENCE, "offline"):
            return False
        return self.wait(seconds, may_be_silent=True)

    def come_back(self, fault=""):
        """Ends the fault, and waits for results. False: the life ends now, amid this."""
        before = self.reader.results
        self.set_fault(fault)

        def is_back():
            online = self.reader.states[-1:] != ["offline"]
            return online and self.reader.results > before and self.reader.label == "color bars"

        if not self.until(is_back, BACK, "back with the right result"):
            return False
        if not fault:
            self.whole = True
        return True

    def until(self, is_so, seconds, what):
        """Waits for something that has to be. False: the life ends now, amid this."""
        asked = time.monotonic()
        while self.running() and not is_so():
            if time.monotonic() - asked > seconds * load():
                violated(f"{self.name}: not {what} after {seconds * load():.0f} s")
                return True
            if not self.wait(0.1, may_be_silent=True):
                return False
        return True

    def sample(self):
        if self.whole:
            super().sample()

    def end(self):
        super().end()
        self.totals.losses += self.losses
        states = self.reader.states
        if states != ["offline", "online"] * (len(states) // 2) + ["offline"] * (len(states) % 2):
            violated(f"{self.name}: a camera that goes and comes was {states}")
        if not self.losses - 1 <= states.count("offline") <= self.losses:
            violated(f"{self.name}: {states.count('offline')} times offline, {self.losses} losses")
        with open(self.log, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        foreign = [line for line in lines if not re.match(r"\d\d:\d\d:\d\d [a-z]+ ", line)]
        if foreign:
            violated(f"{self.name}: lines that are not of the log: {foreign[:3]}")
        if len(lines) > 3 * self.losses + 10:  # lost, back, damaged
            violated(f"{self.name}: {len(lines)} log lines for {self.losses} losses")


class Totals:
    def __init__(self):
        self.faults = collections.Counter()
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


# ---- short runs

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
