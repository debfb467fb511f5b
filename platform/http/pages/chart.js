// Rates and latency of the last minute, made of the results that this page got, and their chart.

import {decimal, locale, words} from "./language.js";

const kChartSeconds = 60;
const kRateSeconds = 5;
const kEachReceived = 8;  // results a second, below which each is sent: at most ten are
const kLines = ["p50", "p95", "p99"];
const kNames = {p50: words.typicalDelay, p95: words.slowDelay, p99: words.slowestDelay};

export const kNoRates = {camera: null, classified: null};
const kNoTimes = {p50: null, p95: null, p99: null};

// In order: {time (s), seq, dropped, age (ms)}; several of a frame's regions. The age is null where
// the result is the last one again: nothing was computed.
const samples = [];
let counts = [];  // of frames, of the last two lines `stats`: {captured, unwanted}

// Takes a line `classification`.
export function addSample(line) {
  const last = samples[samples.length - 1];
  const restarted = last &&
      (line.seq < last.seq || line.dropped < last.dropped || line.timestamp < last.time);
  if (restarted) samples.length = 0;
  const {timestamp: time, seq, dropped, reused} = line;
  samples.push({time, seq, dropped, age: reused ? null : line.frame_age_ms});
  while (samples[0].time < line.timestamp - kChartSeconds - kRateSeconds) samples.shift();
}

// Takes a line `stats`.
export function addCounts({captured, unwanted}) {
  const last = counts[counts.length - 1];
  if (last?.captured === captured) return;
  counts = last && captured < last.captured ? [] : counts.slice(-1);
  counts.push({captured, unwanted});
}

// Of the frames, those that came sooner than the rate allows, 0 to 1.
function unwantedShare() {
  if (counts.length === 0) return 0;
  const last = counts[counts.length - 1];
  const first = counts.length > 1 ? counts[0] : {captured: 0, unwanted: 0};
  return (last.unwanted - first.unwanted) / Math.max(1, last.captured - first.captured);
}

// Of many results not each is sent, but each counts the frames before it.
function rates() {
  const frames = samples.filter(({seq}, i) => i === 0 || seq !== samples[i - 1].seq);
  const last = frames[frames.length - 1];
  const near = frames.filter(({time}) => time >= last.time - kRateSeconds);
  const some = near.length > 1 ? near : frames.slice(-2);
  const first = some[0];
  const seconds = last.time - first.time;
  if (seconds === 0) return kNoRates;
  const captured = last.seq - first.seq;
  const received = (some.length - 1) / seconds;
  const wanted = captured * (1 - unwantedShare()) - last.dropped + first.dropped;
  return {
    camera: captured / seconds,
    classified: received < kEachReceived ? received : wanted / seconds,
  };
}

function percentiles(some) {
  const ages = some.map(({age}) => age).filter((age) => age !== null).sort((a, b) => a - b);
  if (ages.length === 0) return kNoTimes;
  const at = (share) => ages[Math.ceil(ages.length * share) - 1];
  return {p50: at(.5), p95: at(.95), p99: at(.99)};
}

// For each second of the last minute the percentiles of the samples of kRateSeconds; x in seconds.
// Seconds without samples are left out.
function series(end) {
  const points = [];
  for (let x = -kChartSeconds; x <= 0; ++x) {
    const near = samples.filter(({time}) => time > end + x - kRateSeconds && time <= end + x);
    const found = percentiles(near);
    if (found !== kNoTimes) points.push({x, ...found});
  }
  return points;
}

// Of the samples, the last of which came `silence` seconds ago. `rates`: {camera, classified} in
// frames a second; `minute`: {p50, p95, p99} in milliseconds; null where there are too few samples.
// `points`: for the chart.
export function figures(silence) {
  if (samples.length === 0) return {rates: kNoRates, minute: kNoTimes, points: []};
  const end = samples[samples.length - 1].time + silence;
  const minute = percentiles(samples.filter(({time}) => time > end - kChartSeconds));
  return {rates: rates(), minute, points: series(end)};
}

export const inShort = (number) => decimal(number, number < 100 ? 1 : 0);

const kAxis = new Intl.NumberFormat(locale, {maximumSignificantDigits: 2, useGrouping: false});

function createSvg(tag, parent, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  parent.append(element);
  return element;
}

// The upper end of an axis: a number whose half is short, too.
function roundedUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 3, 4, 6, 8, 10].map((factor) => factor * power).find((end) => end >= value);
}

function drawAxes(svg, area, top) {
  for (const share of [0, .5, 1]) {
    const y = area.bottom - share * area.height;
    createSvg("line", svg, {class: "grid", x1: area.left, x2: area.right, y1: y, y2: y});
    const at = {x: area.left - 6, y: y + 4, "text-anchor": "end"};
    createSvg("text", svg, at, `${kAxis.format(share * top)} ms`);
  }
  const names = [[-kChartSeconds, words.minuteAgo, "start"], [-kChartSeconds / 2, "30 s", "middle"],
                 [0, words.now, "end"]];
  for (const [x, name, anchor] of names) {
    const at = area.right + x / kChartSeconds * area.width;
    createSvg("text", svg, {x: at, y: area.bottom + 16, "text-anchor": anchor}, name);
  }
}

// A line for each run of seconds that follow each other.
function drawLine(svg, name, points, place) {
  let line = [];
  points.forEach((point, i) => {
    line.push(place(point.x, point[name]));
    if (i + 1 < points.length && points[i + 1].x === point.x + 1) return;
    if (line.length === 1) line.push(line[0]);  // a dot
    createSvg("polyline", svg, {class: name, points: line.join(" ")});
    line = [];
  });
}

// Replaces what is in `parent`, an element with a size, by the chart.
export function drawChart(parent, {minute, points}) {
  const {clientWidth: width, clientHeight: height} = parent;
  if (width === 0) return;
  const area = {left: 52, right: width - 2, top: 8, bottom: height - 20};
  area.width = area.right - area.left;
  area.height = area.bottom - area.top;
  const known = kLines.filter((name) => minute[name] !== null);
  const texts = known.map((name) => `${kNames[name]} ${inShort(minute[name])} ms`).join(", ");
  const svg = createSvg("svg", document.createDocumentFragment(), {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": texts ? words.latencyChartOf(texts) : words.latencyChart,
  });
  const top = roundedUp(Math.max(1, ...points.map((point) => point.p99)));
  drawAxes(svg, area, top);
  const place = (x, value) => {
    const across = area.right + x / kChartSeconds * area.width;
    return `${across.toFixed(1)},${(area.bottom - value / top * area.height).toFixed(1)}`;
  };
  for (const name of [...kLines].reverse()) drawLine(svg, name, points, place);
  parent.replaceChildren(svg);
}
