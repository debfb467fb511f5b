"""One run of the program on the test camera, with faults of the machine and of the reader."""

import contextlib
import os
import random
import resource
import signal
import subprocess
import time

import broker
from machine import PROCESSORS, Hogs, find_faketime, load, violated
from reader import Reader
from visitors import Visitors

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")
SOURCE = "test://all?size=320x240&fps=30"
WARM_UP = 10.0  # s, after which memory, descriptors and threads are to stay as they are
SILENCE = 10.0  # s without a result that are a hang, times the load
GROWTH_KB = 4096  # of resident memory after the warm-up that is no leak yet
STOP = 0.2  # s from SIGTERM to the end, without the inference that is under way
STOP_ALLOWANCE = 0.3  # s more for the machine, times the load


def model(program, number):
    """Arguments: every second run has an ONNX model, where the program can run one."""
    modules = os.path.join(os.path.dirname(program), "../lib/lookout")
    if number % 2 or not os.path.exists(os.path.join(modules, "liblookout-onnxruntime.so")):
        return []
    return ["--model", os.path.join(MODELS, "onnx_format/selftest.onnx")]


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
        self.own_sockets = 0  # without those of clients; the broker may be away
        self.descriptor_names = {}  # by their number
        self.quiet = set()  # descriptors, but sockets, and threads while no client was there
        self.socket = os.path.join(folder, f"{number}.http")
        self.broker = None
        arguments, environment = self.prepare(number, folder)
        limit = options.memory << 20
        command = [options.program, *arguments]
        command += ["--format", "json", "--top-k", "3", "--threads", "1"]
        command += ["--set", f"http.address=unix:{self.socket}", *model(options.program, number)]
        if broker.Broker.exists():
            path = os.path.join(folder, f"{number}.mqtt")
            self.broker = broker.Broker(path, f"{options.seed}/{number}")
            command += ["--mqtt", f"mqtt+unix:{path}"]
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
        self.visitors = Visitors(self.socket, self.name, f"{options.seed}/{number}")

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

    def nobody_visits(self, seconds):
        """The clients leave, and nothing of them is left."""
        self.visitors.leave()
        end = time.monotonic() + SILENCE * load()
        allowed = self.own_sockets + self.of_broker(broker.SOCKETS)
        while self.running() and self.count_sockets() > allowed and time.monotonic() < end:
            time.sleep(0.05)
        if self.running() and self.count_sockets() > allowed:
            violated(f"{self.name}: {self.count_sockets()} sockets are open, without a client")
        if self.wait(seconds / 3):
            self.note_quiet()
            self.visitors.come()

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

    def descriptors(self):
        """What each is."""
        names = []
        folder = f"/proc/{self.process.pid}/fd"
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for number in os.listdir(folder):
                with contextlib.suppress(FileNotFoundError):
                    names.append(os.readlink(f"{folder}/{number}"))
        return names

    def count_sockets(self):
        return sum(name.startswith("socket:") for name in self.descriptors())

    def note_quiet(self):
        if time.monotonic() - self.started < WARM_UP:
            return
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            descriptors = len(self.lasting("socket:"))
            threads = len(os.listdir(f"/proc/{self.process.pid}/task"))
            self.quiet.add((descriptors, threads))

    def lasting(self, *left_out):
        """Descriptors whose names do not begin so, without those that are open for a moment only, of
        /proc/stat or of the fake camera's file of faults."""
        looks = []
        for _ in range(3):
            looks.append(sorted(n for n in self.descriptors() if not n.startswith(left_out)))
            time.sleep(0.01)
        return min(looks, key=len)

    def sample(self):
        folder = f"/proc/{self.process.pid}"
        with open(f"{folder}/status", encoding="utf-8") as file:
            status = dict(line.split(":", 1) for line in file)
        if "VmRSS" not in status:  # just ended
            return
        descriptors = self.lasting("socket:", "/memfd:")  # those of clients and of their pictures
        resident = int(status["VmRSS"].split()[0])
        now = time.monotonic() - self.started
        self.samples.append((now, resident, len(descriptors), int(status["Threads"])))
        if now >= WARM_UP:
            self.descriptor_names.setdefault(len(descriptors), descriptors)
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
        faults += [self.one_processor, self.nobody_visits]
        if self.clock_file:
            faults.append(self.clock_set_back)
        return faults

    def live(self):
        faults = self.faults()
        bag = []
        self.await_first_result()
        self.own_sockets = self.count_sockets()
        self.visitors.come()
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
        self.visitors.over = True
        asked = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(30 * load())
        except subprocess.TimeoutExpired:
            violated(f"{self.name}: still runs {time.monotonic() - asked:.0f} s after SIGTERM")
            self.process.kill()
            status = self.process.wait()
        took = time.monotonic() - asked
        allowed = STOP + STOP_ALLOWANCE * load() + self.of_broker(broker.STOP)
        Hogs.stop()
        self.reader.rate = None
        self.reader.join(30)
        allowed += self.reader.inference
        self.totals.stop = max(self.totals.stop, took)
        if took > allowed:
            violated(f"{self.name}: took {took:.2f} s to stop, {allowed:.2f} s are allowed")
        if status != 0:
            violated(f"{self.name}: exit status {status}: {self.last_words()}")
        self.visitors.end()
        self.totals.visits += self.visitors.visits
        self.check_counts(unread)
        self.check_flat()
        self.end_broker()

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
        if grown > GROWTH_KB + self.of_broker(broker.GROWTH_KB):
            violated(f"{self.name}: resident memory grew by {grown} kB in {self.seconds:.0f} s")
        for index, what in ((2, "descriptors"), (3, "threads")):
            seen = {sample[index] for sample in settled}
            getattr(self.totals, what).update(seen)
            if len(seen) > 1:
                violated(f"{self.name}: {what} did not stay the same: {sorted(seen)}")
                print(f"soak: descriptors: {self.descriptor_names}")

        if len(self.quiet) > 1:
            violated(f"{self.name}: without a client: {sorted(self.quiet)} descriptors and threads")

    def of_broker(self, more):
        """What a broker adds to a limit, if there is one."""
        return more if self.broker else 0

    def end_broker(self):
        if self.broker:
            self.broker.end()
            self.totals.faults += self.broker.faults
            self.broker = None

    def clean_up(self):
        if self.running():
            self.process.kill()
            self.process.wait()
        self.visitors.end()
        self.end_broker()
        self.reader.rate = None
        self.reader.join(5)
        self.process.stdout.close()
