#!/usr/bin/python3
"""The whole way with the built program: an owner with a phone teaches a state, which is then watched.

    taught_test.py

Needs what page_test.py needs. The camera is one on the network, which looks at a drawn garage: its door is open or
closed, and light and noise change from frame to frame. Prints how long the page took to tell the state after the door
was turned. A screenshot goes to build/host/page/.
"""

import contextlib
import http.server
import io
import os
import random
import sys
import tempfile
import threading
import time

from PIL import Image, ImageDraw

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("network", "predict", "tools"))]
sys.dont_write_bytecode = True

from lookout import ROOT, wait_for  # noqa: E402
from owner import PASSWORD, OwnerTest  # noqa: E402
from page_test import FOLDER, main  # noqa: E402
from teach_page import RESULT, TeachPage  # noqa: E402

OPEN, CLOSED = "open", "closed"
FRAME = 0.1  # s
# How many pictures the hold of a class's button has kept, while it is held.
KEPT = """
  const button = [...document.querySelectorAll(".hold")].find((one) => one.children[0].textContent === arguments[0]);
  return Number(/^([0-9]+) kept/.exec(button.children[1].textContent)?.[1] ?? 0);
"""


class Garage(http.server.BaseHTTPRequestHandler):
    """A camera of Motion JPEG."""

    server_version = "camera"

    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                jpeg = self.picture()
                head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
                self.wfile.write(head.encode() + jpeg + b"\r\n")
                time.sleep(FRAME)

    def picture(self):
        light = random.uniform(0.8, 1.1)

        def color(*rgb):
            return tuple(min(255, int(value * light)) for value in rgb)

        picture = Image.new("RGB", (320, 240), color(150, 140, 125))
        draw = ImageDraw.Draw(picture)
        draw.rectangle((40, 40, 280, 220), color(25, 25, 30) if self.server.door == OPEN else color(235, 235, 230))
        if self.server.door == OPEN:
            draw.rounded_rectangle((100, 120, 220, 210), 20, color(190, 40, 40))
            draw.rectangle((120, 130, 200, 160), color(90, 110, 130))
        else:
            for down in range(60, 220, 20):
                draw.line((40, down, 280, down), color(150, 150, 150), 2)
        noise = Image.effect_noise(picture.size, 24).convert("RGB")
        data = io.BytesIO()
        Image.blend(picture, noise, 0.15).save(data, "JPEG", quality=85)
        return data.getvalue()

    def log_message(self, *_):
        pass


class GaragePage(TeachPage):
    """What a person does with the page of a program at `self.url`, whose camera looks at a garage."""

    def start_at_invitation(self):
        """Makes the watch."""
        self.browser.emulate(360, 800, "light")
        self.browser.open(self.url)
        self.wait_for_text("invitation-why", "So far this runs a self-test")
        self.find("#invitation a", "Teach it what to watch")
        self.enter()
        self.click("a", "New watch")
        self.wait_for_picture()
        self.draw((0.1, 0.1), (0.5, 0.5), (0.9, 0.9))
        self.assert_rectangle([0.1, 0.1, 0.8, 0.8])
        self.by_id("watch-title").send_keys("Garage door")
        self.click("button", "Create")
        self.find("h1", "Garage door")

    def expect_state(self, state):
        begin = time.monotonic()
        self.wait_for_text("now", f"Looks now like {state}")
        print(f"{state}: told after {time.monotonic() - begin:.1f} s", flush=True)

    def look_at_watch(self):
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

    def use(self):
        self.click("button", "Use it")
        self.wait_for_text("in-use", "This model is in use.")

    def take_screenshot(self, name):
        """Of the whole page."""
        os.makedirs(FOLDER, exist_ok=True)
        down = self.browser.run("return document.documentElement.scrollHeight")
        self.browser.emulate(360, down, "light")
        self.browser.driver.save_screenshot(os.path.join(FOLDER, name))

    def look_at_live_page(self):
        self.browser.open(self.url)
        self.wait_for_text("session", "Teach")

    def correct_the_last_change(self):
        """What is said of a change is still there when the page is opened again."""
        self.look_at_live_page()
        self.click("#changes button", "This was wrong")
        self.click("#changes button", "none of them")
        corrected = "Corrected: it was “none of them”. Its picture is kept to learn from."
        self.find("#changes [role=status]", corrected)
        self.look_at_live_page()
        self.find("#changes [role=status]", corrected)
        self.assertFalse(self.by_id("invitation").is_displayed())


class TaughtTest(GaragePage, OwnerTest):
    owners_password = PASSWORD
    more_options = ("--set", f"model.base={ROOT}/models/selftest.pt")

    @property
    def url(self):
        return f"http://localhost:{self.port}/"

    def setUp(self):
        self.camera = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Garage)
        self.camera.daemon_threads = True
        self.camera.door = OPEN
        threading.Thread(target=self.camera.serve_forever, daemon=True).start()
        self.addCleanup(self.camera.server_close)
        self.addCleanup(self.camera.shutdown)
        history = tempfile.TemporaryDirectory()
        self.addCleanup(history.cleanup)
        self.more_options = (*self.more_options, "--set", f"history.folder={history.name}")
        self.source = f"http://127.0.0.1:{self.camera.server_port}/"
        super().setUp()

    def turn(self, state):
        self.camera.door = state

    def start_again(self):
        """As after a power cut."""
        self.end()
        self.start()
        self.look_at_watch()

    def test_the_whole_way(self):
        self.start_at_invitation()
        self.hold(OPEN)
        self.turn(CLOSED)
        self.hold(CLOSED)
        self.expect_state(CLOSED)  # by the pictures: no model is trained yet
        self.actions().click(self.find("#holds b", OPEN)).perform()  # a slip
        self.wait_for_text("hold-said", "“open”: 1 picture kept")
        self.turn(OPEN)
        self.expect_state(OPEN)
        self.hold(OPEN)
        self.turn(CLOSED)
        self.hold(CLOSED)
        result = self.train()
        self.assertRegex(result["figures"], "^[0-9]+ of [0-9]+ right")
        self.assertRegex(result["mistakes"][0], r"You said open\s+It said closed")
        self.use()
        for state in (OPEN, CLOSED):
            self.turn(state)
            self.expect_state(state)
        # The label was wrong: it is corrected, and the next model is right about all.
        self.click("#mistakes button", CLOSED)
        self.wait_for_text("told", "1 picture now “closed”.")
        result = self.train()
        right, of = result["figures"].split(" right")[0].split(" of ")
        self.assertEqual(right, of)
        self.use()
        self.turn(OPEN)
        self.start_again()
        self.expect_state(OPEN)
        self.click("#models button", "Back to it")
        self.wait_for_text("told", " is in use again.")
        self.take_screenshot("taught-360.png")
        self.correct_the_last_change()


if __name__ == "__main__":
    sys.exit(main())
