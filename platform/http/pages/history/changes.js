// The changes of a day, newest first. An owner may say of what is taught that one was wrong.

import {ask} from "../api.js";
import {$, create, fill} from "../elements.js";
import {words} from "../language.js";
import {kNone, kUnknown, labelText, spanText, titleOf, when} from "../words.js";
import {zoomPicture} from "../zoom.js";

const kStep = 10;  // changes that are shown at first, and more with each press

const rows = new Map();  // by what tells a change from others: {item, change, ...}
let changes = [];  // of the day
let titleOfWatch = (name) => name;
let wanted = kStep;
let isOwner = false;
let edits = 0;  // what was said here: an answer to a question before it is not shown
let asked = 0;  // the number of the last question

const pictureOf = ({number}) => `api/1/events/${number}.jpg`;
const timeOf = ({at}) => Math.round(at * 1000);

// ---- what an owner says of a change ----

function addButton(parent, text, call) {
  const button = create("button", parent, text);
  button.type = "button";
  button.addEventListener("click", call);
  return button;
}

// The labels that it may have had instead.
function otherLabels({classes}, {state}) {
  const said = state === kUnknown ? kNone : state;
  return [...classes, kNone].filter((label) => label !== said);
}

// `row`: {watch, change, state, note, buttons}, the last three of which are elements. `shown`: the
// correction that is shown, empty: none is; null: what it was is being asked; not there for guests.
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

function offerNothing(row) {
  delete row.shown;
  row.item.classList.remove("corrected");
  fill(row.note, "");
  row.buttons.replaceChildren();
}

// What somebody is just asked stays as it is.
function drawCorrection(row, kept) {
  const isKept = kept?.label;
  if (row.shown === null || row.shown === (isKept ? keyOf(kept) : "")) return;
  const hadFocus = row.buttons.contains(document.activeElement);
  const button = isKept ? showCorrection(row, kept) : offerToTeach(row);
  if (hadFocus) button.focus();
}

// What only an owner sees.
async function readTaught() {
  const number = ++asked;
  const before = edits;
  const {watches} = await ask("GET", "teach");
  const taught = new Map(watches.map((watch) => [watch.name, watch]));
  const shown = [...rows.values()].filter(
      ({change}) => change.picture && taught.has(change.watch));
  const corrections = await readCorrections(shown.map(({change}) => change));
  if (number !== asked || edits !== before) return;
  for (const row of shown) {
    row.watch = taught.get(row.change.watch);
    drawCorrection(row, corrections.get(correctionKey(row.change.watch, timeOf(row.change))));
  }
  drawTimes();
}

async function drawTaught() {
  if (!isOwner || rows.size === 0) return;
  try {
    await readTaught();
  } catch ({status}) {
    // Nobody is logged in any more.
    isOwner = status !== 401;
    if (!isOwner) rows.forEach(offerNothing);
  }
}

// ---- the list ----

function makeRow(change) {
  const item = document.createElement("li");
  const row = {item, change};
  if (change.picture) {
    const link = create("a", item);
    link.href = pictureOf(change);
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      zoomPicture(link.href, `${labelText(change.state)}, ${row.span.textContent}`);
    });
    const image = create("img", link);
    image.alt = words.pictureOfChange;
    image.loading = "lazy";
    image.src = link.href;
  }
  create("p", item, labelText(change.state)).className = "state";
  row.span = create("p", item);
  row.span.className = "soft";
  row.note = create("p", item);
  row.note.setAttribute("role", "status");
  row.buttons = create("div", item);
  row.buttons.className = "buttons";
  return row;
}

// Changes of a watch in one minute are told apart by their seconds.
function drawTimes() {
  const minuteOf = (change) => `${when(timeOf(change))} ${change.watch}`;
  const counts = new Map();
  for (const {change} of rows.values()) {
    const minute = minuteOf(change);
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
  }
  for (const {change, span, watch} of rows.values()) {
    const text = spanText(change, counts.get(minuteOf(change)) > 1);
    const title = titleOfWatch(change.watch) ?? (watch ? titleOf(watch) : change.watch);
    fill(span, title ? `${title}, ${text}` : text);
  }
}

const rowKey = ({at, number}) => `${at} ${number}`;

// A row that somebody is about to use stays.
function draw() {
  const shown = new Map();
  for (const change of changes.slice(0, wanted)) {
    const key = rowKey(change);
    const row = rows.get(key) ?? makeRow(change);
    row.change = change;
    shown.set(key, row);
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
  drawTimes();
  $("no-changes").hidden = rows.size > 0;
  $("older-changes").hidden = changes.length <= wanted;
  return drawTaught();
}

async function showOlder() {
  const last = $("changes-list").lastChild;
  wanted += kStep;
  const drawn = draw();
  const next = last.nextSibling;
  if ($("older-changes").hidden && next) {
    next.tabIndex = -1;
    (next.querySelector("a") ?? next).focus();
  }
  await drawn;
}

// Newest first: {number, at, watch, state, picture, until, known, isOver}, see spanText().
// `isOtherDay`: than before. `title` tells what a watch is called, or nothing.
export function showChanges(list, isOtherDay, title) {
  if (isOtherDay) wanted = kStep;
  changes = list;
  titleOfWatch = title;
  return draw();
}

// `session`: of showLink().
export function listenToChanges(session) {
  isOwner = session?.role === "owner" && session.teach;
  drawTaught();
}

$("older-changes").addEventListener("click", showOlder);
