// A day of each watch: a bar of its states from midnight to midnight, and for how long each lasted.
// A press on a state chooses that stretch of the bar.

import {create} from "../elements.js";
import {words} from "../language.js";
import {colorsOf, drawAxis, drawSums} from "./states.js";
import {clockText, labelText, longText} from "../words.js";

const kPlaces = 2000;  // of a bar, at each of which a short time of a state is drawn once
const kFinger = 12;  // px; what is narrower is chosen when a press is as near as half of it

let shown = [];  // the parts of all bars

const isKnown = ({state}) => state !== null;

// What `state` was in [from, to), in seconds since 1970, in order; null: nobody knew it. `at`: when
// it began. `rows`: of a watch, oldest first.
function spansOf(rows, {from, to, known}) {
  const end = Math.min(to, known);
  const spans = rows.map(({at, state}, i) => ({
    state, at, from: Math.max(at, from), to: Math.min(rows[i + 1]?.at ?? end, end),
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

// ---- stretches ----

// From the first of these spans to the last.
const stretchOf = (name, spans) => ({
  watch: name, at: spans[0].at, from: spans[0].from, last: spans.at(-1).from, to: spans.at(-1).to,
});

// A state that still lasts grows.
const isSame = (a, b) => a?.watch === b.watch && a.from === b.from && a.last === b.last;

const isInside = (stretch, {from}) => from >= stretch.from && from <= stretch.last;

// The spans at a time, or those that are too short to be met and not more than `near` away.
function spansAt(spans, time, near) {
  const narrow = spans.filter(
      ({from, to}) => to - from < 2 * near && from < time + near && to > time - near);
  return narrow.length > 0 ? narrow : spans.filter(({from, to}) => from <= time && time < to);
}

// ---- the bar ----

// Of parts that are too short for a place of their own the first one stands for all.
function partsOf(spans, {from, to}) {
  const parts = [];
  const drawn = new Map();
  const share = (seconds) => seconds / (to - from);
  for (const span of spans) {
    const place = `${span.state} ${Math.floor(share(span.from - from) * kPlaces)}`;
    const isShort = share(span.to - span.from) < 1 / kPlaces;
    if (isShort && drawn.has(place)) {
      drawn.get(place).last = span;
      continue;
    }
    const part = {span, last: span};
    drawn.set(place, part);
    parts.push(part);
  }
  return parts;
}

function drawPart(bar, {state, from, to}, color, place) {
  const button = create("button", bar);
  const label = create("span", button, labelText(state)).textContent;
  const [begin, end] = [from, to].map((time) => clockText(time * 1000));
  button.type = "button";
  button.tabIndex = -1;
  button.className = color;
  button.title = `${label}, ${words.lasted(begin, end, longText(to - from))}`;
  button.setAttribute("aria-label", button.title);
  Object.assign(button.style, place(from, to));
  return button;
}

// One part is reached by the tabulator, the others by arrow keys.
function listenToKeys(bar, buttons) {
  bar.addEventListener("keydown", (event) => {
    const {key, altKey, ctrlKey, metaKey} = event;
    const now = buttons.indexOf(event.target);
    const next = {ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: buttons.length - 1}[key];
    if (now < 0 || next === undefined || altKey || ctrlKey || metaKey) return;
    event.preventDefault();
    buttons[next]?.focus();
  });
  bar.addEventListener("focusin", ({target}) => {
    for (const button of buttons) button.tabIndex = button === target ? 0 : -1;
  });
}

// What a press on a bar chooses; a key chooses the part that it was pressed on.
function spansOfPress({detail, clientX, target}, bar, spans, parts, {from, to}) {
  const box = bar.getBoundingClientRect();
  const second = (to - from) / box.width;  // for each pixel
  const isPointed = detail > 0;
  if (isPointed) return spansAt(spans, from + (clientX - box.left) * second, kFinger / 2 * second);
  const part = parts.find(({button}) => button === target.closest("button"));
  return part ? spans.slice(spans.indexOf(part.span), spans.indexOf(part.last) + 1) : [];
}

// `choice`: of drawBars(). Returns the parts, in order.
function drawBar(parent, {name, title}, spans, colors, day, choice) {
  const share = (time) => `${100 * time / (day.to - day.from)}%`;
  const place = (from, to) => ({left: share(from - day.from), width: share(to - from)});
  const frame = create("div", parent);
  frame.className = "bar-frame";
  const bar = create("div", frame);
  bar.className = "bar";
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", title ? words.barOf(title) : words.bar);
  const isChosen = (span) => choice.stretch?.watch === name && isInside(choice.stretch, span);
  const parts = partsOf(spans, day);
  for (const part of parts) {
    part.button = drawPart(bar, part.span, colors.get(part.span.state), place);
    part.button.setAttribute("aria-pressed", String(isChosen(part.span)));
  }
  (parts.find(({span}) => isChosen(span)) ?? parts[0]).button.tabIndex = 0;
  listenToKeys(bar, parts.map(({button}) => button));
  const chosen = spans.filter(isChosen);
  if (chosen.length > 0) {
    const mark = create("i", frame);
    mark.className = "chosen";
    Object.assign(mark.style, place(chosen[0].from, chosen.at(-1).to));
  }
  bar.addEventListener("click", (event) => {
    const pressed = spansOfPress(event, bar, spans, parts, day);
    if (pressed.length === 0) return;
    const stretch = stretchOf(name, pressed);
    choice.choose(isSame(choice.stretch, stretch) ? null : stretch);
  });
  return parts;
}

// Replaces what is in `parent`, where the focus stays. `watches`: {name, title, rows}, whose titles
// may be empty; `day`: {from, to, known}, until when the states are known, in seconds since 1970.
// `choice`: `stretch`, the one that is chosen, and `choose(stretch)`; null: none. A stretch:
// {watch, at, from, last, to}: the first state in it began at `at`, maybe before the day.
export function drawBars(parent, watches, day, choice) {
  const focused = shown.find(({button}) => button === document.activeElement);
  parent.replaceChildren();
  shown = [];
  for (const watch of watches) {
    const spans = spansOf(watch.rows, day).filter(isKnown);
    if (spans.length === 0) continue;
    const colors = colorsOf(spans.map(({state}) => state));
    if (watch.title) create("h3", parent, watch.title);
    const parts = drawBar(parent, watch, spans, colors, day, choice);
    drawSums(parent, sumsOf(spans), colors, Math.min(day.to, day.known) - day.from);
    shown.push(...parts.map((part) => ({...part, name: watch.name})));
  }
  if (parent.firstChild) drawAxis(parent, day);
  else create("p", parent, words.nothingOfThisDay).className = "soft";
  if (!focused) return;
  const isIt = ({name, span}) => name === focused.name && span.from <= focused.span.from;
  shown.findLast(isIt)?.button.focus({preventScroll: true});
}
