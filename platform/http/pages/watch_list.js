// The watches that are taught, with what is missing, and their rectangles on the picture.

import {$, create, put} from "./elements.js";
import {words} from "./language.js";
import {putOver} from "./rectangle.js";
import {taught} from "./taught.js";
import {joined, labelText, missingText, rightText, titleOf} from "./words.js";

const kMegabyte = 1e6;

let drawn = "";  // what is shown, so that nothing is made anew without a change

// In one sentence.
function stateText({progress, model, trained}) {
  const isNew = trained && trained.sha256 !== model?.sha256;
  if (isNew) return words.newModelReady;
  if (model?.can_tell) return words.inUseRight(rightText(model));
  if (model) return words.inUseUnknown;
  if (progress.can_train) return words.enough;
  const [first] = progress.missing.filter(({kind}) => kind === "pictures");
  return first ? words.missing(missingText(first)) : words.notTrainedYet;
}

function countsText({progress, unlabelled}) {
  const counts = progress.classes.map(({label, pictures}) => `${labelText(label)} ${pictures}`);
  if (unlabelled > 0) counts.push(words.countNotTold(unlabelled));
  return counts.join(", ");
}

function addWatch(watch) {
  const item = create("li", $("list"));
  const link = create("a", item, titleOf(watch));
  link.href = `#${watch.name}`;
  create("p", item, stateText(watch));
  create("p", item, countsText(watch)).className = "soft";
}

function drawBoxes(watches) {
  $("boxes").replaceChildren();
  for (const watch of watches) {
    const box = create("div", $("boxes"));
    box.classList.toggle("right", watch.roi[0] + watch.roi[2] / 2 > .5);
    putOver(box, watch.roi);
    create("span", create("p", box), titleOf(watch));
  }
}

// `watches`: whose rectangles are on the picture.
export function drawList(watches) {
  const {usage, limits, fixed} = taught;
  const next = JSON.stringify([taught.watches, usage, fixed, watches.map(({name}) => name)]);
  if (next === drawn) return;
  drawn = next;
  const focused = document.activeElement?.closest("#list") && document.activeElement.hash;
  $("list").replaceChildren();
  taught.watches.forEach(addWatch);
  if (focused) [...$("list").querySelectorAll("a")].find(({hash}) => hash === focused)?.focus();
  drawBoxes(watches);
  $("empty").hidden = taught.watches.length > 0;
  $("add").hidden = taught.watches.length >= limits.watches;
  put("fixed", fixed.length === 0 ? "" : words.fixedWatches(fixed.length, joined(fixed)));
  const size = (usage.bytes / kMegabyte).toFixed(0);
  put("usage", words.usage(usage.pictures, limits.pictures, size));
}
