#!/usr/bin/python3
"""The whole way with the built program: an owner with a phone teaches a state, which is then watched.

    taught_test.py

Needs what page_test.py needs. The camera is a test pattern, red while the door is "open" and blue while it is
"closed": the program starts again in between, as after a power cut. A screenshot goes to build/host/page/.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("network", "predict", "tools"))]
sys.dont_write_bytecode = True

from lookout import ROOT, wait_for  # noqa: E402
from owner import PASSWORD, OwnerTest  # noqa: E402
from page_test import FOLDER, main  # noqa: E402
from teach_test import RESULT, TeachPage  # noqa: E402

OPEN, CLOSED = "test://red", "test://blue"
# How many pictures the hold of a class's button has kept, while it is held.
KEPT = """
  const button = [...document.querySelectorAll(".hold")].find((one) => one.children[0].textContent === arguments[0]);
  return Number(/^([0-9]+) kept/.exec(button.children[1].textContent)?.[1] ?? 0);
"""


class TaughtTest(TeachPage, OwnerTest):
    source = OPEN
    owners_password = PASSWORD
    more_options = ("--set", f"model.base={ROOT}/models/selftest.pt")

    @property
    def url(self):
        return f"http://localhost:{self.port}/"

    def turn_to(self, source):
        self.end()
        self.source = source
        self.start()
        self.browser.open(self.url + "teach#garage-door")
        self.find("h1", "Garage door")

    def hold(self, label):
        self.press(label, lambda: self.browser.run(KEPT, label) >= 5)
        self.wait_for_text("hold-said", f"“{label}”: ")

    def train(self):
        """What is told of the model."""
        self.click("button", "Train")
        self.wait_for_text("job-said", "Trained.")
        wait_for("the result", lambda: self.text("figures") and not self.by_id("job").is_displayed())
        return self.browser.run(RESULT)

    def test_the_whole_way(self):
        self.browser.emulate(360, 800, "light")
        self.enter()
        self.click("a", "New watch")
        self.wait_for_picture()
        self.draw((0.1, 0.1), (0.5, 0.5), (0.9, 0.9))
        self.assert_rectangle([0.1, 0.1, 0.8, 0.8])
        self.by_id("watch-title").send_keys("Garage door")
        self.click("button", "Create")
        self.find("h1", "Garage door")
        self.hold("open")
        self.turn_to(CLOSED)
        self.hold("closed")
        self.wait_for_text("now", "Looks now like closed")  # no model is trained yet
        self.actions().click(self.find("#holds b", "open")).perform()  # a slip
        self.wait_for_text("hold-said", "“open”: 1 picture kept")
        self.turn_to(OPEN)
        self.hold("open")
        self.turn_to(CLOSED)
        self.hold("closed")
        result = self.train()
        self.assertRegex(result["figures"], "^[0-9]+ of [0-9]+ right")
        self.assertRegex(result["mistakes"][0], r"You said open\s+It said closed")
        self.click("button", "Use it")
        self.wait_for_text("in-use", "This model is in use.")
        self.wait_for_text("now", "Looks now like closed")
        # The label was wrong: it is corrected, and the next model is right about all.
        self.click("#mistakes button", "closed")
        self.wait_for_text("told", "1 picture now “closed”.")
        result = self.train()
        right, of = result["figures"].split(" right")[0].split(" of ")
        self.assertEqual(right, of)
        self.click("button", "Use it")
        self.wait_for_text("in-use", "This model is in use.")
        self.turn_to(OPEN)
        self.wait_for_text("now", "Looks now like open")
        self.click("button", self.text("back"))
        self.wait_for_text("told", "The one before is in use again.")
        os.makedirs(FOLDER, exist_ok=True)
        down = self.browser.run("return document.documentElement.scrollHeight")
        self.browser.emulate(360, down, "light")
        self.browser.driver.save_screenshot(os.path.join(FOLDER, "taught-360.png"))


if __name__ == "__main__":
    sys.exit(main())
