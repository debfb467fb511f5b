"""A trace of lookout in TensorBoard's plug-in for PyTorch's profiler, which shows each frame as a step."""

import json
import os
import re
import signal
import subprocess
import time
import unittest
import urllib.request

import pypi_program
from testing import MODELS, TemporaryFolder

PACKAGE = "torch-tb-profiler==0.4.3"
FRAMES = 12
SECONDS = 120  # until the plug-in has read the trace


class TensorBoard:
    """The server on a folder of logs."""

    def __init__(self, program, logs):
        self.process = subprocess.Popen(
            [str(program), "--logdir", logs, "--host", "127.0.0.1", "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for line in self.process.stderr:
            found = re.search(r" at (http://127\.0\.0\.1:\d+)/", line)
            if found:
                self.url = found[1]
                return
        raise AssertionError("TensorBoard ended")

    def get(self, path, is_complete=bool):
        """An answer of the plug-in, which reads the folder after it has started."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            url = f"{self.url}/data/plugin/pytorch_profiler/{path}"
            with urllib.request.urlopen(url, timeout=SECONDS) as answer:
                value = json.load(answer)
            if is_complete(value):
                return value
            time.sleep(0.2)
        raise AssertionError(f"{path} is not complete")

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()


class TensorBoardTest(TemporaryFolder):
    PROGRAM = os.path.join(MODELS, "../build/host/app/lookout")

    def setUp(self):
        super().setUp()
        if not os.path.exists(self.PROGRAM):
            self.skipTest(f"no {self.PROGRAM}")
        try:
            self.tensorboard = pypi_program.install(PACKAGE, "tensorboard")
        except pypi_program.Unavailable as reason:
            self.skipTest(str(reason))

    def test_each_frame_is_a_step(self):
        run = os.path.join(self.folder, "logs", "run")
        os.makedirs(run)
        trace = os.path.join(run, "board.pt.trace.json")
        subprocess.run(
            [self.PROGRAM, f"test://all?fps=0&hold=1&frames={FRAMES}", "--trace", trace],
            check=True,
            capture_output=True,
        )
        server = TensorBoard(self.tensorboard, os.path.join(self.folder, "logs"))
        self.addCleanup(server.close)
        runs = server.get("runs", lambda answer: answer["runs"] and not answer["loading"])
        self.assertEqual(runs["runs"], ["run"])
        query = "run=run&worker=board&span=default"
        self.assertIn("Overview", server.get("views?run=run"))
        overview = server.get(f"overview?{query}&view=Overview")
        steps = [row[0] for row in overview["steps"]["rows"]]
        self.assertEqual(steps, [str(frame) for frame in range(FRAMES)])
        operators = server.get(f"operation/table?{query}&group_by=Operation&view=Operator")
        names = {row["name"] for row in operators["data"]}
        self.assertIn("quantized::conv2d_relu", names)
        self.assertFalse([name for name in names if name.startswith("ProfilerStep")])


if __name__ == "__main__":
    unittest.main()
