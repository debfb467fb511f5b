// The buttons that are held while something is so: pictures are taken meanwhile. And the hours of
// the day at which they were taken.

import {ask, explain} from "./api.js";
import {$, create, fill, put} from "./elements.js";
import {words} from "./language.js";
import {refresh, taught} from "./taught.js";
import {hoursText, kNone, labelText, lightText} from "./words.js";

const kRenewMs = 500;  // the server ends a hold 1.5 s after it was renewed last
const kPatienceMs = 4000;  // for an answer to that
const kLooks = 4;  // for the picture of a tap
const kHours = 24;
const kNothing = {kept: 0, similar: 0};

const buttons = new Map();  // by label: its elements
let watch = null;
let drawn = "";
let hold = null;  // that goes on: its label, whether it is released, and what the server tells

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

const howText = (label) => label === kNone ? words.holdWhileOther : words.holdWhile(label);

// Short, so that the button keeps its size under the finger.
function heldText({kept, similar}) {
  return similar > 0 ? words.keptAndSimilarNow(kept, similar) : words.keptNow(kept);
}

function keptText(label, {kept, similar}) {
  return similar > 0 ? words.keptAndSimilar(label, kept, similar) : words.kept(label, kept);
}

const explainProblem = ({problem, why}) => explain({code: problem, message: why});

function show(mine) {
  const {button, how} = buttons.get(mine.label) ?? {};
  if (!button) return;
  button.toggleAttribute("data-held", mine === hold);
  fill(how, mine === hold ? heldText(mine.status ?? kNothing) : howText(mine.label));
}

function take(mine, status) {
  if (status.kept > (mine.status?.kept ?? 0)) navigator.vibrate?.(20);
  mine.status = status;
  put("hold-problem", status.problem ? explainProblem(status) : "");
  show(mine);
}

// Until the button is let go, or the server ends the hold.
async function goOn(mine) {
  const path = `teach/watches/${watch.name}/holds`;
  take(mine, await ask("POST", path, {class: mine.label}));
  const {number} = mine.status;
  try {
    while (!mine.isReleased && mine.status.held) {
      await Promise.race([pause(kRenewMs), mine.released]);
      if (mine.isReleased) break;
      take(mine, await ask("PUT", `teach/holds/${number}`, {}, {limit: kPatienceMs}));
    }
    if (!mine.isReleased && !mine.status.why) put("hold-problem", words.holdEnded);
  } finally {
    mine.status = await ask("DELETE", `teach/holds/${number}`);
  }
}

// A tap ends before there is a frame for its picture, which is taken a little later.
async function settle(mine) {
  const isEmpty = ({kept, similar, problem}) => kept + similar === 0 && !problem;
  for (let i = 0; i < kLooks && isEmpty(mine.status); ++i) {
    await pause(kRenewMs);
    await refresh();
    if (taught.hold?.number === mine.status.number) mine.status = taught.hold;
  }
  if (mine.status.problem) put("hold-problem", explainProblem(mine.status));
  return keptText(labelText(mine.label), mine.status);
}

// After a tap that is still being ended, another one waits for that.
async function begin(label) {
  if (hold && !hold.isReleased) return;
  const before = hold;
  const mine = hold = {label, isReleased: false, status: null};
  mine.released = new Promise((done) => { mine.release = done; });
  mine.ended = new Promise((done) => { mine.end = done; });
  if (before) show(before);
  put("hold-problem", "");
  put("hold-said", words.takingPicturesOf(labelText(label)));
  show(mine);
  try {
    await before?.ended;
    await goOn(mine);
  } catch (refusal) {
    put("hold-problem", refusal.message);
  }
  mine.end();
  if (hold !== mine) return;
  hold = null;
  show(mine);
  put("hold-said", "");
  await refresh();
  if (mine.status && !hold) put("hold-said", await settle(mine));
}

// `label`: whose button was let go; none: all end.
export function endHold(label = hold?.label) {
  if (!hold || hold.label !== label) return;
  hold.isReleased = true;
  hold.release();
}

const isPress = ({key}) => key === " " || key === "Enter";

function listenTo(button, label) {
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    begin(label);
  });
  for (const type of ["pointerup", "pointercancel", "lostpointercapture", "blur"]) {
    button.addEventListener(type, () => endHold(label));
  }
  button.addEventListener("contextmenu", (event) => event.preventDefault());
  button.addEventListener("keydown", (event) => {
    if (!isPress(event)) return;
    event.preventDefault();
    if (!event.repeat) begin(label);
  });
  button.addEventListener("keyup", (event) => {
    if (!isPress(event)) return;
    event.preventDefault();
    endHold(label);
  });
  // Of a screen reader, which presses no key and no pointer: a tap.
  button.addEventListener("click", (event) => {
    if (event.detail > 0) return;
    begin(label);
    endHold(label);
  });
}

function addButton(label) {
  const button = create("button", $("holds"));
  button.type = "button";
  button.className = "hold";
  create("b", button, labelText(label));
  const how = create("span", button, howText(label));
  const count = create("span", button);
  listenTo(button, label);
  buttons.set(label, {button, how, count});
}

function addStrip(entry) {
  const item = create("li", $("hours"));
  create("span", item, labelText(entry.label)).setAttribute("aria-hidden", "true");
  const strip = create("div", item);
  strip.className = "strip";
  strip.setAttribute("role", "img");
  strip.setAttribute("aria-label", hoursText(entry));
  for (let hour = 0; hour < kHours; ++hour) {
    create("i", strip).toggleAttribute("data-on", entry.hours.includes(hour));
  }
  const light = create("span", item, lightText(entry));
  light.className = "soft";
  light.setAttribute("aria-hidden", "true");
}

function drawHours(classes) {
  const next = JSON.stringify(classes);
  if (next === drawn) return;
  drawn = next;
  $("hours").replaceChildren();
  classes.forEach(addStrip);
  const axis = create("li", $("hours"));
  axis.className = "scale soft";
  axis.setAttribute("aria-hidden", "true");
  for (const hour of [0, 6, 12, 18, 24]) create("span", axis, String(hour));
}

// Of the watch that is looked at.
export function drawHolds(next) {
  const isOther = watch?.name !== next.name;
  watch = next;
  const labels = [...watch.classes, kNone];
  if (isOther || labels.join("\n") !== [...buttons.keys()].join("\n")) {
    endHold();
    buttons.clear();
    $("holds").replaceChildren();
    labels.forEach(addButton);
    const [first] = labels;
    put("how", words.howToHold(first));
    put("hold-said", "");
    put("hold-problem", "");
  }
  for (const [label, {count}] of buttons) {
    const entry = watch.progress.classes.find((one) => one.label === label);
    fill(count, words.pictureCount(entry?.pictures ?? 0));
  }
  drawHours(watch.progress.classes);
}

// What ends a hold, too: the page is left, or is no longer seen.
export function listenToHolds() {
  addEventListener("blur", () => endHold());
  addEventListener("pagehide", () => endHold());
  document.addEventListener("visibilitychange", () => { if (document.hidden) endHold(); });
}
