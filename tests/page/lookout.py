"""The real program with its HTTP server, for tests."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "build/host/app/lookout")
CAMERA = os.path.join(ROOT, "build/host/tests/libfake_camera.so")
PATIENCE = 120.0  # s, for what has to come: a machine may be busy

# Loopback only, whatever the environment says about proxies.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def wait_for(what, is_so):
    """Waits until is_so() is true, and returns what it returned."""
    end = time.monotonic() + PATIENCE
    while not (value := is_so()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE:.0f} s: {what}")
        time.sleep(0.1)
    return value


class Lookout:
    """A run of the program. After restart() it has the same address."""

    def __init__(self, *arguments, environment=None):
        self.arguments = arguments
        self.environment = {**os.environ, **(environment or {})}
        self.log = tempfile.NamedTemporaryFile("w", encoding="utf-8")
        self.process = None
        self.port = 0
        self.start()

    def start(self):
        address = f"http.address=127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [PROGRAM, "run", *self.arguments, "--threads", "1", "--set", address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
            env=self.environment,
        )
        if not self.port:
            self.port = wait_for("the address in the log", self.find_port)
        wait_for("an answer of the server", self.answers)

    def find_port(self):
        with open(self.log.name, encoding="utf-8") as log:
            text = log.read()
        if self.process.poll() is not None:
            raise AssertionError(f"lookout ended with {self.process.returncode}: {text}")
        found = re.search(r"http://127\.0\.0\.1:(\d+)", text)
        return found and int(found[1])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def get(self, path=""):
        return OPENER.open(self.url + path, timeout=PATIENCE)

    def answers(self):
        with contextlib.suppress(urllib.error.URLError, ConnectionError), self.get():
            return True
        return False

    def reload(self):
        """Has the configuration read again."""
        self.process.send_signal(signal.SIGUSR2)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def close(self):
        self.stop()
        self.log.close()


class Camera:
    """A V4L2 camera of fake_camera.h, whose faults can be set."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "camera")
        self.fault_file = os.path.join(folder, "fault")
        self.environment = {
            "LD_PRELOAD": CAMERA,
            "LOOKOUT_FAKE_CAMERA": self.path,
            "LOOKOUT_FAKE_FAULT": self.fault_file,
        }
        os.symlink("/dev/null", self.path)

    def set_fault(self, words):
        # In one step: the program may read it now.
        with open(self.fault_file + ".new", "w", encoding="ascii") as file:
            file.write(words)
        os.rename(self.fault_file + ".new", self.fault_file)
