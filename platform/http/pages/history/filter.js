// Which changes of a day are shown: all, or those of a watch, to a state, or of a stretch of a bar.

import {$, create, put} from "../elements.js";
import {words} from "../language.js";
import {labelText, rangeText} from "../words.js";

const wanted = {watch: null, state: null};  // null: any
let stretch = null;  // of drawBars(): the changes in it are shown, whatever else is wanted
let watches = [];  // in the order of the choice
let states = [];
let changed = () => {};

export const chosenStretch = () => stretch;

// `call`: when something else is wanted.
export function onFilter(call) {
  changed = call;
}

// null: none.
export function chooseStretch(chosen) {
  stretch = chosen;
  changed();
  if (stretch) $("changes-list").firstChild?.scrollIntoView({block: "nearest"});
}

// Another day is shown.
export function leaveStretch() {
  stretch = null;
}

const isAll = () => stretch === null && wanted.watch === null && wanted.state === null;

// What is wanted of a day: {from, to}.
function rules({from, to}) {
  if (!stretch) return {...wanted, from, to};
  return {watch: stretch.watch, state: null, from: stretch.at, to: stretch.to};
}

// Those of `changes` that are shown.
export function filtered(changes, day) {
  const {watch, state, from, to} = rules(day);
  return changes.filter((change) => change.state !== null && change.at >= from && change.at < to &&
      (watch ?? change.watch) === change.watch && (state ?? change.state) === change.state);
}

// ---- what is on the page ----

// The first choice is any. One that is open is not touched.
function fillChoice(select, any, options, chosen) {
  const texts = [any, ...options.map(({text}) => text)];
  if (texts.join("\n") !== [...select.options].map(({text}) => text).join("\n")) {
    select.replaceChildren();
    for (const text of texts) create("option", select, text);
  }
  select.selectedIndex = options.findIndex(({value}) => value === chosen) + 1;
}

function drawChoices(changes, {watch, state}, titleOf) {
  watches = [...new Set([...changes.map((change) => change.watch), watch])]
      .filter((name) => name !== null).sort();
  fillChoice($("filter-watch"), words.allWatches,
             watches.map((name) => ({value: name, text: titleOf(name)})), watch);
  $("filter-watch").hidden = watches.length < 2;
  const ofWatch = changes.filter((change) => (watch ?? change.watch) === change.watch);
  states = [...new Set([...ofWatch.map((change) => change.state), state])]
      .filter((label) => label !== null).sort();
  fillChoice($("filter-state"), words.allStates,
             states.map((label) => ({value: label, text: labelText(label)})), state);
  $("filter-state").hidden = states.length < 2 && isAll();
}

function linkTo(id, path, fields, date) {
  $(id).href = `api/1/${path}?${new URLSearchParams(fields)}`;
  $(id).download = `history-${date}.${id === "history-csv" ? "csv" : "json"}`;
}

// What is shown, in files. `date`: for their names.
export function linkToChanges(day, date) {
  const fields = Object.entries(rules(day)).filter(([, value]) => value !== null);
  linkTo("history-csv", "events.csv", fields, date);
  linkTo("history-json", "events.json", fields, date);
}

export function linkToHours({from, to}, date) {
  linkTo("history-csv", "timeline.csv", {from, to, by: "hour"}, date);
  linkTo("history-json", "timeline", {from, to, by: "hour"}, date);
}

// `changes`: of the day, of which `count` are shown. `titleOf`: of a watch's name; that of the only
// one may be empty.
export function drawFilter(changes, count, day, titleOf) {
  drawChoices(changes, rules(day), titleOf);
  const parts = [words.changeCount(count)];
  if (stretch) parts.unshift(titleOf(stretch.watch), rangeText(stretch, day.from));
  put("filter-said", isAll() ? "" : parts.filter(Boolean).join(", "));
  $("all-changes").hidden = isAll();
  put("no-changes", isAll() ? words.noChanges : words.noSuchChanges);
}

function choose(choice) {
  stretch = null;
  Object.assign(wanted, choice);
  changed();
}

$("filter-watch").addEventListener("change", ({target}) => {
  choose({watch: watches[target.selectedIndex - 1] ?? null});
});
$("filter-state").addEventListener("change", ({target}) => {
  choose({state: states[target.selectedIndex - 1] ?? null});
});
$("all-changes").addEventListener("click", () => {
  choose({watch: null, state: null});
  // The button is gone.
  $("changes-title").focus();
});
