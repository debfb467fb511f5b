"""Shared by the tests of models/. Importing it skips them (unittest.SkipTest) where torch is missing."""

import contextlib
import functools
import io
import os
import shutil
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = os.path.join(os.path.dirname(TESTS), "models")
sys.path.insert(0, MODELS)
sys.dont_write_bytecode = True
# Before torch is imported: with the default, waiting threads take the cores from other processes.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

try:
    import torch
    import torchvision
    from PIL import Image
except ImportError as error:
    raise unittest.SkipTest(str(error)) from error

import augment
import export
import train

# A small architecture and input, and few pictures: most tests are not about these.
ARCH, SIZE = "shufflenet_v2_x0_5", 64
CLASSES = 5


def run_tool(tool, *arguments):
    """(exit status, stdout, stderr)"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = tool.main([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


def run_export(*arguments):
    return run_tool(export, *arguments)


def run_train(*arguments):
    """Training as most tests want it: short."""
    short = ("--arch", ARCH, "--size", SIZE, "--epochs", 1, "--threads", 1)
    return run_tool(train, *short, *arguments)


@functools.lru_cache(maxsize=None)
def random_state_dict(classes=CLASSES, arch=ARCH):
    torch.manual_seed(7)
    return torchvision.models.get_model(arch, num_classes=classes).state_dict()


@functools.lru_cache(maxsize=None)
def state_dict_that_sees():
    """Random weights with batch norms fit for drawn pictures: without, hardly anything gets through."""
    model = torchvision.models.get_model(ARCH, num_classes=CLASSES)
    model.load_state_dict(random_state_dict())
    pixels = [augment.sample(8, i, SIZE)[0] for i in range(32)]
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None  # the mean of all batches
    with torch.no_grad():
        model.train()(torch.stack([augment.to_tensor(p) for p in pixels]))
    return model.state_dict()


class TemporaryFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.path("model.pt")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def write_labels(self, count=CLASSES):
        return self.write("labels.txt", "".join(f"label {i}\n" for i in range(count)))

    def write_weights(self, state=None, name="weights.pth"):
        torch.save(random_state_dict() if state is None else state, self.path(name))
        return self.path(name)

    def write_pictures(self, count=4):
        os.makedirs(self.path("pictures"))
        for i in range(count):
            pixels, _ = augment.sample(9, i, 80)
            Image.fromarray(pixels).save(self.path(f"pictures/{i}.png"))
        return self.path("pictures")

    def write_classes(self, names=("red", "blue"), count=6, folder="classes"):
        """A folder of drawn pictures for each of the test patterns `names`, all different."""
        for label, name in enumerate(names):
            os.makedirs(self.path(f"{folder}/{name}"))
            for i in range(count):
                pixels, _ = augment.sample((9, label), i, 80, (name,))
                Image.fromarray(pixels).save(self.path(f"{folder}/{name}/{i}.png"))
        return self.path(folder)

    def assert_sentence(self, result, status, *parts):
        """The export ended with `status` and one line that holds all `parts`, and wrote nothing."""
        got, _, err = result
        self.assertEqual(got, status, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        for part in parts:
            self.assertIn(part, err)
        self.assertFalse(os.path.exists(self.out))
