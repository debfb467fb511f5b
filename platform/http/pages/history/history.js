// The history on the live page: a day, as a bar of each watch and a list of changes, or the seven
// days that end with it, by hours.

import {ask, Refusal} from "../api.js";
import {showChanges} from "./changes.js";
import {drawBars} from "./day_bars.js";
import {$, put} from "../elements.js";
import {chooseStretch, chosenStretch, drawFilter, filtered, leaveStretch, linkToChanges,
        linkToHours, onFilter} from "./filter.js";
import {words} from "../language.js";
import {titleOfWatch} from "../watches.js";
import {drawWeek} from "./week_bars.js";
import {dayText, daysText} from "../words.js";

// The history has a change ten seconds after it; what waited longer is written when it is asked.
const kWrittenMs = 11000;
const kAskSoonMs = 2000;
const kAskMs = 60000;  // so that the bar of today grows
const kWeek = 7;  // days

let isOpen = false;  // the page is seen, and the server is there
let chosen = null;  // the midnight at which the day begins; null: today, also when it ends
let isWeek = false;
let lastWeek = null;  // the last day of the week that was shown, as `chosen`
let shown = null;  // what is shown: see read()
let asked = 0;  // the number of the last question
let news = 0;  // performance.now() of the last change
let timer = 0;
let due = 0;  // performance.now() of the next question

// The midnight that many days later.
const dayAt = (date, by = 0) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + by);
const today = () => dayAt(new Date());
const day = () => chosen ?? today();
const seconds = (date) => date.getTime() / 1000;

// As `<input type="date">` has it.
function dateOf(date) {
  const parts = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  return [String(date.getFullYear()).padStart(4, "0"), ...parts].join("-");
}

// The midnights of the days that are shown, and that after them.
function midnights() {
  const count = isWeek ? kWeek : 1;
  return Array.from({length: count + 1}, (_, i) => dayAt(day(), i + 1 - count));
}

// ---- what is shown ----

function nameButton(id, text) {
  $(id).setAttribute("aria-label", text);
  $(id).title = text;
}

function drawDays() {
  const date = day();
  const isToday = seconds(date) >= seconds(today());
  $("day").max = dateOf(today());
  if ($("day").value !== dateOf(date)) $("day").value = dateOf(date);
  $("day").setAttribute("aria-label", isWeek ? words.lastDay : words.day);
  // They keep the focus.
  for (const id of ["day-after", "today"]) $(id).setAttribute("aria-disabled", String(isToday));
  nameButton("day-before", isWeek ? words.weekBefore : words.dayBefore);
  nameButton("day-after", isWeek ? words.weekAfter : words.dayAfter);
  $("by-day").setAttribute("aria-pressed", String(!isWeek));
  $("by-week").setAttribute("aria-pressed", String(isWeek));
  $("changes").hidden = $("changes-title").hidden = isWeek;
  $("week-help").hidden = !isWeek;
  if (isWeek) put("day-said", daysText(midnights()[0], date));
  else put("day-said", isToday ? words.isToday(dayText(date)) : dayText(date));
}

// By name, each in their order.
function byWatch(rows) {
  const watches = new Map();
  for (const row of rows) {
    if (!watches.has(row.watch)) watches.set(row.watch, []);
    watches.get(row.watch).push(row);
  }
  return watches;
}

// The answer ends at `next`, if it does not have all that was asked for.
function noteOf({next, complete_since: since}, from, to) {
  if (next !== null && next < to) return words.tooManyChanges;
  return since !== null && from < since ? words.changesNotKept : "";
}

// The name of a watch that is gone is all that is known of it.
function titleOfBar(name, isOnly) {
  if (name === "") return isOnly ? "" : words.camera;
  return titleOfWatch(name) ?? name;
}

// `isOther`: changes than before.
function drawDay(isOther) {
  const {answer, from, to} = shown;
  const known = answer.known_until;
  const watches = byWatch(answer.changes);
  const titleOf = (name) => titleOfBar(name, watches.size <= 1);
  const bars = [...watches].map(([name, rows]) => ({name, title: titleOf(name), rows}));
  drawBars($("day-bars"), bars, {from, to, known},
           {stretch: chosenStretch(), choose: chooseStretch});
  const isOver = known > answer.to;
  const list = bars.flatMap(({rows}) => rows.map((change, i) => ({
    ...change, isOver, isBefore: from > change.at, until: rows[i + 1]?.at ?? null,
    known: Math.min(known, answer.to),
  })));
  const wanted = filtered(list, {from, to});
  wanted.sort((a, b) => b.at - a.at || b.number - a.number);
  put("history-note", noteOf(answer, from, to));
  drawFilter(list.filter(({at}) => at >= from && at < to), wanted.length, {from, to}, titleOf);
  linkToChanges({from, to}, dateOf(shown.days[0]));
  return showChanges(wanted, isOther, titleOfWatch);
}

function openDay(date) {
  isWeek = false;
  choose(date);
  $("by-week").focus();
}

function drawHours() {
  const {answer, from, to, days} = shown;
  const watches = byWatch(answer.hours);
  const rows = [...watches.keys()].sort().map(
      (name) => ({title: titleOfBar(name, watches.size === 1), hours: watches.get(name)}));
  const spans = days.slice(0, -1).map((date, i) => ({
    date, from: seconds(date), to: seconds(days[i + 1]),
  }));
  drawWeek($("day-bars"), rows, spans, answer.known_until, openDay);
  put("history-note", "");
  linkToHours({from, to}, dateOf(days[0]));
}

function draw(isOther = false) {
  $("history").setAttribute("aria-busy", "false");
  $("history").hidden = false;
  return shown.isWeek ? drawHours() : drawDay(isOther);
}

// ---- what the server knows ----

// How long a state lasted that began on the day is known a day behind it.
const askForDay = (from, end) => ask("GET", `timeline?from=${from}&to=${end}`);

// Of many watches in several answers.
async function askForHours(from, to) {
  const hours = [];
  for (let next = from; next !== null;) {
    const answer = await ask("GET", `timeline?by=hour&from=${next}&to=${to}`);
    hours.push(...answer.hours);
    if (answer.next === null) return {...answer, hours};
    next = answer.next;
  }
}

const isShown = (days) => shown?.isWeek === isWeek && shown.from === seconds(days[0]);

// `shown`: `days`, midnights; `from` the first `to` the last of them; `isWeek`; and the `answer`.
async function read() {
  const number = ++asked;
  const days = midnights();
  const [from, to] = [days[0], days.at(-1)].map(seconds);
  const ofWeek = isWeek;
  drawDays();
  const isOther = !isShown(days);
  if (isOther) leaveStretch();
  $("history").setAttribute("aria-busy", String(isOther));
  const answer = await (ofWeek ? askForHours(from, to) : askForDay(from, seconds(dayAt(day(), 2))));
  if (number !== asked) return;
  shown = {answer, days, from, to, isWeek: ofWeek};
  await draw(isOther);
}

function showProblem({status, message}) {
  // Nobody is logged in any more, or the server has been started without a history.
  if (status === 401 || status === 404) {
    $("history").hidden = true;
    isOpen = false;
    return;
  }
  put("history-note", message);
  $("history").setAttribute("aria-busy", "false");
  if (isShown(midnights())) return;
  shown = null;
  $("day-bars").replaceChildren();
  showChanges([], true, titleOfWatch);
}

function lookIn(milliseconds) {
  const time = performance.now() + milliseconds;
  if (timer !== 0 && due <= time) return;
  clearTimeout(timer);
  due = time;
  timer = setTimeout(look, milliseconds);
}

async function look() {
  clearTimeout(timer);
  timer = 0;
  const number = asked + 1;
  try {
    await read();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (number === asked) showProblem(refusal);
  }
  if (!isOpen || seconds(day()) < seconds(today())) return;
  const written = news + kWrittenMs - performance.now();
  lookIn(written > -kAskSoonMs ? Math.max(kAskSoonMs, written) : kAskMs);
}

// A state changed. What waits in the server is written when somebody asks, and read by the next
// question.
export function noteChange() {
  news = performance.now();
  if (isOpen && chosen === null) lookIn(kWrittenMs);
}

// The watches have other titles.
export function drawHistory() {
  if (shown) draw();
}

// The server is there, and the page is seen. One without a history is not asked.
export function openHistory() {
  if ($("history").dataset.kept === "none") return;
  isOpen = true;
  news = performance.now() - kWrittenMs;
  look();
}

// Asks nothing any more.
export function closeHistory() {
  isOpen = false;
  clearTimeout(timer);
  timer = 0;
}

// ---- the day ----

function choose(date) {
  chosen = seconds(date) < seconds(today()) ? date : null;
  if (isWeek) lastWeek = chosen;
  look();
}

const step = (by) => choose(dayAt(day(), isWeek ? by * kWeek : by));

// The week in which a day was opened is shown again.
function showWeek() {
  if (isWeek) return;
  const last = lastWeek ?? today();
  const isOfIt = day() <= last && day() > dayAt(last, -kWeek);
  isWeek = true;
  choose(isOfIt ? last : day());
}

function showDay() {
  if (isWeek) openDay(day());
}

onFilter(() => {
  if (shown && !shown.isWeek) drawDay(true);
});
$("by-day").addEventListener("click", showDay);
$("by-week").addEventListener("click", showWeek);
$("day-before").addEventListener("click", () => step(-1));
$("day-after").addEventListener("click", () => step(1));
$("today").addEventListener("click", () => choose(today()));
$("day").addEventListener("change", () => {
  const date = new Date(`${$("day").value}T00:00`);
  // While one is typed, its year may be in the first century.
  if (date.getFullYear() >= 2000) choose(dayAt(date));
});
$("days").addEventListener("keydown", (event) => {
  const {key, target} = event;
  if (target === $("day") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (key === "ArrowLeft") step(-1);
  else if (key === "ArrowRight") step(1);
  else if (key === "End") choose(today());
  else return;
  event.preventDefault();
});
