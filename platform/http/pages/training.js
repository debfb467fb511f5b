// Trains a watch, and shows how good the model is, so that the owner decides whether it is used.

import {ask, explain} from "./api.js";
import {addSample, figures, inShort} from "./chart.js";
import {$, create, put} from "./elements.js";
import {words} from "./language.js";
import {drawModels} from "./models.js";
import {tell, tellProblem} from "./notes.js";
import {mark} from "./picture_grid.js";
import {hasOldRectangle, refresh, taught, watchNamed} from "./taught.js";
import {intervalText, kNone, labelText, leftText, missingText, rightText, stepText, when,
  wholePercent} from "./words.js";
import {zoom} from "./zoom.js";

const kSilenceMs = 10000;  // without a frame of the camera: then it has no rate

let watch = null;
let drawn = "";
let drawnMissing = "";
let lastJob = "";  // its watch and state when they were drawn last
let lastFrame = {time: 0, seen: -Infinity};  // its timestamp, and performance.now()
const corrected = new Map();  // by the number of a mistake: what became of it

// ---- what is missing ----

function readyText({can_train: isEnough, missing}) {
  if (!isEnough) return words.notEnough;
  return missing.length === 0 ? words.enough : words.enoughButBetterWith;
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
function saidOf({watch: name, state, message, code}) {
  const isMine = name === watch.name;
  const {title} = watchNamed(name) ?? {};
  if (state === "running") return isMine ? "" : words.otherIsTrained(title || name);
  if (!isMine) return "";
  if (state === "failed") return words.trainingFailed(code ? explain({code, message}) : message);
  if (state === "cancelled") return words.trainingCancelled;
  const isNew = watch.trained && watch.trained.sha256 !== watch.model?.sha256;
  return isNew ? words.trained : "";
}

function drawJob(job) {
  const isMine = job?.watch === watch.name && job.state === "running";
  const hadFocus = [$("train"), $("cancel-job")].includes(document.activeElement);
  $("job").hidden = !isMine;
  $("train").hidden = isMine;
  $("train").disabled = !watch.progress.can_train || job?.state === "running";
  if (isMine) {
    $("progress").value = job.done;
    put("step", words.stepAndShare(stepText(job.step), wholePercent(job.done)));
    put("left", leftText(job.left));
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

// That the camera goes on while a training runs. `result`: the last one, if there is one.
export function drawCamera(result) {
  const now = performance.now();
  if (result && result.timestamp !== lastFrame.time) {
    lastFrame = {time: result.timestamp, seen: now};
    addSample(result);
  }
  const rate = now - lastFrame.seen < kSilenceMs ? figures(0).rates.camera : null;
  put("camera-fps", rate === null ? "–" : `${inShort(rate)} ${words.fps}`);
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
    create("b", $("figures"), words.cannotBeTold);
    create("small", $("figures"), words.whyNotTold(rightText(model)));
    return;
  }
  create("b", $("figures"), rightText(model));
  create("span", $("figures"), ` ${words.right} `);
  create("small", $("figures"), `${intervalText(model)} ${words.testedOnUnseen}`);
  if (model.compared) {
    const {trained, in_use: inUse} = model.compared;
    create("p", $("compare"), words.comparedOn(trained.of)).className = "soft";
    addBar(words.thisModel, trained, "");
    addBar(words.modelInUseThen, inUse, "old");
  }
  for (const [name, share] of [[words.byDay, model.day], [words.atNight, model.night]]) {
    create("dt", $("light"), name);
    const isKnown = share?.of > 0;
    create("dd", $("light"), isKnown ? words.rightOfThem(rightText(share)) : words.noPictureOfIt);
  }
}

function nowText(model) {
  const isUsed = watch.model?.sha256 === model.sha256;
  let text = words.notInUseYet;
  if (isUsed) {
    const isRenamed = model.classes.some((label) => !watch.classes.includes(label));
    text = isRenamed ? words.hasOldNames(words.isInUse) : words.isInUse;
  } else if (watch.model) {
    text = words.otherIsInUse(when(watch.model.time));
  }
  if (hasOldRectangle(model, watch.roi)) return words.looksAtOldRectangle(text);
  const isOtherOld = !isUsed && hasOldRectangle(watch.model, watch.roi);
  return isOtherOld ? words.otherLooksAtOldRectangle(text) : text;
}

function drawButtons(model) {
  const isUsed = watch.model?.sha256 === model.sha256;
  put("in-use", nowText(model));
  $("use").hidden = isUsed;
}

// The picture's label may be any: it is seen here. `told` and `done`: what came of it, at once and
// beside the mistake.
async function correct(mistake, change, told, done) {
  const same = {number: mistake.picture, label: mistake.label, trashed: false, revision: 0};
  try {
    await mark([{...same, ...change}], told);
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
  const text = words.bothSaid(labelText(label), labelText(predicted), wholePercent(score));
  const image = create("img", view);
  image.alt = words.lookCloserAt(text);
  image.loading = "lazy";
  image.src = `api/1/teach/pictures/${picture}.jpg?size=thumb`;
  view.addEventListener("click", () => zoom(picture, text));
  const lines = create("div", item);
  create("p", lines, words.youSaid(labelText(label)));
  create("p", lines, words.itSaid(labelText(predicted), wholePercent(score))).className = "bad";
  if (corrected.has(picture)) {
    create("p", lines, corrected.get(picture)).className = "soft";
    return;
  }
  const buttons = create("div", item);
  buttons.className = "buttons";
  buttons.setAttribute("role", "group");
  buttons.setAttribute("aria-label", words.correctLabel(text));
  create("span", buttons, words.itShows).className = "soft";
  const add = (name, change, told, done, kind = "") => {
    const button = create("button", buttons, name);
    button.type = "button";
    button.className = kind;
    button.addEventListener("click", () => correct(mistake, change, told, done));
  };
  for (const other of [...watch.classes, kNone].filter((one) => one !== label)) {
    const name = labelText(other);
    add(name, {label: other}, words.nowShow(1, name), words.correctedTo(name));
  }
  const thrown = [words.wereThrownAway(1), words.correctedByThrowing];
  add(words.throwAway, {trashed: true}, ...thrown, "bad");
}

function drawMistakes(model) {
  $("confusions").replaceChildren();
  for (const {label, predicted, pictures} of model.confusions) {
    const text = words.takenFor(pictures, labelText(label), labelText(predicted));
    create("li", $("confusions"), text);
  }
  $("mistakes").replaceChildren();
  model.mistakes.forEach(addMistake);
  $("mistakes-part").hidden = model.mistakes.length === 0;
}

function drawTime(model) {
  const now = watch.progress.classes.reduce((sum, {pictures}) => sum + pictures, 0);
  const {time, pictures: count} = model;
  put("trained-at", now === count ? words.trainedAt(when(time), count) :
      words.trainedAtButNow(when(time), count, now));
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

// `part`: gets the focus when the button that had it goes.
async function use(model, text, part) {
  try {
    await ask("PUT", `teach/watches/${watch.name}/model`, {sha256: model.sha256});
    await refresh();
    tell(text);
    if (document.activeElement === document.body) $(part).focus();
  } catch (refusal) {
    tellProblem(refusal);
  }
}

export function listenToTraining() {
  $("train").addEventListener("click", train);
  $("cancel-job").addEventListener("click", cancel);
  $("use").addEventListener("click", () => use(watch.trained, words.nowInUse, "result"));
}

// Of the watch that is looked at.
export function drawTraining(shown) {
  if (watch?.name !== shown.name) lastJob = "";
  watch = shown;
  drawMissing(watch.progress);
  drawResult();
  drawModels(watch, use);
  drawJob(taught.job);
}
