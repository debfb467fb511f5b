// A week of each watch: a row of its hours for each day, and for how long each state lasted. A
// press on a day opens it.

import {create} from "../elements.js";
import {words} from "../language.js";
import {colorsOf, drawAxis, drawSums, secondsOf} from "./states.js";
import {labelText, longText, shortDayText} from "../words.js";

const kHour = 3600;  // s
const kDay = 24 * kHour;
const kAll = .999;  // of an hour; what lasted longer was there all the time

let buttons = [];  // the days of all watches

// An hour of UTC belongs to the day in which its middle lies: a zone may be half an hour away.
const isOf = ({from, to}) => ({at}) => at + kHour / 2 >= from && at + kHour / 2 < to;

// Longest first. `times`: how often it began.
function sumsOf(hours) {
  const sums = new Map();
  for (const {state, seconds, changes} of hours) {
    const sum = sums.get(state) ?? {state, seconds: 0, times: 0};
    sum.seconds += seconds;
    sum.times += changes;
    sums.set(state, sum);
  }
  return [...sums.values()].filter(({seconds}) => seconds > 0)
      .sort((a, b) => b.seconds - a.seconds);
}

// What is drawn of a day: {state, at, long, height, below}, in seconds and parts of the strip's
// height. States of an hour lie above each other, in this order. One that is there for several
// hours is one block.
function blocksOf(hours, order) {
  const sorted = hours.filter(({seconds}) => seconds > 0).sort(
      (a, b) => a.at - b.at || order.indexOf(a.state) - order.indexOf(b.state));
  const blocks = [];
  for (const {at, state, seconds} of sorted) {
    const last = blocks.at(-1);
    const height = Math.min(1, seconds / kHour);
    const goesOn = last?.state === state && last.at + last.long === at;
    if (goesOn && last.height > kAll && height > kAll) {
      last.long += kHour;
      continue;
    }
    const below = last && last.at + last.long > at ? last.below + last.height : 0;
    blocks.push({state, at, long: kHour, height, below});
  }
  return blocks;
}

const percent = (share) => `${100 * share}%`;

// Returns it in words.
function drawStrip(parent, hours, {colors, order}, {from, to}) {
  const strip = create("span", parent);
  strip.className = "hours";
  const sums = sumsOf(hours).map(
      ({state, seconds}) => words.sumOfTime(labelText(state), longText(seconds)));
  const text = sums.join(", ") || words.notWatched;
  strip.setAttribute("role", "img");
  strip.setAttribute("aria-label", text);
  for (const {state, at, long, height, below} of blocksOf(hours, order)) {
    const block = create("i", strip);
    block.className = colors.get(state);
    Object.assign(block.style, {
      left: percent((at - from) / (to - from)), width: percent(long / (to - from)),
      bottom: percent(below), height: percent(height),
    });
  }
  return text;
}

// `look`: the `colors` of the states, and their `order`.
function drawDay(list, hours, look, day, open) {
  const button = create("button", create("li", list));
  button.type = "button";
  const label = create("span", button, shortDayText(day.date)).textContent;
  button.title = `${label}: ${drawStrip(button, hours, look, day)}`;
  button.addEventListener("click", () => open(day.date));
  return button;
}

// Replaces what is in `parent`, where the focus stays. `watches`: {title, hours}, whose titles may
// be empty, and the hours as the server tells them; `days`: {date, from, to}, in order; `known`:
// until when the states are known; all in seconds since 1970. `open`: is called with a `date`.
export function drawWeek(parent, watches, days, known, open) {
  const focused = buttons.indexOf(document.activeElement);
  parent.replaceChildren();
  buttons = [];
  const long = Math.min(days.at(-1).to, known) - days[0].from;
  for (const {title, hours} of watches) {
    const shown = hours.filter(isOf({from: days[0].from, to: days.at(-1).to}));
    if (secondsOf(shown) === 0) continue;
    const sums = sumsOf(shown);
    const colors = colorsOf(sums.map(({state}) => state));
    // What is rare stands out of what is usual.
    const look = {colors, order: sums.map(({state}) => state).reverse()};
    if (title) create("h3", parent, title);
    const list = create("ol", parent);
    for (const day of days) {
      buttons.push(drawDay(list, shown.filter(isOf(day)), look, day, open));
    }
    drawAxis(parent, days.findLast(({from, to}) => to - from === kDay));
    drawSums(parent, sums, colors, long);
  }
  if (!parent.firstChild) create("p", parent, words.nothingOfThisWeek).className = "soft";
  buttons[focused]?.focus({preventScroll: true});
}
