// A day of each watch: a bar of its states from midnight to midnight, and for how long each lasted.

import {create} from "../elements.js";
import {words} from "../language.js";
import {clockText, kUnknown, labelText, longText} from "../words.js";

const kColors = 5;
const kPlaces = 2000;  // of a bar, at each of which a short time of a state is drawn once
const kMostSums = 8;
const kShortGap = 60;  // s; of a shorter time without a state nothing is told
const kAxisHours = [0, 6, 12, 18];

const isKnown = ({state}) => state !== null;

// What `state` was in [from, to), in seconds since 1970, in order; null: nobody knew it. `rows`: of
// a watch, oldest first.
function spansOf(rows, {from, to, known}) {
  const end = Math.min(to, known);
  const spans = rows.map(({at, state}, i) => ({
    state, from: Math.max(at, from), to: Math.min(rows[i + 1]?.at ?? end, end),
  }));
  return spans.filter((span) => span.to > span.from);
}

// Longest first. A state that is the same behind a gap has not come again.
function sumsOf(spans) {
  const sums = new Map();
  let last = null;
  for (const {state, from, to} of spans) {
    const sum = sums.get(state) ?? {state, seconds: 0, times: 0};
    sum.seconds += to - from;
    if (state !== last) ++sum.times;
    last = state;
    sums.set(state, sum);
  }
  return [...sums.values()].sort((a, b) => b.seconds - a.seconds);
}

// Opposites as open and closed, on and off have different ones.
const hashOf = (text) => [...text].reduce(
    (hash, letter) => (hash * 17 + letter.codePointAt(0)) % 1000003, 1);

// The class of each state's color: the same on all days and of all watches, unless two states of a
// day would have the same.
function colorsOf(spans) {
  const colors = new Map();
  for (const state of [...new Set(spans.map((span) => span.state))].sort()) {
    const taken = colors.size < kColors ? [...colors.values()] : [];
    let color = hashOf(state) % kColors;
    while (taken.includes(`color-${color}`)) color = (color + 1) % kColors;
    colors.set(state, state === kUnknown ? "unknown" : `color-${color}`);
  }
  return colors;
}

function drawBar(parent, title, spans, colors, {from, to}) {
  const bar = create("div", parent);
  bar.className = "bar";
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", title ? words.barOf(title) : words.bar);
  const share = (seconds) => seconds / (to - from);
  const drawn = new Set();
  for (const span of spans) {
    const long = span.to - span.from;
    const className = colors.get(span.state);
    const place = `${className} ${Math.floor(share(span.from - from) * kPlaces)}`;
    if (share(long) < 1 / kPlaces && drawn.has(place)) continue;
    drawn.add(place);
    const part = create("i", bar);
    const label = create("span", part, labelText(span.state)).textContent;
    const [begin, end] = [span.from, span.to].map((time) => clockText(time * 1000));
    part.className = className;
    part.title = `${label}, ${words.lasted(begin, end, longText(long))}`;
    part.style.left = `${100 * share(span.from - from)}%`;
    part.style.width = `${100 * share(long)}%`;
  }
}

function drawSums(parent, spans, colors, {from, to, known}) {
  const list = create("ul", parent);
  const sums = sumsOf(spans);
  for (const {state, seconds, times} of sums.slice(0, kMostSums)) {
    const item = create("li", list, words.sumOfState(labelText(state), longText(seconds), times));
    item.className = colors.get(state);
  }
  const secondsOf = (some) => some.reduce((sum, {seconds}) => sum + seconds, 0);
  const others = sums.slice(kMostSums);
  if (others.length > 0) {
    create("li", list, words.sumOfOthers(others.length, longText(secondsOf(others))));
  }
  const gap = Math.min(to, known) - from - secondsOf(sums);
  if (gap >= kShortGap) create("li", list, words.sumNotWatched(longText(gap))).className = "gap";
}

// A day may have 23 or 25 hours.
function drawAxis(parent, {from, to}) {
  const axis = create("div", parent);
  axis.className = "axis";
  axis.setAttribute("aria-hidden", "true");
  for (const hour of kAxisHours) {
    const time = new Date(from * 1000).setHours(hour, 0, 0, 0) / 1000;
    const mark = create("span", axis, words.hour(hour));
    mark.style.left = `${100 * Math.max(0, time - from) / (to - from)}%`;
  }
  create("span", axis, words.hour(24)).style.left = "100%";
}

// Replaces what is in `parent`. `watches`: {title, rows}, whose titles may be empty; `day`: {from,
// to, known}, until when the states are known, in seconds since 1970.
export function drawBars(parent, watches, day) {
  parent.replaceChildren();
  for (const {title, rows} of watches) {
    const spans = spansOf(rows, day).filter(isKnown);
    if (spans.length === 0) continue;
    const colors = colorsOf(spans);
    if (title) create("h3", parent, title);
    drawBar(parent, title, spans, colors, day);
    drawSums(parent, spans, colors, day);
  }
  if (parent.firstChild) drawAxis(parent, day);
  else create("p", parent, words.nothingOfThisDay).className = "soft";
}
