"""Tests of the example of operators: its documented build, and the models that use it. Python and
`lookout` have to give the same scores."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from testing import MODELS, TESTS, TemporaryFolder, run_tool

import torch

import archive

FOLDER = os.path.join(MODELS, "operators")
sys.path.insert(0, FOLDER)

import export_with_operator

SELFTEST = os.path.join(MODELS, "selftest.pt")
PROGRAM = os.path.join(os.path.dirname(TESTS), "build", "host", "app", "lookout")
TEMPERATURE, THRESHOLD = 1.5, 2.0


def library(engine="torch"):
    """The path of the library for the engine, built as README.md says; skips where it cannot be."""
    if not shutil.which("cmake"):
        raise unittest.SkipTest("there is no cmake")
    path = os.path.join(build(), f"liblookout_example_{engine}.so")
    if not os.path.exists(path):
        raise unittest.SkipTest(f"there are no headers of the engine {engine}")
    return path


@functools.lru_cache(maxsize=None)
def build():
    """The folder with the libraries."""
    folder = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, folder)
    for command in (["cmake", "-S", FOLDER, "-B", folder], ["cmake", "--build", folder]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
    return folder


def expected(logits):
    """The operator's scores, in PyTorch's own operators."""
    energy = TEMPERATURE * torch.logsumexp(logits / TEMPERATURE, 1, keepdim=True)
    unknown = torch.sigmoid(THRESHOLD - energy)
    return torch.cat([torch.softmax(logits / TEMPERATURE, 1) * (1 - unknown), unknown], 1)


class OperatorsTest(TemporaryFolder):
    def export(self, *arguments, model=SELFTEST):
        return run_tool(
            export_with_operator,
            *(model, "--operators", library(), "--temperature", TEMPERATURE, "-o", self.out),
            *(arguments or ("--threshold", THRESHOLD)),
        )

    def test_the_scores_are_those_of_pytorch(self):
        status, out, err = self.export()
        self.assertEqual((status, err), (0, ""))
        self.assertIn("16 labels and unknown", out)
        model, metadata, labels = archive.load(self.out)
        self.assertEqual((metadata["output"], metadata["unknown"]), ("probabilities", 16))
        self.assertEqual(labels[-1], "unknown")
        inputs = torch.randn(2, 3, 224, 224)
        scores = model(inputs)
        logits = archive.load(SELFTEST)[0](inputs)
        torch.testing.assert_close(scores, expected(logits), rtol=1e-5, atol=1e-6)

    def test_the_program_gives_the_same_scores(self):
        if not os.access(PROGRAM, os.X_OK):
            self.skipTest(f"there is no {PROGRAM}")
        self.assertEqual(self.export()[0], 0)
        picture = os.path.join(self.write_pictures(1), "0.png")
        done = subprocess.run(
            [
                *(PROGRAM, picture, "--model", self.out, "--set", f"model.operators={library()}"),
                *("--format", "json", "--top-k", "17", "--log-level", "error"),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        results = next(line for line in lines if line["type"] == "classification")["results"]
        model, metadata, _ = archive.load(self.out)
        scores = model(export_with_operator.read_input(picture, metadata))[0]
        for result in results:
            self.assertAlmostEqual(result["score"], scores[result["index"]].item(), delta=1e-4)

    def test_the_threshold_leaves_one_picture_in_twenty_unknown(self):
        folder = self.write_pictures(20)
        status, _, err = self.export("--pictures", folder)
        self.assertEqual((status, err), (0, ""))
        model, metadata, _ = archive.load(self.out)
        unknown = [
            model(export_with_operator.read_input(os.path.join(folder, name), metadata))[0, -1] > 0.5
            for name in os.listdir(folder)
        ]
        self.assertEqual(sum(unknown), 1)

    def test_without_the_library_the_archive_is_refused(self):
        if not os.access(PROGRAM, os.X_OK):
            self.skipTest(f"there is no {PROGRAM}")
        self.assertEqual(self.export()[0], 0)
        done = subprocess.run(
            [PROGRAM, "test://red?frames=1", "--model", self.out],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 65)
        self.assertIn("needs the operator lookout_example::calibrated_scores", done.stderr)

    def test_bad_arguments(self):
        text = self.write("text.pt", "PK, but no archive")
        for arguments, status, part in (
            ((SELFTEST, "--operators", library(), "-o", self.out), 64, "--threshold"),
            ((SELFTEST, "--operators", self.path("no.so"), "--threshold", 1, "-o", self.out), 66, "no.so"),
            ((SELFTEST, "--operators", text, "--threshold", 1, "-o", self.out), 65, "no library"),
            ((text, "--operators", library(), "--threshold", 1, "-o", self.out), 65, "text.pt"),
        ):
            with self.subTest(arguments):
                self.assert_sentence(run_tool(export_with_operator, *arguments), status, part)

    def test_a_library_for_the_other_engine_is_refused(self):
        # In a process of its own: an operator stays registered.
        tool = os.path.join(FOLDER, "export_with_operator.py")
        done = subprocess.run(
            ["/usr/bin/python3", tool, SELFTEST, "--operators", library("onnx"), "--threshold", "1"]
            + ["-o", self.out],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assert_sentence((done.returncode, done.stdout, done.stderr), 65, "registers no")

    def test_an_archive_with_unknown_is_refused(self):
        self.assertEqual(self.export()[0], 0)
        status, _, err = self.export(model=self.out)
        self.assertEqual(status, 65)
        self.assertIn("knows unknown already", err)
