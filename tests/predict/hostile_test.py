#!/usr/bin/python3
"""Pictures that are attacks: none shuts out others, takes memory, or stops the camera or a stop.

  hostile_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout, or LOOKOUT_PROGRAM. Each picture of hostile_pictures.py is sent, and
LOOKOUT_MUTATIONS=N (1) mutations of it. From 100 on this is the long mode, for a machine that does nothing
else: it prints a line for each picture, and checks times, too. LOOKOUT_HOSTILE=REGEX: only pictures of these
names. LOOKOUT_SEED=N: other mutations.
"""

import collections
import contextlib
import http.client
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "soak"))
sys.dont_write_bytecode = True

from hostile_pictures import GOOD, hostile_pictures, mutations  # noqa: E402
from machine import violations  # noqa: E402
from reader import Reader  # noqa: E402
from served import MAX_GROWTH, PATIENCE, ServedTest, wait_for  # noqa: E402

MUTATIONS = int(os.environ.get("LOOKOUT_MUTATIONS", "1"))
LONG = MUTATIONS >= 100
SEED = os.environ.get("LOOKOUT_SEED", "1")
NAMES = re.compile(os.environ.get("LOOKOUT_HOSTILE", ""))
PICTURES = hostile_pictures()
SENT = list(filter(NAMES.search, PICTURES))
WORST = ["scans-7.9.jpg", "hidden-400mp.jpg", "deep.png", "ztxt-1000.png"]  # at the same time
SLOW = re.compile(
    "hidden|scans|refine|restart|coeff|arith|largest|deep|ztxt|behind-pixels|268mp|25mp|groups|flood"
)
HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"
STATUSES = {200, 400, 413, 415, 422, 429, 503}
PROCESSOR_TIME = 5.0  # s that a picture takes, and what others do meanwhile
# Of the long mode, in seconds: another client's answer, results of a camera of 20 frames a second, a stop.
ANSWER, RESULT, STOP = 1.0, 0.1, 2.0
TICKS = os.sysconf("SC_CLK_TCK")


def family(pid):
    """The process and those that it started."""
    pids = [pid]
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in os.listdir(f"/proc/{pid}/task"):
            children = pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()
            pids += itertools.chain.from_iterable(family(int(child)) for child in children)
    return pids


def max_memory(pid, parent):
    """MB; 0 of one that has ended, and of one that is starting: until exec its memory is the parent's."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, IndexError):
        if pid != parent and os.readlink(f"/proc/{pid}/exe") == os.readlink(f"/proc/{parent}/exe"):
            return 0
        return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    return 0


def processor_time(pid):
    """Seconds of the process, of its children, and of those that have ended."""
    total = 0
    for member in family(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = pathlib.Path(f"/proc/{member}/stat").read_text().rsplit(")", 1)[1].split()
            total += sum(map(int, fields[11:15])) / TICKS
    return total


class Repeated(threading.Thread):
    """Does something again and again, until the end of a `with`; what fails is raised there."""

    def __init__(self, action, pause):
        super().__init__(daemon=True)
        self.action, self.pause = action, pause
        self.failure = None
        self.over = threading.Event()

    def run(self):
        try:
            while not self.over.wait(self.pause):
                self.action()
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()
        if self.failure:
            raise self.failure


class Camera(Reader):
    longest = 0.0  # s between two results

    def take(self, line):
        before, last = self.results, self.last
        super().take(line)
        if before and self.results > before:
            self.longest = max(self.longest, self.last - last)


class HostileTest:
    camera = None

    def setUp(self):
        super().setUp()
        self.number = self.most_number = 0  # of the mutation that is sent, and that took the most memory
        self.warm_up(GOOD.values())
        self.begin_measuring()
        self.hosts = itertools.cycle(f"127.0.1.{i}" for i in range(1, 250))

    def warm_up(self, pictures):
        for picture in pictures:
            self.assertEqual(self.upload(picture)[0], 200)

    def memory(self):
        parent = self.process.pid
        return sum(max_memory(pid, parent) for pid in family(parent))

    def sample(self):
        before = self.before
        growth = self.memory() - before
        if growth > self.growth:
            self.growth, self.most_number = growth, self.number

    def other(self):
        """One request of the other client for each path."""
        for path, arguments in (
            ("/healthz", ()),
            ("/predict", ("POST", GOOD["good.jpg"], {"Content-Type": "image/jpeg"})),
        ):
            begin = time.monotonic()
            status, body = self.ask(path, *arguments)
            self.worst[path] = max(self.worst.get(path, 0), time.monotonic() - begin)
            self.assertEqual(status, 200, (path, body))
            self.answers += 1

    def send(self, picture):
        """The status. Another address goes on where one has to wait."""
        for host in itertools.islice(self.hosts, 20):
            connection = http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=PATIENCE, source_address=(host, 0)
            )
            with contextlib.closing(connection):
                connection.request("POST", "/predict", picture, {"Content-Type": "image/jpeg"})
                status = connection.getresponse().status
                if status != 429:
                    break
        return status

    def begin_picture(self):
        """Each picture is judged by itself: two that are sent one after the other may meet two decoders."""
        self.sample()
        for pid in family(self.process.pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a decoder may end
                pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
        self.before = self.memory()

    def begin_measuring(self):
        self.growth = 0.0  # MB, of the picture that took the most
        self.begin_picture()
        self.growth = 0.0
        self.worst = {}  # s, of the other client, by path
        self.answers = 0
        if self.camera:
            self.camera.longest = 0.0

    def end_measuring(self):
        """Each has had its turn meanwhile; returns what it took them, as text."""
        wait_for("another client's answers", lambda: self.answers >= 2)
        line = ", ".join(f"{path} {seconds * 1000:.0f} ms" for path, seconds in self.worst.items())
        if self.camera:
            results = self.camera.results
            wait_for("the camera's result", lambda: self.camera.results > results)
            line += f", camera {self.camera.longest * 1000:.0f} ms"
        self.sample()
        return line

    def attack(self, name):
        """Sends the picture and its mutations; returns their statuses and what the worst took."""
        statuses, longest, longest_number, processor = collections.Counter(), 0.0, 0, 0.0
        made = itertools.islice(mutations(PICTURES, name, SEED), MUTATIONS)
        for self.number, picture in enumerate(itertools.chain([PICTURES[name]], made)):
            self.begin_picture()
            begin, used = time.monotonic(), processor_time(self.process.pid)
            status = self.send(picture)
            took = time.monotonic() - begin
            processor = max(processor, processor_time(self.process.pid) - used)
            if took > longest:
                longest, longest_number = took, self.number
            self.assertIn(status, STATUSES, f"mutation {self.number}")
            statuses[status] += 1
        return statuses, f"{longest:.2f} s ({longest_number})", processor

    def judge(self, name):
        self.begin_measuring()
        statuses, longest, processor = self.attack(name)
        others = self.end_measuring()
        if LONG:
            took = f"{longest}, processor {processor:.2f} s, {self.growth:+.0f} MB ({self.most_number})"
            print(f"{name}: {dict(statuses)}, {took}, {others}", flush=True)
        self.assertLessEqual(self.growth, MAX_GROWTH, f"mutation {self.most_number}")
        self.assertLessEqual(processor, PROCESSOR_TIME)
        if LONG:
            self.assertLessEqual(max(self.worst.values()), ANSWER)
            self.assertLessEqual(self.camera.longest if self.camera else 0, RESULT)

    def test_pictures(self):
        with Repeated(self.other, 0.05), Repeated(self.sample, 0.05):
            if LONG:
                self.begin_measuring()
                time.sleep(10)
                print(f"no attack: {self.end_measuring()}", flush=True)
            for name in SENT:
                with self.subTest(name):
                    self.judge(name)
        self.expect_unharmed()

    def test_several_at_once(self):
        """As many leave before they are answered."""
        with Repeated(self.other, 0.05), Repeated(self.sample, 0.05):
            self.begin_measuring()
            for name in WORST:
                client = self.connect()
                client.sendall(HEAD % len(PICTURES[name]) + PICTURES[name])
                client.close()
            attackers = [threading.Thread(target=self.send_and_lose, args=(name,)) for name in WORST]
            for attacker in attackers:
                attacker.start()
            for attacker in attackers:
                attacker.join()
            print(f"several at once: {self.end_measuring()}, {self.growth:+.0f} MB", flush=True)
        self.assertLessEqual(self.growth, self.decoders * MAX_GROWTH)
        self.expect_unharmed()

    def stop(self, names):
        """SIGTERM while the first is decoded and the others wait; returns the seconds to the end."""
        attackers = [threading.Thread(target=self.send_and_lose, args=(name,), daemon=True) for name in names]
        used = processor_time(self.process.pid)
        attackers[0].start()
        limit = time.monotonic() + 0.5
        while processor_time(self.process.pid) < used + 0.1 and time.monotonic() < limit:
            time.sleep(0.01)
        for attacker in attackers[1:]:
            attacker.start()
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        took = time.monotonic() - begin
        for attacker in attackers:
            attacker.join()
        return took

    def send_and_lose(self, name):
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.send(PICTURES[name])

    def test_a_stop(self):
        for names in [WORST, *([name] for name in SENT if LONG and SLOW.search(name))]:
            if self.process.poll() is not None:
                self.doCleanups()
                self.setUp()
            with self.subTest(names):
                took = self.stop(names)
                self.assertEqual(self.process.returncode, 0)
                print(f"{names}: stopped within {took:.2f} s", flush=True)
                if LONG:
                    self.assertLessEqual(took, STOP)


class ServeTest(HostileTest, ServedTest):
    source = "serve"
    alive = "/healthz"
    decoders = 2  # one more than workers


class RunTest(HostileTest, ServedTest):
    options = ("--format", "json")
    stdout = subprocess.PIPE

    def setUp(self):
        super().setUp()
        self.camera = Camera(self.process.stdout.fileno(), "camera")
        self.camera.start()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
        if self.camera:
            self.camera.join()
        self.process.stdout.close()
        self.process.stderr.close()
        self.assertEqual(self.process.returncode, 0)
        self.assertEqual(violations, [])


if __name__ == "__main__":
    unittest.main()
