#!/usr/bin/python3
"""136 clients that want nothing good: 64 drip, 64 are idle, 8 watch the stream and sleep.

  crowd_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout. The server has room for all of them. Those that it cuts off come again.
Everything is on loopback, from several of its addresses.
"""

import contextlib
import itertools
import pathlib
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "soak"))
sys.dont_write_bytecode = True

from life import STOP, STOP_ALLOWANCE  # noqa: E402
from machine import load, violations  # noqa: E402
from reader import Reader  # noqa: E402
from served import ServedTest, wait_for  # noqa: E402

WINDOW = 5.0  # s in which frames are counted, with and without the crowd in turn
WINDOWS = 3  # of each
LOSS = 0.05  # of the camera's rate
SLEEP = 12.0  # s until a viewer that sleeps comes again: the server cuts it off after 10 s
PER_ADDRESS = 16
KINDS = ["dripping"] * 64 + ["idle"] * 64 + ["sleeping"] * 8


class Client:
    def __init__(self, port, kind, host):
        self.port = port
        self.kind = kind
        self.host = host
        self.socket = None
        self.come()

    def come(self):
        self.leave()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.bind((self.host, 0))
        self.socket.connect(("127.0.0.1", self.port))
        self.born = time.monotonic()
        self.text = itertools.cycle(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: yyyyyyyyyyyyyyyyyy")
        if self.kind == "sleeping":
            self.socket.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def leave(self):
        if self.socket:
            self.socket.close()

    def live(self):
        """A moment of it. What a sleeping viewer has not read hides that it was cut off."""
        if self.kind == "dripping":
            with contextlib.suppress(ConnectionError):
                self.socket.send(bytes([next(self.text)]))
        slept = self.kind == "sleeping" and time.monotonic() > self.born + SLEEP
        poll = select.poll()
        poll.register(self.socket, select.POLLRDHUP)
        if slept or poll.poll(0):
            self.come()


class Crowd(threading.Thread):
    """Comes when it is made, and leaves at the end of a `with`."""

    def __init__(self, port):
        super().__init__()
        self.clients = [
            Client(port, kind, f"127.0.0.{10 + i // PER_ADDRESS}") for i, kind in enumerate(KINDS)
        ]
        self.gone = threading.Event()

    def run(self):
        while not self.gone.wait(0.5):
            for client in self.clients:
                with contextlib.suppress(ConnectionError):  # the server may have ended
                    client.live()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.gone.set()
        self.join()
        for client in self.clients:
            client.leave()


class CrowdTest(ServedTest):
    source = "test://all?fps=30"
    options = ("--format", "json", "--set", "http.clients=200")
    stdout = subprocess.PIPE

    def setUp(self):
        super().setUp()
        self.reader = Reader(self.process.stdout.fileno(), "crowd")
        self.reader.start()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        self.assertEqual(self.process.returncode, 0)
        self.assertEqual(violations, [])

    def count_frames(self):
        """In a window: frames and seconds."""
        frames, begin = self.reader.results, time.monotonic()
        time.sleep(WINDOW)
        return self.reader.results - frames, time.monotonic() - begin

    def is_crowded(self):
        return self.count_sockets() >= self.own_sockets + len(KINDS)

    def test_the_camera_keeps_its_rate(self):
        held = self.count_held()
        counts = {"alone": [], "crowded": []}
        for _ in range(WINDOWS):
            counts["alone"].append(self.count_frames())
            with Crowd(self.port):
                wait_for("the crowd", self.is_crowded)
                counts["crowded"].append(self.count_frames())
                self.expect_unharmed()
            wait_for("descriptors and threads as before", lambda: self.count_held() == held)
        rates = {
            kind: sum(frames for frames, _ in windows) / sum(seconds for _, seconds in windows)
            for kind, windows in counts.items()
        }
        print(f"{rates['alone']:.2f} frames a second alone, {rates['crowded']:.2f} with the crowd")
        self.assertGreaterEqual(rates["crowded"], (1 - LOSS) * rates["alone"])

    def test_it_stops_at_once(self):
        """Within 200 ms and an inference; a busy machine may take some more, as in the soak."""
        with Crowd(self.port):
            wait_for("the crowd", self.is_crowded)
            begin = time.monotonic()
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
            took = time.monotonic() - begin
        self.reader.join()
        print(f"stopped within {took * 1000:.0f} ms, an inference took {self.reader.inference * 1000:.0f}")
        self.assertLessEqual(took, STOP + STOP_ALLOWANCE * load() + self.reader.inference)


if __name__ == "__main__":
    unittest.main()
