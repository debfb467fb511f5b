"""lookout's profile of a scripted model: layers as Python names them, labels, and memory."""

import collections
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import testing  # noqa: F401  before torch: it skips these tests where that is missing
import torch
from torch.autograd import kineto_available
from torch.profiler import ProfilerActivity, profile
from testing import MODELS, TemporaryFolder

SIZE = 32
METADATA = {
    "name": "labelled",
    "input": {
        "width": SIZE,
        "height": SIZE,
        "mean": [0, 0, 0],
        "std": [1, 1, 1],
        "channel_order": "RGB",
        "resize": "stretch",
    },
    "quantization": "none",
    "producer": {"test": "1"},
    "weights": "none",
    "trained": True,
}


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.second = torch.nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(Block(), Block())

    def forward(self, x):
        x = self.features(x)
        with torch.autograd.profiler.record_function("HEAD"):
            return x.mean([2, 3])


def allocated(network, image):
    """The bytes that each operator allocates itself, as Python's profiler reports them."""
    with torch.inference_mode():
        for _ in range(3):
            network(image)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            network(image)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        events = json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))["traceEvents"]
    calls = [event for event in events if event.get("cat") == "cpu_op"]
    found = collections.Counter()
    for event in events:
        if event.get("name") != "[memory]" or event["args"]["Bytes"] <= 0:
            continue
        around = [c for c in calls if c["ts"] <= event["ts"] <= c["ts"] + c["dur"]]
        found[min(around, key=lambda call: call["dur"])["name"]] += event["args"]["Bytes"]
    return found


class ProfileTest(TemporaryFolder):
    PROGRAM = os.path.join(MODELS, "../build/host/app/lookout")

    def setUp(self):
        super().setUp()
        if not os.path.exists(self.PROGRAM):
            self.skipTest("the program is not built for this machine")
        self.network = Network().eval()
        self.archive = self.path("labelled.pt")
        extra = {"metadata.json": json.dumps(METADATA), "labels.txt": "red\ngreen\nblue\n"}
        torch.jit.script(self.network).save(self.archive, _extra_files=extra)

    def operators(self, *options):
        frames = 5
        command = [self.PROGRAM, f"test://all?fps=0&frames={frames}", "--model", self.archive]
        command += ["--format", "json", "--threads", "1", "--set", "profile.op-sampling=1", *options]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        summary = json.loads(ran.stdout.splitlines()[-1])
        for row in summary["operators"]:
            row["calls"] /= frames
            row["bytes"] /= frames
        return summary

    def test_layers_are_named_as_in_python(self):
        rows = self.operators("--set", "profile.op-by=layer")["operators"]
        layers = {row["layer"] for row in rows if row["name"] == "aten::conv2d"}
        modules = self.network.named_modules()
        convolutions = {name for name, module in modules if isinstance(module, torch.nn.Conv2d)}
        self.assertEqual(layers, convolutions)
        relu = [row["layer"] for row in rows if row["name"] == "aten::relu"]
        self.assertEqual(sorted(relu), ["features.0", "features.1"])
        self.assertEqual([row["layer"] for row in rows if row["name"] == "aten::mean"], [""])

    def test_a_label_is_a_row_that_holds_its_operators(self):
        rows = self.operators()["operators"]
        labels = [row for row in rows if row["kind"] == "label"]
        self.assertEqual([(row["name"], row["calls"]) for row in labels], [("HEAD", 1)])
        mean = next(row for row in rows if row["name"] == "aten::mean")
        self.assertGreater(labels[0]["total_ms"], mean["total_ms"])
        self.assertLess(labels[0]["self_ms"], labels[0]["total_ms"])
        self.assertNotIn("profiler::", "".join(row["name"] for row in rows))
        outermost = {"aten::conv2d", "aten::relu", "aten::add", "HEAD"}
        total = sum(row["total_ms"] for row in rows if row["name"] in outermost)
        self.assertLessEqual(sum(row["self_ms"] for row in rows), total * 1.5)

    def test_memory_is_that_of_the_tensors(self):
        summary = self.operators("--set", "profile.op-sort=memory")
        rows = summary["operators"]
        self.assertEqual(rows, sorted(rows, key=lambda row: -row["bytes"]))
        image = 3 * SIZE * SIZE * 4
        add = next(row for row in rows if row["name"] == "aten::add")
        self.assertEqual(add["bytes"], 2 * image)
        # The input of a block, 8 channels before and after relu.
        self.assertEqual(summary["peak_live_bytes"], image + 2 * image // 3 * 8)

    @unittest.skipUnless(kineto_available(), "this torch is built without its profiler Kineto")
    def test_operators_allocate_as_much_as_in_python(self):
        """The table of profile_memory subtracts what is freed, so its events are counted."""
        rows = self.operators()["operators"]
        ours = {row["name"]: row["bytes"] for row in rows if row["bytes"]}
        ours.pop("aten::zeros", None)  # of the label
        network = torch.jit.freeze(torch.jit.load(self.archive).eval())
        image = torch.rand(1, 3, SIZE, SIZE).contiguous(memory_format=torch.channels_last)
        torch.set_num_threads(1)
        python = allocated(network, image)
        for name in ours.keys() | python.keys():
            expected = python.get(name, 0)
            self.assertAlmostEqual(ours.get(name, 0), expected, delta=0.01 * expected, msg=name)

    def test_rows_are_limited(self):
        self.assertEqual(len(self.operators("--set", "profile.op-rows=2")["operators"]), 2)


if __name__ == "__main__":
    unittest.main()
