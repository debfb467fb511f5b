// The page for teaching: what is watched, a form for a watch, and a view of each watch, where it is
// shown, trained and used. What is looked at is the part of the URL after `#`: nothing is the list,
// `+new` the form, `gate` the watch of that name and `gate/edit` the form for it.

import {ask, explain, sentence} from "./api.js";
import {$, percent, put} from "./elements.js";
import {drawHolds, endHold, listenToHolds} from "./hold_buttons.js";
import {translatePage, words} from "./language.js";
import {tell, tellProblem} from "./notes.js";
import {LivePicture} from "./picture.js";
import {drawPictures, listenToPictures} from "./picture_grid.js";
import {listenToRectangle} from "./rectangle.js";
import {listenToLogin, session, showLogin} from "./session.js";
import {onTaught, refresh, startAsking, stopAsking, taught, watchNamed} from "./taught.js";
import {drawCamera, drawTraining, listenToTraining} from "./training.js";
import {drawUnsure, listenToUnsure} from "./unsure.js";
import {hideForm, listenToForm, showForm} from "./watch_form.js";
import {drawList} from "./watch_list.js";
import {labelText, titleOf} from "./words.js";

const kNew = "+new";
const kEdit = "/edit";
const kClear = .05;  // by how much more like a class than like the next one

let isOwner = false;
let view = "";  // "login", "list", "form" or "watch"
let shownPlace = null;  // the part after `#` that is shown; null: none yet

const picture = new LivePicture({
  image: $("picture"), figure: $("figure"), caption: $("caption"), drawn: shapeFrame,
});

// The frame has the shape of the picture, so that places on it are those on the picture.
function shapeFrame() {
  const {naturalWidth: across, naturalHeight: down} = $("picture");
  if (across > 0) $("frame").style.setProperty("--shape", String(across / down));
}

function showView(next) {
  view = next;
  for (const part of document.querySelectorAll("[data-views]")) {
    part.hidden = !part.dataset.views.split(" ").includes(view);
  }
  $("logout").hidden = !isOwner;
  $("to-list").hidden = view === "login" || view === "list";
  if (view !== "form") hideForm();
}

const placeNow = () => decodeURIComponent(location.hash.slice(1));

function showTitle(text) {
  put("title", text);
  document.title = `${text} – lookout`;
}

// ---- the views ----

function watchOf(place) {
  return watchNamed(place.endsWith(kEdit) ? place.slice(0, -kEdit.length) : place);
}

function viewOf(place, watch) {
  if (place === kNew || (watch && place.endsWith(kEdit))) return "form";
  return watch ? "watch" : "list";
}

// Shows what the URL names. Another one than before gets the focus.
function showPlace() {
  const place = placeNow();
  const watch = watchOf(place);
  if (place !== shownPlace) {
    shownPlace = place;
    endHold();
    showView(viewOf(place, watch));
    if (view === "form") showForm(watch);
    scrollTo(0, 0);
    $("title").focus({preventScroll: true});
  }
  if (view === "watch" && !watch) {
    location.hash = "";
    return;
  }
  draw(watch);
}

// What the run tells; null: nothing yet, or it does not answer.
async function askRun() {
  try {
    const answer = await fetch("state", {cache: "no-store"});
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

function stateText(run, {name}) {
  const now = run?.watches?.find((one) => one.name === name);
  return now?.state ? words.looksNowLike(labelText(now.state), percent(now.score)) : "";
}

// By the pictures so far. That somebody asks has the server look.
async function previewText({name}) {
  const {label, lead, problem, code} = await ask("GET", `teach/watches/${name}/preview`);
  if (problem) return explain({code, message: problem});
  if (label === null) return "";
  const text = lead < kClear ? words.looksNowALittleLike : words.looksNowLikeClass;
  return text(labelText(label));
}

async function drawNow(watch) {
  const isTrained = taught.job?.state === "running" && taught.job.watch === watch.name;
  const isEmpty = watch.progress.classes.every(({pictures}) => pictures === 0);
  const run = watch.model || isTrained ? await askRun() : null;
  let text = "";
  if (watch.model) {
    text = stateText(run, watch);
  } else if (!isTrained && !isEmpty) {
    text = await previewText(watch).catch(() => "");
  }
  if (view !== "watch" || watch.name !== placeNow()) return;
  $("now").hidden = text === "";
  put("now", text);
  if (isTrained) drawCamera(run?.result);
}

function draw(watch) {
  showTitle(watch ? titleOf(watch) : view === "form" ? words.newWatch : words.teach);
  const boxes = view === "watch" ? [watch] : taught.watches.filter((one) => one !== watch);
  drawList(boxes);
  if (view !== "watch") return;
  $("edit").href = `#${watch.name}${kEdit}`;
  drawHolds(watch);
  drawTraining(watch);
  drawPictures(watch);
  drawUnsure(watch);
  drawNow(watch);
}

async function remove() {
  const {name, title} = watchNamed(shownPlace);
  const path = `teach/watches/${name}`;
  try {
    await ask("DELETE", path);
    location.hash = "";
    await refresh();
    tell(words.watchDeleted(title || name), async () => {
      await ask("POST", `${path}/restore`);
      await refresh();
      location.hash = name;
    });
    $("undo").focus();
  } catch (refusal) {
    tellProblem(refusal);
  }
}

// ---- who looks at it ----

function notice(text) {
  $("notice").hidden = text === "";
  put("notice", text);
}

function damageText({damage, damaged_file: file}) {
  return damage && file ? words.libraryWasDamaged(file) : damage && sentence(damage);
}

function answered() {
  notice(damageText(taught));
  showPlace();
}

function refused(refusal) {
  if (refusal.status === 401 || refusal.status === 404) {
    leave(refusal.status === 401 ? refusal.message : "");
  } else {
    notice(refusal.message);
  }
}

async function enter() {
  isOwner = true;
  picture.open();
  await startAsking();
}

async function leave(why) {
  isOwner = false;
  stopAsking();
  picture.close();
  endHold();
  tell("");
  notice("");
  shownPlace = null;
  showTitle(words.teach);
  showView("login");
  const {teach} = await session();
  showLogin(teach, why);
}

// A page that is not seen asks for nothing.
function seen() {
  if (!isOwner) return;
  if (document.hidden) {
    stopAsking();
    picture.close();
  } else {
    enter();
  }
}

async function begin() {
  translatePage();
  listenToLogin(enter, leave);
  listenToRectangle();
  listenToForm();
  listenToHolds();
  listenToTraining();
  listenToPictures();
  listenToUnsure();
  onTaught(answered, refused);
  $("delete").addEventListener("click", remove);
  addEventListener("hashchange", () => { if (isOwner && taught) showPlace(); });
  document.addEventListener("visibilitychange", seen);
  addEventListener("pageshow", (event) => { if (event.persisted) seen(); });
  const {role, teach} = await session();
  if (role === "owner" && teach) {
    enter();
  } else {
    leave("");
  }
}

begin();
