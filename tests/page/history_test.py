#!/usr/bin/python3
"""Tests of the history on the live page: the real program with a history of known days, in Chromium.

    history_test.py [TEST...]    TEST: as in HistoryTest.test_a_day_of_a_guest

Needs what page_test.py needs. Screenshots go to build/host/page/. What owners do with changes is in teach_test.py
and taught_test.py.
"""

import datetime
import json
import os
import re
import sys
import tempfile
import unittest
import urllib.request
import zoneinfo

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(os.path.dirname(HERE), name) for name in ("network", "tools"))]
sys.dont_write_bytecode = True

from lookout import OPENER, Lookout, wait_for  # noqa: E402
from page_test import NETWORK, PATTERN, main, with_model  # noqa: E402
from seeded_history import write_history  # noqa: E402
from teach_page import FIND, SHOW_DAY, look_at_screens  # noqa: E402
from teach_server import draw  # noqa: E402

ZONE = "Europe/Berlin"
WATCHES = """
[watch.gate]
roi = [0, 0, 0.5, 1]
title = "The <gate>"
[watch.lamp]
roi = [0.6, 0.25, 0.3, 0.4]
"""
HOSTILE = "<img src=x onerror=alert(1)>"
SCREENS = [(width, scheme) for width in (360, 1280, 1920) for scheme in ("light", "dark")]
SMALL_SCREENS = [(320, "light"), (360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")]
# What is shown of the day that is chosen; null before its answer came.
DAY = """
  const part = document.getElementById("history");
  const day = document.getElementById("day");
  const isOther = arguments[0] && day.value !== arguments[0];
  if (!part || part.hidden || isOther || part.getAttribute("aria-busy") === "true") return null;
  const texts = (selector) => [...part.querySelectorAll(selector)].map((one) => one.textContent);
  const places = (selector) => [...part.querySelectorAll(selector)].map(
      ({textContent, style: {left, width}}) => [textContent, ...[left, width].map(
          (side) => Math.round(parseFloat(side) * 10) / 10)]);
  return {
    titles: texts("#day-bars h3"), sums: texts("#day-bars li"), axis: places(".axis span"),
    parts: places(".bar button"),
    tips: [...part.querySelectorAll(".bar button")].map((one) => one.title),
    said: document.getElementById("day-said").textContent,
    filter: document.getElementById("filter-said").textContent,
    colors: [...part.querySelectorAll(".bar button")].map((one) => one.className),
    changes: [...part.querySelectorAll("#changes-list li")].map((row) => [
        row.querySelector(".state").textContent, row.querySelector(".soft").textContent.replaceAll("\\u00a0", " "),
        row.querySelector("img") !== null]),
  };
"""

# The same of a week: of each day its label, and what is drawn of it with its place; null before it is there.
WEEK = """
  const part = document.getElementById("history");
  if (part?.getAttribute("aria-busy") !== "false" || !part.querySelector(".hours")) return null;
  const texts = (selector) => [...part.querySelectorAll(selector)].map((one) => one.textContent);
  return {
    said: document.getElementById("day-said").textContent, sums: texts("#day-bars ul li"),
    days: [...part.querySelectorAll("#day-bars ol button")].map((one) => one.title),
    blocks: [...part.querySelectorAll("#day-bars ol button")].map((one) => [...one.querySelectorAll(".hours i")].map(
        ({style}) => [style.left, style.width, style.bottom, style.height].map(
            (side) => Math.round(parseFloat(side) * 10) / 10))),
  };
"""
CHOOSE = """
  const [name, text] = arguments;
  const choice = document.getElementById(name);
  choice.selectedIndex = [...choice.options].findIndex((one) => one.text === text);
  choice.dispatchEvent(new Event("change"));
"""

ASKED = "return performance.getEntriesByType('resource').filter(({name}) => name.includes('/timeline')).length"


def last_sunday(month):
    """The newest one of such a month that is over. In Berlin those of March have 23 hours, those of October 25."""
    today = datetime.date.today()
    for year in (today.year, today.year - 1):
        last = datetime.date(year, month, 31)
        last -= datetime.timedelta(days=(last.weekday() + 1) % 7)
        if last < today - datetime.timedelta(days=2):
            return last
    raise AssertionError(today)


LONG = last_sunday(10)
SHORT = last_sunday(3)
PLAIN = LONG - datetime.timedelta(days=3)


def at(day, hour, minute=0, second=0, fold=0):
    clock = datetime.datetime(day.year, day.month, day.day, hour, minute, second, fold=fold)
    return clock.replace(tzinfo=zoneinfo.ZoneInfo(ZONE)).timestamp()


def gate(picture=b""):
    """Five times open, for 3 h 12 min in all, and not known for half an hour."""
    day_before = PLAIN - datetime.timedelta(days=1)
    rows = [(day_before, 20, 0, "closed")]
    rows += [(PLAIN, 7, 0, "open"), (PLAIN, 7, 12, "closed"), (PLAIN, 9, 0, "open"), (PLAIN, 10, 0, "closed")]
    rows += [(PLAIN, 12, 0, "open"), (PLAIN, 12, 30, None), (PLAIN, 13, 0, "closed"), (PLAIN, 14, 0, "open")]
    rows += [(PLAIN, 15, 0, "closed"), (PLAIN, 23, 30, "open"), (PLAIN + datetime.timedelta(days=1), 0, 40, "closed")]
    rows += [(LONG, 0, 0, "open"), (LONG, 12, 0, "closed"), (LONG + datetime.timedelta(days=1), 1, 0, None)]
    return [(at(*row[:3]), row[3], picture if row[3] == "open" else None) for row in rows]


class HistoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import browser

        cls.make_browser = browser.Browser

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.browser = None
        self.browse("en-US")

    def browse(self, language):
        if self.browser:
            self.browser.close()
        else:
            self.addCleanup(lambda: self.browser.close())
        self.browser = self.make_browser(language)
        self.browser.set_zone(ZONE)

    def start(self, changes=(), watches=""):
        """`changes`: of seeded_history."""
        history = os.path.join(self.folder, "history")
        os.makedirs(history)
        if changes:
            write_history(history, sorted(changes, key=lambda change: change[1]))
        config = os.path.join(self.folder, "lookout.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(watches)
        options = ("--set", f"history.folder={history}", "--set", "history.days=730")
        server = Lookout("--config", config, *with_model(PATTERN, *options))
        self.addCleanup(server.close)
        return server

    def start_with_gate(self, watch="", watches=""):
        picture = draw("open", False, (320, 240))
        return self.start([(watch, *row) for row in gate(picture)], watches)

    def look(self, day=None):
        return wait_for("the history", lambda: self.browser.run(DAY, day and day.isoformat()))

    def show(self, day):
        wait_for(f"the history of {day}", lambda: self.browser.look(SHOW_DAY, day.isoformat()))
        return self.wait_for_day(day)

    def wait_for_day(self, day):
        return wait_for(f"the day {day}", lambda: self.browser.run(DAY, day.isoformat()))

    def element(self, name):
        return self.browser.driver.find_element("id", name)

    def expect_no_message(self):
        self.assertEqual([text for text in self.browser.messages() if not NETWORK.search(text)], [])

    def test_a_day_of_a_guest(self):
        server = self.start_with_gate()
        self.browser.open(server.url)
        shown = self.show(PLAIN)
        self.assertEqual(shown["titles"], [], "there is one thing without a name")
        sums = ["closed 20 h 18 min, 5 times", "open 3 h 12 min, 5 times", "not watched 30 min"]
        self.assertEqual(shown["sums"], sums)
        hours = [(0, 7), (7, 7.2), (7.2, 9), (9, 10), (10, 12), (12, 12.5), (13, 14), (14, 15), (15, 23.5), (23.5, 24)]
        expected = [[round(begin / 0.24, 1), round((end - begin) / 0.24, 1)] for begin, end in hours]
        self.assertEqual([part[1:] for part in shown["parts"]], expected)
        self.assertEqual([part[0] for part in shown["parts"]], ["closed", "open"] * 3 + ["closed", "open"] * 2)
        self.assertEqual(len({*shown["colors"]}), 2)
        self.assertEqual(shown["tips"][1], "open, 07:00 – 07:12 (12 min)")
        self.assertEqual([mark[1] for mark in shown["axis"]], [0, 25, 50, 75, 100])
        self.assertEqual(len(shown["changes"]), 9)
        self.assertRegex(shown["changes"][0][1], r"^23:30 – \w+, \w+ \d+, 00:40 \(1 h 10 min\)$")
        self.assertEqual(shown["changes"][1], ["closed", "15:00 – 23:30 (8 h 30 min)", False])
        self.assertEqual(shown["changes"][-1], ["open", "07:00 – 07:12 (12 min)", True])
        self.assertFalse(self.browser.run("return [...document.querySelectorAll('#changes .buttons')].some("
                                          "(one) => one.childElementCount > 0)"), "guests say nothing")  # fmt: skip
        self.expect_no_message()

    def test_a_picture_opens_larger(self):
        server = self.start_with_gate()
        self.browser.open(server.url)
        self.show(PLAIN)
        self.browser.run("document.querySelector('#changes-list a').focus()")
        self.browser.press_enter()
        wide = "return document.getElementById('zoomed').naturalWidth"
        wait_for("the picture", lambda: self.browser.run(wide) == 320)
        self.assertTrue(self.element("zoom").is_displayed())
        self.assertIn("open, 23:30", self.element("zoom-text").text)
        self.assertEqual(self.browser.find_faults(), [])
        self.element("zoom").find_element("css selector", "button").click()
        self.assertFalse(self.element("zoom").is_displayed())
        self.expect_no_message()

    def saved(self, kind, day=PLAIN):
        """What the link to a file has."""
        link = self.element(f"history-{kind}")
        self.assertEqual(link.get_attribute("download"), f"history-{day}.{kind}")
        with OPENER.open(urllib.request.Request(link.get_attribute("href"))) as answer:
            return answer.read().decode()

    def saved_states(self):
        csv = [line.split(",")[2] for line in self.saved("csv").splitlines()[1:]]
        events = json.loads(self.saved("json"))["events"]
        self.assertEqual(csv, [event["state"] or "" for event in events])
        return csv

    def test_the_files_are_of_the_day(self):
        server = self.start_with_gate()
        self.browser.open(server.url)
        self.show(PLAIN)
        states = ["open", "closed"] * 2 + ["open", "", "closed", "open", "closed", "open"]
        self.assertEqual(self.saved_states(), states[::-1], "newest first, as on the page")

    def test_a_day_of_25_hours(self):
        server = self.start_with_gate()
        self.browser.open(server.url)
        shown = self.show(LONG)
        self.assertEqual(shown["sums"], ["open 13 h, once", "closed 12 h, once"])
        self.assertEqual(shown["parts"], [["open", 0, 52], ["closed", 52, 48]])
        self.assertEqual([mark[1] for mark in shown["axis"]], [0, 28, 52, 76, 100])
        self.assertEqual(shown["changes"][1][1], "00:00 – 12:00 (13 h)")

    def test_a_week_by_hours(self):
        server = self.start_with_gate()
        self.browser.open(server.url)
        self.show(LONG)
        self.element("by-week").click()
        week = wait_for("the week", lambda: self.browser.run(WEEK))
        self.assertEqual(week["said"], f"{LONG - datetime.timedelta(days=6):%a, %b %-d} – {LONG:%a, %b %-d, %Y}")
        sums = ["closed 3 days 11 h, 7 times", "open 16 h 52 min, 6 times", "not watched 2 days 20 h"]
        self.assertEqual(week["sums"], sums)
        self.assertEqual(len(week["days"]), 7)
        self.assertEqual(week["days"][0], f"{LONG - datetime.timedelta(days=6):%a %-d}: not watched")
        self.assertEqual(week["days"][3], f"{PLAIN:%a %-d}: closed 20 h 18 min, open 3 h 12 min")
        self.assertEqual(week["days"][6], f"{LONG:%a %-d}: open 13 h, closed 12 h")
        self.assertEqual(week["blocks"][0], [])
        # From 7:00 on the gate was open for 12 minutes: what is rare is below.
        self.assertEqual(week["blocks"][3][:3], [[0, 29.2, 0, 100], [29.2, 4.2, 0, 20], [29.2, 4.2, 20, 80]])
        self.assertEqual(week["blocks"][6], [[0, 52, 0, 100], [52, 48, 0, 100]], "it has 25 hours")
        hours = json.loads(self.saved("json", LONG - datetime.timedelta(days=6)))["hours"]
        self.assertEqual(sum(hour["seconds"] for hour in hours if hour["state"] == "open"), (16 * 60 + 52) * 60)
        self.assertIn("hour,watch,state", self.saved("csv", LONG - datetime.timedelta(days=6)))
        self.assertFalse(self.element("changes").is_displayed())
        self.element("day-before").click()
        wait_for("nothing", lambda: "Nothing is known of this week." in self.element("day-bars").text)
        self.element("day-after").click()
        self.assertEqual(wait_for("the week again", lambda: self.browser.run(WEEK)), week)
        self.expect_no_message()

    def test_a_day_of_a_week_is_opened(self):
        server = self.start_with_gate()
        self.browser.open(server.url)
        self.show(LONG)
        self.element("by-week").click()
        week = wait_for("the week", lambda: self.browser.run(WEEK))
        self.browser.driver.find_elements("css selector", "#day-bars ol button")[3].click()
        self.assertEqual(len(self.wait_for_day(PLAIN)["changes"]), 9)
        self.assertEqual(self.element("by-day").get_attribute("aria-pressed"), "true")
        self.browser.press_enter()  # on "Week", which has the focus
        self.assertEqual(wait_for("the same week", lambda: self.browser.run(WEEK))["said"], week["said"])

    def test_a_day_of_23_hours(self):
        day_after = SHORT + datetime.timedelta(days=1)
        rows = ((SHORT, 0, "open"), (SHORT, 12, "closed"), (day_after, 0, None))
        server = self.start([("", at(day, hour), state, None) for day, hour, state in rows])
        self.browser.open(server.url)
        shown = self.show(SHORT)
        self.assertEqual(shown["sums"], ["closed 12 h, once", "open 11 h, once"])
        self.assertEqual([mark[1] for mark in shown["axis"]], [0, 21.7, 47.8, 73.9, 100])
        self.element("by-week").click()
        week = wait_for("the week", lambda: self.browser.run(WEEK))
        self.assertEqual(week["days"][6], f"{SHORT:%a %-d}: closed 12 h, open 11 h")
        self.assertEqual(week["blocks"][6], [[0, 47.8, 0, 100], [47.8, 52.2, 0, 100]])
        self.assertEqual(week["sums"][:2], ["closed 12 h, once", "open 11 h, once"])

    def start_with_lamp(self):
        lamp = [("lamp", at(PLAIN, hour), state, None) for hour, state in ((6, "on"), (9, "half on"), (10, "on"))]
        server = self.start([("gate", *row) for row in gate()] + lamp, WATCHES)
        self.browser.open(server.url)
        self.show(PLAIN)
        wait_for("the titles", lambda: self.look()["titles"] == ["The <gate>", "lamp"])

    def test_changes_of_a_watch_and_to_a_state(self):
        self.start_with_lamp()
        self.browser.run(CHOOSE, "filter-watch", "lamp")
        shown = self.look(PLAIN)
        self.assertEqual([change[0] for change in shown["changes"]], ["on", "half on", "on"])
        self.assertEqual(shown["filter"], "3 changes")
        states = "return [...document.getElementById('filter-state').options].map(({text}) => text)"
        self.assertEqual(self.browser.run(states), ["All states", "half on", "on"])
        self.browser.run(CHOOSE, "filter-state", "half on")
        self.assertEqual([change[0] for change in self.look(PLAIN)["changes"]], ["half on"])
        self.assertEqual(self.saved_states(), ["half on"])
        self.assertEqual(self.browser.find_faults(), [])
        self.element("day-before").click()
        self.assertEqual(self.wait_for_day(PLAIN - datetime.timedelta(days=1))["changes"], [])
        self.assertEqual(self.element("no-changes").text, "No such change on this day")
        self.element("day-after").click()
        self.assertEqual([change[0] for change in self.wait_for_day(PLAIN)["changes"]], ["half on"])
        self.element("all-changes").send_keys(self.browser.keys.ENTER)
        self.assertEqual(len(self.look(PLAIN)["changes"]), 10)
        self.assertEqual(self.browser.run("return document.activeElement.id"), "changes-title")
        self.assertFalse(self.element("all-changes").is_displayed())
        self.expect_no_message()

    def press_bar(self, watch, hour):
        """As a finger does, on a day of 24 hours."""
        bar = self.browser.driver.find_elements("css selector", ".bar")[watch]
        self.browser.run("arguments[0].scrollIntoView({block: 'center'})", bar)
        width = bar.rect["width"]
        self.browser.actions().move_to_element_with_offset(bar, round(width * (hour / 24 - 0.5)), 0).click().perform()

    def test_a_press_on_a_bar_shows_its_changes(self):
        self.start_with_lamp()
        self.press_bar(0, 9.5)
        shown = self.look(PLAIN)
        self.assertEqual(shown["filter"], "The <gate>, 09:00 – 10:00, 1 change")
        self.assertEqual(shown["changes"], [["open", "The <gate>, 09:00 – 10:00 (1 h)", False]])
        self.assertEqual(self.saved_states(), ["open"])
        pressed = "return [...document.querySelectorAll('.bar [aria-pressed=true]')].map((one) => one.title)"
        self.assertEqual(self.browser.run(pressed), ["open, 09:00 – 10:00 (1 h)"])
        self.press_bar(1, 20)
        self.assertEqual(self.look(PLAIN)["changes"][0][0], "on")
        # What began the day before.
        self.press_bar(0, 3)
        shown = self.look(PLAIN)
        day_before = PLAIN - datetime.timedelta(days=1)
        begin, end = (f"{day:%a, %b %-d}" for day in (day_before, PLAIN))
        self.assertEqual(shown["changes"], [["closed", f"The <gate>, {begin}, 20:00 – {end}, 07:00 (11 h)", False]])
        self.assertEqual(self.saved_states(), ["closed"])
        self.press_bar(0, 3)
        self.assertEqual(len(self.look(PLAIN)["changes"]), 10, "the second press shows all again")
        self.press_bar(0, 12.75)
        self.assertEqual(self.look(PLAIN)["filter"], "", "nothing is known of then")
        self.press_bar(0, 9.5)
        self.element("all-changes").click()
        self.assertEqual(len(self.look(PLAIN)["changes"]), 10)
        self.expect_no_message()

    def test_a_finger_meets_what_is_narrow(self):
        """Two openings of two minutes each, of which a screen of 360 pixels shows nearly nothing."""
        minutes = ((8, 0, "closed"), (12, 0, "open"), (12, 2, "closed"), (12, 10, "open"), (12, 12, "closed"))
        minutes += ((20, 0, None),)
        server = self.start([("", at(PLAIN, hour, minute), state, None) for hour, minute, state in minutes])
        self.browser.emulate(360, 800, "light")
        self.browser.open(server.url)
        self.show(PLAIN)
        self.press_bar(0, 12.3)
        self.assertEqual(self.look(PLAIN)["filter"], "12:00 – 12:12, 3 changes")
        self.press_bar(0, 15)
        self.assertEqual(self.look(PLAIN)["filter"], "12:12 – 20:00, 1 change")

    def test_bars_by_keys(self):
        self.start_with_lamp()
        tab_stops = "return document.querySelectorAll('.bar button[tabindex=\"0\"]').length"
        self.assertEqual(self.browser.run(tab_stops), 2, "one of each bar")
        self.browser.run("document.querySelector('.bar button').focus()")
        keys = self.browser.keys
        self.browser.driver.switch_to.active_element.send_keys(keys.ARROW_RIGHT + keys.ARROW_RIGHT + keys.ARROW_RIGHT)
        self.browser.press_enter()
        self.assertEqual(self.look(PLAIN)["filter"], "The <gate>, 09:00 – 10:00, 1 change")
        focused = "return document.activeElement.ariaLabel"
        self.assertEqual(self.browser.run(focused), "open, 09:00 – 10:00 (1 h)", "though the bar was drawn again")
        self.browser.driver.switch_to.active_element.send_keys(keys.END)
        self.assertIn("open, 23:30", self.browser.run(focused))
        self.assertEqual(self.browser.find_faults(), [])

    def test_days_by_buttons_and_keys(self):
        server = self.start_with_gate()
        self.browser.open(server.url)
        day = self.show(PLAIN) and PLAIN
        for name, by in (("day-before", -1), ("day-after", 1), ("day-after", 1)):
            self.element(name).click()
            day += datetime.timedelta(days=by)
            self.wait_for_day(day)
        self.element("today").click()
        wait_for("today", lambda: "(today)" in self.look()["said"])
        today = self.element("day").get_attribute("value")
        self.element("day-after").click()
        self.assertEqual(self.element("day").get_attribute("value"), today, "there is no day after it")
        keys = self.browser.keys
        self.browser.driver.switch_to.active_element.send_keys(keys.ARROW_LEFT + keys.ARROW_LEFT + keys.ARROW_RIGHT)
        yesterday = datetime.date.fromisoformat(today) - datetime.timedelta(days=1)
        self.wait_for_day(yesterday)
        self.browser.driver.switch_to.active_element.send_keys(keys.END)
        wait_for("today", lambda: "(today)" in self.look()["said"])

    def test_each_watch_has_a_bar(self):
        lamp = [("lamp", at(PLAIN, hour), state, None) for hour, state in ((6, "on"), (9, "unknown"), (10, "on"))]
        lamp.append(("lamp", at(PLAIN, 11), None, None))
        server = self.start([("gate", *row) for row in gate()] + lamp, WATCHES)
        self.browser.open(server.url)
        self.show(PLAIN)
        wait_for("the titles", lambda: self.look()["titles"] == ["The <gate>", "lamp"])
        shown = self.look(PLAIN)
        self.assertEqual(
            shown["sums"][3:], ["on 4 h, 2 times", "unknown 1 h, once", "not watched 19 h"]
        )
        self.assertEqual(shown["changes"][3], ["closed", "The <gate>, 13:00 – 14:00 (1 h)", False])
        wait_for("the rest", lambda: self.browser.run(FIND, "#changes button", "Older changes"))
        self.assertEqual(len(shown["changes"]), 10)
        self.element("older-changes").send_keys(self.browser.keys.ENTER)
        wait_for("all", lambda: len(self.look()["changes"]) == 12)
        self.assertFalse(self.element("older-changes").is_displayed())
        focused = "return document.activeElement.closest('#changes-list li')?.querySelector('.state').textContent"
        self.assertEqual(self.browser.run(focused), "open", "the first one of those")

    def test_today_goes_on(self):
        """Of the run itself, whose first change comes."""
        self.browser.open(self.start().url)
        shown = wait_for("a change", lambda: (self.browser.look(DAY) or {}).get("changes"))
        self.assertRegex(shown[0][1], r"^\d\d:\d\d(:\d\d)? – .*|^since \d\d:\d\d \(\d+ (s|min) so far\)$")

    def rename_lamp(self, server):
        with open(os.path.join(self.folder, "lookout.toml"), "w", encoding="utf-8") as file:
            file.write(WATCHES.replace("[watch.lamp]", "[watch.bulb]"))
        server.reload()
        wait_for("the new watch", lambda: "bulb" in self.look()["titles"])

    def test_a_change_is_shown_when_it_comes(self):
        server = self.start(watches=WATCHES)
        self.browser.open(server.url)
        wait_for("a change", lambda: (self.browser.look(DAY) or {}).get("changes"))
        self.rename_lamp(server)

    def asked_elsewhere(self, server):
        """How often other pages than this one asked for a history."""
        with server.get("metrics") as answer:
            counts = re.findall(r'requests_total\{.*route="/api/1/timeline".*\} (\d+)', answer.read().decode())
        return sum(map(int, counts)) - self.browser.run(ASKED)

    def test_a_hidden_page_asks_nothing(self):
        """While another one, which is seen, shows what came."""
        server = self.start(watches=WATCHES)
        self.browser.open(server.url)
        wait_for("the history", lambda: self.browser.look(DAY))
        self.browser.open_tab(server.url)
        wait_for("the history in a tab", lambda: self.browser.look(DAY))
        before = self.asked_elsewhere(server)
        self.rename_lamp(server)
        wait_for("no question of the hidden page", lambda: self.asked_elsewhere(server) <= before)

    def test_without_a_history(self):
        server = Lookout(*with_model(PATTERN))
        self.addCleanup(server.close)
        self.browser.open(server.url)
        self.browser.wait_until_shown("results", lambda now: now["link"] == "Live" and now["top"])
        self.assertFalse(self.element("history").is_displayed())
        self.assertEqual(self.browser.run(ASKED), 0)
        self.assertEqual(self.browser.messages(), [])

    def test_labels_are_text(self):
        changes = [(HOSTILE, at(PLAIN, 8), HOSTILE, None), (HOSTILE, at(PLAIN, 9), "__proto__", None),
                   (HOSTILE, at(PLAIN, 10), "long" * 60, None), (HOSTILE, at(PLAIN, 11), None, None)]  # fmt: skip
        server = self.start(changes)
        self.browser.open(server.url)
        self.browser.emulate(360, 800, "light")
        shown = self.show(PLAIN)
        self.assertEqual(shown["titles"], [HOSTILE])
        self.assertIn(f"{HOSTILE} 1 h, once", shown["sums"])
        self.assertEqual(shown["changes"][2][0], HOSTILE)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#history img').length"), 0)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 360)
        self.assertEqual(self.browser.find_faults(), [])
        self.expect_no_message()

    def test_screens(self):
        states = ((5, "on"), (6, "off"), (9, "unknown"), (10, "on"), (11, "broken"), (13, "half"), (16, "other"))
        lamp = [("lamp", at(PLAIN, hour), state, None) for hour, state in states]
        picture = draw("open", False, (320, 240))
        server = self.start([("gate", *row) for row in gate(picture)] + lamp, WATCHES)
        for language in ("en-US", "de-AT"):
            if language != "en-US":
                self.browse(language)
            self.browser.open(server.url)
            self.browser.wait_for_moving_picture()
            self.show(PLAIN)
            wait_for("the title", lambda: "The <gate>" in self.look()["titles"])
            if language != "en-US":
                self.assertEqual(self.look()["sums"][1], "open 3 h 12 min, 5-mal")
                names = {"The <gate>", "open", "closed", "lamp", "on", "off", "broken", "half", "other"}
                english = set(self.browser.find_english()) - names
                self.assertEqual({text for text in english if "The <gate>" not in text}, set())
            look_at_screens(self, f"history-{language[:2]}", SCREENS)
            self.press_bar(0, 9.5)
            look_at_screens(self, f"history-{language[:2]}-stretch", SMALL_SCREENS)
            self.element("by-week").click()
            wait_for("the week", lambda: self.browser.run(WEEK))
            look_at_screens(self, f"history-{language[:2]}-week", SMALL_SCREENS)
            if language != "en-US":
                english = set(self.browser.find_english()) - names
                self.assertEqual({text for text in english if "The <gate>" not in text}, set())
        self.expect_no_message()


if __name__ == "__main__":
    sys.exit(main())
