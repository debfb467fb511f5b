#!/usr/bin/python3
"""Tests of the form for pictures of lookout's HTTP server, with Chromium.

    form_test.py [TEST...]    TEST: as in FormTest.test_pictures

Needs what page_test.py needs. Screenshots go to build/host/page/.
"""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("network", "tools"))]
sys.dont_write_bytecode = True

import nginx  # noqa: E402
from lookout import ROOT, Lookout, wait_for  # noqa: E402
from page_test import FOLDER, PATTERN, SCREENS, WATCHES, main, with_model  # noqa: E402
from PIL import Image  # noqa: E402

ANSWERS = """
  return [...document.querySelectorAll(".answer")].map((answer) => ({
    name: answer.querySelector("h2").textContent,
    rows: [...answer.querySelectorAll("li span")].map((label) => label.textContent),
    error: answer.querySelector(".notice")?.textContent ?? "",
    drawn: (answer.querySelector("canvas")?.width ?? 0) > 1,
  }));
"""
DROP = """
  const data = new DataTransfer();
  data.items.add(document.getElementById("file").files[0]);
  document.getElementById("file").value = "";
  document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
"""


class FormTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from browser import Browser

        cls.make_browser = Browser
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.red = os.path.join(folder.name, "red <b>.png")
        Image.new("RGB", (400, 300), "red").save(cls.red)
        cls.text = os.path.join(folder.name, "a.txt")
        with open(cls.text, "w", encoding="ascii") as file:
            file.write("no picture")
        cls.large = os.path.join(folder.name, "large.jpg")
        with open(cls.large, "wb") as file:
            file.truncate(9 << 20)

    def setUp(self):
        self.browser = self.make_browser()
        self.addCleanup(self.browser.close)
        self.server = Lookout(*with_model(PATTERN))
        self.addCleanup(self.server.close)
        self.browser.open(self.server.url + "predict")
        wait_for("the form", lambda: self.browser.look("return document.readyState") == "complete")

    def choose(self, *paths):
        self.browser.driver.find_element("id", "file").send_keys("\n".join(paths))

    def wait_for_answers(self, count):
        def answers():
            found = self.browser.look(ANSWERS) or []
            done = not self.browser.look("return document.getElementById('send').disabled")
            return found if len(found) == count and done else None

        return wait_for(f"{count} answers", answers)

    def test_pictures(self):
        self.choose(self.red, self.text)
        picture, text = self.wait_for_answers(2)
        self.assertEqual((picture["name"], picture["rows"][0]), ("red <b>.png", "red"))
        self.assertTrue(wait_for("the picture", lambda: self.browser.run(ANSWERS)[0]["drawn"]))
        self.assertIn("neither JPEG nor PNG", text["error"])
        # Chromium tells of the status 415 itself.
        messages = [text for text in self.browser.messages() if "415" not in text]
        self.assertEqual(messages, [])

    def test_one_of_the_watches_is_chosen(self):
        shown = "return document.getElementById('watch').checkVisibility()"
        self.assertFalse(self.browser.run(shown), "there are none")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        config = os.path.join(folder.name, "lookout.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(WATCHES)
        halves = os.path.join(folder.name, "halves.png")
        picture = Image.new("RGB", (400, 300), "red")
        picture.paste("blue", (200, 0, 400, 300))
        picture.save(halves)
        server = Lookout(*with_model(PATTERN, "--config", config))
        self.addCleanup(server.close)
        self.browser.open(server.url + "predict")
        wait_for("the form", lambda: self.browser.look("return !!document.getElementById('watch')"))
        self.assertTrue(self.browser.run(shown))
        choice = self.browser.driver.find_element("id", "watch")
        self.assertEqual(choice.text.splitlines(), ["The <gate>", "slow", "lamp"])
        self.choose(halves)
        self.assertEqual(self.wait_for_answers(1)[0]["rows"][0], "red")
        choice.send_keys("lamp")
        lamp = "return document.querySelector('.answer li span')?.textContent === 'blue'"
        wait_for("what the lamp's watch sees", lambda: self.browser.look(lamp))
        self.assertEqual(self.browser.find_faults(), [])

    def test_large_picture_is_not_sent(self):
        self.assertIn("8 MB each", self.browser.run("return document.getElementById('notice').textContent"))
        self.choose(self.large)
        self.assertEqual(
            self.wait_for_answers(1)[0]["error"],
            "large.jpg has 9.0 MB. At most 8 MB are taken: send a smaller picture, or raise "
            "http.max-upload of the server.",
        )
        with self.server.get("metrics") as metrics:
            self.assertNotIn(b'route="/predict",code="413"', metrics.read())

    def test_answer_that_is_no_json(self):
        self.browser.run(
            "window.fetch = async () => new Response('<html>', {status: 413, statusText: 'Too Large'});"
        )
        self.choose(self.red)
        self.assertEqual(self.wait_for_answers(1)[0]["error"], "The answer was HTTP status 413.")

    def test_dropped_picture(self):
        self.choose(self.red)
        self.wait_for_answers(1)
        self.browser.run("document.getElementById('answers').replaceChildren()")
        self.browser.run(DROP)
        self.assertEqual(self.wait_for_answers(1)[0]["rows"][0], "red")

    def test_behind_a_proxy_under_a_path(self):
        if not nginx.PROGRAM:
            self.skipTest("no nginx: deploy/install-deps.sh --page")
        proxy = nginx.Nginx(self.server.url)
        self.addCleanup(proxy.close)
        self.browser.open(proxy.url)
        link = "return document.querySelector('header a')?.href"
        self.browser.open(wait_for("the link", lambda: self.browser.look(link)))
        wait_for("the form", lambda: self.browser.look("return !!document.getElementById('file')"))
        self.choose(self.red)
        self.assertEqual(self.wait_for_answers(1)[0]["rows"][0], "red")

    def test_without_a_server(self):
        self.server.stop()
        self.choose(self.red)
        self.assertIn("does not answer", self.wait_for_answers(1)[0]["error"])

    def test_the_page_leads_to_the_form(self):
        self.browser.open(self.server.url)
        link = "return document.querySelector('header a')?.href"
        self.assertEqual(
            wait_for("the link", lambda: self.browser.look(link)), self.server.url + "predict"
        )

    def test_the_form_leads_back_to_the_page(self):
        self.browser.driver.find_element("css selector", "header a").click()
        wait_for("the page", lambda: self.browser.look("return location.href") == self.server.url)

    def test_screens(self):
        self.choose(self.red, self.text, self.large)
        self.wait_for_answers(3)
        os.makedirs(FOLDER, exist_ok=True)
        for width, scheme in SCREENS:
            self.browser.emulate(width, 900, scheme)
            wait_for("the width", lambda: self.browser.run("return innerWidth") == width)
            self.assertLessEqual(
                self.browser.run("return document.documentElement.scrollWidth"), width
            )
            self.assertEqual(self.browser.find_faults(), [], f"{width}, {scheme}")
            name = os.path.join(FOLDER, f"form-{width}-{scheme}.png")
            self.browser.driver.save_screenshot(name)


if __name__ == "__main__":
    sys.exit(main())
