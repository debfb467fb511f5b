// The changes of what was taught, for an owner, who may say that one was wrong.

import {ask} from "./api.js";
import {$, create, fill} from "./elements.js";
import {words} from "./language.js";
import {kNone, labelText, spanText, titleOf, when} from "./words.js";

// The history has a change ten seconds after it; what waited longer is written when it is asked.
const kAskMs = 15000;
const kAskSoonMs = 2000;
const kAsked = 100;  // changes of an answer, of all watches
const kMostAnswers = 20;
const kStep = 10;  // changes that are shown at first, and more with each press
const kUnknown = "unknown";  // the state

const rows = new Map();  // by what tells a change from others: {item, watch, change, ...}
let wanted = kStep;
let timer = 0;
let isFirst = true;
let edits = 0;  // what was said here: an answer to a question before it is not shown
let asked = 0;  // the number of the last look

const pictureOf = ({number}) => `api/1/events/${number}.jpg`;
const timeOf = ({at}) => Math.round(at * 1000);

function addButton(parent, text, call) {
  const button = create("button", parent, text);
  button.type = "button";
  button.addEventListener("click", call);
  return button;
}

// ---- what an owner says of a change ----

// The labels that it may have had instead.
function otherLabels({classes}, {state}) {
  const said = state === kUnknown ? kNone : state;
  return [...classes, kNone].filter((label) => label !== said);
}

// `row`: {watch, change, state, note, buttons}, the last three of which are elements.
function offerToTeach(row, text = "") {
  row.shown = "";
  row.item.classList.remove("corrected");
  fill(row.note, text);
  row.buttons.replaceChildren();
  return addButton(row.buttons, words.wasWrong, () => askWhatItWas(row));
}

function askWhatItWas(row) {
  row.shown = null;
  fill(row.note, words.whatWasIt);
  row.buttons.replaceChildren();
  for (const label of otherLabels(row.watch, row.change)) {
    addButton(row.buttons, labelText(label), () => teach(row, label));
  }
  addButton(row.buttons, words.cancel, () => offerToTeach(row).focus());
  row.buttons.firstChild.focus();
}

const keyOf = (kept) => kept ? `${kept.number} ${kept.label} ${kept.revision}` : "";

// `kept`: the change's picture, as the library has it.
function showCorrection(row, kept) {
  row.shown = keyOf(kept);
  row.item.classList.add("corrected");
  fill(row.note, words.correctedAs(labelText(kept.label)));
  row.buttons.replaceChildren();
  const button = addButton(row.buttons, words.undo, () => undo(row, kept));
  create("a", row.buttons, words.itsPictures).href = `teach#${row.watch.name}`;
  return button;
}

async function teach(row, label) {
  ++edits;
  try {
    const kept = await ask("POST", `teach/watches/${row.watch.name}/events`,
                           {event: row.change.number, class: label});
    showCorrection(row, kept).focus();
  } catch (refusal) {
    fill(row.note, refusal.message);
  }
  ++edits;
}

async function undo(row, {number, label, revision}) {
  ++edits;
  try {
    await ask("PATCH", "teach/pictures", {marks: [{number, label, revision, trashed: true}]});
    offerToTeach(row, words.undone).focus();
  } catch (refusal) {
    fill(row.note, refusal.message);
  }
  ++edits;
}

// ---- what the server knows ----

// Of taught watches, newest first, one more than is wanted. Each has `until`: when the next one of
// its watch came (s); null: it lasts.
async function readChanges(watches) {
  const changes = [];
  const ends = new Map();  // by watch
  let before = "";
  for (let i = 0; i < kMostAnswers && changes.length <= wanted && before !== null; ++i) {
    const place = before && `&before=${before}`;
    const {events, next} = await ask("GET", `events?limit=${kAsked}${place}`);
    for (const change of events) {
      if (!watches.has(change.watch)) continue;
      const until = ends.get(change.watch) ?? null;
      if (change.state !== null) changes.push({...change, until});
      ends.set(change.watch, change.at);
    }
    before = next;
  }
  return changes.slice(0, wanted + 1);
}

const correctionKey = (watch, time) => `${watch} ${time}`;

// The pictures of changes that somebody corrected, by watch and time.
async function readCorrections(changes) {
  const found = new Map();
  for (const watch of new Set(changes.map((change) => change.watch))) {
    for (let before = 0; before !== null;) {
      const fields = new URLSearchParams({watch, origin: "event", before});
      const {pictures, next} = await ask("GET", `teach/pictures?${fields}`);
      for (const one of pictures) found.set(correctionKey(watch, Date.parse(one.time)), one);
      before = next;
    }
  }
  return found;
}

// ---- the list ----

function makeRow(watch, change) {
  const item = document.createElement("li");
  if (change.picture) {
    const link = create("a", item);
    link.href = pictureOf(change);
    const image = create("img", link);
    image.alt = words.pictureOfChange;
    image.loading = "lazy";
    image.src = link.href;
  }
  create("p", item, labelText(change.state)).className = "state";
  const span = create("p", item);
  span.className = "soft";
  const note = create("p", item);
  note.setAttribute("role", "status");
  const buttons = create("div", item);
  buttons.className = "buttons";
  const row = {item, watch, change, span, note, buttons};
  if (change.picture) offerToTeach(row);
  return row;
}

// What somebody is just asked stays as it is.
function drawCorrection(row, kept) {
  const isKept = kept?.label;
  if (!row.change.picture || row.shown === null) return;
  if (row.shown === (isKept ? keyOf(kept) : "")) return;
  const hadFocus = row.buttons.contains(document.activeElement);
  const button = isKept ? showCorrection(row, kept) : offerToTeach(row);
  if (hadFocus) button.focus();
}

// Changes of one minute are told apart by their seconds.
function drawTimes(changes) {
  const counts = new Map();
  for (const change of changes) {
    const minute = when(timeOf(change));
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
  }
  for (const change of changes) {
    const {span, watch} = rows.get(rowKey(change));
    const isExact = counts.get(when(timeOf(change))) > 1;
    fill(span, `${titleOf(watch)}, ${spanText(change, isExact)}`);
  }
}

const rowKey = ({at, number}) => `${at} ${number}`;

// A row that somebody is about to use stays.
function draw(watches, changes) {
  const shown = new Map();
  for (const change of changes) {
    const key = rowKey(change);
    shown.set(key, rows.get(key) ?? makeRow(watches.get(change.watch), change));
  }
  for (const [key, {item}] of rows) {
    if (shown.has(key) || item.contains(document.activeElement)) continue;
    item.remove();
    rows.delete(key);
  }
  let place = $("changes-list").firstChild;
  for (const [key, row] of shown) {
    rows.set(key, row);
    if (row.item === place) place = place.nextSibling;
    else $("changes-list").insertBefore(row.item, place);
  }
  drawTimes(changes);
  $("changes").hidden = rows.size === 0;
}

async function readAll() {
  const number = ++asked;
  const before = edits;
  const {watches: list} = await ask("GET", "teach");
  const watches = new Map(list.map((watch) => [watch.name, watch]));
  const changes = await readChanges(watches);
  const shown = changes.slice(0, wanted);
  const corrections = await readCorrections(shown);
  if (number !== asked) return;
  draw(watches, shown);
  $("older-changes").hidden = changes.length <= wanted;
  if (edits !== before) return;
  for (const change of shown) {
    const kept = corrections.get(correctionKey(change.watch, timeOf(change)));
    drawCorrection(rows.get(rowKey(change)), kept);
  }
}

async function look() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    await readAll();
  } catch ({status}) {
    // Nobody is logged in any more, or there is no history.
    if (status === 401 || status === 404) {
      $("changes").hidden = true;
      return;
    }
  }
  clearTimeout(timer);
  timer = setTimeout(look, isFirst ? kAskSoonMs : kAskMs);
  isFirst = false;
}

async function showOlder() {
  const last = $("changes-list").lastChild;
  wanted += kStep;
  await look();
  if ($("older-changes").hidden) last.nextSibling?.querySelector("a, button")?.focus();
}

// `session`: of showLink().
export function showChanges(session) {
  if (session?.role !== "owner" || !session.teach) return;
  document.addEventListener("visibilitychange", look);
  $("older-changes").addEventListener("click", showOlder);
  look();
}
