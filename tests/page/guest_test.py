#!/usr/bin/python3
"""The whole way in the virtual machine of tests/target.sh: Chromium here, and the packaged service with its camera there.

    guest_test.py PORT FOLDER

PORT leads to the service's page; page_test.sh, in the guest, does what is asked for by files in FOLDER. Needs what
page_test.py needs. A screenshot goes to build/host/page/.
"""

import os
import pathlib
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("network", "predict", "tools"))]
sys.dont_write_bytecode = True

import lookout  # noqa: E402
from lookout import OPENER, wait_for  # noqa: E402
from page_test import main  # noqa: E402
from taught_test import CLOSED, KEPT, OPEN, GaragePage  # noqa: E402

PATTERNS = {OPEN: "100% Green", CLOSED: "100% Blue"}  # of vivid
lookout.PATIENCE = 900.0  # s: the machine is emulated
ANSWER = 60  # s, of the server


class GuestTest(GaragePage, unittest.TestCase):
    owners_password = "the cat sat on the mat"
    port, folder = 0, ""
    asked = 0  # commands

    @property
    def url(self):
        return f"http://localhost:{self.port}/"

    def setUp(self):
        # Whatever happens to the browser, the guest is to end.
        self.addCleanup(self.write_command, "end")
        super().setUp()

    def write_command(self, command):
        self.asked += 1
        pathlib.Path(self.folder, "asked").write_text(f"{self.asked} {command}\n", encoding="ascii")

    def ask_guest(self, command):
        """Returns when it is done."""
        done = pathlib.Path(self.folder, "done")
        self.write_command(command)
        wait_for(command, lambda: done.exists() and done.read_text(encoding="ascii").strip() == str(self.asked))

    def turn(self, state):
        self.ask_guest(f"show {PATTERNS[state]}")

    def answers(self):
        try:
            with OPENER.open(self.url + "state", timeout=ANSWER) as answer:
                return b'"state"' in answer.read()
        except OSError:
            return False

    def hold(self, label):
        """A hold ends by itself when this machine renews it too late: it is pressed again."""
        held = "return [...document.querySelectorAll('.hold[data-held]')].length > 0"
        kept = 0

        def is_over():
            nonlocal kept
            kept = max(kept, self.browser.run(KEPT, label))
            return kept >= 5 or not self.browser.run(held)

        while kept < 5:
            self.press(label, is_over)
            self.wait_for_text("hold-said", f"“{label}”: ")

    def test_the_whole_way(self):
        wait_for("the service", self.answers)
        self.start_at_invitation()
        self.turn(OPEN)
        self.hold(OPEN)
        self.turn(CLOSED)
        self.hold(CLOSED)
        self.expect_state(CLOSED)  # by the pictures: no model is trained yet
        # Each was shown at one time alone, so that nothing is promised.
        self.assertRegex(self.train()["figures"], r"right about ([0-9]+) of \1 pictures")
        self.use()
        for state in (OPEN, CLOSED):
            self.turn(state)
            self.expect_state(state)
        self.ask_guest("restart")
        wait_for("the service", self.answers)
        self.look_at_watch()
        self.expect_state(CLOSED)
        self.wait_for_picture()
        self.take_screenshot("guest-360.png")
        self.correct_the_last_change()


if __name__ == "__main__":
    GuestTest.port, GuestTest.folder = int(sys.argv[1]), sys.argv[2]
    del sys.argv[1:]
    sys.exit(main())
