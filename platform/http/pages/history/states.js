// How states look on bars, and the list of for how long each lasted.

import {create} from "../elements.js";
import {words} from "../language.js";
import {kUnknown, labelText, longText} from "../words.js";

const kColors = 5;
const kMostSums = 8;
const kShortGap = 60;  // s; of a shorter time without a state nothing is told
const kAxisHours = [0, 6, 12, 18];

// Opposites as open and closed, on and off have different ones.
const hashOf = (text) => [...text].reduce(
    (hash, letter) => (hash * 17 + letter.codePointAt(0)) % 1000003, 1);

// The class of each state's color: the same at all times and of all watches, unless two states that
// are shown together would have the same.
export function colorsOf(states) {
  const colors = new Map();
  for (const state of [...new Set(states)].sort()) {
    const taken = colors.size < kColors ? [...colors.values()] : [];
    let color = hashOf(state) % kColors;
    while (taken.includes(`color-${color}`)) color = (color + 1) % kColors;
    colors.set(state, state === kUnknown ? "unknown" : `color-${color}`);
  }
  return colors;
}

export const secondsOf = (sums) => sums.reduce((sum, {seconds}) => sum + seconds, 0);

function sumText({state, seconds, times}) {
  const [label, long] = [labelText(state), longText(seconds)];
  return times > 0 ? words.sumOfState(label, long, times) : words.sumOfTime(label, long);
}

// `sums`: {state, seconds, times}, longest first. `known`: of how many seconds something may be
// known.
export function drawSums(parent, sums, colors, known) {
  const list = create("ul", parent);
  for (const sum of sums.slice(0, kMostSums)) {
    create("li", list, sumText(sum)).className = colors.get(sum.state);
  }
  const others = sums.slice(kMostSums);
  if (others.length > 0) {
    create("li", list, words.sumOfOthers(others.length, longText(secondsOf(others))));
  }
  const gap = known - secondsOf(sums);
  if (gap >= kShortGap) create("li", list, words.sumNotWatched(longText(gap))).className = "gap";
}

// A day may have 23 or 25 hours.
export function drawAxis(parent, {from, to}) {
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
