"""Tests of deploy/base.sh, which makes the models of the package lookout-base. A server on this machine
stands in for that of the weights, and random weights for the published ones."""

import functools
import hashlib
import http.server
import io
import os
import pathlib
import shutil
import subprocess
import sys
import threading

from testing import MODELS, TemporaryFolder

import torch
import torchvision

import archive
from onnx_format import model as onnx_model

CHECKOUT = pathlib.Path(MODELS).parent
FILE = "mobilenet_v2-b0353104.pth"
PUBLISHED = "b03531047ffacf1e2488318dcd2aba1126cde36e3bfe1aa5cb07700aeeee9889"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@functools.lru_cache(maxsize=None)
def random_weights():
    """(the bytes of a file of weights, its SHA-256)"""
    torch.manual_seed(11)
    buffer = io.BytesIO()
    torch.save(torchvision.models.mobilenet_v2().state_dict(), buffer)
    return buffer.getvalue(), hashlib.sha256(buffer.getvalue()).hexdigest()


class BaseTest(TemporaryFolder):
    def setUp(self):
        super().setUp()
        self.checkout = pathlib.Path(self.path("checkout"))
        self.base = pathlib.Path(self.path("base"))
        self.make_checkout(PUBLISHED)
        os.mkdir(self.path("served"))
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(QuietHandler, directory=self.path("served"))
        )
        threading.Thread(target=self.server.serve_forever).start()
        self.is_serving = True
        self.addCleanup(self.stop_server)

    def stop_server(self):
        if self.is_serving:
            self.server.shutdown()
            self.server.server_close()
        self.is_serving = False

    def make_checkout(self, sha256):
        """Where weights with this SHA-256 are the published ones, and everything is installed."""
        shutil.rmtree(self.checkout, ignore_errors=True)
        (self.checkout / "deploy").mkdir(parents=True)
        (self.checkout / "models").symlink_to(MODELS)
        text = (CHECKOUT / "deploy/base.sh").read_text(encoding="utf-8")
        self.assertIn(f"sha256={PUBLISHED}\n", text)
        for name, content in (
            ("base.sh", text.replace(PUBLISHED, sha256)),
            ("install-deps.sh", "#!/bin/sh\n"),
        ):
            (self.checkout / "deploy" / name).write_text(content, encoding="utf-8")
            (self.checkout / "deploy" / name).chmod(0o755)

    def make(self, *arguments):
        """(exit status, stdout, stderr)"""
        done = subprocess.run(
            [str(self.checkout / "deploy/base.sh"), *map(str, arguments)],
            env={
                **os.environ,
                "LOOKOUT_CACHE": self.path("cache"),
                "LOOKOUT_WEIGHTS_URL": f"http://127.0.0.1:{self.server.server_port}/",
                "PYTHON": sys.executable,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def serve(self, content):
        pathlib.Path(self.path("served"), FILE).write_bytes(content)

    def assert_refused(self, result, status, *parts):
        self.assert_sentence(result, status, *parts)
        self.assertEqual(list(self.base.glob("*")), [])

    def test_what_is_not_the_published_file_is_refused(self):
        other = self.path("other.pth")
        pathlib.Path(other).write_bytes(random_weights()[0])
        self.assert_refused(self.make("--weights", other, self.base), 65, other, PUBLISHED)
        self.assert_refused(self.make("--weights", self.path("none"), self.base), 66, "none")
        self.serve(b"another file")
        self.assert_refused(self.make(self.base), 65, FILE, "not the published file")
        self.stop_server()
        self.assert_refused(self.make(self.base), 66, "cannot fetch http://", "--weights FILE")

    def test_wrong_arguments(self):
        for arguments in ((), ("--weights",), ("a", "b"), ("--wrong",), ("",)):
            self.assert_refused(self.make(*arguments), 64, "base.sh [--weights FILE] FOLDER")

    def test_the_models_are_made_of_what_was_downloaded_once(self):
        content, sha256 = random_weights()
        self.make_checkout(sha256)
        self.serve(content)
        status, _, err = self.make(self.base)
        self.assertEqual(status, 0, err)
        self.assertEqual({path.name for path in self.base.glob("*.*")}, {"base.pt", "base.onnx"})
        _, metadata, labels = archive.load(str(self.base / "base.pt"))
        self.assertEqual(metadata["name"], "mobilenet_v2")
        self.assertEqual(metadata["weights"], f"{FILE} sha256 {sha256}")
        self.assertEqual((len(labels), labels[1]), (1000, "goldfish"))
        network = onnx_model.load(str(self.base / "base.onnx"))
        self.assertEqual(network(torch.zeros(1, 3, 224, 224)).shape, (1, 1000))

        self.stop_server()
        self.assertEqual(self.make(self.base)[0], 0, "up to date")
        given = self.path("from-a-friend.pth")
        pathlib.Path(given).write_bytes(content)
        shutil.rmtree(self.path("cache"))
        again = pathlib.Path(self.path("again"))
        status, _, err = self.make("--weights", given, again)
        self.assertEqual(status, 0, err)
        for name in ("base.pt", "base.onnx"):
            self.assertEqual((again / name).read_bytes(), (self.base / name).read_bytes(), name)

    def test_the_package_names_the_weights(self):
        script = (CHECKOUT / "deploy/base.sh").read_text(encoding="utf-8")
        terms = (CHECKOUT / "deploy/debian/lookout-base.copyright").read_text(encoding="utf-8")
        url = next(line for line in script.splitlines() if line.startswith("url="))
        self.assertIn(f"\nSource: {url.removeprefix('url=')}\n", terms)
        self.assertIn(f" {PUBLISHED}\n", terms)
        self.assertIn("License: BSD-3-clause", terms)
