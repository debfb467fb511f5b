#!/usr/bin/python3
"""Tests of the page with which an owner teaches lookout, with Chromium and a stand-in for the server.

    teach_test.py [TEST...]    TEST: as in TeachTest.test_the_whole_way

Needs what page_test.py needs, but no program. Screenshots go to build/host/page/.
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("network", "tools"))]
sys.dont_write_bytecode = True

import nginx  # noqa: E402
from lookout import wait_for  # noqa: E402
from page_test import main  # noqa: E402
from teach_page import FIND, GRID, RESULT, ROI, TaughtPage, fill, look_at_screens  # noqa: E402
from teach_server import DAY, NONE, PASSWORD  # noqa: E402

SCREENS = [(width, scheme) for width in (320, 360, 1280, 1920) for scheme in ("light", "dark")]


class TeachTest(TaughtPage, unittest.TestCase):
    def look_at_garage(self):
        self.enter()
        self.click("#list a", "Garage door")
        wait_for("pictures", lambda: self.browser.run(GRID))

    def hold(self, label, until):
        """Holds a class's button until `until` of what the server kept is true."""
        self.taught.scene = label
        holds = len(self.taught.holds)
        self.press(label, lambda: len(self.taught.holds) > holds and until(self.taught.hold))
        self.wait_until_released()

    def wait_until_released(self):
        wait_for("the end of the hold", lambda: self.taught.hold and not self.taught.hold["held"])
        wait_for("what came of it", lambda: "kept" in self.text("hold-said"))

    def train(self):
        def trained():
            return next(iter(self.taught.models.values()), {}).get("trained")

        before = trained()
        self.click("button", "Train")
        wait_for("the result", lambda: trained() != before and "Trained." in self.text("job-said"))
        return self.browser.run(RESULT)

    def test_the_whole_way(self):
        self.enter()
        self.click("a", "New watch")
        self.wait_for_picture()
        self.draw((0.35, 0.4), (0.5, 0.6), (0.75, 0.75))
        self.assert_rectangle([0.35, 0.4, 0.4, 0.35])
        self.by_id("watch-title").send_keys("Garage <door>")
        self.click("button", "Create")
        self.find("h1", "Garage <door>")
        self.assertEqual(self.taught.watches["garage-door"]["title"], "Garage <door>")
        self.assertIn("5 more pictures of “open”", self.text("missing"))
        self.assertTrue(self.by_id("train").get_attribute("disabled"))
        # One time of each: enough to train, but not to tell.
        for label in ("open", "closed"):
            self.hold(label, lambda hold: hold["kept"] >= 5)
        self.wait_for_text("ready", "Enough to train. Still better with:")
        self.wait_for_text("now", "Looks now like closed")
        self.taught.lead = 0.01
        self.wait_for_text("now", "Looks now a little more like closed")
        self.taught.preview_problem = "there is no base to teach from: install the package lookout-base"
        self.wait_for_text("now", "There is no base to teach from: install the package lookout-base.")
        result = self.train()
        self.assertTrue(result["figures"].startswith("Not tested yet"), result)
        self.assertEqual(result["light"], "")
        # Once more, with a slip.
        self.hold("closed", lambda hold: hold["kept"] >= 2)
        self.taught.now += 3600
        self.hold("open", lambda hold: hold["kept"] >= 2)
        slip = self.taught.add_picture("garage-door", "open", scene="closed")
        result = self.train()
        of = len(self.taught.labelled("garage-door"))
        self.assertRegex(result["figures"], rf"^{of - 1} of {of} right .*likely between \d+ % and \d+ %")
        self.assertIn("At nightno picture, so not known", result["light"])
        self.assertEqual(result["confusions"], ["1 picture of “open” was taken for “closed”"])
        self.assertRegex(result["mistakes"][0], r"You said open\s+It said closed, 94 %")
        self.assertEqual(result["now"], "Not in use yet.")
        self.click("button", "Use it")
        self.wait_for_text("in-use", "This model is in use.")
        self.wait_for_text("now", "Looks now like open")
        # The label was wrong: it is corrected, and the next model is right about all.
        self.click("#mistakes button", "closed")
        self.wait_for_text("told", "1 picture now “closed”.")
        self.assertEqual(self.taught.pictures[slip]["label"], "closed")
        result = self.train()
        self.assertTrue(result["figures"].startswith(f"{of} of {of} right"), result)
        self.assertIn("Both on 12 pictures that came after", result["compare"])
        self.assertIn("This model12 of 12The one in use then9 of 12", result["compare"])
        self.assertEqual(result["mistakes"] + result["confusions"], [])
        first = self.taught.models["garage-door"]["model"]
        self.click("button", "Use it")
        self.wait_for_text("in-use", "This model is in use.")
        self.assertNotEqual(self.taught.models["garage-door"]["model"], first)
        self.click("#models button", "Back to it")
        self.wait_for_text("told", " is in use again.")
        self.assertEqual(self.taught.models["garage-door"]["model"], first)
        self.expect_no_message()

    def test_what_is_refused_is_told_in_a_sentence(self):
        self.look_at_login()
        self.assertIn("not encrypted", self.by_id("plain").text)
        for refusal, sentence in (
            (None, "That is not the password."),
            ((429, "too_many_guesses", "too many"), "Too many passwords were tried. Try again in 6 s."),
            ((503, "busy", "too many wait"), "The server is busy with another one. Try again in a moment."),
        ):
            self.server.refusals = {("POST", "login"): refusal} if refusal else {}
            self.by_id("password").clear()
            self.by_id("password").send_keys("a guess" + self.keys.ENTER)
            self.wait_for_text("login-problem", sentence)
        fill(self.taught)
        self.server.refusals = {("POST", "teach/watches/garage/holds"): (409, "camera_away", "the camera is away")}
        self.look_at_garage()
        self.actions().click(self.find("#holds b", "open")).perform()
        self.wait_for_text("hold-problem", "The camera is away.")
        self.server.refusals = {("POST", "teach/watches/garage/job"): (507, "full", "the disk is full")}
        self.click("button", "Train")
        self.wait_for_text("told", "The disk is full.")

    def test_nobody_can_log_in_where_teaching_is_off(self):
        self.server.teach = False
        self.browser.open(self.server.url + "teach")
        wait_for("how it is set", lambda: self.browser.look("return document.getElementById('off')?.checkVisibility()"))
        self.assertFalse(self.by_id("login-form").is_displayed())

    def test_the_live_page_leads_here(self):
        link = "const link = document.getElementById('session'); return link?.checkVisibility() && link.textContent"
        self.browser.open(self.server.url)
        wait_for("the link", lambda: self.browser.look(link) == "Log in")
        self.by_id("session").click()
        wait_for("the form", lambda: self.browser.look("return document.activeElement?.id === 'password'"))
        self.by_id("password").send_keys(PASSWORD + self.keys.ENTER)
        self.click("nav a", "Live picture")
        wait_for("the link", lambda: self.browser.look(link) == "Teach")
        self.by_id("session").click()
        self.click("button", "Log out")
        wait_for("the form", lambda: self.browser.look("return document.activeElement?.id === 'password'"))

    def test_the_form_comes_back_when_the_session_ends(self):
        fill(self.taught)
        self.look_at_garage()
        self.server.open_session = False
        self.wait_for_text("login-problem", "You are not logged in any more.")
        self.by_id("password").send_keys(PASSWORD + self.keys.ENTER)
        self.find("h1", "Garage door")

    def test_the_rectangle_follows_mouse_touch_keys_and_numbers(self):
        self.enter()
        self.click("a", "New watch")
        self.wait_for_picture()
        corners = "return [...document.querySelectorAll('#rectangle i')].filter((one) => one.checkVisibility()).length"
        # In place of what is proposed, which has no corners, wherever the drag begins.
        self.assert_rectangle([0.25, 0.25, 0.5, 0.5])
        self.assertEqual(self.browser.run(corners), 0)
        self.draw((0.26, 0.26), (0.3, 0.3), (0.4, 0.5))
        self.assert_rectangle([0.26, 0.26, 0.14, 0.24])
        self.assertEqual(self.browser.run(corners), 4)
        self.click("nav a", "All watches")
        self.click("a", "New watch")
        self.assert_rectangle([0.25, 0.25, 0.5, 0.5])
        self.draw((0.4, 0.4), (0.6, 0.6), (0.9, 0.9))  # inside of it
        self.assert_rectangle([0.4, 0.4, 0.5, 0.5])
        self.draw((0.6, 0.6), (0.5, 0.6), (0.4, 0.6))  # inside of it: moves it
        self.assert_rectangle([0.2, 0.4, 0.5, 0.5])
        self.draw((0.2, 0.4), (0.25, 0.45), (0.3, 0.5))  # its corner
        self.assert_rectangle([0.3, 0.5, 0.4, 0.4])
        self.draw((0.4, 0.6), (0.9, 0.9), (1, 1))  # it stays on the picture
        self.assert_rectangle([0.6, 0.6, 0.4, 0.4])
        self.draw((0.1, 0.1))  # a click draws none
        self.assert_rectangle([0.6, 0.6, 0.4, 0.4])
        self.browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        box = self.browser.run("const b = document.getElementById('frame').getBoundingClientRect();"
                               " return [b.left, b.top, b.width, b.height]")  # fmt: skip
        for kind, *point in (("touchStart", 0.2, 0.2), ("touchMove", 0.3, 0.3), ("touchMove", 0.4, 0.5), ("touchEnd",)):
            points = [{"x": box[0] + point[0] * box[2], "y": box[1] + point[1] * box[3]}] if point else []
            self.browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self.assert_rectangle([0.2, 0.2, 0.2, 0.3])
        self.by_id("rectangle").send_keys(self.keys.ARROW_RIGHT * 3, self.keys.ARROW_UP)
        self.assert_rectangle([0.23, 0.19, 0.2, 0.3])
        self.by_id("rectangle").send_keys(self.keys.SHIFT, self.keys.ARROW_RIGHT * 10)
        self.assert_rectangle([0.23, 0.19, 0.3, 0.3])
        self.wait_for_text("place", "Left 23 %, top 19 %, width 30 %, height 30 %")
        self.click("summary", "Rectangle in numbers")
        left = self.browser.driver.find_element("css selector", "#sides input")
        left.send_keys(self.keys.CONTROL, "a")
        left.send_keys("50" + self.keys.TAB)
        self.assert_rectangle([0.5, 0.19, 0.3, 0.3])

    def test_a_tap_keeps_one_picture(self):
        fill(self.taught)
        self.look_at_garage()
        self.actions().click(self.find("#holds b", "open")).perform()
        self.wait_until_released()
        self.assertGreaterEqual(self.taught.hold["kept"], 1)
        self.assertIn("“open”: ", self.text("hold-said"))
        # Two at once, of which the second one waits.
        before = len(self.taught.labelled("garage"))
        self.actions().double_click(self.find("#holds b", "open")).perform()
        wait_for("two more", lambda: len(self.taught.labelled("garage")) >= before + 2)
        self.wait_until_released()
        # As a screen reader does.
        self.browser.run("document.querySelectorAll('.hold')[1].click()")
        wait_for("the other hold", lambda: self.taught.hold["label"] == "closed" and not self.taught.hold["held"])
        self.assertEqual(self.taught.hold["kept"], 1)

    def test_hours_are_written_below_their_strips(self):
        fill(self.taught)
        self.look_at_garage()
        sides = """
          return [...document.querySelectorAll(arguments[0])].map((one) => {
            const box = one.getBoundingClientRect();
            return [box.left, box.right];
          })
        """
        left, right = self.browser.run(sides, "#hours .strip")[0]
        hours = self.browser.run(sides, "#hours .scale span")
        self.assertAlmostEqual(hours[0][0], left, delta=2)
        self.assertAlmostEqual(hours[-1][1], right, delta=2)
        for before, after in zip(hours, hours[1:]):
            self.assertLess(before[1], after[0])

    def test_a_key_holds_and_whatever_hides_the_button_lets_go(self):
        fill(self.taught)
        self.look_at_garage()
        button = self.browser.driver.find_elements("css selector", ".hold")[2]
        leave = {
            "the key": lambda: self.actions().key_up(self.keys.SPACE).perform(),
            "the focus": lambda: self.browser.run("dispatchEvent(new Event('blur'))"),
            "the tab": lambda: self.browser.show(self.browser.open_tab("about:blank")),
        }
        for number, (what, let_go) in enumerate(leave.items(), 1):
            with self.subTest(what):
                self.browser.run("arguments[0].focus()", button)
                self.actions().key_down(self.keys.SPACE).perform()
                wait_for("pictures", lambda: len(self.taught.holds) == number and self.taught.hold["kept"] > 1)
                self.assertEqual(self.taught.hold["label"], NONE)
                let_go()
                wait_for("the end", lambda: not self.taught.hold["held"])
                self.actions().key_up(self.keys.SPACE).perform()

    def test_pictures_are_picked_moved_and_thrown_away(self):
        fill(self.taught)
        self.look_at_garage()
        self.choose("open")
        wait_for("those of open", lambda: self.labels() == ["open"] * 13)
        # A range by taps alone, as on a phone.
        self.pick(1)
        self.click("button", "Pick a range")
        self.pick(4)
        self.assertEqual(self.picked(), [1, 2, 3, 4])
        self.pick(2)
        self.assertEqual(self.picked(), [1, 3, 4])
        moved = [self.browser.run(GRID)[place][0] for place in (1, 3, 4)]
        self.click("#moves button", "closed")
        self.wait_for_text("told", "3 pictures now “closed”.")
        self.assertEqual({self.taught.pictures[number]["label"] for number in moved}, {"closed"})
        wait_for("the others", lambda: len(self.labels()) == 10)
        self.click("button", "Undo")
        wait_for("all", lambda: len(self.labels()) == 13)
        self.assertEqual({self.taught.pictures[number]["label"] for number in moved}, {"open"})
        # A range with Shift.
        self.pick(0)
        cell = self.browser.driver.find_elements("css selector", "#grid [role=option]")[2]
        self.actions().key_down(self.keys.SHIFT).click(cell).key_up(self.keys.SHIFT).perform()
        self.assertEqual(self.picked(), [0, 1, 2])
        self.click("#moves button", "Throw away")
        self.wait_for_text("told", "3 pictures thrown away.")
        self.choose(" trash")
        wait_for("the trash", lambda: len(self.labels()) == 3)
        self.pick(0)
        self.click("#moves button", "Put back")
        wait_for("two left", lambda: len(self.labels()) == 2)

    def test_what_the_model_guessed_is_confirmed(self):
        fill(self.taught)
        numbers = [self.taught.add_picture("garage", "", guess=guess, origin="unsure") for guess in ("open", "closed")]
        self.look_at_garage()
        self.choose(" unlabelled")
        wait_for("those that nobody told", lambda: self.labels() == ["not told yet"] * 2)
        self.pick(0, 1)
        self.click("#moves button", "As guessed")
        self.wait_for_text("told", "2 pictures told.")
        self.assertEqual([self.taught.pictures[number]["label"] for number in numbers], ["open", "closed"])

    def test_what_nobody_told_takes_a_tap_each(self):
        fill(self.taught)
        add = self.taught.add_picture
        guessed, other, bad = (add("garage", "", guess=guess, origin="unsure") for guess in ("open", "closed", ""))
        self.look_at_garage()
        self.wait_for_text("unsure-left", "3 pictures that the model was unsure of")
        self.wait_for_text("unsure-what", "Not recognised, ")
        self.click("#unsure button", "Throw away")
        self.wait_for_text("unsure-what", "Looks like “closed”, ")
        self.find("#unsure .main", "closed")
        self.click("#unsure button", "none of them")
        self.wait_for_text("unsure-what", "Looks like “open”, ")
        self.click("#unsure .main", "open")
        wait_for("the end", lambda: not self.by_id("unsure").is_displayed())
        self.assertEqual([self.taught.pictures[number]["label"] for number in (guessed, other, bad)], ["open", NONE, ""])
        self.assertTrue(self.taught.pictures[bad]["trashed"])
        self.click("button", "Undo")
        self.wait_for_text("unsure-what", "Looks like “open”, ")
        self.expect_no_message()

    def test_the_keyboard_picks_pictures(self):
        fill(self.taught)
        self.look_at_garage()
        self.browser.run("document.querySelector('#grid [tabindex=\"0\"]').focus()")
        self.actions().send_keys(self.keys.ARROW_RIGHT, self.keys.SPACE, self.keys.ARROW_RIGHT, self.keys.END).perform()
        self.assertEqual(self.picked(), [1])
        self.actions().send_keys(self.keys.HOME).key_down(self.keys.SHIFT).send_keys(self.keys.SPACE).perform()
        self.assertEqual(self.picked(), [0, 1])

    def test_what_somebody_else_changed_is_not_overwritten(self):
        fill(self.taught)
        self.look_at_garage()
        self.pick(0)
        number = self.browser.run(GRID)[0][0]
        with self.server.lock:
            self.taught.pictures[number]["revision"] += 1
        self.click("#moves button", "none of them")
        self.wait_for_text("told", "Somebody else changed it meanwhile.")
        self.assertNotEqual(self.taught.pictures[number]["label"], NONE)

    def test_a_training_can_be_cancelled(self):
        fill(self.taught)
        self.look_at_garage()
        with self.server.lock:
            self.taught.advance = lambda: None  # goes on for ever
        self.click("button", "Train")
        self.click("button", "Cancel")
        self.wait_for_text("job-said", "Training was cancelled.")

    def test_a_training_tells_how_long_it_takes(self):
        fill(self.taught)
        self.look_at_garage()
        with self.server.lock:
            self.taught.advance = lambda: None
        self.click("button", "Train")
        self.wait_for_text("step", "Looking at the pictures: 0 %")
        self.assertEqual(self.text("left"), "–")
        for seconds, text in ((600, "about 10 min"), (None, "–"), (7, "about 7 s"), (41, "about 45 s")):
            with self.server.lock:
                self.taught.job["left"] = seconds
            self.wait_for_text("left", text)
        self.wait_for_text("camera-fps", "12.5 fps")
        look_at_screens(self, "teach-training", [(360, "light"), (1280, "dark")])
        # Screen readers tell of each change of these.
        live = "return document.querySelector('#job:is([aria-live], [role]), #job :is([aria-live], [role])')"
        self.assertIsNone(self.browser.run(live))

    def test_each_model_that_is_kept_can_be_used_again(self):
        fill(self.taught)
        self.look_at_garage()
        self.assertEqual(self.train()["models"], [], "one alone is the result")
        self.click("button", "Use it")
        self.wait_for_text("in-use", "This model is in use.")
        for _ in range(2):
            self.train()
        models = self.taught.models["garage"]
        newest, middle, oldest = models["kept"]
        shown = self.browser.run(RESULT)["models"]
        self.assertRegex(shown[0], r"^Fri, Nov 28, 20:0\d 26 pictures, 24 of 26 right Use it$")
        self.assertRegex(shown[1], "right Use it$")
        self.assertRegex(shown[2], "right in use$")
        self.click("button", "Use it")
        self.wait_for_text("in-use", "This model is in use.")
        buttons = self.browser.driver.find_elements("css selector", "#models button")
        self.assertEqual([button.text for button in buttons], ["Back to it"] * 2)
        self.assertRegex(buttons[1].get_attribute("aria-label"), "^Back to it: Fri, Nov 28, 20:")
        self.assertIs(models["model"], newest)
        buttons[1].send_keys(self.keys.ENTER)
        self.wait_for_text("told", " is in use again.")
        self.assertIs(models["model"], oldest)
        self.assertTrue(self.browser.run("return document.activeElement.id === 'models-part'"))
        # Another owner.
        with self.server.lock:
            models["model"] = middle
        wait_for("the other one", lambda: self.browser.run(RESULT)["models"][1].endswith("in use"))
        self.expect_no_message()

    def test_a_watch_is_changed_deleted_and_restored(self):
        fill(self.taught)
        self.look_at_garage()
        self.click("a", "Rectangle, name and classes")
        self.assert_rectangle(ROI)
        self.click("button", "Add a class")
        rows = self.browser.driver.find_elements("css selector", "#classes input")
        rows[0].clear()
        rows[0].send_keys("wide open")
        rows[2].send_keys("half")
        self.click("button", "Save")
        self.find("#holds b", "half")
        self.assertEqual(self.taught.watches["garage"]["classes"], ["wide open", "closed", "half"])
        self.assertEqual(len([p for p in self.taught.labelled("garage") if p["label"] == "wide open"]), 13)
        self.click("button", "Delete this watch")
        self.wait_for_text("told", "“Garage door” was deleted.")
        self.assertEqual(self.taught.watches, {})
        self.click("button", "Undo")
        self.find("h1", "Garage door")
        self.assertIn("garage", self.taught.watches)

    def test_a_model_keeps_its_rectangle_until_another_one_is_used(self):
        fill(self.taught)
        self.look_at_garage()
        self.train()
        self.click("button", "Use it")
        self.wait_for_text("in-use", "This model is in use.")
        self.click("a", "Rectangle, name and classes")
        self.click("button", "Save")
        self.wait_for_text("told", "Saved.")
        self.assertNotIn("old rectangle", self.text("told") + self.text("in-use"))
        self.click("a", "Rectangle, name and classes")
        self.assert_rectangle(ROI)
        self.by_id("rectangle").send_keys(self.keys.ARROW_RIGHT * 3)
        self.click("button", "Save")
        self.wait_for_text("told", "Saved. The model in use looks at the old rectangle")
        self.wait_for_text("in-use", "This model is in use. It looks at the old rectangle: train again.")
        self.assertTrue(self.train()["now"].endswith("That one looks at the old rectangle."))
        self.click("button", "Use it")
        wait_for("no hint", lambda: self.text("in-use") == "This model is in use.")

    def test_behind_a_proxy_under_a_path(self):
        if not nginx.PROGRAM:
            self.skipTest("no nginx: deploy/install-deps.sh --page")
        fill(self.taught)
        proxy = nginx.Nginx(self.server.url)
        self.addCleanup(proxy.close)
        self.enter(proxy.url)
        self.click("#list a", "Garage door")
        thumbs = "return [...document.querySelectorAll('#grid img')].some((one) => one.naturalWidth > 0)"
        wait_for("a small picture", lambda: self.browser.run(thumbs))
        self.wait_for_picture()
        self.expect_no_message()

    def invitation(self):
        """What it says; empty: it is not there."""
        return self.browser.look(
            "const part = document.getElementById('invitation');"
            " return part?.checkVisibility() ? part.innerText : ''"
        )

    def test_the_live_page_invites_to_teach_until_something_taught_runs(self):
        self.browser.open(self.url)
        wait_for("the invitation", self.invitation)
        self.assertIn("Show it something of your own", self.invitation())
        self.click("#invitation a", "Teach it what to watch")
        wait_for("the form", lambda: self.browser.look("return document.activeElement?.id === 'password'"))
        self.by_id("password").send_keys(PASSWORD + self.keys.ENTER)
        wait_for("the list", lambda: self.text("usage"))
        fill(self.taught)
        self.browser.open(self.url)
        wait_for("the invitation, as no model is in use", self.invitation)
        self.taught.models["garage"] = {"model": self.taught.make_model("garage")}
        self.browser.open(self.url)
        self.wait_for_text("session", "Teach")
        wait_for("that it is known", lambda: self.text("invitation-why"))
        wait_for("none", lambda: not self.invitation())
        self.expect_no_message()

    def test_guests_who_cannot_teach_are_not_invited(self):
        self.server.teach = False
        self.browser.open(self.url)
        asked = "return performance.getEntriesByType('resource').some(({name}) => name.endsWith('/session'))"
        wait_for("the answer", lambda: self.browser.look(asked))
        self.assertFalse(self.by_id("session").is_displayed())
        self.assertEqual(self.invitation(), "")
        self.assertEqual(self.text("invitation-why"), "", "it is not even asked")

    def test_two_watches_cannot_have_the_same_name(self):
        fill(self.taught)
        self.enter()
        self.click("a", "New watch")
        self.wait_for_picture()
        self.by_id("watch-title").send_keys("Garage door")
        self.click("button", "Create")
        self.wait_for_text("form-problem", "Another watch has this name already.")
        self.by_id("watch-title").send_keys(" 2")
        self.click("button", "Create")
        self.find("h1", "Garage door 2")

    def test_a_wide_interval_is_explained(self):
        fill(self.taught)
        self.taught.interval = (0.4, 0.07)
        self.look_at_garage()
        result = self.train()
        self.assertRegex(result["figures"], r"92 %\. Of the pictures to come, likely between 52 % and 99 % are right\.")
        self.assertIn("Hold the classes again at other times", result["figures"])
        self.taught.interval = (0.1, 0.03)
        self.assertNotIn("Hold the classes again", self.train()["figures"])

    def test_screens(self):
        self.look_at_login()
        look_at_screens(self, "teach-login", SCREENS)
        fill(self.taught)
        self.taught.add_picture("garage", "", guess="open", origin="unsure")
        self.enter()
        look_at_screens(self, "teach-list", SCREENS)
        self.click("a", "New watch")
        self.wait_for_picture()
        self.click("summary", "Rectangle in numbers")
        look_at_screens(self, "teach-form", SCREENS)
        self.click("nav a", "All watches")
        self.click("#list a", "Garage door")
        wait_for("pictures", lambda: self.browser.run(GRID))
        self.train()
        self.click("button", "Use it")
        self.train()
        self.pick(0, 3)
        look_at_screens(self, "teach-watch", SCREENS)
        self.taught.add_event("garage", "open")
        self.taught.add_event("garage", "closed")
        self.browser.open(self.url)
        self.show_day(DAY)
        self.click("#changes button", "This was wrong")
        look_at_screens(self, "changes", SCREENS)
        self.expect_no_message()


if __name__ == "__main__":
    sys.exit(main())
