// Shows what lookout sends: results, states and figures as events, the picture as a stream.
//
// A browser opens at most six connections to a host, for all of its tabs together, and each page needs
// two of them all the time. A page that is hidden closes both, and opens them when it is shown.

import {addSample, drawChart, figures, inShort, kNoRates} from "./chart.js";

const kRetryMs = [1000, 2000, 4000, 8000];  // after a loss; the last one again and again
const kSilenceMs = 20000;    // without an event: is the server still there?
const kAwaySilenceMs = 70000;  // the same while the camera is away, when there are figures at most
const kAnswerMs = 5000;      // for an answer to that
const kStallMs = 10000;      // without a result: said
const kStillMs = 15000;      // a picture that does not move may be of a stream that was cut
const kSnapshotMs = 2000;    // between pictures where there is no stream
const kStreamAgainMs = 30000;  // until the stream is tried again
const kRows = 10;

const $ = (id) => document.getElementById(id);

function put(id, text) {
  const element = $(id);
  if (element.textContent !== text) element.textContent = text;
}

function create(tag, parent, text = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}

const percent = (score) => `${(score * 100).toFixed(1)} %`;
const now = () => clock(Date.now() / 1000);
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], {hour12: false});

// With the unit in small; `number` may be null.
function putFigure(id, number, unit) {
  const text = number === null ? "–" : inShort(number);
  if ($(id).dataset.number === text) return;
  $(id).dataset.number = text;
  $(id).textContent = text;
  if (number !== null) create("small", $(id), ` ${unit}`);
}

// ---- the picture ----

const picture = {
  timer: 0,
  number: 0,      // of the last request: a URL that was not asked for before is not taken from a cache
  streams: false,
  before: "",     // what it showed when it was last compared
  moved: 0,       // when it was last seen to be another

  open() {
    this.close();
    this.streams = true;
    this.moved = performance.now();
    $("picture").src = `stream?page=${++this.number}`;
    this.timer = setInterval(() => this.watch(), 3000);
  },

  close() {
    clearInterval(this.timer);
    this.streams = false;
    $("picture").removeAttribute("src");
  },

  loaded() {
    $("figure").classList.remove("blank");
    if (this.streams) {
      put("caption", "");
    } else {
      this.timer = setTimeout(() => this.snapshot(), kSnapshotMs);
    }
  },

  // No stream: the server has as many viewers as it serves. Snapshots then, and the stream again later.
  failed() {
    if (!link.events) return;
    const refused = this.streams;
    clearInterval(this.timer);
    this.streams = false;
    if (refused) {
      this.until = performance.now() + kStreamAgainMs;
      put("caption", "The server has no room for another live picture. A new picture every 2 s.");
      this.snapshot();
    } else {
      $("figure").classList.add("blank");
      put("caption", "No picture. It is asked for again.");
      this.timer = setTimeout(() => this.open(), kSnapshotMs);
    }
  },

  snapshot() {
    if (performance.now() > this.until) {
      this.open();
    } else {
      $("picture").src = `snapshot.jpg?page=${++this.number}`;
    }
  },

  // Browsers do not report the end of a stream. One that stands still is opened again.
  watch() {
    const shown = this.sample();
    if (shown !== this.before) {
      this.before = shown;
      this.moved = performance.now();
    } else if (performance.now() - this.moved > kStillMs) {
      this.open();
    }
  },

  sample() {
    const canvas = document.createElement("canvas");
    canvas.width = 32;
    canvas.height = 24;
    const context = canvas.getContext("2d", {willReadFrequently: true});
    if ($("picture").naturalWidth > 0) context.drawImage($("picture"), 0, 0, 32, 24);
    return context.getImageData(0, 0, 32, 24).data.join();
  },
};

// ---- predictions ----

const rows = [];

function addRow() {
  const item = create("li", $("top"));
  const label = create("span", item);
  const score = create("b", item);
  const bar = create("i", item);
  bar.setAttribute("aria-hidden", "true");
  rows.push({item, label, score, bar});
}

// A row that is not needed keeps its place, so that nothing below it moves.
function drawPredictions(results) {
  const shown = results.slice(0, kRows);
  while (rows.length < shown.length) addRow();
  rows.forEach(({item, label, score, bar}, i) => {
    const result = shown[i];
    item.style.visibility = result ? "visible" : "hidden";
    if (!result) return;
    if (label.textContent !== result.label) label.textContent = label.title = result.label;
    score.textContent = percent(result.score);
    bar.style.setProperty("--share", `${result.score * 100}%`);
  });
  put("nothing", shown.length > 0 ? "" : "Nothing above the threshold");
}

// What is made of many results.
function drawFigures() {
  const silence = lastResult > 0 ? performance.now() - lastResult : 0;
  const made = figures(silence / 1000);
  const rates = cameraAway || silence > kStallMs ? kNoRates : made.rates;
  putFigure("fps", rates.classified, "fps");
  putFigure("camera-fps", rates.camera, "fps");
  putFigure("age", made.minute.p50, "ms");
  for (const name of ["p50", "p95", "p99"]) putFigure(name, made.minute[name], "ms");
  drawChart($("chart"), made);
}

// ---- camera, machine and state ----

const kThrottled = [
  [0, "under-voltage now"], [1, "clock capped now"], [2, "throttled now"],
  [3, "temperature limit reached now"], [16, "under-voltage since the start"],
  [17, "clock was capped since the start"], [18, "was throttled since the start"],
  [19, "temperature limit was reached since the start"],
];

// name -> [text, whether it is bad], in the order in which they are shown; without a text: not shown
const facts = new Map(["Camera", "Model", "Throttled", "Frames", "Skipped"].map((name) => [name, []]));

function setFact(name, value, bad = false) {
  if (value === undefined || value === null || value === "") return;
  const text = String(value);
  const [oldText, oldBad] = facts.get(name);
  if (oldText === text && oldBad === bad) return;
  facts.set(name, [text, bad]);
  $("facts").replaceChildren();
  for (const [key, [shown, isBad]] of facts) {
    if (!shown) continue;
    create("dt", $("facts"), key);
    create("dd", $("facts"), shown).className = isBad ? "bad" : "";
  }
}

function showThrottled(bits) {
  if (typeof bits !== "number") return;
  const words = kThrottled.filter(([bit]) => bits >>> bit & 1).map(([, meaning]) => meaning);
  setFact("Throttled", words.join(", ") || "no", words.length > 0);
}

let cameraAway = null;  // since when (s), null while it is there

function showCamera(line) {
  cameraAway = line.state === "offline" ? line.timestamp : null;
  document.body.dataset.camera = line.state;
  setFact("Camera", cameraAway ? `away since ${clock(cameraAway)}` : "online", cameraAway !== null);
  showNotice();
}

function showNames(line) {
  if (line.camera) {
    put("camera", line.camera);
    const title = `${line.camera} – lookout`;
    if (document.title !== title) document.title = title;
  }
  setFact("Model", line.model);
}

const handlers = {
  classification(line) {
    lastResult = performance.now();
    addSample(line);
    drawPredictions(line.results);
  },
  state(line) {
    put("state", line.state ?? "none yet");
    const before = line.previous === null ? "" : `, before: ${line.previous}`;
    put("since", `since ${clock(line.timestamp)}${before}`);
  },
  stats(line) {
    putFigure("temperature", line.temperature_c, "°C");
    showThrottled(line.throttled);
    setFact("Frames", `${line.classified} classified, ${line.dropped} dropped`);
    setFact("Skipped", line.skipped > 0 ? `${line.skipped} damaged frames` : "");
  },
  status: showCamera,
};

function take(type, line) {
  showNames(line);
  handlers[type](line);
}

// ---- the server ----

let lastResult = 0;  // performance.now() when the last one came
let away = "";       // why the server does not answer; empty while it does

function showNotice() {
  const stalled = performance.now() - Math.max(lastResult, link.begin);
  let notice = away;
  if (!notice && cameraAway) {
    notice = `The camera is away since ${clock(cameraAway)}. It is looked for.`;
  } else if (!notice && link.begin && stalled > kStallMs) {
    notice = `No result since ${clock((Date.now() - stalled) / 1000)}.`;
  }
  $("notice").hidden = notice === "";
  put("notice", notice);
  put("link", away ? "Server away" : !link.begin ? "Connecting" : cameraAway ? "Camera away" : "Live");
}

const link = {
  events: null,
  timer: 0,
  tries: 0,
  begin: 0,  // performance.now() when the server answered, 0 before
  heard: 0,  // the same of the last event or answer

  open() {
    clearTimeout(this.timer);
    if (document.hidden || this.events) return;
    const events = this.events = new EventSource("events");
    events.addEventListener("open", () => this.opened());
    events.addEventListener("error", () => this.lost());
    for (const type of Object.keys(handlers)) {
      events.addEventListener(type, (event) => {
        this.heard = performance.now();
        take(type, JSON.parse(event.data));
      });
    }
  },

  close() {
    clearTimeout(this.timer);
    this.events?.close();
    this.events = null;
    this.begin = 0;
    picture.close();
  },

  opened() {
    this.tries = 0;
    this.begin = this.heard = performance.now();
    away = "";
    document.body.dataset.link = "live";
    showNotice();
    picture.open();
  },

  lost(reason = "") {
    this.close();
    away = reason || away ||
        `No answer from the server since ${now()}. This page tries again by itself.`;
    document.body.dataset.link = "away";
    $("figure").classList.add("blank");
    put("caption", "No picture");
    showNotice();
    const delay = kRetryMs[Math.min(this.tries++, kRetryMs.length - 1)];
    this.timer = setTimeout(() => this.open(), delay);
  },

  // Asks whether the server is there. Without the stream, so that there is a connection for it.
  async ask() {
    this.heard = performance.now();
    picture.close();
    const answer = await fetch("state", {cache: "no-store", signal: AbortSignal.timeout(kAnswerMs)})
        .catch(() => null);
    if (!this.events) return;
    if (!answer) return this.lost();
    if (answer.status === 401) {
      return this.lost("The server asks for its token. Load this page again.");
    }
    picture.open();
  },

  // Once a second.
  tick() {
    if (!this.events) return;
    const allowed = cameraAway ? kAwaySilenceMs : kSilenceMs;
    if (this.begin && performance.now() - this.heard > allowed) this.ask();
    drawFigures();
    showNotice();
  },
};

$("picture").addEventListener("load", () => picture.loaded());
$("picture").addEventListener("error", () => picture.failed());
document.addEventListener("visibilitychange", () => document.hidden ? link.close() : link.open());
addEventListener("pagehide", () => link.close());
addEventListener("pageshow", () => link.open());
new ResizeObserver(drawFigures).observe($("chart"));
setInterval(() => link.tick(), 1000);
link.open();
