#!/usr/bin/python3
"""Tests of changes on the live page, and of what owners say of them, with Chromium and a stand-in for the server.

    changes_test.py [TEST...]    TEST: as in ChangesTest.test_a_change_that_was_wrong_is_taught

Needs what page_test.py needs, but no program.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from lookout import wait_for  # noqa: E402
from page_test import main  # noqa: E402
from teach_page import FIND, TaughtPage, fill  # noqa: E402
from teach_server import DAY, NONE  # noqa: E402

# What each change says, and offers.
CHANGES = """
  return [...document.querySelectorAll("#changes-list li")].map((row) => [
    ...row.querySelectorAll("p:not(:empty), button, a:not(:has(img))")].map((one) => one.textContent).join("\\n"));
"""


class ChangesTest(TaughtPage, unittest.TestCase):
    def look_at_changes(self):
        """On the live page, after a login."""
        self.enter()
        self.look_at_them_again()

    def look_at_them_again(self):
        self.browser.run("window.isOld = true")
        self.browser.open(self.url)
        wait_for("a new page", lambda: self.browser.look("return !window.isOld"))
        self.show_day(DAY)
        wait_for("what an owner may say", lambda: self.browser.run(FIND, "#changes button", "This was wrong") or
                 self.browser.run(FIND, "#changes button", "Undo"))

    def changes(self):
        return [change.split("\n") for change in self.browser.run(CHANGES)]

    def test_a_change_that_was_wrong_is_taught(self):
        fill(self.taught)
        self.taught.add_event("garage", "open")
        self.taught.add_event("lamp", "on")
        self.taught.add_event("garage", "closed", picture=False)
        number = self.taught.add_event("garage", "closed")
        at = self.taught.event(number)["at"]
        before = len(self.taught.pictures)
        self.look_at_changes()
        self.assertEqual([change[0] for change in self.changes()], ["closed", "closed", "on", "open"])
        self.assertEqual(self.changes()[1][2:], [], "no picture to learn from")
        self.assertEqual(self.changes()[2][2:], [], "it is not taught")
        self.click("#changes button", "This was wrong")
        self.assertEqual(self.changes()[0][2:], ["What was it?", "open", "none of them", "Cancel"])
        self.click("#changes button", "Cancel")
        self.assertEqual(self.changes()[0][2:], ["This was wrong"])
        self.click("#changes button", "This was wrong")
        self.click("#changes button", "open")
        self.find("#changes [role=status]", "Corrected: it was “open”. Its picture is kept to learn from.")
        self.assertEqual(len(self.taught.pictures), before + 1)
        kept = self.taught.pictures[before + 1]
        self.assertEqual([kept[key] for key in ("at", "label", "origin", "trashed")], [at, "open", "event", False])
        self.click("#changes button", "Undo")
        self.find("#changes [role=status]", "Undone.")
        self.assertTrue(kept["trashed"])
        self.click("#changes button", "This was wrong")
        self.click("#changes button", "none of them")
        self.find("#changes [role=status]", "Corrected: it was “none of them”. Its picture is kept to learn from.")
        self.assertEqual([kept["label"], kept["trashed"]], [NONE, False])
        self.click("#changes a", "Its pictures")
        self.find("h1", "Garage door")
        self.expect_no_message()

    def test_why_a_change_is_not_taught_is_told(self):
        fill(self.taught)
        self.taught.add_event("garage", "unknown")
        self.server.refusals["POST", "teach/watches/garage/events"] = (507, "full", "the library is full")
        self.look_at_changes()
        self.click("#changes button", "This was wrong")
        self.assertEqual(self.changes()[0][3:], ["open", "closed", "Cancel"])
        self.click("#changes button", "closed")
        self.find("#changes [role=status]", "The library is full.")

    def test_a_correction_is_still_there_after_the_page_was_left(self):
        fill(self.taught)
        for state in ("open", "unknown", "closed"):
            self.taught.add_event("garage", state)
        self.look_at_changes()
        self.click("#changes button", "This was wrong")
        self.click("#changes button", "open")
        corrected = "Corrected: it was “open”. Its picture is kept to learn from."
        self.find("#changes [role=status]", corrected)
        self.look_at_them_again()
        self.find("#changes [role=status]", corrected)
        changes = self.changes()
        self.assertEqual(changes[0][2:], [corrected, "Undo", "Its pictures"])
        self.assertEqual([change[2:] for change in changes[1:]], [["This was wrong"]] * 2)
        kept = self.taught.pictures[len(self.taught.pictures)]
        kept["label"] = NONE  # as somebody else tells it among the pictures
        kept["revision"] += 1
        self.look_at_them_again()
        self.find("#changes [role=status]", corrected.replace("open", "none of them"))
        self.click("#changes button", "Undo")
        self.find("#changes [role=status]", "Undone.")
        self.look_at_them_again()
        self.find("#changes button", "This was wrong")
        self.assertEqual([change[2:] for change in self.changes()], [["This was wrong"]] * 3)

    def test_changes_tell_how_long_and_older_ones_come_when_asked_for(self):
        fill(self.taught)
        for number in range(23):
            self.taught.now += 60
            self.taught.add_event("garage", ("open", "closed")[number % 2])
        with self.server.lock:
            self.taught.now += 3 * 60
            self.taught.add_event("garage", "closed")
            self.taught.now -= 30
            self.taught.add_event("garage", "unknown")  # half a minute later
        self.look_at_changes()
        changes = self.changes()
        self.assertEqual([change[0] for change in changes], ["unknown", "closed"] + ["open", "closed"] * 4)
        # Seconds where they tell changes of a minute apart, or the minute says nothing.
        self.assertRegex(changes[0][1], r"^Garage door, from \d\d:\d\d:\d\d on \(longer than \d\d\sh(\s\d+\smin)?\)$")
        self.assertRegex(changes[1][1], r"^Garage door, \d\d:\d\d:\d\d – \d\d:\d\d:\d\d \(30\ss\)$")
        self.assertRegex(changes[3][1], r"^Garage door, \d\d:\d\d – \d\d:\d\d \(2\smin\)$")
        self.click("#changes button", "Older changes")
        wait_for("older ones", lambda: len(self.changes()) == 20)
        self.click("#changes button", "Older changes")
        wait_for("all", lambda: len(self.changes()) == 25)
        wait_for("no more", lambda: not self.by_id("older-changes").is_displayed())
        self.assertTrue(self.browser.run("return document.activeElement.closest('#changes-list li') !== null"))

    def test_guests_see_the_changes_and_say_nothing(self):
        fill(self.taught)
        self.taught.add_event("garage", "open")
        self.taught.add_event("lamp", "on")
        self.browser.open(self.url)
        wait_for("the way in", lambda: self.text("session") == "Log in")
        self.show_day(DAY)
        self.assertEqual([[change[0], *change[2:]] for change in self.changes()], [["on"], ["open"]])
        self.assertTrue(self.by_id("history").is_displayed())

    def test_who_is_logged_out_meanwhile_sees_the_changes_and_says_nothing(self):
        fill(self.taught)
        self.taught.add_event("garage", "open")
        self.look_at_changes()
        self.server.open_session = False
        self.click("button", "Today")
        self.show_day(DAY)
        wait_for("the change alone", lambda: [change[2:] for change in self.changes()] == [[]])


if __name__ == "__main__":
    sys.exit(main())
