// What the page's scripts share: how elements are made and filled, and how figures are written.

import {decimal, locale} from "./language.js";

export const $ = (id) => document.getElementById(id);

// What shows the text already is not touched.
export function fill(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export const put = (id, text) => fill($(id), text);

export function create(tag, parent, text = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}

export const percent = (score) => `${decimal(score * 100, 1)} %`;

const kClock = new Intl.DateTimeFormat(locale, {timeStyle: "medium", hourCycle: "h23"});

export const clock = (seconds) => kClock.format(seconds * 1000);
