// What the server tells of teaching, which the page asks for again and again while it is seen.

import {ask} from "./api.js";

const kPollMs = 1000;
const kJobPollMs = 500;  // while a training runs

let timer = 0;
let asked = 0;  // the number of the last question
let shown = 0;  // of the one whose answer is shown
let isOpen = false;
let changed = () => {};
let failed = () => {};

// The last answer of `GET teach`; null before.
export let taught = null;

export const watchNamed = (name) => taught?.watches.find((watch) => watch.name === name);

// Whether a model, or null, was trained with another rectangle.
export function hasOldRectangle(model, roi) {
  const kRounding = 2e-5;  // of the form
  return Boolean(model?.roi?.some((side, i) => Math.abs(side - roi[i]) > kRounding));
}

// `call` is called with each answer, `fail` with each refusal.
export function onTaught(call, fail) {
  changed = call;
  failed = fail;
}

// Asks now. An answer that comes after a newer one is not shown.
export async function refresh() {
  const number = ++asked;
  clearTimeout(timer);
  try {
    const answer = await ask("GET", "teach");
    if (!isOpen || number < shown) return;
    shown = number;
    taught = answer;
    changed();
  } catch (refusal) {
    if (isOpen && number === asked) failed(refusal);
  }
  if (isOpen && number === asked) {
    timer = setTimeout(refresh, taught?.job?.state === "running" ? kJobPollMs : kPollMs);
  }
}

export function startAsking() {
  isOpen = true;
  return refresh();
}

export function stopAsking() {
  isOpen = false;
  clearTimeout(timer);
}
