// What the page for teaching tells of the last thing that was done, with a way back.

import {$, put} from "./elements.js";

const kToldMs = 8000;  // of what needs no answer
const kUndoMs = 20000;  // what can be undone; longer while it has the focus

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

function hide() {
  if ($("toast").contains(document.activeElement)) {
    timer = setTimeout(hide, kToldMs);
  } else {
    show("", null);
  }
}

// `back`: undoes it; null: it cannot be undone.
export function tell(text, back = null) {
  show(text, back);
  timer = setTimeout(hide, back ? kUndoMs : kToldMs);
}

// Of what went wrong; stays until something else is told.
export const tellProblem = (refusal) => show(refusal.message, null);

$("undo").addEventListener("click", async () => {
  const back = undo;
  tell("");
  try {
    await back();
  } catch (refusal) {
    tell(refusal.message, back);
  }
});
$("close-toast").addEventListener("click", () => tell(""));
