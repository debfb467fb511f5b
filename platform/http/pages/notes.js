// What the page for teaching tells of the last thing that was done, with a way back.

import {$, put} from "./elements.js";

const kToldMs = 8000;  // of what needs no answer

let undo = null;  // what the button does
let timer = 0;

function show(text, back) {
  clearTimeout(timer);
  undo = back;
  // It is not hidden: screen readers would miss what comes with it.
  $("toast").classList.toggle("shown", text !== "");
  $("close-toast").hidden = text === "";
  $("undo").hidden = !back;
  put("told", text);
}

// `back`: undoes it, and stays; null: it cannot be undone.
export function tell(text, back = null) {
  show(text, back);
  if (!back) timer = setTimeout(() => show("", null), kToldMs);
}

// Of what went wrong; stays until something else is told.
export const tellProblem = (refusal) => show(refusal.message, null);

$("undo").addEventListener("click", async () => {
  const back = undo;
  tell("");
  try {
    await back();
  } catch (refusal) {
    tellProblem(refusal);
  }
});
$("close-toast").addEventListener("click", () => tell(""));
