// The last changes of what was taught, for an owner, who may say that one was wrong.

import {ask} from "./api.js";
import {$, create, fill} from "./elements.js";
import {words} from "./language.js";
import {kNone, labelText, titleOf, when} from "./words.js";

// The history has a change ten seconds after it; what waited longer is written when it is asked.
const kAskMs = 15000;
const kAskSoonMs = 2000;
const kAsked = 100;  // changes, of all watches
const kShown = 10;

const rows = new Map();  // elements, by what tells a change from others
let timer = 0;
let isFirst = true;

const pictureOf = ({number}) => `api/1/events/${number}.jpg`;

function addButton(parent, text, call) {
  const button = create("button", parent, text);
  button.type = "button";
  button.addEventListener("click", call);
  return button;
}

// ---- what an owner says of a change ----

// The labels that it may have had instead.
function otherLabels({classes}, {state}) {
  const said = state === "unknown" ? kNone : state;
  return [...classes, kNone].filter((label) => label !== said);
}

// `row`: {watch, change, note, buttons}, the last two of which are elements.
function offerToTeach(row, text = "") {
  fill(row.note, text);
  row.buttons.replaceChildren();
  return addButton(row.buttons, words.wasWrong, () => askWhatItWas(row));
}

function askWhatItWas(row) {
  fill(row.note, words.whatWasIt);
  row.buttons.replaceChildren();
  for (const label of otherLabels(row.watch, row.change)) {
    addButton(row.buttons, labelText(label), () => teach(row, label));
  }
  addButton(row.buttons, words.cancel, () => offerToTeach(row).focus());
  row.buttons.firstChild.focus();
}

async function teach(row, label) {
  const {watch, change, note, buttons} = row;
  try {
    const kept = await ask("POST", `teach/watches/${watch.name}/events`,
                           {event: change.number, class: label});
    fill(note, words.pictureKeptAs(labelText(label)));
    buttons.replaceChildren();
    addButton(buttons, words.undo, () => undo(row, kept)).focus();
    create("a", buttons, words.itsPictures).href = `teach#${watch.name}`;
  } catch (refusal) {
    fill(note, refusal.message);
  }
}

async function undo(row, {number, label, revision}) {
  try {
    await ask("PATCH", "teach/pictures", {marks: [{number, label, revision, trashed: true}]});
    offerToTeach(row, words.undone).focus();
  } catch (refusal) {
    fill(row.note, refusal.message);
  }
}

// ---- the list ----

function makeRow(watch, change) {
  const item = document.createElement("li");
  const link = create("a", item);
  link.href = pictureOf(change);
  const image = create("img", link);
  image.alt = words.pictureOfChange;
  image.loading = "lazy";
  image.src = link.href;
  create("p", item, labelText(change.state)).className = "state";
  create("p", item, `${titleOf(watch)}, ${when(change.at * 1000)}`).className = "soft";
  const note = create("p", item);
  note.setAttribute("role", "status");
  const buttons = create("div", item);
  buttons.className = "buttons";
  const row = {watch, change, note, buttons};
  offerToTeach(row);
  return item;
}

// A row that somebody is about to use stays.
function draw(watches, changes) {
  const shown = new Map();
  for (const change of changes) {
    const watch = watches.get(change.watch);
    if (!watch || !change.picture || change.state === null || shown.size === kShown) continue;
    const key = `${change.at} ${change.number}`;
    shown.set(key, rows.get(key) ?? makeRow(watch, change));
  }
  for (const [key, item] of rows) {
    if (shown.has(key) || item.contains(document.activeElement)) continue;
    item.remove();
    rows.delete(key);
  }
  let place = $("changes-list").firstChild;
  for (const [key, item] of shown) {
    rows.set(key, item);
    if (item === place) place = place.nextSibling;
    else $("changes-list").insertBefore(item, place);
  }
  $("changes").hidden = rows.size === 0;
}

async function look() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    const {watches} = await ask("GET", "teach");
    const {events} = await ask("GET", `events?limit=${kAsked}`);
    draw(new Map(watches.map((watch) => [watch.name, watch])), events);
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

// `session`: of showLink().
export function showChanges(session) {
  if (session?.role !== "owner" || !session.teach) return;
  document.addEventListener("visibilitychange", look);
  look();
}
