#!/usr/bin/python3
"""lookout behind nginx, by the Unix socket and under a path, as deploy/nginx.conf says.

  proxy_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout, and what install-deps.sh --network installs. Everything is on loopback.
Exit status 77 (skipped) without nginx.
"""

import http.client
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import nginx  # noqa: E402
from PIL import Image  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOKOUT = ROOT / "build/host/app/lookout"
LIMIT = 60  # s, for what should come at once
PREFIX = "/cam/front/"


def png(size=(64, 48)):
    picture = io.BytesIO()
    Image.new("RGB", size, "red").save(picture, "PNG")
    return picture.getvalue()


class ProxyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = os.path.join(folder.name, "http")

    def start(self, source, *options):
        process = subprocess.Popen(
            [LOOKOUT, source, "--threads", "1", "--set", f"http.address=unix:{self.socket}",
             "--set", "log.stats-interval=1h", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        for line in process.stderr:
            if " http: " in line:
                break
        self.proxy = nginx.Nginx(f"http://unix:{self.socket}:/")
        self.addCleanup(self.proxy.close)

    def ask(self, path, method="GET", body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=LIMIT)
        self.addCleanup(connection.close)
        connection.request(method, PREFIX + path, body, headers or {})
        return connection.getresponse()

    def test_page_and_its_files(self):
        self.start("test://red")
        page = self.ask("")
        self.assertEqual(page.status, 200)
        self.assertIn(b"<!DOCTYPE html>", page.read())
        self.assertIn("default-src 'self';", page.headers["Content-Security-Policy"])
        for file in ("page.css", "page.js", "watches.js", "predict"):
            self.assertEqual(self.ask(file).status, 200, file)
        self.assertEqual(self.ask("nothing").status, 404)

    def test_the_stream_comes_as_it_is_made(self):
        self.start("test://red?size=64x48")
        stream = self.ask("stream")
        self.assertEqual(stream.status, 200)
        self.assertIn("multipart/x-mixed-replace", stream.headers["Content-Type"])
        self.assertEqual(stream.readline(), b"--lookout-picture\r\n")

    def test_events_come_as_they_happen(self):
        self.start("test://red")
        self.assertEqual(self.ask("events").readline(), b"event: status\n")

    def test_forms_and_pictures(self):
        self.start("test://red")
        # As a browser sends it, from the page of this server, and from another one.
        for origin, status in ((f"http://127.0.0.1:{self.proxy.port}", 200), ("http://evil.example", 403)):
            headers = {"Content-Type": "image/png", "Origin": origin}
            answer = self.ask("predict", "POST", png(), headers)
            self.assertEqual(answer.status, status, origin)
            if status == 200:
                self.assertEqual(json.load(answer)["class_name"], "red")

    def test_the_limit_of_a_request_is_that_of_lookout(self):
        self.start("test://red")
        picture = png() + bytes(7_900_000)
        answer = self.ask("predict", "POST", picture, {"Content-Type": "image/png"})
        self.assertEqual(answer.status, 200)

    def test_the_token_comes_through(self):
        token = self.socket + ".token"
        pathlib.Path(token).write_text("sixteen letters:\n")
        self.start("test://red", "--set", f"http.token-file={token}")
        self.assertEqual(self.ask("state").status, 401)
        right = {"Authorization": "Bearer sixteen letters:"}
        self.assertEqual(self.ask("", headers=right).status, 200)


if __name__ == "__main__":
    if not nginx.PROGRAM:
        print("skipped: no nginx: deploy/install-deps.sh --network")
        sys.exit(77)
    unittest.main()
