"""Clients of the program's HTTP server, who come and go."""

import collections
import contextlib
import json
import random
import socket
import struct
import threading
import time
import zlib

from machine import load, violated

VISITORS = 20
PATIENCE = 30.0  # s for an answer, times the load
MAX_TEXT = 1 << 20  # bytes of a stream that are kept


def red_png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\0\0" * 64) * 48
    head = struct.pack(">IIBBBBB", 64, 48, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


PICTURE = red_png()


class Visitors:
    """Threads that ask one thing after the other while they are let in. `path`: of the Unix socket."""

    def __init__(self, path, name, seed):
        self.path = path
        self.life = name
        self.visits = collections.Counter()
        self.open = threading.Event()  # they may come
        self.over = False  # the program ends: what fails now is no violation
        self.inside = 0
        self.changed = threading.Condition()
        self.threads = [
            threading.Thread(target=self.run, args=(random.Random(f"{seed}/{i}"),), daemon=True)
            for i in range(VISITORS)
        ]
        for thread in self.threads:
            thread.start()

    def come(self):
        self.open.set()

    def leave(self):
        """Waits until nobody is there."""
        self.open.clear()
        with self.changed:
            if not self.changed.wait_for(lambda: self.inside == 0, PATIENCE * load()):
                violated(f"{self.life}: {self.inside} visitors still wait for an answer")

    def end(self):
        self.over = True
        self.open.set()  # for those that wait to come
        for thread in self.threads:
            thread.join(PATIENCE)

    def run(self, chooser):
        kinds = [self.look, self.look, self.watch, self.listen, self.predict, self.misbehave, self.sleep]
        while not self.over:
            self.open.wait()
            with self.changed:
                if self.over:
                    return
                if not self.open.is_set():
                    continue
                self.inside += 1
            kind = chooser.choice(kinds)
            try:
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(PATIENCE * load())
                    client.connect(self.path)
                    kind(client, chooser)
                self.visits[kind.__name__] += 1
            except OSError as error:
                if not self.over:
                    violated(f"{self.life}: a visitor who wanted to {kind.__name__}: {error}")
            finally:
                with self.changed:
                    self.inside -= 1
                    self.changed.notify_all()
            time.sleep(chooser.uniform(0, 1))

    # ---- what they do

    def look(self, client, chooser):
        path = chooser.choice(("/", "/page.js", "/state", "/snapshot.jpg", "/metrics", "/predict"))
        status, body = self.ask(client, f"GET {path}")
        away = path == "/snapshot.jpg" and status == 503  # the camera is
        self.expect(status == 200 or away, f"{path}: {status}")
        if path == "/state" and status == 200:
            self.expect(json.loads(body)["result"]["results"], "a state without results")
        if path == "/snapshot.jpg" and not away:
            self.expect(body[:2] == b"\xff\xd8" and body[-2:] == b"\xff\xd9", "a snapshot that is no JPEG")

    def predict(self, client, _):
        status, body = self.ask(client, "POST /predict", PICTURE)
        self.expect(status in (200, 503), f"/predict: {status}")
        if status == 200:
            name = json.loads(body)["class_name"]
            self.expect(name == "red", f"a red picture is {name}")

    def watch(self, client, chooser):
        self.follow(client, "/stream", b"\r\n\r\n\xff\xd8\xff", chooser.uniform(1, 6))

    def listen(self, client, chooser):
        text = self.follow(client, "/events", b"\n\n", chooser.uniform(1, 6))
        for line in text.split(b"\n")[:-1]:
            if line.startswith(b"data: "):
                json.loads(line[6:])

    def misbehave(self, client, chooser):
        """Goes away in the middle of something."""
        post = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        request = chooser.choice(
            (
                b"GET /sta",
                b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n",
                post % 1_000_000 + PICTURE,
                post % len(PICTURE) + PICTURE,
                b"\0\xff" * 5000,
            )
        )
        with contextlib.suppress(ConnectionError):  # which may be the answer
            client.sendall(request)
        self.stay(chooser.uniform(0, 0.3))

    def sleep(self, client, chooser):
        """Asks for more than it reads."""
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % chooser.choice((b"stream", b"events")))
        self.stay(chooser.uniform(1, 15))

    # ---- how

    def stay(self, seconds):
        end = time.monotonic() + seconds
        while self.open.is_set() and not self.over and time.monotonic() < end:
            time.sleep(0.1)

    def ask(self, client, what, body=b""):
        """Status and body."""
        head = f"{what} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        answer = b""
        while data := client.recv(65536):
            answer += data
        header, _, body = answer.partition(b"\r\n\r\n")
        self.expect(header.startswith(b"HTTP/1.1 "), f"{what}: no answer but {header[:50]!r}")
        return int(header[9:12] or 0), body

    def follow(self, client, path, begin, seconds):
        """The beginning of an endless answer, up to `begin` or to what comes in this time."""
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        end = time.monotonic() + seconds
        text = b""
        while begin not in text or (
            self.open.is_set() and not self.over and time.monotonic() < end and len(text) < MAX_TEXT
        ):
            data = client.recv(65536)
            if not data:
                break
            text += data
        self.expect(begin in text or b" 503 " in text[:20], f"{path} began with {text[:50]!r}")
        return text

    def expect(self, is_so, sentence):
        if not is_so and not self.over:
            violated(f"{self.life}: {sentence}")
