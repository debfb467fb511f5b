// The pictures of a watch that nobody told a label of, one after the other: each takes one tap.

import {ask} from "./api.js";
import {$, create, put} from "./elements.js";
import {words} from "./language.js";
import {tellProblem} from "./notes.js";
import {mark} from "./picture_grid.js";
import {refresh} from "./taught.js";
import {kNone, labelText, when} from "./words.js";
import {zoom} from "./zoom.js";

const kAtOnce = 30;  // pictures that are asked for

let watch = null;
let known = "";  // what the server told of the pictures when they were asked for
let pictures = [];  // the first one is shown
let asked = 0;
let busy = false;  // while an answer is on its way

function whatText({guess, time, night}) {
  const looks = guess ? words.looksLikeGuess(labelText(guess)) : words.notRecognised;
  return night ? words.pictureAtNight(looks, when(time)) : words.pictureSays(looks, when(time));
}

// ---- the labels ----

function addLabel(label, text, kind) {
  const button = create("button", $("unsure-labels"), text);
  button.type = "button";
  button.className = kind;
  button.dataset.label = label ?? "";
  button.addEventListener("click", () => answer(label));
}

// The buttons stay for all pictures of a watch, so that a tap after the other needs no look.
function drawLabels() {
  const labels = [...watch.classes, kNone];
  const wanted = JSON.stringify(labels);
  if ($("unsure-labels").dataset.shown !== wanted) {
    $("unsure-labels").dataset.shown = wanted;
    $("unsure-labels").replaceChildren();
    for (const label of labels) addLabel(label, labelText(label), "");
    addLabel(null, words.throwAway, "bad");
  }
  for (const button of $("unsure-labels").children) {
    const isGuess = button.dataset.label !== "" && button.dataset.label === pictures[0].guess;
    button.classList.toggle("main", isGuess);
  }
}

function draw() {
  $("unsure").classList.toggle("none", pictures.length === 0);
  if (pictures.length === 0) return;
  const [picture] = pictures;
  put("unsure-left", words.unsureLeft(watch.unlabelled));
  put("unsure-what", whatText(picture));
  const source = `api/1/teach/pictures/${picture.number}.jpg`;
  if (!$("unsure-picture").src.endsWith(source)) $("unsure-picture").src = source;
  $("unsure-picture").alt = whatText(picture);
  drawLabels();
}

// ---- what is told ----

// `label` null: the picture is thrown away.
async function answer(label) {
  if (busy) return;
  busy = true;
  const [{number, revision}] = pictures;
  const wanted = {number, revision, label: label ?? "", trashed: label === null};
  try {
    await mark([wanted], label === null ? words.wereThrownAway(1) :
        words.nowShow(1, labelText(label)));
    pictures = pictures.filter((picture) => picture.number !== number);
    if (pictures.length === 0) $("pictures-title").focus();
    draw();
  } catch (refusal) {
    tellProblem(refusal);
    known = "";  // somebody else may have told it
  }
  busy = false;
  await refresh();
}

// The picture that is looked at stays.
async function load() {
  const number = ++asked;
  const fields = new URLSearchParams({watch: watch.name, unlabelled: "1", limit: kAtOnce});
  try {
    const {pictures: list} = await ask("GET", `teach/pictures?${fields}`);
    if (number !== asked || busy) return;
    const shown = pictures[0]?.number;
    pictures = [...list.filter((one) => one.number === shown),
                ...list.filter((one) => one.number !== shown)];
    draw();
  } catch {
    known = "";  // it is asked again
  }
}

export function listenToUnsure() {
  $("unsure-closer").addEventListener("click", () => {
    zoom(pictures[0].number, whatText(pictures[0]));
  });
}

// Of the watch that is looked at. Asks for its pictures when there are others than before.
export function drawUnsure(shown) {
  if (watch?.name !== shown.name) pictures = [];
  watch = shown;
  draw();
  const told = JSON.stringify([watch.name, watch.unlabelled]);
  if (told === known) return;
  known = told;
  load();
}
