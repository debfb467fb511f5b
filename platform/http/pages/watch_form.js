// The form for a watch: its name, its classes and its rectangle. A new one, or one that is there.

import {ask} from "./api.js";
import {$, create, put} from "./elements.js";
import {words} from "./language.js";
import {tell} from "./notes.js";
import {editRectangle, rectangle} from "./rectangle.js";
import {hasOldRectangle, refresh, taught, watchNamed} from "./taught.js";
import {nameFor, titleOf} from "./words.js";

const kNewPlace = [.25, .25, .5, .5];
const kLeastClasses = 2;

let edited = null;  // the watch that is changed; null: a new one
let lastRow = 0;  // the number of the last row of a class

const rows = () => [...$("classes").children];

function renumber() {
  rows().forEach((row, i) => {
    row.querySelector("label").textContent = words.classNumber(i + 1);
    const remove = row.querySelector("button");
    remove.setAttribute("aria-label", words.removeClass(i + 1));
    remove.hidden = rows().length <= kLeastClasses;
  });
  $("add-class").hidden = rows().length >= (taught?.limits.classes ?? 8);
}

// `label`: of a class that is there already, and is renamed when its text changes.
function addRow(text, label = "") {
  const row = create("div", $("classes"));
  row.className = "row";
  row.dataset.was = label;
  const name = create("label", row);
  const input = create("input", row);
  Object.assign(input, {value: text, required: true, maxLength: 60, autocomplete: "off"});
  input.autocapitalize = "off";
  input.id = `class-${++lastRow}`;
  name.htmlFor = input.id;
  const remove = create("button", row, "×");
  remove.type = "button";
  remove.addEventListener("click", () => {
    row.remove();
    renumber();
    $("add-class").focus();
  });
  renumber();
  return input;
}

// `watch`: undefined for a new one.
export function showForm(watch) {
  edited = watch ?? null;
  put("save", watch ? words.save : words.create);
  put("form-problem", "");
  $("cancel-form").href = watch ? `#${watch.name}` : "#";
  $("watch-title").value = watch ? titleOf(watch) : "";
  $("classes").replaceChildren();
  if (watch) {
    for (const label of watch.classes) addRow(label, label);
  } else {
    addRow(words.exampleClass);
    addRow(words.otherExampleClass);
  }
  editRectangle(watch?.roi ?? kNewPlace, !watch);
}

export const hideForm = () => editRectangle(null);

const values = () => rows().map((row) => row.querySelector("input").value.trim());

function check(classes) {
  const seen = new Set();
  for (const name of classes) {
    if (seen.has(name)) return words.twoClassesCalled(name);
    seen.add(name);
  }
  return "";
}

async function add(title, classes) {
  const taken = new Set([...taught.watches.map(({name}) => name), ...taught.fixed]);
  const name = nameFor(title, taken);
  await ask("POST", "teach/watches", {name, title, roi: rectangle(), classes});
  return name;
}

// Pictures keep their class when it is renamed.
async function change(title, classes) {
  const path = `teach/watches/${edited.name}`;
  for (const [i, row] of rows().entries()) {
    const from = row.dataset.was;
    if (!from || from === classes[i]) continue;
    edited = await ask("POST", `${path}/rename-class`, {from, to: classes[i]});
    row.dataset.was = classes[i];
  }
  const {revision} = edited;
  await ask("PATCH", path, {revision, title, roi: rectangle(), classes});
  return edited.name;
}

function savedText(name) {
  const {model, roi} = watchNamed(name) ?? {};
  return hasOldRectangle(model, roi) ? words.savedButOldRectangle : words.saved;
}

async function save() {
  const classes = values();
  const title = $("watch-title").value.trim();
  const problem = check(classes);
  put("form-problem", problem);
  if (problem) return;
  $("save").disabled = true;
  try {
    const name = await (edited ? change(title, classes) : add(title, classes));
    await refresh();
    tell(edited ? savedText(name) : "");
    location.hash = name;
  } catch (refusal) {
    put("form-problem", refusal.message);
  }
  $("save").disabled = false;
}

export function listenToForm() {
  $("watch-form").addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  $("add-class").addEventListener("click", () => addRow("").focus());
}
