// The pictures of a watch: by class, picked one by one or in ranges, moved to a class or thrown
// away.

import {ask} from "./api.js";
import {$, create, put} from "./elements.js";
import {words} from "./language.js";
import {tell, tellProblem} from "./notes.js";
import {refresh} from "./taught.js";
import {kNone, labelText, when} from "./words.js";
import {zoom} from "./zoom.js";

const kPage = 30;  // pictures that are asked for at once
const kAtOnce = 500;  // that are changed at once
const kTrash = " trash";  // values of the choice, besides classes, which begin with no space
const kUnlabelled = " unlabelled";

let watch = null;
let known = "";  // what the server told of the pictures when they were asked for
let pictures = [];  // newest first
let next = null;  // of the question for older ones
let asked = 0;
const cells = new Map();  // by number
const picked = new Set();  // numbers
let anchor = null;  // the number from which a range goes
let isRange = false;  // the next one that is picked ends a range

const isTrash = () => $("which").value === kTrash;

function query(before, limit) {
  const fields = new URLSearchParams({watch: watch.name, limit: String(limit)});
  const which = $("which").value;
  if (which === kTrash) fields.set("trash", "1");
  else if (which === kUnlabelled) fields.set("unlabelled", "1");
  else if (which) fields.set("class", which);
  if (before) fields.set("before", String(before));
  return `teach/pictures?${fields}`;
}

// ---- the choice of what is shown ----

function choices() {
  const counts = watch.progress.classes.map(({label, pictures: count}) => [label, count]);
  if (!counts.some(([label]) => label === kNone)) counts.push([kNone, 0]);
  const all = counts.reduce((sum, [, count]) => sum + count, watch.unlabelled);
  const text = ([label, count]) => [label, words.labelAndCount(labelText(label), count)];
  return [["", words.allAndCount(all)], ...counts.map(text),
          [kUnlabelled, words.labelAndCount(labelText(""), watch.unlabelled)],
          [kTrash, words.thrownAway]];
}

function drawChoices() {
  const chosen = $("which").value;
  const wanted = choices();
  const options = [...$("which").options];
  if (options.map(({value}) => value).join("\n") === wanted.map(([value]) => value).join("\n")) {
    wanted.forEach(([, text], i) => { if (options[i].text !== text) options[i].text = text; });
    return;
  }
  $("which").replaceChildren();
  for (const [value, text] of wanted) create("option", $("which"), text).value = value;
  $("which").value = wanted.some(([value]) => value === chosen) ? chosen : "";
}

// ---- the grid ----

function cellText({label, guess, time, night}) {
  const told = labelText(label);
  const looks = !label && guess ? words.looksLike(told, labelText(guess)) : told;
  return night ? words.pictureAtNight(looks, when(time)) : words.pictureSays(looks, when(time));
}

function makeCell(picture) {
  const cell = document.createElement("div");
  cell.setAttribute("role", "option");
  cell.tabIndex = -1;
  cell.dataset.number = picture.number;
  const image = create("img", cell);
  image.alt = "";
  image.loading = "lazy";
  image.src = `api/1/teach/pictures/${picture.number}.jpg?size=thumb`;
  create("span", cell);
  return cell;
}

function drawCell(picture) {
  const cell = cells.get(picture.number);
  cell.setAttribute("aria-label", cellText(picture));
  cell.setAttribute("aria-selected", String(picked.has(picture.number)));
  const guess = !picture.label && picture.guess ? `${labelText(picture.guess)}?` : "";
  const text = `${guess || labelText(picture.label)}${picture.night ? " ☾" : ""}`;
  if (cell.lastChild.textContent !== text) cell.lastChild.textContent = text;
}

function drawGrid() {
  const numbers = new Set(pictures.map(({number}) => number));
  const focused = cells.size > 0 && $("grid").contains(document.activeElement);
  const place = [...$("grid").children].indexOf(document.activeElement);
  for (const [number, cell] of cells) {
    if (numbers.has(number)) continue;
    cell.remove();
    cells.delete(number);
    picked.delete(number);
  }
  pictures.forEach((picture, i) => {
    if (!cells.has(picture.number)) cells.set(picture.number, makeCell(picture));
    const cell = cells.get(picture.number);
    if ($("grid").children[i] !== cell) $("grid").insertBefore(cell, $("grid").children[i] ?? null);
    drawCell(picture);
  });
  const stop = $("grid").querySelector('[tabindex="0"]');
  if (!stop && pictures.length > 0) $("grid").firstChild.tabIndex = 0;
  if (focused && place >= 0) focusOn(Math.min(place, pictures.length - 1));
  $("grid").hidden = pictures.length === 0;
  $("older").hidden = next === null;
  drawBar();
}

function focusOn(i) {
  const cell = $("grid").children[i];
  if (!cell) return;
  for (const stop of $("grid").querySelectorAll('[tabindex="0"]')) stop.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
}

function emptyText() {
  if (pictures.length > 0) return "";
  return isTrash() ? words.nothingThrownAway : words.noPicturesHere;
}

// At least as many as are shown.
async function load(older = false) {
  const number = ++asked;
  let list = older ? pictures : [];
  const wanted = older ? pictures.length + kPage : Math.max(kPage, pictures.length);
  let before = older ? next : null;
  try {
    do {
      const limit = Math.min(100, wanted - list.length);
      const answer = await ask("GET", query(before, limit));
      if (number !== asked) return;
      list = [...list, ...answer.pictures];
      before = answer.next;
    } while (before !== null && list.length < wanted);
  } catch (refusal) {
    if (number === asked) put("grid-said", refusal.message);
    return;
  }
  pictures = list;
  next = before;
  put("grid-said", emptyText());
  drawGrid();
}

function reset() {
  pictures = [];
  next = null;
  picked.clear();
  anchor = null;
  setRange(false);
  drawGrid();
}

// ---- picking ----

function setRange(on) {
  isRange = on;
  $("range").setAttribute("aria-pressed", String(on));
  if (!on) return put("grid-said", emptyText());
  put("grid-said", anchor === null ? words.pickFirstAndLast : words.pickLast);
}

function pickRange(number) {
  const places = [anchor, number].map(
      (one) => pictures.findIndex((picture) => picture.number === one));
  if (places.includes(-1)) return;
  const [from, to] = places.sort((a, b) => a - b);
  for (const picture of pictures.slice(from, to + 1)) picked.add(picture.number);
  setRange(false);
}

// `isSpan`: all between it and the one that was picked before.
function pick(number, isSpan) {
  if (isSpan && anchor !== null) {
    pickRange(number);
  } else if (picked.has(number) && !isRange) {
    picked.delete(number);
  } else {
    picked.add(number);
  }
  anchor = number;
  if (isRange) setRange(true);
  pictures.forEach(drawCell);
  drawBar();
}

function pickAll(on) {
  picked.clear();
  if (on) for (const {number} of pictures) picked.add(number);
  anchor = null;
  pictures.forEach(drawCell);
  drawBar();
}

function columns() {
  const [first, ...others] = $("grid").children;
  const below = others.findIndex((cell) => cell.offsetTop > first.offsetTop);
  return below < 0 ? pictures.length : below + 1;
}

function pressed(event) {
  const cells = [...$("grid").children];
  const at = cells.indexOf(event.target);
  if (at < 0) return;
  const steps = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns(), ArrowDown: columns(),
                 Home: -at, End: cells.length - 1 - at};
  const number = Number(event.target.dataset.number);
  if (Object.hasOwn(steps, event.key)) {
    const to = at + steps[event.key];
    if (to >= 0 && to < cells.length) focusOn(to);
  } else if (event.key === " " || event.key === "Enter") {
    pick(number, event.shiftKey || isRange);
  } else if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
    pickAll(true);
  } else {
    return;
  }
  event.preventDefault();
}

// ---- what is done with those that are picked ----

function addMove(text, call, kind = "") {
  const button = create("button", $("moves"), text);
  button.type = "button";
  button.className = kind;
  button.addEventListener("click", call);
}

const pickedOnes = () => pictures.filter(({number}) => picked.has(number));

// Those that nobody told, but of which the model has a guess.
const guessed = () => pickedOnes().filter(({label, guess}) => !label && guess);

function drawBar() {
  $("bar").hidden = picked.size === 0;
  put("picked", isTrash() ? words.picked(picked.size) : words.pickedShow(picked.size));
  const hasGuess = guessed().length > 0;
  const wanted = JSON.stringify([watch?.classes, isTrash(), picked.size === 1, hasGuess]);
  if ($("moves").dataset.shown === wanted) return;
  $("moves").dataset.shown = wanted;
  $("moves").replaceChildren();
  if (isTrash()) {
    addMove(words.putBack, () => move(() => ({trashed: false}), words.werePutBack));
  } else {
    const asGuessed = () => move(({guess}) => ({label: guess}), words.wereTold, guessed());
    if (hasGuess) addMove(words.asGuessed, asGuessed);
    for (const label of [...watch?.classes ?? [], kNone]) {
      const done = (count) => words.nowShow(count, labelText(label));
      addMove(labelText(label), () => move(() => ({label}), done));
    }
    addMove(words.throwAway, () => move(() => ({trashed: true}), words.wereThrownAway), "bad");
  }
  if (picked.size === 1) addMove(words.lookCloser, lookCloser, "plain");
  addMove(words.pickAll, () => pickAll(true), "plain");
  addMove(words.pickNone, () => pickAll(false), "plain");
}

function lookCloser() {
  const picture = pictures.find(({number}) => picked.has(number));
  if (picture) zoom(picture.number, cellText(picture));
}

// All or none of each 500. Returns what undoes it.
async function send(marks) {
  const undo = [];
  for (let i = 0; i < marks.length; i += kAtOnce) {
    const answer = await ask("PATCH", "teach/pictures", {marks: marks.slice(i, i + kAtOnce)});
    undo.push(...answer.undo);
  }
  return undo;
}

async function reload() {
  await Promise.all([load(), refresh()]);
}

// Changes the pictures, tells `done`, and offers to undo it.
export async function mark(marks, done) {
  const undo = await send(marks);
  tell(done, async () => {
    await send(undo);
    await reload();
    tell(words.undone);
    $("pictures-title").focus();
  });
}

// `change`: of a picture, what becomes of it. `done`: of their count, what is told then.
async function move(change, done, these = pickedOnes()) {
  const marks = these.map((picture) => {
    const {number, label, trashed, revision} = picture;
    return {number, label, trashed, revision, ...change(picture)};
  });
  try {
    await mark(marks, done(marks.length));
    pickAll(false);
    $("undo").focus();
  } catch (refusal) {
    tellProblem(refusal);
  }
  await reload();
}

export function listenToPictures() {
  $("which").addEventListener("change", () => {
    reset();
    load();
  });
  $("older").addEventListener("click", () => load(true));
  $("range").addEventListener("click", () => setRange(!isRange));
  $("grid").addEventListener("keydown", pressed);
  $("grid").addEventListener("click", (event) => {
    const cell = event.target.closest("[role=option]");
    if (!cell) return;
    focusOn([...$("grid").children].indexOf(cell));
    pick(Number(cell.dataset.number), event.shiftKey || isRange);
  });
}

// Of the watch that is looked at. Asks for its pictures when there are others than before.
export function drawPictures(shown) {
  const isOther = watch?.name !== shown.name;
  watch = shown;
  drawChoices();
  if (isOther) {
    $("which").value = "";
    reset();
  }
  const {progress, unlabelled} = watch;
  const told = JSON.stringify([watch.name, progress.classes, unlabelled]);
  if (told === known) return;
  known = told;
  load();
}
