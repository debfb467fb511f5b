// Trains a watch, and shows how good the model is, so that the owner decides whether it is used.

import {ask} from "./api.js";
import {$, create, put} from "./elements.js";
import {tell, tellProblem} from "./notes.js";
import {mark} from "./picture_grid.js";
import {refresh, taught} from "./taught.js";
import {counted, intervalText, kNone, labelText, missingText, rightText, stepText, when,
        wholePercent} from "./words.js";
import {zoom} from "./zoom.js";

let watch = null;
let drawn = "";
let drawnMissing = "";
let lastJob = "";  // its watch and state when they were drawn last
const corrected = new Map();  // by the number of a mistake: what became of it

// ---- what is missing ----

function readyText({can_train: isEnough, missing}) {
  if (!isEnough) return "Not enough yet. What is missing:";
  return missing.length === 0 ? "Enough to train." : "Enough to train. Still better with:";
}

function drawMissing(progress) {
  const next = JSON.stringify(progress);
  if (next === drawnMissing) return;
  drawnMissing = next;
  const must = progress.missing.filter(({kind}) => kind === "pictures");
  put("ready", readyText(progress));
  $("missing").replaceChildren();
  for (const one of progress.can_train ? progress.missing : must) {
    create("li", $("missing"), missingText(one));
  }
}

// ---- the training ----

// What the last one came to; nothing when it was another watch's.
function saidOf({watch: name, state, message}) {
  const isMine = name === watch.name;
  if (state === "running") return isMine ? "" : `“${name}” is being trained just now.`;
  if (!isMine) return "";
  if (state === "failed") return `Training failed: ${message}`;
  if (state === "cancelled") return "Training was cancelled.";
  const isNew = watch.trained && watch.trained.sha256 !== watch.model?.sha256;
  return isNew ? "Trained. The result is below." : "";
}

function drawJob(job) {
  const isMine = job?.watch === watch.name && job.state === "running";
  const hadFocus = [$("train"), $("cancel-job")].includes(document.activeElement);
  $("job").hidden = !isMine;
  $("train").hidden = isMine;
  $("train").disabled = !watch.progress.can_train || job?.state === "running";
  if (isMine) {
    $("progress").value = job.done;
    put("step", `${stepText(job.step)}: ${wholePercent(job.done)}`);
  }
  if (hadFocus) $(isMine ? "cancel-job" : "train").focus();
  put("job-said", job ? saidOf(job) : "");
  const now = job ? `${job.watch} ${job.state}` : "";
  if (lastJob === `${watch.name} running` && now === `${watch.name} done`) {
    if (hadFocus) $("result").focus();
    $("result").scrollIntoView({block: "nearest"});
  }
  lastJob = now;
}

async function train() {
  try {
    await ask("POST", `teach/watches/${watch.name}/job`, {});
    $("train").focus();
  } catch (refusal) {
    tellProblem(refusal);
  }
  await refresh();
}

async function cancel() {
  try {
    await ask("DELETE", "teach/job");
  } catch (refusal) {
    tellProblem(refusal);
  }
  await refresh();
}

// ---- the result ----

function addBar(name, {right, of}, kind) {
  const row = create("div", $("compare"));
  create("span", row, name);
  const bar = create("i", row);
  bar.className = kind;
  bar.style.setProperty("--share", `${of > 0 ? right / of * 100 : 0}%`);
  create("b", row, rightText({right, of}));
}

function drawFigures(model) {
  $("figures").replaceChildren();
  $("compare").replaceChildren();
  $("light").replaceChildren();
  if (!model.can_tell) {
    create("b", $("figures"), "Cannot be told yet");
    create("small", $("figures"), `It was right about ${rightText(model)} pictures, but some ` +
        "classes were shown only once, and pictures of one time look alike. Show them again at " +
        "another time, and train again.");
    return;
  }
  create("b", $("figures"), rightText(model));
  create("span", $("figures"), " right ");
  create("small", $("figures"),
         `${intervalText(model)}. Tested on pictures that it had not seen.`);
  if (model.in_use_right) {
    addBar("This model", model, "");
    addBar("The one in use then", model.in_use_right, "old");
  }
  for (const [name, share] of [["By day", model.day], ["At night", model.night]]) {
    create("dt", $("light"), name);
    const isKnown = share?.of > 0;
    create("dd", $("light"), isKnown ? `${rightText(share)} right` : "no picture, so not known");
  }
}

function nowText(model) {
  if (watch.model?.sha256 === model.sha256) return "This model is in use.";
  return watch.model ? `Not in use. The one of ${when(watch.model.time)} is.` : "Not in use yet.";
}

function drawButtons(model) {
  const isUsed = watch.model?.sha256 === model.sha256;
  put("in-use", nowText(model));
  $("use").hidden = isUsed;
  const {previous} = watch;
  $("back").hidden = !previous;
  if (previous) put("back", `Back to the one of ${when(previous.time)} (${rightText(previous)})`);
}

// The picture's label may be any: it is seen here.
async function correct(mistake, change, done) {
  const same = {number: mistake.picture, label: mistake.label, trashed: false, revision: 0};
  try {
    await mark([{...same, ...change}], done);
    corrected.set(mistake.picture, done);
    drawMistakes(watch.trained ?? watch.model);
    $("undo").focus();
  } catch (refusal) {
    tellProblem(refusal);
  }
  await refresh();
}

function addMistake(mistake) {
  const {picture, label, predicted, score} = mistake;
  const item = create("li", $("mistakes"));
  const view = create("button", item);
  view.type = "button";
  view.className = "thumb";
  const text = `you said ${labelText(label)}, it said ${predicted}, ${wholePercent(score)}`;
  const image = create("img", view);
  image.alt = `Look closer: ${text}`;
  image.loading = "lazy";
  image.src = `api/1/teach/pictures/${picture}.jpg?size=thumb`;
  view.addEventListener("click", () => zoom(picture, text));
  const words = create("div", item);
  create("p", words, `You said ${labelText(label)}`);
  create("p", words, `It said ${predicted}, ${wholePercent(score)}`).className = "bad";
  if (corrected.has(picture)) {
    create("p", words, `${corrected.get(picture)}: train again`).className = "soft";
    return;
  }
  const buttons = create("div", item);
  buttons.className = "buttons";
  buttons.setAttribute("role", "group");
  buttons.setAttribute("aria-label", `Correct the label: ${text}`);
  create("span", buttons, "It shows").className = "soft";
  const add = (name, change, done, kind = "") => {
    const button = create("button", buttons, name);
    button.type = "button";
    button.className = kind;
    button.addEventListener("click", () => correct(mistake, change, done));
  };
  for (const other of [...watch.classes, kNone]) {
    if (other !== label) add(labelText(other), {label: other}, `now “${labelText(other)}”`);
  }
  add("Throw away", {trashed: true}, "thrown away", "bad");
}

function drawMistakes(model) {
  $("mistakes").replaceChildren();
  model.mistakes.forEach(addMistake);
  $("mistakes-part").hidden = model.mistakes.length === 0;
}

function drawTime(model) {
  const now = watch.progress.classes.reduce((sum, {pictures}) => sum + pictures, 0);
  const since = now === model.pictures ? "" : `; there are ${now} now`;
  const count = counted(model.pictures, "picture");
  put("trained-at", `Trained ${when(model.time)} with ${count}${since}.`);
}

function drawResult() {
  const model = watch.trained ?? watch.model;
  $("result").classList.toggle("none", !model);
  if (!model) {
    drawn = "";
    return;
  }
  drawTime(model);
  drawButtons(model);
  const next = JSON.stringify([watch.name, watch.classes, model]);
  if (next === drawn) return;
  if (!drawn.includes(model.sha256)) corrected.clear();
  drawn = next;
  drawFigures(model);
  drawMistakes(model);
}

async function use(model, text) {
  try {
    await ask("PUT", `teach/watches/${watch.name}/model`, {sha256: model.sha256});
    await refresh();
    tell(text);
    if (document.activeElement === document.body) $("result").focus();
  } catch (refusal) {
    tellProblem(refusal);
  }
}

export function listenToTraining() {
  $("train").addEventListener("click", train);
  $("cancel-job").addEventListener("click", cancel);
  $("use").addEventListener("click", () => use(watch.trained, "In use from the next frame on."));
  $("back").addEventListener("click", () => use(watch.previous, "The one before is in use again."));
}

// Of the watch that is looked at.
export function drawTraining(shown) {
  if (watch?.name !== shown.name) lastJob = "";
  watch = shown;
  drawMissing(watch.progress);
  drawResult();
  drawJob(taught.job);
}
