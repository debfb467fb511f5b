#!/usr/bin/python3
"""lookout classifies pictures over HTTP as one of its watches would, with a camera and without one.

    watch_test.py [NAME...]    names as of unittest

Needs the program, that of LOOKOUT_PROGRAM or build/host/app/lookout.
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
import zipfile
import zlib

sys.path[:0] = [str(pathlib.Path(__file__).parent)]
sys.dont_write_bytecode = True

from hostile_pngs import END, SIGNATURE, chunk, header  # noqa: E402
from served import LOOKOUT, PATIENCE, ROOT, wait_for  # noqa: E402

LEFT = """
[watch.left]
roi = [0, 0, 0.5, 1]
title = "Left <half>"
"""
# Other labels are another model.
RIGHT = """
[watch.right]
roi = [0.5, 0, 0.5, 1]
labels = "{labels}"
"""
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def selftest_labels():
    with zipfile.ZipFile(ROOT / "models/selftest.pt") as archive:
        name = next(name for name in archive.namelist() if name.endswith("/labels.txt"))
        return archive.read(name).decode().splitlines()


def png_of_halves(left, right):
    """Two colors side by side."""
    rows = (b"\0" + 160 * bytes(left) + 160 * bytes(right)) * 240
    return SIGNATURE + header((320, 240)) + chunk(b"IDAT", zlib.compress(rows)) + END


class Run:
    """The program with an HTTP server, on a port of the system's choice."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [LOOKOUT, *arguments, "--threads", "1", "--set", "http.address=127.0.0.1:0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        for line in self.process.stderr:
            if found := re.search(r" http: (http://127\.0\.0\.1:\d+/)$", line.strip()):
                self.url = found[1]
                return
        raise AssertionError("the program has ended")

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode

    def ask(self, path, body=None, content_type="image/png"):
        """Status and body."""
        request = urllib.request.Request(self.url + path, body, {"Content-Type": content_type} if body else {})
        try:
            with OPENER.open(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


class WatchTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        labels = self.folder / "labels.txt"
        labels.write_text("\n".join(f"other {label}" for label in selftest_labels()))
        self.right = RIGHT.format(labels=labels)
        self.config = self.folder / "lookout.toml"
        self.config.write_text(LEFT + self.right)
        self.path = self.folder / "halves.png"
        self.picture = png_of_halves((255, 0, 0), (0, 0, 255))
        self.path.write_bytes(self.picture)

    def start(self, *arguments):
        run = Run(*arguments, "--config", self.config)
        self.addCleanup(lambda: self.assertEqual(run.end(), 0))
        return run

    def predict(self, run, query=""):
        """The answer, of which what a client looks at."""
        status, body = run.ask("predict" + query, self.picture)
        return status, json.loads(body)

    def refused(self, run, query=""):
        status, answer = self.predict(run, query)
        return f"{status} {answer['error']['code']}: {answer['error']['message']}"

    def test_answers_are_those_of_a_run_with_these_watches(self):
        lines = subprocess.run(
            [LOOKOUT, self.path, "--format", "json", "--config", self.config, "--set", "results.write=all"],
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        expected = {}
        for line in map(json.loads, lines):
            if line["type"] == "classification":
                expected[line["watch"]] = [(row["label"], row["score"]) for row in line["results"]]
        self.assertEqual(expected["left"][0][0], "red")
        self.assertEqual(expected["right"][0][0], "other blue")
        for arguments in (["serve"], ["test://red"]):
            run = self.start(*arguments)
            for watch, rows in expected.items():
                status, answer = self.predict(run, f"?watch={watch}")
                self.assertEqual((status, answer["watch"]), (200, watch))
                self.assertEqual([(row["label"], row["score"]) for row in answer["results"]], rows)
                self.assertEqual(answer["state"], rows[0][0])

    def test_what_no_watch_is_meant_by(self):
        run = self.start("serve")
        self.assertEqual(
            self.refused(run, "?watch=box"),
            "404 no_such_watch: there is no watch 'box': the watches are left, right",
        )
        self.assertEqual(
            self.refused(run),
            "400 no_watch_named: the watches have several models: say by ?watch=NAME which one is meant, "
            "of left, right",
        )

    def test_the_form_and_the_metrics_have_the_watches(self):
        run = self.start("serve")
        form = run.ask("")[1]
        self.assertIn('<option value="left">Left &lt;half></option><option value="right">right</option>', form)
        # As the form sends it where scripts are off.
        field = b'--x\r\nContent-Disposition: form-data; name="watch"\r\n\r\nright\r\n'
        file = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n' + self.picture
        _, answer = run.ask("predict", field + file + b"\r\n--x--\r\n", "multipart/form-data; boundary=x")
        self.assertEqual(json.loads(answer)["watch"], "right")
        metrics = run.ask("metrics")[1]
        for watch in ("left", "right"):
            self.assertRegex(metrics, rf'lookout_model_info\{{[^}}]*watch="{watch}"')

    def test_a_reload_changes_the_watches(self):
        for arguments in (["serve"], ["test://red"]):
            self.config.write_text(LEFT)
            run = self.start(*arguments)
            status, answer = self.predict(run)
            self.assertEqual((status, "watch" in answer), (200, False), "there is one model")
            self.config.write_text(self.right)
            run.process.send_signal(signal.SIGUSR2)
            wait_for("the new watch", lambda run=run: self.predict(run, "?watch=right")[0] == 200)
            self.assertEqual(self.predict(run, "?watch=right")[1]["class_name"], "other_blue")
            self.assertTrue(self.refused(run, "?watch=left").startswith("404 no_such_watch: "))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
