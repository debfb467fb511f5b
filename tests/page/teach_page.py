"""What a person does with the page for teaching, for tests of it in Chromium."""

import os

from lookout import wait_for
from page_test import FOLDER, NETWORK
from teach_server import PASSWORD, TeachServer

ROI = [0.28, 0.38, 0.44, 0.4]
# What can be seen of an element with that text.
FIND = """
  const [selector, text] = arguments;
  return [...document.querySelectorAll(selector)].find(
      (one) => one.checkVisibility() && one.textContent.trim() === text) ?? null;
"""
GRID = """
  return [...document.querySelectorAll("#grid [role=option]")].map((cell) => [
    Number(cell.dataset.number), cell.getAttribute("aria-selected") === "true", cell.ariaLabel.split(",")[0]]);
"""
RESULT = """
  const text = (id) => document.getElementById(id).textContent;
  const seen = (id) => document.getElementById(id).checkVisibility();
  return {figures: seen("result") ? text("figures") : "", now: text("in-use"),
          light: text("light"), compare: text("compare"), use: seen("use"),
          models: seen("models-part") ?
              [...document.querySelectorAll("#models li")].map((one) => one.innerText.replace(/\s+/g, " ")) : [],
          confusions: [...document.querySelectorAll("#confusions li")].map((one) => one.textContent),
          mistakes: [...document.querySelectorAll("#mistakes li")].map((one) => one.innerText)};
"""


def fill(taught, occasions=2):
    """A watch with pictures of that many times, two of which have the wrong label."""
    taught.add_watch({"name": "garage", "title": "Garage door", "roi": ROI, "classes": ["open", "closed"]})
    for occasion in range(occasions):
        taught.now += 5 * 3600
        for hold, label in enumerate(("open", "closed")):
            for number in range(6):
                taught.add_picture("garage", label, hold=2 * occasion + hold, night=occasion == 1 and number < 2)
    for label, scene in (("open", "closed"), ("closed", "open")):
        taught.add_picture("garage", label, scene=scene)


# Looks at a day of the history, and tells whether it is shown.
SHOW_DAY = """
  const part = document.getElementById("history");
  const day = document.getElementById("day");
  if (!part || part.hidden) return false;
  if (day.value === arguments[0]) return part.getAttribute("aria-busy") !== "true";
  day.value = arguments[0];
  day.dispatchEvent(new Event("change"));
  return false;
"""


def look_at_screens(test, name, screens):
    """At these widths and schemes: nothing is wider than the screen, and axe finds no fault. Leaves pictures."""
    browser = test.browser
    os.makedirs(FOLDER, exist_ok=True)
    for width, scheme in screens:
        browser.emulate(width, 800, scheme)
        wait_for("the width", lambda: browser.run("return innerWidth") == width)
        test.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), width, name)
        test.assertEqual(browser.find_long_lines(), [], f"{name}, {width}")
        test.assertEqual(browser.find_faults(), [], f"{name}, {width}, {scheme}")
        down = browser.run("return document.documentElement.scrollHeight")
        browser.emulate(width, down, scheme)
        browser.driver.save_screenshot(os.path.join(FOLDER, f"{name}-{width}-{scheme}.png"))


class TeachPage:
    """What a person does with the page."""

    owners_password = PASSWORD
    language = "en-US"  # of the browser

    @classmethod
    def setUpClass(cls):
        import browser

        cls.browser_module = browser
        super().setUpClass()

    def setUp(self):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        super().setUp()
        self.keys = Keys
        self.browser = self.browser_module.Browser(self.language)
        self.browser.set_zone("Etc/UTC")
        self.addCleanup(self.browser.close)
        self.actions = lambda: ActionChains(self.browser.driver)

    def by_id(self, name):
        return self.browser.driver.find_element("id", name)

    def text(self, name):
        return self.browser.look(f"return document.getElementById('{name}')?.textContent") or ""

    def find(self, selector, text):
        return wait_for(f"{selector} {text}", lambda: self.browser.run(FIND, selector, text))

    def click(self, selector, text):
        element = self.find(selector, text)
        self.browser.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def wait_for_text(self, name, text):
        wait_for(f"{name}: {text}, not {self.text(name)}", lambda: text in self.text(name))

    def look_at_login(self, url=""):
        self.browser.open((url or self.url) + "teach")
        focused = "return document.activeElement?.id === 'password'"
        wait_for("the form for the password", lambda: self.browser.look(focused))

    def enter(self, url=""):
        self.look_at_login(url)
        self.by_id("password").send_keys(self.owners_password + self.keys.ENTER)
        wait_for("the list", lambda: self.text("usage"))

    def show_day(self, day):
        """Of the history, on the live page."""
        wait_for(f"the history of {day}", lambda: self.browser.look(SHOW_DAY, day))

    def wait_for_picture(self):
        wait_for("the picture", lambda: self.browser.run("return document.getElementById('picture').naturalWidth"))

    def draw(self, *points):
        """Drags on the picture over the points, which are parts of it."""
        left, top, width, height = self.browser.run(
            "const box = document.getElementById('frame').getBoundingClientRect();"
            " return [box.left, box.top, box.width, box.height]"
        )
        places = [(round(left + x * width), round(top + y * height)) for x, y in points]
        action = self.actions().w3c_actions
        action.pointer_action.move_to_location(*places[0])
        action.pointer_action.pointer_down()
        for place in places[1:]:
            action.pointer_action.move_to_location(*place)
        action.pointer_action.pointer_up()
        action.perform()

    def rectangle(self):
        shown = "return document.getElementById('rectangle').checkVisibility()"
        wait_for("the rectangle", lambda: self.browser.run(shown))
        return [round(float(side), 2) for side in self.browser.run(
            "const {left, top, width, height} = document.getElementById('rectangle').style;"
            " return [left, top, width, height].map((side) => parseFloat(side) / 100)"
        )]  # fmt: skip

    def assert_rectangle(self, expected):
        for side, wanted in zip(self.rectangle(), expected):
            self.assertAlmostEqual(side, wanted, delta=0.02, msg=f"{self.rectangle()}, not {expected}")

    def press(self, label, is_enough):
        """Holds a class's button."""
        button = self.find("#holds b", label)
        self.browser.run("arguments[0].scrollIntoView({block: 'center'})", button)
        self.actions().click_and_hold(button).perform()
        wait_for(f"pictures of {label}", is_enough)
        self.actions().release().perform()

    def pick(self, *places):
        for place in places:
            cell = self.browser.driver.find_elements("css selector", "#grid [role=option]")[place]
            self.browser.run("arguments[0].scrollIntoView({block: 'center'})", cell)
            cell.click()

    def choose(self, which):
        self.browser.run(
            "const which = document.getElementById('which'); which.value = arguments[0];"
            " which.dispatchEvent(new Event('change'))",
            which,
        )

    def picked(self):
        return [place for place, (_, is_picked, _) in enumerate(self.browser.run(GRID)) if is_picked]

    def labels(self):
        return [label for _, _, label in self.browser.run(GRID)]

    def expect_no_message(self):
        self.assertEqual([text for text in self.browser.messages() if not NETWORK.search(text)], [])


class TaughtPage(TeachPage):
    """The page of a stand-in for the server."""

    def setUp(self):
        super().setUp()
        self.server = TeachServer()
        self.addCleanup(self.server.close)
        self.url = self.server.url
        self.taught = self.server.taught
