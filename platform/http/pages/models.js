// The models of a watch that are kept, each of which can be used again.

import {$, create} from "./elements.js";
import {words} from "./language.js";
import {hasOldRectangle} from "./taught.js";
import {rightText, when} from "./words.js";

let drawn = "";

function shareText(model) {
  return model.can_tell ? words.rightOfThem(rightText(model)) : words.cannotBeTold;
}

function addModel(watch, model, isOlder, use) {
  const item = create("li", $("models"));
  const time = when(model.time);
  create("b", item, time);
  const isOld = hasOldRectangle(model, watch.roi);
  const facts = words.modelOf(model.pictures, shareText(model));
  create("span", item, isOld ? words.ofOldRectangle(facts) : facts).className = "soft";
  if (model.sha256 === watch.model?.sha256) {
    create("strong", item, words.inUse);
    return;
  }
  const name = isOlder ? words.backToIt : words.use;
  const button = create("button", item, name);
  button.type = "button";
  button.setAttribute("aria-label", words.modelOfTime(name, time));
  const told = isOlder ? words.backInUse(time) : words.nowInUse;
  button.addEventListener("click", () => use(model, told, "models-part"));
}

// `use(model, told, part)` has the watch use it, then tells so; the focus goes to that part.
export function drawModels(watch, use) {
  const {name, roi, model: used, models} = watch;
  const next = JSON.stringify([name, roi, used?.sha256, models]);
  if (next === drawn) return;
  drawn = next;
  $("models-part").classList.toggle("none", models.length < 2);
  $("models").replaceChildren();
  const place = models.findIndex(({sha256}) => sha256 === used?.sha256);
  models.forEach((model, i) => addModel(watch, model, place >= 0 && i > place, use));
}
