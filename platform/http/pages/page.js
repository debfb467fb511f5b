// Shows what lookout sends: results, states and figures as events, the picture as a stream.
//
// A browser opens at most six connections to a host, for all of its tabs together, and each page
// needs two of them all the time. A hidden page closes both, and opens them when it is shown.

import {listenToChanges} from "./history/changes.js";
import {addCounts, addSample, drawChart, figures, inShort, kNoRates} from "./chart.js";
import {$, clock, create, percent, put} from "./elements.js";
import {closeHistory, drawHistory, noteChange, openHistory} from "./history/history.js";
import {drawInvitation, showInvitation} from "./invitation.js";
import {translatePage, words} from "./language.js";
import {LivePicture} from "./picture.js";
import {showLink} from "./session.js";
import {chosenResults, hasNames, onChoice, placeBoxes, showWatches, takeWatchResult,
        takeWatchState} from "./watches.js";
import {lasting, stateText} from "./words.js";

const kRetryMs = [1000, 2000, 4000, 8000];  // between attempts; then always the last
const kSilenceMs = 20000;  // without an event: then the server is asked whether it is there
const kAwaySilenceMs = 70000;  // the same while the camera is away: only statistics come
const kAnswerMs = 5000;  // for the answer to that
const kStallMs = 10000;  // without a result: then the page says so
const kRows = 10;

translatePage();

const now = () => clock(Date.now() / 1000);

// With the unit in small; `number` may be null.
function putFigure(id, number, unit) {
  const text = number === null ? "–" : inShort(number);
  if ($(id).dataset.number === text) return;
  $(id).dataset.number = text;
  $(id).textContent = text;
  if (number !== null) create("small", $(id), ` ${unit}`);
}

// ---- the picture ----

const picture = new LivePicture({
  image: $("picture"), figure: $("figure"), caption: $("caption"), drawn: () => region.draw(),
});

// ---- the regions ----

// The part of the picture that is classified; nothing when that is all of it. Named watches have a
// rectangle each instead.
const region = {
  about: null,  // of /state

  // As fractions of the picture: x, y, width, height. As Preprocessor cuts it.
  part(across, down) {
    const {roi: [x, y, width, height], resize, width: modelWidth, height: modelHeight} = this.about;
    if (resize !== "center-square") return [x, y, width, height];
    const shape = width * across / (height * down) / (modelWidth / modelHeight);
    const [w, h] = shape > 1 ? [width / shape, height] : [width, height * shape];
    return [x + (width - w) / 2, y + (height - h) / 2, w, h];
  },

  draw() {
    const {naturalWidth: across, naturalHeight: down} = $("picture");
    const isShown = across > 0 && !cameraAway && !$("figure").classList.contains("blank");
    const place = isShown ? this.placer(across, down) : null;
    placeBoxes(place);
    const part = this.about && place && !hasNames() ? this.part(across, down) : null;
    $("region").hidden = !part || part[2] * part[3] > .99;
    if (!$("region").hidden) place($("region"), part);
  },

  // Returns what puts an element over a part of the picture, in fractions of it.
  placer(across, down) {
    const {offsetLeft, offsetTop, clientWidth, clientHeight} = $("picture");
    const scale = Math.min(clientWidth / across, clientHeight / down);
    const left = offsetLeft + (clientWidth - across * scale) / 2;
    const top = offsetTop + (clientHeight - down * scale) / 2;
    return (element, [x, y, width, height]) => Object.assign(element.style, {
      left: `${left + x * across * scale}px`, top: `${top + y * down * scale}px`,
      width: `${width * across * scale}px`, height: `${height * down * scale}px`,
    });
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
    const name = stateText(result.label);
    if (label.textContent !== name) label.textContent = label.title = name;
    const text = percent(result.score);
    if (score.textContent === text) return;
    score.textContent = text;
    bar.style.setProperty("--share", `${(result.score * 100).toFixed(1)}%`);
  });
  put("nothing", shown.length > 0 ? "" : words.nothingAbove);
}

// What is made of many results.
function drawFigures() {
  const silence = lastResult > 0 ? performance.now() - lastResult : 0;
  const made = figures(silence / 1000);
  const rates = !link.begin || cameraAway || isStalled(silence) ? kNoRates : made.rates;
  putFigure("fps", rates.classified, words.fps);
  putFigure("camera-fps", rates.camera, words.fps);
  putFigure("age", made.minute.p50, "ms");
  for (const name of ["p50", "p95", "p99"]) putFigure(name, made.minute[name], "ms");
  drawChart($("chart"), made);
}

// ---- camera, machine and state ----

// By the bits of the machine's status.
const kThrottled = [
  [0, "lowVoltage"], [1, "capped"], [2, "throttled"], [3, "hot"],
  [16, "wasLowVoltage"], [17, "wasCapped"], [18, "wasThrottled"], [19, "wasHot"],
];

// By the list that has them, in the order on the page.
const kFacts = {
  "facts": ["camera", "source", "model", "failed", "throttled", "power", "version"],
  "technical-facts": ["weights", "activations", "frames", "skipped"],
};
// name -> [text, whether it is bad]; those without a text are not shown.
const facts = new Map(Object.values(kFacts).flat().map((name) => [name, []]));

function drawFacts(list) {
  $(list).replaceChildren();
  for (const name of kFacts[list]) {
    const [text, isBad] = facts.get(name);
    if (!text) continue;
    create("dt", $(list), words.facts[name]);
    create("dd", $(list), text).className = isBad ? "bad" : "";
  }
}

function setFact(name, value, bad = false) {
  if (value === undefined || value === null) return;
  const text = String(value);
  const [oldText, oldBad] = facts.get(name);
  if (oldText === text && oldBad === bad) return;
  facts.set(name, [text, bad]);
  drawFacts(Object.keys(kFacts).find((list) => kFacts[list].includes(name)));
}

function showThrottled({throttled: bits, throttled_source: source}) {
  if (typeof bits !== "number") return;
  const are = kThrottled.filter(([bit]) => bits >>> bit & 1).map(([, key]) => words.throttled[key]);
  const isPower = source === "rpi_volt";
  const none = isPower ? words.voltageIsFine : words.notThrottled;
  setFact(isPower ? "power" : "throttled", are.join(", ") || none, are.length > 0);
}

let cameraAway = null;  // since when (s), null while it is there

function showCamera(line) {
  cameraAway = line.state === "offline" ? line.timestamp : null;
  region.draw();
  document.body.dataset.camera = line.state;
  const isAway = cameraAway !== null;
  setFact("camera", isAway ? words.awaySince(clock(cameraAway)) : words.online, isAway);
  showNotice();
}

function showNames(line) {
  if (line.camera) {
    put("camera", line.camera);
    const title = `${line.camera} – lookout`;
    if (document.title !== title) document.title = title;
  }
  if (!hasNames()) setFact("model", line.model);
}

// After a restart there may be no names any more, of which no event tells.
function showNamesOf({watch}) {
  if (watch !== undefined || !hasNames()) return;
  showWatches([]);
  region.draw();
}

let state = null;  // the last line of a change
let lastResults = [];

// Of the state's label in the newest result; without it there, at the change.
function drawScore(results) {
  lastResults = results;
  const found = results.find(({index}) => index === state?.index);
  const score = found?.score ?? state?.score ?? null;
  put("score", score === null ? "" : percent(score));
}

const handlers = {
  classification(line) {
    const before = lastResult;
    lastResult = performance.now();
    pause = before > 0 ? lastResult - before : 0;
    addSample(line);
    showNamesOf(line);
    if (hasNames()) {
      takeWatchResult(line);
      drawPredictions(chosenResults());
    } else {
      drawPredictions(line.results);
      drawScore(line.results);
    }
    if ("stale" in document.body.dataset) showStale();
  },
  watches({watches: list}) {
    showWatches(list);
    setFact("model", [...new Set(list.map(({model}) => model))].join(", "));
    region.draw();
    drawInvitation();
    drawHistory();
    if (link.asked) link.askAbout();
  },
  state(line) {
    showNamesOf(line);
    noteChange();
    if (hasNames()) {
      takeWatchState(line);
      return;
    }
    state = line;
    drawScore(lastResults);
    put("state", stateText(line.state) ?? words.noState);
    const begin = clock(line.timestamp);
    const {previous} = line;
    put("since", previous === null ? words.since(begin) :
        words.sinceAndBefore(begin, stateText(previous)));
  },
  stats(line) {
    addCounts(line);
    putFigure("temperature", line.temperature_c, "°C");
    showThrottled(line);
    setFact("frames", words.framesCounted(line.classified, line.dropped));
    setFact("skipped", line.skipped > 0 ? words.framesSkipped(line.skipped) : "");
  },
  status: showCamera,
};

// What does not change during a run, of /state.
function showAbout({version, source, region: part, archive, failed_models: failed = []}) {
  region.about = part;
  region.draw();
  setFact("source", source);
  setFact("failed", failed.length > 0 ? words.modelFailed(failed.join(", ")) : "", true);
  setFact("version", archive ? `lookout ${version}, ${archive.library}` : version);
  if (!archive) return;
  setFact("weights", archive.weights);
  setFact("activations", words.kernels(archive.activations, archive.kernels));
}

function take(type, line) {
  showNames(line);
  handlers[type](line);
}

// ---- the server ----

let lastResult = 0;  // performance.now() when the last one came
let pause = 0;  // between the last two results, in milliseconds
let away = "";       // why the server does not answer; empty while it does

function linkText() {
  if (away) return words.serverAway;
  if (!link.begin) return words.connecting;
  return cameraAway ? words.cameraAway : words.live;
}

// A model may take longer for a result.
const isStalled = (silence) => silence > Math.max(kStallMs, 3 * pause);

function staleText(silence) {
  if (cameraAway === null) return words.notCurrentResult(lasting(silence / 1000));
  const age = Math.max(0, Date.now() - cameraAway * 1000);  // the server's clock may differ
  return words.notCurrentCamera(lasting(age / 1000));
}

// What is shown is what was known last.
function showStale() {
  const silence = performance.now() - lastResult;
  const isStale = lastResult > 0 && (!link.begin || cameraAway !== null || isStalled(silence));
  document.body.toggleAttribute("data-stale", isStale);
  $("stale").hidden = !isStale;
  if (isStale) put("stale", staleText(silence));
  const [one, several] =
      isStale ? [words.lastState, words.lastStates] : [words.state, words.states];
  put("now-title", hasNames() ? several : one);
}

function showNotice() {
  showStale();
  const stalled = performance.now() - Math.max(lastResult, link.begin);
  let notice = away;
  if (!notice && cameraAway) {
    notice = words.cameraAwaySince(clock(cameraAway));
  } else if (!notice && link.begin && isStalled(stalled)) {
    notice = words.noResultSince(clock((Date.now() - stalled) / 1000));
  }
  $("notice").hidden = notice === "";
  put("notice", notice);
  put("link", linkText());
}

const link = {
  events: null,
  timer: 0,
  tries: 0,
  begin: 0,  // performance.now() when the server answered, 0 before
  heard: 0,  // the same of the last event or answer
  asked: false,  // for what does not change

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
        if (type === "classification" && !this.asked) this.askAbout();
      });
    }
  },

  close() {
    clearTimeout(this.timer);
    this.events?.close();
    this.events = null;
    this.begin = 0;
    picture.close();
    closeHistory();
  },

  opened() {
    this.tries = 0;
    this.begin = this.heard = performance.now();
    this.asked = false;
    away = "";
    document.body.dataset.link = "live";
    showNotice();
    picture.open();
    openHistory();
  },

  lost(reason = "") {
    this.close();
    away = reason || away || words.noAnswerSince(now());
    document.body.dataset.link = "away";
    $("figure").classList.add("blank");
    region.draw();
    put("caption", words.noPicture);
    setFact("camera", words.notKnown);
    showNotice();
    const delay = kRetryMs[Math.min(this.tries++, kRetryMs.length - 1)];
    this.timer = setTimeout(() => this.open(), delay);
  },

  // Asks whether the server is there. Without the stream, so that there is a connection for it.
  async ask() {
    this.heard = performance.now();
    picture.close();
    const signal = AbortSignal.timeout(kAnswerMs);
    const answer = await fetch("icon.svg", {cache: "no-store", signal}).catch(() => null);
    if (!this.events) return;
    if (!answer) {
      this.lost();
    } else if (answer.status === 401) {
      this.lost(words.tokenWanted);
    } else {
      picture.open();
    }
  },

  // To be called after a result: before the first one there is no answer.
  async askAbout() {
    this.asked = true;
    const answer = await fetch("state", {cache: "no-store"}).catch(() => null);
    if (answer?.ok) showAbout((await answer.json()).about);
  },

  // Once a second.
  tick() {
    const allowed = cameraAway ? kAwaySilenceMs : kSilenceMs;
    if (this.begin && performance.now() - this.heard > allowed) this.ask();
    drawFigures();
    showNotice();
  },
};

document.addEventListener("visibilitychange", () => document.hidden ? link.close() : link.open());
addEventListener("pagehide", () => link.close());
addEventListener("pageshow", () => link.open());
new ResizeObserver(drawFigures).observe($("chart"));
new ResizeObserver(() => region.draw()).observe($("picture"));
onChoice(() => drawPredictions(chosenResults()));
setInterval(() => link.tick(), 1000);
link.open();
showLink($("session")).then((session) => {
  listenToChanges(session);
  showInvitation(session);
});
