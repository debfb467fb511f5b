#!/usr/bin/python3
"""Tests of the page of lookout's HTTP server: the real program, looked at with Chromium.

    page_test.py [TEST...]    TEST: as in PageTest.test_state

Needs build/host/app/lookout, build/host/tests/libfake_camera.so, and of Debian chromium-driver,
nginx and python3-selenium; axe-core comes from PyPI. Exit status 77 (skipped) where the browser is missing.
Screenshots go to build/host/page/.
"""

import hashlib
import http.server
import json
import os
import re
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("network", "tools"))]
sys.dont_write_bytecode = True

import nginx  # noqa: E402
from lookout import OPENER, ROOT, Camera, Lookout, wait_for  # noqa: E402

PATTERN = "test://hcolorbars?size=320x240&fps=20"
LABEL = "horizontal color bars"
# Two states of one part of the picture, and one of another.
WATCHES = """
[watch.gate]
roi = [0, 0, 0.5, 1]
title = "The <gate>"
[watch.slow]
roi = [0, 0, 0.5, 1]
[watch.lamp]
roi = [0.6, 0.25, 0.3, 0.4]
"""
SCREENS = [(width, scheme) for width in (320, 390, 1280, 1920) for scheme in ("light", "dark")]
CHART_SECONDS = (
    "return document.querySelector('#chart polyline')?.getAttribute('points').split(' ').length ?? 0"
)
# The size of the icon that an iPhone takes.
ICON_SIZE = """
  const done = arguments[0];
  const image = new Image();
  image.onload = () => done([image.naturalWidth, image.naturalHeight]);
  image.onerror = () => done(null);
  image.src = document.querySelector("link[rel=apple-touch-icon]").href;
"""
# The median and the points of the chart after results that were computed in 100 ms, and others, that were the
# last one again.
MEDIAN = """
  const done = arguments[0];
  import(new URL("chart.js", document.baseURI)).then(({addSample, figures}) => {
    for (let seq = 0; seq < 60; ++seq) {
      const reused = seq % 10 === 0 ? {} : {reused: true};
      addSample({timestamp: 1e9 + seq, seq, dropped: 0, frame_age_ms: seq % 10 === 0 ? 100 : 2, ...reused});
    }
    const {minute, points} = figures(0);
    done([minute.p50, new Set(points.map(({p50}) => p50)).size]);
  });
"""
FOLDER = os.path.join(ROOT, "build/host/page")
# What Chromium itself says of a server that is away or refuses; no page can prevent it.
NETWORK = re.compile(r"Failed to load resource|net::ERR_")


def with_model(*arguments):
    return ("--model", os.path.join(ROOT, "models/selftest.pt"), *arguments)


def with_failed_model(folder):
    """A file that was installed and is no model, with the one before it."""
    file = os.path.join(folder, "gate.pt")
    with open(with_model()[1], "rb") as model:
        before = model.read()
    installed = []
    os.mkdir(f"{file}.kept")
    for at, bytes_of_it in ((2, b"PK, no model"), (1, before)):
        digest = hashlib.sha256(bytes_of_it).hexdigest()
        with open(f"{file}.kept/{digest}", "wb") as kept:
            kept.write(bytes_of_it)
        installed.append({"sha256": digest, "name": "gate", "labels": [], "kind": "archive", "installed_ms": at})
    with open(file, "wb") as model:
        model.write(b"PK, no model")
    with open(f"{file}.kept/installed.json", "w", encoding="utf-8") as store:
        json.dump({"schema": 1, "installed": installed}, store)
    return "--model", file


def is_live(shown):
    return shown["link"] == "Live" and bool(shown["top"])


class Site:
    """A page of another server, whatever its path."""

    def __init__(self, body):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(f"<!DOCTYPE html>{body}".encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server_port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from browser import Browser

        cls.make_browser = Browser

    def setUp(self):
        self.browser = self.make_browser()
        self.addCleanup(self.browser.close)

    def start(self, *arguments, environment=None):
        server = Lookout(*with_model(*(arguments or (PATTERN,))), environment=environment)
        self.addCleanup(server.close)
        return server

    def open(self, server):
        """Of a Lookout or an Nginx."""
        self.browser.open(server.url)
        return self.browser.wait_until_shown("results", is_live)

    def expect_no_message(self):
        """Of the page, in the console."""
        self.assertEqual([text for text in self.browser.messages() if not NETWORK.search(text)], [])

    def test_a_new_model_that_failed_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Lookout(PATTERN, *with_failed_model(folder), environment={"STATE_DIRECTORY": folder})
            self.addCleanup(server.close)
            self.open(server)
            self.browser.wait_until_shown(
                "the model that failed",
                lambda now: re.search(r"New model\s*gate \(\w+\) failed; the one before is used", now["facts"]),
            )
        self.expect_no_message()

    def test_moving_picture_state_and_figures(self):
        self.open(self.start())
        self.browser.wait_for_moving_picture()
        shown = self.browser.wait_until_shown(
            "the state, the rates and the chart",
            lambda now: now["state"] == LABEL and now["fps"] != "–" and now["lines"] == 3,
        )
        self.assertEqual(shown["top"][0][0], LABEL)
        self.assertRegex(shown["top"][0][1], r"^\d+\.\d %$")
        self.assertRegex(shown["fps"], r"^\d+\.\d fps$")
        shown = self.browser.wait_until_shown("the version", lambda now: "Version" in now["facts"])
        for fact in ("selftest", "test pattern hcolorbars, 320x240, 20 fps", "LibTorch"):
            self.assertIn(fact, shown["facts"])
        self.assertEqual(shown["notice"], "")
        self.assertEqual(self.browser.messages(), [])

    def test_the_score_stands_beside_the_state(self):
        self.open(self.start())
        self.browser.wait_until_shown("the score", lambda now: re.fullmatch(r"\d+\.\d %", now["score"]))

    def test_the_delay_is_that_of_what_was_computed(self):
        self.browser.open(self.start().url + "predict")
        wait_for("the page", lambda: self.browser.look("return document.readyState") == "complete")
        self.assertEqual(self.browser.driver.execute_async_script(MEDIAN), [100, 1])

    def test_only_what_changed_is_drawn_anew(self):
        from browser import CHANGES

        self.open(self.start("test://red?size=320x240&fps=20", "--threshold", "0"))
        changes = self.browser.driver.execute_async_script(CHANGES, 20)
        self.assertLess(changes, 20 * 10, "ten rows and a steady picture")

    def test_the_region_that_is_classified_is_framed(self):
        from browser import REGION

        for arguments, expected in (
            ((), [0.125, 0, 0.75, 1]),  # the central square of 4:3
            (("--set", "camera.roi=0.5,0.5,0.5,0.5"), [0.5 + 0.0625, 0.5, 0.375, 0.5]),
            (("--set", "camera.rotation=90"), [0, 0.125, 1, 0.75]),
        ):
            with self.subTest(arguments):
                self.open(self.start(PATTERN, *arguments))
                for width, scheme in SCREENS:
                    self.browser.emulate(width, 900, scheme)

                    def is_framed():
                        framed = self.browser.look(REGION)
                        return framed and all(abs(a - b) < 0.02 for a, b in zip(framed, expected))

                    wait_for(f"the frame {expected} at {width}", is_framed)
        # All of the picture needs no frame.
        server = self.start("test://hcolorbars?size=240x240&fps=20")
        self.open(server)
        self.browser.wait_for_moving_picture()
        self.browser.wait_until_shown("the version", lambda now: "Version" in now["facts"])
        self.assertIsNone(self.browser.run(REGION))

    def start_with_watches(self, *arguments, pattern=PATTERN):
        """Returns the run, and what replaces its watches."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        config = os.path.join(folder.name, "lookout.toml")

        def write(watches):
            with open(config, "w", encoding="utf-8") as file:
                file.write(f'[camera]\nsource = "{pattern}"\n[state]\nenter-threshold = 0\n{watches}')

        write(WATCHES)
        return self.start("--config", config, *arguments), write

    def test_each_watch_has_its_state_and_its_rectangle(self):
        from browser import BOXES, WATCHES as ROWS

        server, _ = self.start_with_watches()
        self.open(server)
        rows = wait_for(
            "three states",
            lambda: (rows := self.browser.look(ROWS)) and all(row[2] for row in rows) and rows,
        )
        self.assertEqual([row[0] for row in rows], ["The <gate>", "slow", "lamp"])
        self.assertEqual([row[3] for row in rows], [True, False, False])
        states = [row[1] for row in rows]
        self.browser.wait_for_moving_picture()
        expected = [
            [[f"The <gate>: {states[0]}", f"slow: {states[1]}"], [0, 0, 0.5, 1]],
            [[f"lamp: {states[2]}"], [0.6, 0.25, 0.3, 0.4]],
        ]
        for width, scheme in SCREENS:
            self.browser.emulate(width, 900, scheme)

            def are_framed():
                boxes = self.browser.look(BOXES)
                return [texts for texts, _ in boxes] == [texts for texts, _ in expected] and all(
                    abs(a - b) < 0.02
                    for (_, place), (_, there) in zip(boxes, expected)
                    for a, b in zip(place, there)
                )

            wait_for(f"the rectangles at {width}", are_framed)
            across = self.browser.run("return document.documentElement.scrollWidth")
            self.assertLessEqual(across, width)
            self.assertEqual(self.browser.find_faults(), [], f"watches, {width}, {scheme}")
            os.makedirs(FOLDER, exist_ok=True)
            self.browser.driver.save_screenshot(os.path.join(FOLDER, f"watches-{width}-{scheme}.png"))
        self.assertEqual(self.browser.run("return document.getElementById('region').hidden"), True)
        self.expect_no_message()

    def test_the_keyboard_chooses_whose_predictions_are_shown(self):
        from browser import WATCHES as ROWS

        # The lamp's part is of one color, the gate's has several.
        server, _ = self.start_with_watches("--top-k", "3")
        self.open(server)
        title = "return document.getElementById('top-title').textContent"
        self.assertEqual(wait_for("the title", lambda: self.browser.look(title)), "Predictions: The <gate>")
        self.browser.run("document.querySelectorAll('#watches button')[2].focus()")
        self.browser.press_enter()
        self.assertEqual(self.browser.run(title), "Predictions: lamp")
        self.assertEqual([row[3] for row in self.browser.run(ROWS)], [False, False, True])
        self.browser.wait_until_shown(
            "the lamp's predictions", lambda now: now["top"][0][0] == self.browser.run(ROWS)[2][1]
        )

    def test_a_change_is_told_with_the_name_of_its_watch(self):
        server, _ = self.start_with_watches(pattern="test://all?size=320x240&fps=10")
        self.open(server)
        said = "return document.querySelector('#said[aria-live]')?.textContent"
        wait_for("a change", lambda: re.match(r"(The <gate>|slow|lamp): \w", self.browser.look(said) or ""))

    def test_a_reload_replaces_the_watches(self):
        from browser import WATCHES as ROWS

        server, write = self.start_with_watches()
        self.open(server)
        wait_for("three watches", lambda: len(self.browser.look(ROWS) or []) == 3)
        write('[watch.lamp]\nroi = [0.6, 0.25, 0.3, 0.4]\n[watch.box]\nroi = [0, 0, 1, 1]\n')
        server.reload()

        def names():
            return [row[0] for row in self.browser.look(ROWS) or [] if row[1] != "none yet"]

        wait_for("the other watches", lambda: names() == ["lamp", "box"])
        self.browser.wait_until_shown("predictions", is_live)
        self.expect_no_message()

    def test_the_last_watch_goes(self):
        from browser import WATCHES as ROWS

        # Only where an owner teaches, names come and go while the run goes on.
        server, write = self.start_with_watches("--set", "http.teach=true")
        self.open(server)
        wait_for("three watches", lambda: len(self.browser.look(ROWS) or []) == 3)
        write("")
        server.reload()
        wait_for("no watch", lambda: self.browser.look(ROWS) == [])
        self.browser.wait_until_shown("the state", lambda now: now["state"] == LABEL)
        self.expect_no_message()

    def test_frames_that_are_not_wanted_do_not_count_as_classified(self):
        self.open(self.start("test://red?size=320x240&fps=30", "--set", "camera.max-rate=3"))
        shown = self.browser.wait_until_shown(
            "both rates", lambda now: now["fps"].startswith("3.") or now["fps"].startswith("2.9")
        )
        self.assertRegex(shown["fps"], r"^(2\.9|3\.[01]) fps$")
        self.open(self.start("test://red?size=320x240&fps=30", "--set", "camera.max-rate=15"))
        self.browser.wait_until_shown("half of the frames", lambda now: re.match(r"1[3-6]\.", now["fps"]))

    def test_a_wide_screen_is_used(self):
        self.open(self.start(PATTERN, "--top-k", "16", "--threshold", "0"))
        self.browser.wait_for_moving_picture()
        self.browser.emulate(1920, 1080, "light")
        edges = "const box = document.querySelector('main').getBoundingClientRect(); return [box.left, box.right]"
        left, right = wait_for("the width", lambda: self.browser.run("return innerWidth") == 1920 and self.browser.run(edges))
        self.assertGreater(right - left, 1800)
        width = self.browser.run("return document.getElementById('picture').clientWidth")
        self.assertGreater(width, 900)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollHeight"), 1080)

    def test_ten_predictions_at_most(self):
        self.open(self.start(PATTERN, "--top-k", "16", "--threshold", "0"))
        shown = self.browser.wait_until_shown("ten rows", lambda now: len(now["top"]) == 10)
        self.assertEqual(shown["top"][0][0], LABEL)

    def test_labels_are_text(self):
        label = "<b>bold</b><img src=x onerror=alert(1)>"
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as labels:
            labels.write(f"{label}\n" * 16)
            labels.flush()
            self.open(self.start(PATTERN, "--labels", labels.name))
            shown = self.browser.wait_until_shown("the state", lambda now: now["state"] == label)
        self.assertEqual(shown["top"][0][0], label)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#top b b, #top img').length"), 0)
        self.assertEqual(self.browser.messages(), [])

    def test_nothing_is_loaded_from_elsewhere(self):
        server = self.start()
        self.open(server)
        self.browser.wait_for_moving_picture()
        names = self.browser.run("return performance.getEntriesByType('resource').map((e) => e.name)")
        self.assertTrue([name for name in names if "page.js" in name], names)
        self.assertEqual([name for name in names if not name.startswith(server.url)], [])
        with server.get() as page:
            self.assertIn("default-src 'self'", page.headers["Content-Security-Policy"])

    def test_pages_of_other_sites_show_no_picture(self):
        server = self.start("--set", "http.hosts=localhost", PATTERN)
        body = f"<img id=picture src={server.url}snapshot.jpg><iframe src={server.url}></iframe>"
        with Site(body) as site:
            # Chromium takes other.localhost for this machine, and 127.0.0.1 for the server's site.
            for host, width in (("other.localhost", 0), ("127.0.0.1", 320), ("localhost", 320)):
                with self.subTest(host):
                    self.browser.open(f"http://{host}:{site.server_port}/")
                    complete = (
                        f"return location.hostname === '{host}' &&"
                        " document.getElementById('picture')?.complete"
                    )
                    wait_for("the picture, or none", lambda: self.browser.look(complete))
                    self.assertEqual(self.browser.run("return picture.naturalWidth"), width)
                    wait_for("no frame", lambda: any("frame-ancestors" in m for m in self.browser.messages()))

    def test_behind_a_proxy_under_a_path(self):
        if not nginx.PROGRAM:
            self.skipTest("no nginx: deploy/install-deps.sh --page")
        proxy = nginx.Nginx(self.start().url)
        self.addCleanup(proxy.close)
        self.open(proxy)
        self.browser.wait_for_moving_picture()
        self.browser.wait_until_shown("the state", lambda now: now["state"] == LABEL)
        self.assertEqual(self.browser.messages(), [])

    def test_a_kernel_that_knows_the_voltage_alone_has_a_row_of_its_own(self):
        """The machine of the test has no such sensor: the proxy writes what a Raspberry Pi's says."""
        if not nginx.PROGRAM:
            self.skipTest("no nginx: deploy/install-deps.sh --page")
        server = self.start()
        for bits, text, color in ((0, "no under-voltage now", ""), (1, "under-voltage now", "bad")):
            machine = f'"throttled":{bits},"throttled_source":"rpi_volt"'
            proxy = nginx.Nginx(server.url, {'"throttled":null,"throttled_source":null': machine})
            self.addCleanup(proxy.close)
            self.open(proxy)
            shown = self.browser.wait_until_shown("the voltage", lambda now: "Power" in now["facts"])
            row = "return [...document.querySelectorAll('#facts dt')].find((one) => one.textContent === 'Power')"
            self.assertEqual(self.browser.run(f"{row}.nextElementSibling.textContent"), text)
            self.assertEqual(self.browser.run(f"{row}.nextElementSibling.className"), color)
            self.assertNotIn("Slowed down", shown["facts"])

    def test_a_phone_can_install_it(self):
        """From each page, and behind a proxy, under whose path the installed page begins."""
        server = self.start()
        urls = [server.url]
        if nginx.PROGRAM:
            proxy = nginx.Nginx(server.url)
            self.addCleanup(proxy.close)
            urls.append(proxy.url)
        for url in urls:
            for path in ("", "predict", "teach"):
                with self.subTest(url + path):
                    self.browser.open(url + path)
                    there = "return location.href === arguments[0] && document.readyState !== 'loading'"
                    wait_for("the page", lambda: self.browser.run(there, url + path))
                    found = self.browser.driver.execute_cdp_cmd("Page.getAppManifest", {})
                    self.assertEqual(found["errors"], [])
                    self.assertEqual((found["manifest"]["startUrl"], found["manifest"]["scope"]), (url, url))
                    problems = self.browser.driver.execute_cdp_cmd("Page.getInstallabilityErrors", {})
                    self.assertEqual(problems["installabilityErrors"], [])
            types = set()
            for icon in found["manifest"]["icons"]:
                with self.subTest(icon["url"]), OPENER.open(icon["url"]) as answer:
                    types.add((icon["sizes"], answer.headers["Content-Type"]))
            expected = {("0x0", "image/svg+xml"), ("192x192", "image/png"), ("512x512", "image/png")}  # 0x0: any
            self.assertEqual(types, expected)

    def test_an_iphone_finds_an_icon_of_the_right_size(self):
        server = self.start()
        for path in ("", "predict", "teach"):
            self.browser.open(server.url + path)
            wait_for("the page", lambda: self.browser.look("return document.readyState") == "complete")
            self.assertEqual(self.browser.driver.execute_async_script(ICON_SIZE), [180, 180], path)

    def test_restart_of_the_server(self):
        server = self.start()
        self.open(server)
        server.stop()
        shown = self.browser.wait_until_shown(
            "the loss", lambda now: now["link"] == "Server away" and now["fps"] == "–"
        )
        self.assertIn("No answer from the server", shown["notice"])
        self.assertRegex(shown["stale"], r"^Not current: the last result came \d+ s ago$")
        self.browser.wait_until_shown("its age", lambda now: now["stale"] not in ("", shown["stale"]))
        server.start()
        shown = self.browser.wait_until_shown("that it is back", lambda now: is_live(now) and not now["stale"])
        self.assertEqual(shown["notice"], "")
        self.browser.wait_for_moving_picture()
        self.expect_no_message()

    def test_loss_of_the_camera(self):
        with tempfile.TemporaryDirectory() as folder:
            camera = Camera(folder)
            server = self.start(camera.path, environment=camera.environment)
            self.open(server)
            camera.set_fault("lost")
            shown = self.browser.wait_until_shown(
                "the loss", lambda now: now["link"] == "Camera away" and now["fps"] == "–"
            )
            self.assertIn("The camera has been away", shown["notice"])
            self.assertRegex(shown["stale"], r"^Not current: the camera has been away for \d+ s$")
            color = "return getComputedStyle(document.getElementById('line')).filter"
            self.assertEqual(self.browser.run(color), "grayscale(1)")
            # A page that is opened now knows, too.
            self.browser.open_tab(server.url)
            self.browser.wait_until_shown("the loss", lambda now: now["link"] == "Camera away")
            camera.set_fault("")
            shown = self.browser.wait_until_shown("that it is back", is_live)
            self.assertEqual(shown["notice"], "")
            self.browser.wait_until_shown("the state", lambda now: now["state"] == "color bars")
            self.expect_no_message()

    def test_tabs_and_windows_at_once(self):
        server = self.start()
        self.open(server)
        # More tabs than six connections serve; those that are hidden give up theirs.
        for _ in range(4):
            self.browser.open_tab(server.url)
            self.browser.wait_until_shown("results in a tab", is_live)
            self.browser.wait_for_moving_picture()
        self.browser.show(self.browser.driver.window_handles[0])
        self.browser.wait_until_shown("results in the first tab", is_live)
        self.browser.wait_for_moving_picture()
        # Three windows are all seen.
        windows = [self.browser.driver.current_window_handle]
        windows += [self.browser.open_tab(server.url, "window") for _ in range(2)]
        for window in windows:
            self.browser.show(window)
            self.browser.wait_until_shown("results in a window", is_live)
            self.browser.wait_for_moving_picture()
            self.assertEqual(self.browser.messages(), [])

    def test_snapshots_where_there_is_no_stream(self):
        server = self.start(PATTERN, "--set", "http.viewers=1")
        self.open(server)
        self.browser.wait_for_moving_picture()
        self.browser.open_tab(server.url, "window")
        self.browser.wait_until_shown(
            "why the picture is not live", lambda now: "Too many viewers" in now["caption"]
        )
        self.browser.wait_for_moving_picture()

    def test_accessibility(self):
        server = self.start(PATTERN, "--top-k", "16", "--threshold", "0")
        self.open(server)
        self.browser.wait_for_moving_picture()
        self.browser.wait_until_shown("the chart", lambda now: now["lines"] == 3)
        for width, scheme in SCREENS:
            self.browser.emulate(width, 900, scheme)
            self.assertEqual(self.browser.find_faults(), [], f"live, {width}, {scheme}")
        server.stop()
        self.browser.wait_until_shown("the loss", lambda now: now["link"] == "Server away")
        for width, scheme in SCREENS:
            self.browser.emulate(width, 900, scheme)
            self.assertEqual(self.browser.find_faults(), [], f"away, {width}, {scheme}")

    def test_screens_are_wide_enough(self):
        self.open(self.start(PATTERN, "--top-k", "16", "--threshold", "0"))
        self.browser.wait_for_moving_picture()
        wait_for("ten seconds of the chart", lambda: self.browser.run(CHART_SECONDS) >= 10)
        os.makedirs(FOLDER, exist_ok=True)
        for width, scheme in SCREENS:
            self.browser.emulate(width, 900, scheme)
            size = "const page = document.documentElement; return [page.scrollWidth, page.scrollHeight]"
            wait_for("the width", lambda: self.browser.run("return innerWidth") == width)
            across, down = self.browser.run(size)
            self.browser.emulate(width, down, scheme)
            self.assertLessEqual(across, width)
            self.assertEqual(self.browser.find_long_lines(), [], width)
            self.browser.driver.save_screenshot(os.path.join(FOLDER, f"{width}-{scheme}.png"))


def main():
    try:
        import browser  # noqa: F401
    except unittest.SkipTest as missing:
        print(f"skipped: {missing}")
        return 77
    return 0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
