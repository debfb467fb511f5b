// The language of the page: the one that was chosen on it, else the first one of the browser's that
// there is, else English. Names, labels, and what the server says are in no language of the page.

import {words as de} from "./words/de.js";
import {words as en} from "./words/en.js";

const kLanguages = {
  en: {name: "English", words: en},
  de: {name: "Deutsch", words: de},
};
const kKey = "language";  // of the choice in localStorage
const kAttribute = "data-word-";

// Browsers that keep nothing refuse it.
function chosen() {
  try {
    return localStorage.getItem(kKey) ?? "";
  } catch {
    return "";
  }
}

const languageOf = (tag) => tag.toLowerCase().split("-")[0];

const language = [chosen(), ...navigator.languages].map(languageOf)
    .find((tag) => Object.hasOwn(kLanguages, tag)) ?? "en";

// For Intl: as in the browser's own region, if it is of the language.
export const locale = navigator.languages.find((tag) => languageOf(tag) === language) ?? language;

export const {words} = kLanguages[language];

const kDecimals = [0, 1].map((digits) => new Intl.NumberFormat(locale, {
  minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false,
}));

// With 0 or 1 digits behind the point.
export const decimal = (number, digits) => kDecimals[digits].format(number);

// With as many digits as it has, up to three.
export const inFull = (number) => Number(number).toLocaleString(locale);

// A function gets the element's `data-number`.
function wordOf(key, {dataset}) {
  const word = words[key];
  return typeof word === "function" ? word(inFull(dataset.number)) : word;
}

// What is between backticks is code.
function write(element, text) {
  element.replaceChildren(...text.split("`").map((part, i) => {
    if (i % 2 === 0) return part;
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  }));
}

function choose(tag) {
  try {
    localStorage.setItem(kKey, tag);
    location.reload();
  } catch {
    // It cannot be kept.
  }
}

function addChoice() {
  const footer = document.createElement("footer");
  const choice = document.createElement("div");
  choice.id = "languages";
  choice.setAttribute("role", "group");
  choice.setAttribute("aria-label", words.language);
  for (const [tag, {name}] of Object.entries(kLanguages)) {
    const button = document.createElement("button");
    Object.assign(button, {type: "button", lang: tag, textContent: name});
    button.setAttribute("aria-pressed", String(tag === language));
    button.addEventListener("click", () => choose(tag));
    choice.append(button);
  }
  footer.append(choice);
  document.querySelector("main").after(footer);
}

// Replaces the English texts of the page's file: `data-word="key"` marks the text of an element,
// `data-word-title="key"` its attribute `title`.
export function translatePage() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("*")) {
    for (const {name, value} of [...element.attributes]) {
      if (name === "data-word") {
        write(element, wordOf(value, element));
      } else if (name.startsWith(kAttribute)) {
        element.setAttribute(name.slice(kAttribute.length), wordOf(value, element));
      }
    }
  }
  addChoice();
}
