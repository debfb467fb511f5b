// A rectangle on the picture that is drawn, moved and resized: by touch, mouse, keyboard or
// numbers.

import {$, create, put} from "./elements.js";
import {words} from "./language.js";

const kSmallest = .03;  // side, as a part of the picture
const kVerySmall = .1;  // of the picture: its height or width alone
const kStep = .01;  // of an arrow key
const kDrag = 6;  // pixels: less is a tap
const kSaidMs = 700;  // after the last change
const kArrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
const kSides = [words.left, words.top, words.width, words.height];

let place = [.25, .25, .5, .5];  // x, y, width and height, as parts of the picture
let isEdited = false;
let isFresh = false;  // a proposal that nobody has changed yet: each drag draws another one
let timer = 0;

const inputs = [];

const within = (value, low, high) => Math.min(high, Math.max(low, value));

// Rounded down, so that it stays on the picture.
export const rectangle = () => place.map((side) => Math.floor(side * 1e5 + 1e-4) / 1e5);

export function putOver(element, [x, y, width, height]) {
  const sides = {left: x, top: y, width, height};
  for (const [name, side] of Object.entries(sides)) element.style[name] = `${side * 100}%`;
}

function sayPlace() {
  const [x, y, width, height] = place.map((side) => Math.round(side * 100));
  put("place", words.rectangleIsAt(x, y, width, height));
}

function draw() {
  putOver($("rectangle"), place);
  inputs.forEach((input, i) => {
    if (input !== document.activeElement) input.value = String(Math.round(place[i] * 100));
  });
  $("small").hidden = Math.min(place[2], place[3]) >= kVerySmall;
}

function set([x, y, width, height]) {
  const [w, h] = [within(width, kSmallest, 1), within(height, kSmallest, 1)];
  place = [within(x, 0, 1 - w), within(y, 0, 1 - h), w, h];
  draw();
  clearTimeout(timer);
  timer = setTimeout(sayPlace, kSaidMs);
}

// From one corner to the opposite one.
function span([x1, y1], [x2, y2]) {
  const [left, top] = [Math.min(x1, x2), Math.min(y1, y2)];
  set([left, top, Math.abs(x2 - x1), Math.abs(y2 - y1)]);
}

// Only what somebody wanted has corners.
function setFresh(on) {
  isFresh = on;
  $("rectangle").classList.toggle("fresh", on);
}

// What a pointer that goes down on `target` does with the rectangle, when it has come from `begin`
// to a point.
function dragOf(target, begin) {
  const before = [...place];
  if (isFresh) {
    setFresh(false);
    return (point) => span(begin, point);
  }
  const corner = [...$("rectangle").children].indexOf(target);
  if (corner >= 0) {
    const [x, y, width, height] = before;
    const fixed = [corner % 2 ? x : x + width, corner > 1 ? y : y + height];
    return (point) => span(fixed, point);
  }
  if (target === $("rectangle")) {
    const [x, y, width, height] = before;
    return (point) => set([x + point[0] - begin[0], y + point[1] - begin[1], width, height]);
  }
  return (point) => span(begin, point);
}

function pointed(down) {
  if (!isEdited || down.button !== 0) return;
  const frame = $("frame").getBoundingClientRect();
  const at = ({clientX, clientY}) => [
    within((clientX - frame.left) / frame.width, 0, 1),
    within((clientY - frame.top) / frame.height, 0, 1),
  ];
  let drag = null;
  const end = new AbortController();
  const {signal} = end;
  $("frame").setPointerCapture(down.pointerId);
  $("frame").addEventListener("pointermove", (move) => {
    if (move.pointerId !== down.pointerId) return;
    const far = Math.hypot(move.clientX - down.clientX, move.clientY - down.clientY);
    if (far >= kDrag) drag ??= dragOf(down.target, at(down));
    drag?.(at(move));
  }, {signal});
  for (const type of ["pointerup", "pointercancel"]) {
    $("frame").addEventListener(type, () => end.abort(), {signal});
  }
}

function pressed(event) {
  const arrow = kArrows[event.key];
  if (!arrow) return;
  event.preventDefault();
  setFresh(false);
  const [x, y, width, height] = place;
  const [dx, dy] = arrow.map((way) => way * kStep);
  set(event.shiftKey ? [x, y, width + dx, height + dy] : [x + dx, y + dy, width, height]);
}

function addInputs() {
  kSides.forEach((side, i) => {
    const label = create("label", $("sides"), `${side} `);
    const input = create("input", label);
    Object.assign(input, {type: "number", min: "0", max: "100", step: "1", inputMode: "numeric"});
    input.addEventListener("change", () => {
      setFresh(false);
      const next = [...place];
      next[i] = Number(input.value) / 100;
      set(next);
      input.value = String(Math.round(place[i] * 100));
    });
    inputs.push(input);
  });
}

export function listenToRectangle() {
  addInputs();
  $("frame").addEventListener("pointerdown", pointed);
  $("rectangle").addEventListener("keydown", pressed);
  $("picture").draggable = false;
}

// Shows it for changing at `roi`; null: hides it. `fresh`: it is a proposal, which the first drag
// replaces.
export function editRectangle(roi, fresh = false) {
  setFresh(fresh);
  isEdited = roi !== null;
  $("rectangle").hidden = !isEdited;
  $("frame").classList.toggle("edited", isEdited);
  if (!isEdited) return;
  place = [...roi];
  draw();
}
