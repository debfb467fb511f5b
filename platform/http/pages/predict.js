// Sends pictures, and shows each one beside its answer. Without this script the form itself sends
// them, and the browser shows the answer as JSON.

import {explain} from "./api.js";
import {$, create, percent, put} from "./elements.js";
import {decimal, inFull, translatePage, words} from "./language.js";
import {stateText} from "./words.js";

const kMaxPictures = 16;  // that the server takes at once
const kMegabyte = 1024 * 1024;
const kFormBytes = 1024;  // of a request besides its file
const kSide = 320;  // of the picture beside its answer, in pixels
const kRows = 5;

// Draws the file; what the browser cannot decode gets no picture.
async function draw(file, parent) {
  const canvas = create("canvas", parent);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", file.name);
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, kSide / Math.max(picture.width, picture.height));
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
  } catch {
    canvas.remove();
  }
}

function showResults(answer, parent) {
  if (answer.results.length === 0) create("p", parent, words.nothingRecognised);
  const list = create("ol", parent);
  list.className = "bars";
  for (const result of answer.results.slice(0, kRows)) {
    const item = create("li", list);
    create("span", item, stateText(result.label));
    create("b", item, percent(result.score));
    create("i", item).style.setProperty("--share", `${result.score * 100}%`);
  }
  const took = words.inferenceTook(answer.model, decimal(answer.timing_ms.inference, 1));
  create("p", parent, took).className = "soft";
}

// `answer`: a prediction, or `{"error":...}`.
function show(file, answer) {
  const section = create("section", $("answers"));
  section.className = "answer";
  draw(file, section);
  const text = create("div", section);
  create("h2", text, file.name);
  if (answer.error) {
    const {code, message} = answer.error;
    create("p", text, code ? explain(answer.error) : message).className = "notice";
  } else {
    showResults(answer, text);
  }
}

// Says so before the file is sent.
function tooLarge(file) {
  const most = Number($("form").dataset.maxUpload);
  if (file.size + kFormBytes <= most * kMegabyte) return null;
  const size = decimal(file.size / kMegabyte, 1);
  return {error: {message: words.tooLarge(file.name, size, inFull(most))}};
}

async function ask(file) {
  const form = new FormData();
  form.append("file", file);
  if ($("watch").value) form.append("watch", $("watch").value);
  let response;
  try {
    response = await fetch("predict", {method: "POST", body: form});
  } catch {
    return {error: {message: words.noAnswer}};
  }
  try {
    return await response.json();
  } catch {
    // A proxy's own error.
    return {error: {message: words.statusAnswered(response.status)}};
  }
}

let asked = [];  // the files that were classified last

async function classify(files) {
  asked = files;
  $("answers").replaceChildren();
  if (files.length > kMaxPictures) {
    put("notice", words.tooManyPictures(files.length, kMaxPictures));
    return;
  }
  $("send").disabled = $("watch").disabled = true;
  put("notice", words.classifying);
  // One after the other: a request has a limit in bytes, too.
  for (const file of files) show(file, tooLarge(file) ?? await ask(file));
  put("notice", words.pictureCount(files.length));
  $("send").disabled = $("watch").disabled = false;
}

function listen() {
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    classify([...$("file").files]);
  });
  $("file").addEventListener("change", () => {
    if ($("file").files.length > 0) classify([...$("file").files]);
  });
  $("watch").addEventListener("change", () => {
    if (asked.length > 0) classify(asked);
  });
  const zone = document.documentElement;
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.dataset.drop = "";
  });
  zone.addEventListener("dragleave", () => delete zone.dataset.drop);
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    delete zone.dataset.drop;
    if (event.dataTransfer.files.length > 0) classify([...event.dataTransfer.files]);
  });
}

translatePage();
listen();
