// Named watches: a row for each with its state, and on the picture the rectangle that it looks at.
// One of them is chosen: its predictions are shown.

import {$, clock, create, fill, percent, put} from "./elements.js";
import {words} from "./language.js";
import {stateText} from "./words.js";

// By name: what the server tells of the watch, `results` (its newest predictions) and its elements.
const watches = new Map();
let chosen = "";  // its name
let changed = () => {};

export const hasNames = () => watches.size > 0;

// Of the watch that is chosen; empty before they came.
export const chosenResults = () => watches.get(chosen)?.results ?? [];

// Nothing: there is none of that name.
export const titleOfWatch = (name) => watches.get(name)?.title;

// `call`: when another one is chosen.
export function onChoice(call) {
  changed = call;
}

function choose(name) {
  chosen = name;
  for (const [each, {button}] of watches) button.setAttribute("aria-pressed", `${each === name}`);
  put("top-title", hasNames() ? words.predictionsOf(watches.get(name).title) : words.predictions);
  changed();
}

function draw(watch) {
  const state = stateText(watch.state) ?? words.noState;
  fill(watch.stateText, state);
  fill(watch.scoreText, watch.state === null || watch.score === null ? "" : percent(watch.score));
  fill(watch.sinceText, watch.since === null ? "" : words.since(clock(watch.since)));
  fill(watch.label, watch.state === null ? "" : `: ${state}`);
}

// The page has these from the first names on.
function addPlaces() {
  const boxes = document.createElement("div");
  boxes.id = "boxes";
  boxes.setAttribute("aria-hidden", "true");
  $("caption").before(boxes);
  create("ul", $("now")).id = "watches";
  const said = create("p", $("now"));
  said.id = "said";
  said.className = "unseen";
  said.setAttribute("aria-live", "polite");
}

// A row and, for all watches of one rectangle, a box on the picture.
function addElements(name, watch, boxes) {
  const row = create("li", $("watches"));
  watch.button = create("button", row, watch.title);
  watch.button.type = "button";
  watch.button.title = words.showPredictionsOf(watch.title);
  watch.button.addEventListener("click", () => choose(name));
  watch.sinceText = create("span", row);
  watch.sinceText.className = "soft";
  watch.stateText = create("span", row);
  watch.stateText.className = "state";
  watch.scoreText = create("b", row);
  const place = watch.roi.join();
  if (!boxes.has(place)) {
    const box = create("div", $("boxes"));
    box.classList.toggle("right", watch.roi[0] + watch.roi[2] / 2 > .5);
    boxes.set(place, box);
  }
  watch.box = boxes.get(place);
  const label = create("p", watch.box);
  create("span", label, watch.title);
  watch.label = create("b", label);
}

// Takes the list of `/state` or of an event; empty: there is one thing without a name. A watch that
// was there before keeps what is not told again.
export function showWatches(list) {
  if (!$("watches")) addPlaces();
  const before = new Map(watches);
  const focused = [...watches.keys()].find(
      (name) => watches.get(name).button === document.activeElement);
  const boxes = new Map();
  watches.clear();
  $("watches").replaceChildren();
  $("boxes").replaceChildren();
  for (const {name, title, roi, state, score, since} of list) {
    const known = before.get(name);
    const now = state === null && known ? known : {state, score, since};
    const watch = {title, roi, state: now.state, score: now.score, since: now.since};
    watch.results = known?.results ?? [];
    watches.set(name, watch);
    addElements(name, watch, boxes);
    draw(watch);
  }
  $("watches").hidden = !hasNames();
  $("line").hidden = $("since").hidden = hasNames();
  watches.get(focused)?.button.focus();
  choose(watches.has(chosen) ? chosen : list[0]?.name ?? "");
}

// Takes a line `state` of a watch.
export function takeWatchState({watch: name, state, score, timestamp}) {
  const watch = watches.get(name);
  if (!watch) return;
  const isNews = state !== watch.state;
  Object.assign(watch, {state, score, since: state === null ? null : timestamp});
  draw(watch);
  if (isNews) put("said", `${watch.title}: ${stateText(state) ?? words.noState}`);
}

// Takes a line `classification` of a watch.
export function takeWatchResult({watch: name, results}) {
  const watch = watches.get(name);
  if (!watch) return;
  watch.results = results;
  watch.score = results.find(({label}) => label === watch.state)?.score ?? watch.score;
  draw(watch);
}

// `place(element, roi)` puts an element over a part of the picture; null: there is no picture.
export function placeBoxes(place) {
  if (!hasNames()) return;
  $("boxes").hidden = !place;
  if (!place) return;
  for (const {box, roi} of watches.values()) place(box, roi);
}
