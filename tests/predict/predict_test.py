#!/usr/bin/python3
"""lookout's answers to pictures over HTTP: those of `lookout run`, and as PyTorch's tutorial has them.

  predict_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout and python3-requests. With LOOKOUT_PICTURES=FOLDER the pictures of that
folder (by name the first LOOKOUT_MAX_PICTURES, 200), else those beside the checkout in shared/, else drawn ones.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import requests
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOKOUT = ROOT / "build/host/app/lookout"
SHARED = ROOT.parent / "shared"
ARCHIVE = SHARED / "models/mobilenet_v2_xnnpack.pt"
MAX_PICTURES = int(os.environ.get("LOOKOUT_MAX_PICTURES", "200"))


def draw(folder):
    """A few pictures, where there are no others."""
    paths = []
    for i in range(8):
        path = folder / f"drawn{i}.png"
        Image.linear_gradient("L").rotate(45 * i).convert("RGB").save(path)
        paths.append(path)
    return paths


def find_pictures(folder):
    if "LOOKOUT_PICTURES" in os.environ:
        places = [pathlib.Path(os.environ["LOOKOUT_PICTURES"])]
    else:
        places = [SHARED / "models/samples", SHARED / "pictures"]
    suffixes = {".jpg", ".jpeg", ".png"}
    found = [p for place in places for p in place.rglob("*") if p.suffix.lower() in suffixes]
    return sorted(found)[:MAX_PICTURES] or draw(folder)


class Server:
    """`lookout serve` on a port of the system's choice."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [LOOKOUT, "serve", "--set", "http.address=127.0.0.1:0", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        for line in self.process.stderr:
            if " http: " in line:
                self.url = line.split()[-1]
                return
        raise AssertionError("lookout serve has ended")

    def close(self):
        self.process.terminate()
        self.process.communicate()


class PredictTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.model = ["--model", ARCHIVE] if ARCHIVE.exists() else []
        cls.pictures = find_pictures(cls.folder)
        cls.server = Server(*cls.model)
        cls.addClassCleanup(cls.server.close)

    def post(self, path):
        with open(path, "rb") as file:
            return requests.post(self.server.url + "predict", files={"file": file}, timeout=60)

    def test_answers_are_those_of_a_run(self):
        names = self.folder / "names"
        names.mkdir()
        for i, path in enumerate(self.pictures):
            (names / f"{i:04}{path.suffix}").symlink_to(path)
        run = subprocess.run(
            [LOOKOUT, names, "--format", "json", "--set", "results.write=all", *self.model],
            capture_output=True, text=True,
        )  # fmt: skip
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        expected = [line for line in lines if line["type"] == "classification"]
        self.assertEqual(len(expected), len(self.pictures), run.stderr)
        for path, line in zip(self.pictures, expected):
            answer = self.post(path).json()
            got = [(row["index"], row["score"]) for row in answer["results"]]
            self.assertEqual(got, [(row["index"], row["score"]) for row in line["results"]], path)
        print(f"{len(self.pictures)} pictures", file=sys.stderr)

    def test_client_of_the_tutorial(self):
        """https://pytorch.org/tutorials/intermediate/flask_rest_api_tutorial.html"""
        with open(self.pictures[0], "rb") as file:
            resp = requests.post(f"{self.server.url}predict", files={"file": file}, timeout=60)
        self.assertLessEqual({"class_id", "class_name"}, set(resp.json()))
        self.assertEqual(resp.headers["Content-Type"], "application/json")

    def test_several_at_once(self):
        files = [("file", (p.name, p.read_bytes())) for p in self.pictures[:8]]
        answer = requests.post(self.server.url + "predict", files=files, timeout=60).json()
        names = [prediction["file"] for prediction in answer["predictions"]]
        self.assertEqual(names, [p.name for p in self.pictures[:8]])

    def test_like_torchserve(self):
        name = self.post(self.pictures[0]).json()["model"]
        data = pathlib.Path(self.pictures[0]).read_bytes()
        for method in (requests.put, requests.post):
            answer = method(f"{self.server.url}predictions/{name}", data=data, timeout=60)
            self.assertEqual(answer.status_code, 200)
            self.assertTrue(all(0 <= score <= 1 for score in answer.json().values()))
        self.assertEqual(requests.get(self.server.url + "ping", timeout=60).json()["status"], "Healthy")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
