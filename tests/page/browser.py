"""Chromium, driven by WebDriver. Importing this skips the tests (unittest.SkipTest) where it is missing."""

import functools
import json
import os
import shutil
import unittest

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
except ImportError as error:
    raise unittest.SkipTest(f"{error}: deploy/install-deps.sh --page") from error

import pypi_program
from lookout import PATIENCE, wait_for

AXE = ("axe-playwright-python==0.1.8", "axe_playwright_python/axe.min.js")  # axe-core 4.12.1
DRIVER = shutil.which("chromedriver")
if not DRIVER:
    raise unittest.SkipTest("no chromedriver: deploy/install-deps.sh --page")

os.environ["no_proxy"] = "*"  # all of it is on this machine


@functools.cache
def read_axe():
    try:
        file = pypi_program.install_file(*AXE)
    except pypi_program.Unavailable as reason:
        raise unittest.SkipTest(str(reason)) from reason
    with open(file, encoding="utf-8") as text:
        return text.read()


# What the page shows, as a person would find it.
SHOWN = """
  const text = (id) => document.getElementById(id)?.textContent ?? "";
  const rows = [...document.querySelectorAll("#top li")].filter((row) => row.style.visibility !== "hidden");
  return {
    state: text("state"), link: text("link"), caption: text("caption"), fps: text("fps"),
    camera: text("camera"), notice: document.getElementById("notice")?.hidden ? "" : text("notice"),
    score: text("score"), stale: document.getElementById("stale")?.hidden ? "" : text("stale"),
    facts: text("facts"), lines: document.querySelectorAll("#chart polyline").length,
    top: rows.map((row) => [row.children[0].textContent, row.children[1].textContent]),
  };
"""

# The frame around what is classified, in fractions of the picture: x, y, width, height; null when there is none.
REGION = """
  const picture = document.getElementById("picture");
  const region = document.getElementById("region");
  if (!picture?.naturalWidth || region.hidden) return null;
  const [outer, inner] = [picture.getBoundingClientRect(), region.getBoundingClientRect()];
  const scale = Math.min(outer.width / picture.naturalWidth, outer.height / picture.naturalHeight);
  const [width, height] = [picture.naturalWidth * scale, picture.naturalHeight * scale];
  const left = outer.left + (outer.width - width) / 2;
  const top = outer.top + (outer.height - height) / 2;
  return [(inner.left - left) / width, (inner.top - top) / height, inner.width / width, inner.height / height];
"""

# The row of each named watch: its name, state, score, and whether it is chosen.
WATCHES = """
  if (document.getElementById("watches")?.hidden ?? true) return [];
  return [...document.querySelectorAll("#watches li")].map((row) => [
    row.querySelector("button").textContent, row.querySelector(".state").textContent,
    row.querySelector("b").textContent, row.querySelector("button").getAttribute("aria-pressed") === "true",
  ]);
"""

# The texts of each rectangle on the picture, with its place as that of REGION.
BOXES = """
  const picture = document.getElementById("picture");
  if (!picture?.naturalWidth || (document.getElementById("boxes")?.hidden ?? true)) return [];
  const outer = picture.getBoundingClientRect();
  const scale = Math.min(outer.width / picture.naturalWidth, outer.height / picture.naturalHeight);
  const [width, height] = [picture.naturalWidth * scale, picture.naturalHeight * scale];
  const left = outer.left + (outer.width - width) / 2;
  const top = outer.top + (outer.height - height) / 2;
  return [...document.querySelectorAll("#boxes div")].map((box) => {
    const inner = box.getBoundingClientRect();
    return [[...box.children].map((text) => text.textContent),
            [(inner.left - left) / width, (inner.top - top) / height, inner.width / width, inner.height / height]];
  });
"""

# Counts the changes of the predictions of the next results, which are as many as its argument.
CHANGES = """
  const done = arguments[arguments.length - 1];
  let changes = 0;
  const count = (records) => { changes += records.length; };
  const observer = new MutationObserver(count);
  const list = document.getElementById("top");
  observer.observe(list, {subtree: true, childList: true, characterData: true, attributes: true});
  let left = arguments[0];
  const events = new EventSource("events");
  events.addEventListener("classification", () => {
    if (--left > 0) return;
    events.close();
    count(observer.takeRecords());
    observer.disconnect();
    done(changes);
  });
"""

# The texts that are not in the page's language, German, but in English: those of words/en.js that have others
# in German, and those with an English word.
ENGLISH = """
  const done = arguments[arguments.length - 1];
  const load = async (language) => (await import(new URL(`words/${language}.js`, document.baseURI))).words;
  const listed = (words) => Object.values(words).flatMap((one) => typeof one === "object" ? listed(one) : [one]);
  const read = async () => {
    const german = new Set(listed(await load("de")));
    const english = new Set(listed(await load("en")).filter((one) => !german.has(one)));
    const shown = [document.title];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement;
      if (!parent.closest("noscript") && parent.closest("[lang]").lang === "de") {
        shown.push(texts.currentNode.textContent);
      }
    }
    for (const name of ["alt", "aria-label", "placeholder", "title"]) {
      shown.push(...[...document.querySelectorAll(`[${name}]`)].map((one) => one.getAttribute(name)));
    }
    const word = /\\b(a|and|are|for|is|no|not|of|picture|since|the|to|with|yet)\\b/i;
    return shown.map((text) => text.trim()).filter((text) => english.has(text) || word.test(text));
  };
  read().then(done, (error) => done([String(error)]));
"""

# The lines of running text that are longer than its argument, in characters.
LONG_LINES = """
  const lines = [];
  for (const block of document.querySelectorAll("p, li, dd, small, legend, label, summary")) {
    if (!block.checkVisibility() || block.querySelector("p, li, div") || block.closest("figcaption")) continue;
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const tops = new Map();
    while (texts.nextNode()) {
      const node = texts.currentNode;
      for (const word of node.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const top = Math.round(range.getBoundingClientRect().top);
        tops.set(top, `${tops.get(top) ?? ""} ${word[0]}`.trim());
      }
    }
    lines.push(...[...tops.values()].filter((line) => line.length > arguments[0]));
  }
  return lines;
"""

# The pixels of the live picture, so that two of them can be compared.
PIXELS = """
  const picture = document.getElementById("picture");
  if (!picture || !picture.naturalWidth) return "";
  const canvas = document.createElement("canvas");
  canvas.width = picture.naturalWidth;
  canvas.height = picture.naturalHeight;
  canvas.getContext("2d").drawImage(picture, 0, 0);
  return canvas.toDataURL();
"""


class Browser:
    keys = Keys

    def __init__(self, language="en-US"):
        options = Options()
        # The window's load event comes after the first picture of a stream, and never without one.
        options.page_load_strategy = "none"
        for argument in ("--headless=new", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(argument)
        if os.getuid() == 0:
            options.add_argument("--no-sandbox")  # which Chromium needs to run as root
        options.add_argument(f"--accept-lang={language}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_script_timeout(PATIENCE)

    def close(self):
        self.driver.quit()

    def open(self, url):
        self.driver.get(url)

    def open_tab(self, url, kind="tab"):
        self.driver.switch_to.new_window(kind)
        self.driver.get(url)
        return self.driver.current_window_handle

    def show(self, handle):
        self.driver.switch_to.window(handle)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def actions(self):
        """A chain of what pointer and keys do."""
        return ActionChains(self.driver)

    def press_enter(self):
        """On the element that has the focus."""
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)

    def look(self, script, *arguments):
        """What the script returns; None while a page is on its way, when none can run."""
        try:
            return self.run(script, *arguments)
        except WebDriverException:
            return None

    def wait_until_shown(self, what, is_so):
        """Waits until the page shows something, and returns all that it shows."""
        last = {}

        def is_shown():
            last.clear()
            last.update(self.look(SHOWN) or {})
            return last and is_so(last)

        try:
            wait_for(what, is_shown)
        except AssertionError as error:
            raise AssertionError(f"{error}; shown: {json.dumps(last)}") from None
        return last

    def wait_for_moving_picture(self):
        first = wait_for("a picture", lambda: self.look(PIXELS))
        wait_for("another picture", lambda: self.look(PIXELS) not in (None, "", first))

    def messages(self):
        """What the console got since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def emulate(self, width, height, scheme):
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)

    def set_zone(self, zone):
        """The time zone of all pages that are opened from now on."""
        self.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})

    def find_english(self):
        """On a page that is in German."""
        return self.driver.execute_async_script(ENGLISH)

    def find_long_lines(self):
        """Those that are hard to read."""
        return self.run(LONG_LINES, 75)

    def find_faults(self):
        """Of accessibility, as axe-core finds them: a sentence for each. Skips the test without axe-core."""
        self.run(read_axe())
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run().then((found) => done(found.violations),"
            " (error) => done([{id: 'axe', impact: String(error), nodes: []}]));"
        )
        return [
            f"{fault['id']} ({fault['impact']}): {node.get('html', '')}"
            for fault in found
            for node in fault["nodes"] or [{}]
        ]
