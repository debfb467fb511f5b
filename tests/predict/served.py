"""A run of the program with its HTTP server, and a client that asks it, for tests of other clients."""

import contextlib
import http.client
import os
import pathlib
import socket
import subprocess
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOKOUT = os.environ.get("LOOKOUT_PROGRAM", ROOT / "build/host/app/lookout")
MAX_GROWTH = 40  # MB, of the memory's maximum, for each picture that is worked on
PATIENCE = 60  # s, for an answer on a busy machine


def wait_for(what, is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.05)


class ServedTest(unittest.TestCase):
    """The client that asks comes from 127.0.0.2; others may come from 127.0.0.1, 127.0.0.3 and so on."""

    source = "test://all?fps=20"
    options = ()
    wrapper = ()  # the command that becomes the program
    stdout = subprocess.DEVNULL
    alive = "/snapshot.jpg"  # what is there as soon as the camera is
    decoders = 1  # that work at the same time

    def setUp(self):
        self.start()
        self.addCleanup(self.end)
        self.own_sockets = self.count_sockets()
        self.open = contextlib.ExitStack()
        self.addCleanup(self.open.close)
        self.assertEqual(self.upload(b"no picture")[0], 415)
        self.before = self.memory()

    def start(self):
        """Returns when it has classified something."""
        self.process = subprocess.Popen(
            [*self.wrapper, LOOKOUT, self.source, "--threads", "1", "--set", "http.address=127.0.0.1:0", *self.options],
            stdout=self.stdout, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.logged = []  # until the server listens
        for line in self.process.stderr:
            self.logged.append(line)
            if line.strip().endswith("/") and " http: " in line:
                self.port = int(line.strip().rstrip("/").rsplit(":", 1)[1])
                break
        while self.ask(self.alive)[0] != 200:
            pass  # the model is loading

    def end(self):
        self.process.terminate()
        try:
            self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
        self.assertEqual(self.process.returncode, 0)

    def memory(self):
        """The maximum so far, in MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def count_sockets(self):
        """Of TCP: the decoder of pictures has one of its own, from the first picture on."""
        process = pathlib.Path(f"/proc/{self.process.pid}")
        rows = (process / "net/tcp").read_text().splitlines()[1:]
        ours = {f"socket:[{row.split()[9]}]" for row in rows}
        names = []
        for link in (process / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                names.append(os.readlink(link))
        return sum(name in ours for name in names)

    def count_held(self):
        """Descriptors and threads, when no client is connected."""
        wait_for("no client", lambda: self.count_sockets() == self.own_sockets)
        return tuple(len(os.listdir(f"/proc/{self.process.pid}/{what}")) for what in ("fd", "task"))

    def ask(self, path, method="GET", body=None, headers=None):
        """Status and body."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=PATIENCE, source_address=("127.0.0.2", 0)
        )
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def upload(self, picture):
        return self.ask("/predict", "POST", picture, {"Content-Type": "image/jpeg"})

    def connect(self):
        client = self.open.enter_context(socket.create_connection(("127.0.0.1", self.port)))
        client.settimeout(PATIENCE)
        return client

    def expect_unharmed(self):
        self.assertEqual(self.ask(self.alive)[0], 200)
        self.assertEqual(self.upload(b"no picture")[0], 415)
        self.assertLessEqual(self.memory() - self.before, self.decoders * MAX_GROWTH)
