#!/usr/bin/python3
"""Tests of the pages in German, with Chromium.

    language_test.py [TEST...]    TEST: as in LanguageTest.test_live_page

Needs what page_test.py needs. Screenshots go to build/host/page/. words_test.py compares the texts themselves.
"""

import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("network", "tools"))]
sys.dont_write_bytecode = True

from lookout import Lookout, wait_for  # noqa: E402
from page_test import FOLDER, PATTERN, main, with_model  # noqa: E402
from teach_server import DAY, TeachServer  # noqa: E402
from teach_page import GRID, TeachPage, fill  # noqa: E402

WIDTHS = (360, 1280)
NAMES = {"Garage door", "open", "closed"}  # that the owner has given
LANGUAGE = "return document.documentElement.lang"
STATE = "return document.getElementById('now-title')?.textContent"


class LanguageTest(TeachPage, unittest.TestCase):
    language = "de-AT,en"

    def start(self):
        server = Lookout(*with_model(PATTERN))
        self.addCleanup(server.close)
        return server

    def look_at(self, name):
        """All is in German, nothing is wider than the screen, and axe finds no fault."""
        self.assertEqual(self.browser.run(LANGUAGE), "de")
        os.makedirs(FOLDER, exist_ok=True)
        for width in WIDTHS:
            self.browser.emulate(width, 800, "light")
            wait_for("the width", lambda: self.browser.run("return innerWidth") == width)
            self.assertEqual(set(self.browser.find_english()) - NAMES, set(), name)
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width, name)
            self.assertEqual(self.browser.find_long_lines(), [], f"{name}, {width}")
            self.assertEqual(self.browser.find_faults(), [], f"{name}, {width}")
            down = self.browser.run("return document.documentElement.scrollHeight")
            self.browser.emulate(width, down, "light")
            self.browser.driver.save_screenshot(os.path.join(FOLDER, f"{name}-de-{width}.png"))

    def test_live_page(self):
        server = self.start()
        self.browser.open(server.url)
        shown = self.browser.wait_until_shown(
            "results", lambda now: now["lines"] == 3 and now["score"] and "LibTorch" in now["facts"]
        )
        self.assertEqual(shown["link"], "Live")
        self.assertRegex(shown["score"], r"^\d+,\d %$")
        self.browser.wait_for_moving_picture()
        self.look_at("live")
        server.stop()
        self.browser.wait_until_shown("the loss", lambda now: now["notice"].startswith("Keine Antwort vom Server"))
        self.look_at("away")

    def test_form_for_pictures(self):
        self.browser.open(self.start().url + "predict")
        wait_for("the form", lambda: "Höchstens 16 auf einmal, mit je 8 MB." in self.text("notice"))
        self.look_at("form")

    def test_page_for_teaching(self):
        server = TeachServer()
        self.addCleanup(server.close)
        self.url = server.url
        self.look_at_login()
        self.by_id("password").send_keys("geraten" + self.keys.ENTER)
        self.wait_for_text("login-problem", "Das Passwort ist falsch.")
        self.look_at("teach-login")
        self.by_id("password").send_keys(self.owners_password + self.keys.ENTER)
        wait_for("the list", lambda: self.text("usage"))
        fill(server.taught)
        server.taught.add_picture("garage", "", guess="open", origin="unsure")
        self.find("#list a", "Garage door")
        self.look_at("teach-list")
        self.click("a", "Neue Beobachtung")
        self.wait_for_picture()
        self.click("summary", "Rechteck in Zahlen")
        self.look_at("teach-form")
        self.click("nav a", "Alle Beobachtungen")
        self.click("#list a", "Garage door")
        wait_for("pictures", lambda: self.browser.run(GRID))
        server.taught.add_model("garage")
        self.click("button", "Trainieren")
        self.wait_for_text("figures", "richtig")
        self.find("#models button", "Verwenden")
        self.pick(0, 3)
        self.look_at("teach-watch")
        self.expect_no_message()

    def test_what_the_server_refuses(self):
        """In German by its code; what has none, as the server says it."""
        server = TeachServer()
        self.addCleanup(server.close)
        self.url = server.url
        fill(server.taught)
        self.enter()
        self.click("#list a", "Garage door")
        wait_for("pictures", lambda: self.browser.run(GRID))
        for code, about, sentence in (
            ("disk_full", None, "Der Datenträger des Servers ist voll."),
            ("no_such_class", "open", "Die Klasse „open“ gibt es nicht mehr."),
            ("no_such_class", None, "In English."),
            ("of_another_version", None, "In English."),
        ):
            server.refusals = {("POST", "teach/watches/garage/job"): (409, code, "in English", about)}
            self.click("button", "Trainieren")
            self.wait_for_text("told", sentence)
        server.taught.job = {"watch": "garage", "state": "failed", "done": 0, "step": "", "message": "in English",
                             "code": "no_base"}  # fmt: skip
        self.wait_for_text("job-said", "Das Training ist fehlgeschlagen: Es fehlt ein Basismodell zum Anlernen")

    def test_the_label_unknown(self):
        server = Lookout(*with_model("test://all?size=320x240&fps=10", "--set", "state.enter-threshold=1"))
        self.addCleanup(server.close)
        self.browser.open(server.url)
        self.browser.wait_until_shown("the state", lambda now: now["state"] == "unbekannt")
        taught = TeachServer()
        self.addCleanup(taught.close)
        self.url = taught.url
        fill(taught.taught)
        taught.taught.add_event("garage", "unknown")
        self.enter()
        self.browser.open(self.url)
        self.show_day(DAY)
        self.find("#changes .state", "unbekannt")

    def test_another_language_is_chosen_and_kept(self):
        server = self.start()
        self.browser.open(server.url)
        wait_for("German", lambda: self.browser.look(STATE) == "Zustand")
        self.browser.driver.find_element("css selector", "#languages [lang=en]").click()
        wait_for("English", lambda: self.browser.look(STATE) == "State")
        self.browser.wait_until_shown("the score", lambda now: re.fullmatch(r"\d+\.\d %", now["score"]))
        self.browser.open(server.url + "predict")
        wait_for("the form", lambda: self.text("notice").startswith("At most 16"))
        self.assertEqual(self.browser.run(LANGUAGE), "en")

    def test_who_reads_neither_gets_english(self):
        self.browser.close()
        self.browser = self.browser_module.Browser("fr")
        self.browser.open(self.start().url)
        wait_for("English", lambda: self.browser.look(STATE) == "State")
        self.browser.wait_until_shown("the score", lambda now: re.fullmatch(r"\d+\.\d %", now["score"]))


if __name__ == "__main__":
    sys.exit(main())
