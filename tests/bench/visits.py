#!/usr/bin/python3
"""What visitors do to a run with a camera, and to each other: a flood of wrong passwords, clients that send
their requests byte by byte, and an owner who lists 2000 pictures.

    visits.py ARCHIVE [ROUNDS]    by default 3 rounds: 10 s of quiet, of the flood, of quiet, of slow clients

Needs what tests/predict needs, and build/host/app/lookout ($LOOKOUT_PROGRAM: another one). The camera has 10 frames
a second; a visitor looks at the page, the state and what is taught, ten times a second, from an address of his own.
"""

import contextlib
import http.client
import json
import multiprocessing
import os
import pathlib
import socket
import sqlite3
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "predict")]
sys.dont_write_bytecode = True

import teacher  # noqa: E402
from running import processor, run_main  # noqa: E402

SECONDS = 10
FORK = multiprocessing.get_context("fork")
FLOOD = 20  # clients that guess, each as fast as it is answered
SLOW = 64  # clients that send a byte each 0.1 s
PICTURES = 2000
LOOKED_AT = ("/teach", "/state", "/api/1/teach")
REQUEST = b"POST /api/1/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n"


def busy_seconds():
    """Of all processors, steal included."""
    with open("/proc/stat", encoding="utf-8") as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def at_share(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))]


class Visits(teacher.Teacher):
    """A run that is visited."""

    stdout = subprocess.PIPE
    source = "test://all?fps=10&noise=20"
    archive = ""

    @property
    def more_options(self):
        return ("--model", self.archive, "--set", f"model.base={self.archive}", "--format", "json")

    def start(self):
        super().start()
        self.frames = []  # seq and age (ms)
        threading.Thread(target=self.read, args=(self.process.stdout,), daemon=True).start()

    def read(self, lines):
        for line in lines:
            told = json.loads(line)
            if told["type"] == "classification":
                self.frames.append((told["seq"], told["frame_age_ms"]))

    def end(self):
        self.process.terminate()
        self.process.wait()

    def seconds_of(self, *threads):
        """Of a processor, by the program's threads of these names; without one, by all."""
        seconds = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            if not threads or (task / "comm").read_text().strip() in threads:
                seconds += int((task / "schedstat").read_text().split()[0]) / 1e9
        return seconds

    # ---- who visits

    def visit(self, over, times):
        number = 0
        while not over.wait(0.1):
            begin = time.monotonic()
            path = LOOKED_AT[number % len(LOOKED_AT)]
            status, _ = self.ask(path, headers={"Cookie": self.cookie})
            self.assertEqual(status, 200, path)
            times.append(1000 * (time.monotonic() - begin))
            number += 1

    def make_noise(self, over, told, target, count):
        """In a process of its own, which takes what the others leave of the processors."""
        os.nice(19)
        counts = {}
        threads = [threading.Thread(target=target, args=(over, number, counts)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told.put(counts)

    def guess(self, over, number, counts):
        while not over.is_set():
            client = http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=20, source_address=(f"127.0.3.{number + 1}", 0)
            )
            with contextlib.closing(client):
                try:
                    client.request("POST", "/api/1/login", json.dumps({"password": "wrong"}), self.headers())
                    status = client.getresponse().status
                except OSError as error:
                    status = type(error).__name__
            counts[status] = counts.get(status, 0) + 1

    def drip(self, over, _, counts):
        """Each client comes again when the server has had enough of it."""
        clients = {}
        while not over.wait(0.1):
            for number in range(SLOW):
                try:
                    if number not in clients:
                        client = socket.socket()
                        client.bind((f"127.0.4.{number + 1}", 0))
                        client.connect(("127.0.0.1", self.port))
                        clients[number] = client, iter(REQUEST)
                        counts["came"] = counts.get("came", 0) + 1
                    client, rest = clients[number]
                    client.send(bytes([next(rest, ord("x"))]))
                except OSError:
                    clients.pop(number)[0].close()
                    counts["sent away"] = counts.get("sent away", 0) + 1
        for client, _ in clients.values():
            client.close()

    # ---- what is measured

    def span(self, name, noise=None, count=0):
        """`noise`: what so many threads do meanwhile."""
        over, told = FORK.Event(), FORK.Queue()
        times = []
        visitor = threading.Thread(target=self.visit, args=(over, times))
        process = FORK.Process(target=self.make_noise, args=(over, told, noise, count))
        process.start()
        first, busy, own = len(self.frames), busy_seconds(), sum(os.times()[:2]) + self.seconds_of()
        seconds, begin = self.seconds_of(), time.monotonic()
        visitor.start()
        time.sleep(SECONDS)
        over.set()
        passed = time.monotonic() - begin
        others = busy_seconds() - busy - (sum(os.times()[:2]) + self.seconds_of() - own)
        frames = self.frames[first:]
        visitor.join()
        counts = told.get()
        process.join()
        ages, times = sorted(age for _, age in frames), sorted(times)
        print(
            f"{name:12} age p50 {at_share(ages, 0.5):5.0f} p95 {at_share(ages, 0.95):5.0f} ms,"
            f" {len(frames) / passed:4.1f} frames/s, {frames[-1][0] - frames[0][0] + 1 - len(frames):3} dropped;"
            f" {len(times)} answers p50 {at_share(times, 0.5):5.1f} p95 {at_share(times, 0.95):5.1f} ms;"
            f" program {100 * (self.seconds_of() - seconds) / passed:3.0f} % of a core,"
            f" others {100 * others / passed / os.cpu_count():3.0f} % of all {counts or ''}",
            flush=True,
        )

    def round(self):
        self.span("quiet")
        self.span("flood", self.guess, FLOOD)
        self.span("quiet")
        self.span("slow", self.drip, 1)

    def add_pictures(self):
        """Of the list alone: they have no files. The program does not run."""
        library = sqlite3.connect(self.folder / "teach" / "library.db")
        with contextlib.closing(library), library:
            (watch,) = library.execute("SELECT id FROM watch").fetchone()
            classes = [row[0] for row in library.execute("SELECT id FROM class")]
            library.executemany(
                "INSERT INTO picture VALUES(?, ?, ?, ?, ?, 700, 90, 0, 0, NULL, 65000, NULL, 1)",
                ((n, watch, classes[n % 2], n // 10, 1795262400000 + 500 * n) for n in range(1, PICTURES + 1)),
            )

    def list_pictures(self):
        """As the page does: a hundred at a time."""
        threads = ("http", "teaching")
        seconds, begin = self.seconds_of(*threads), time.monotonic()
        size, count, before, longest = 0, 0, 0, 0
        while before is not None:
            asked = time.monotonic()
            headers = {**self.headers(), "Cookie": self.cookie}
            _, answer = self.ask(f"/api/1/teach/pictures?watch=gate&limit=100&before={before}", headers=headers)
            longest = max(longest, time.monotonic() - asked)
            told = json.loads(answer)
            size, count, before = size + len(answer), count + len(told["pictures"]), told["next"]
        self.assertEqual(count, PICTURES)
        print(
            f"{count} pictures listed: {1000 * (time.monotonic() - begin):.0f} ms, a hundred at most"
            f" {1000 * longest:.0f} ms; {size / 1000:.0f} kB;"
            f" {1000 * (self.seconds_of(*threads) - seconds):.1f} ms of a processor",
            flush=True,
        )
        seconds, begin = self.seconds_of(*threads), time.monotonic()
        status, answer = self.ask("/api/1/teach", headers={**self.headers(), "Cookie": self.cookie})
        self.assertEqual(status, 200)
        print(
            f"what is taught, with them: {1000 * (time.monotonic() - begin):.0f} ms, {len(answer) / 1000:.1f} kB,"
            f" {1000 * (self.seconds_of(*threads) - seconds):.1f} ms of a processor",
            flush=True,
        )

    def measure(self, rounds):
        self.teach("POST", "/watches", teacher.GATE, 201)
        for _ in range(rounds):
            self.round()
        self.end()
        self.add_pictures()
        self.start()
        self.cookie = self.log_in()[2]
        for _ in range(rounds):
            self.list_pictures()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    Visits.archive = os.path.abspath(sys.argv[1])
    print(f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    visits = Visits("measure")
    try:
        visits.setUp()
        visits.measure(int(sys.argv[2]) if len(sys.argv) == 3 else 3)
    finally:
        visits.doCleanups()


if __name__ == "__main__":
    run_main(main)
