#!/usr/bin/python3
"""Tests of the reports of `lookout eval`, `bench` and `trace-summary`, as Chromium shows them.

    report_test.py [TEST...]    TEST: as in ReportTest.test_accessibility

Needs what page_test.py needs. Screenshots go to build/host/page/.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "tools")]
sys.dont_write_bytecode = True

from lookout import PROGRAM, ROOT, wait_for  # noqa: E402
from page_test import FOLDER, SCREENS, main  # noqa: E402
from PIL import Image  # noqa: E402

# What is wider than its card, but for what scrolls in it, and texts that have no room for a word.
MISFITS = """
  const faults = [];
  for (const card of document.querySelectorAll("section, .tiles div")) {
    const inner = card.getBoundingClientRect();
    if (inner.right > innerWidth) faults.push("card " + card.textContent.slice(0, 40));
    for (const element of card.querySelectorAll(":not(svg *)")) {
      const box = element.getBoundingClientRect();
      const scrolls = element.parentElement.closest(".scroll");
      if (!scrolls && box.right > inner.right) faults.push(element.outerHTML.slice(0, 80));
    }
  }
  for (const text of document.querySelectorAll("dd, dt, .bars span")) {
    if (text.getBoundingClientRect().width < 60) faults.push("narrow: " + text.textContent);
  }
  return faults;
"""


def with_long_name(path):
    """The self-test model, under a name as long as those that people give."""
    with zipfile.ZipFile(os.path.join(ROOT, "models/selftest.pt")) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.infolist():
            data = old.read(member)
            if member.filename.endswith("extra/metadata.json"):
                data = json.dumps({**json.loads(data), "name": "mobilenet_v2_of_the_front_door"}).encode()
            new.writestr(member, data)


def draw_pictures(folder):
    """A class with three mistakes, and one without a right answer."""
    for label, colors in (("red", ("blue", "green", "gray", "red")), ("horizontal color bars", ("red",))):
        os.makedirs(os.path.join(folder, label))
        for color in colors:
            Image.new("RGB", (320, 240), color).save(os.path.join(folder, label, f"is-{color}.png"))
    return folder


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from browser import Browser

        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        with_long_name(os.path.join(cls.folder, "model.pt"))
        cls.eval = cls.make("eval", draw_pictures(os.path.join(cls.folder, "pictures")))
        cls.bench = cls.make("bench", "--workers", "1,2", "--frames", "20")
        traces = [os.path.join(ROOT, "tests/data", name) for name in ("trace_small.json", "trace_pytorch.json")]
        cls.trace = cls.summarize("trace", traces[0])
        cls.pytorch = cls.summarize("pytorch", traces[1])
        cls.traces = cls.summarize("traces", *traces)

    @classmethod
    def make(cls, *arguments):
        report = os.path.join(cls.folder, f"{arguments[0]}.html")
        model = os.path.join(cls.folder, "model.pt")
        subprocess.run(
            [PROGRAM, *arguments, "--model", model, "--threads", "1", "--report", report],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return report

    @classmethod
    def summarize(cls, name, *traces):
        report = os.path.join(cls.folder, f"{name}.html")
        command = [PROGRAM, "trace-summary", *traces, "--report", report]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return report

    def open(self, report, width, scheme):
        self.browser.emulate(width, 900, scheme)
        self.browser.open(f"file://{report}")
        wait_for("the report", lambda: self.browser.look("return document.readyState") == "complete")

    def look_at(self, name, report):
        os.makedirs(FOLDER, exist_ok=True)
        for width, scheme in SCREENS:
            with self.subTest(width=width, scheme=scheme):
                self.open(report, width, scheme)
                self.assertEqual(self.browser.run(MISFITS), [])
                self.assertEqual(self.browser.messages(), [])
                whole = {"captureBeyondViewport": True}
                shot = self.browser.driver.execute_cdp_cmd("Page.captureScreenshot", whole)
                with open(os.path.join(FOLDER, f"{name}-{width}-{scheme}.png"), "wb") as file:
                    file.write(base64.b64decode(shot["data"]))

    def test_eval_fits_its_cards(self):
        self.look_at("eval", self.eval)

    def test_bench_fits_its_cards(self):
        self.look_at("bench", self.bench)

    def test_traces_fit_their_cards(self):
        self.look_at("trace", self.trace)
        self.look_at("pytorch", self.pytorch)
        self.look_at("traces", self.traces)

    def test_accessibility(self):
        for report in (self.eval, self.bench, self.trace, self.pytorch, self.traces):
            for width, scheme in SCREENS:
                self.open(report, width, scheme)
                self.assertEqual(self.browser.find_faults(), [], f"{report}, {width}, {scheme}")


if __name__ == "__main__":
    sys.exit(main())
