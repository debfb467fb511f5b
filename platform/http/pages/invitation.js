// On the live page: the way to a state of one's own, for those who can go it. Who runs what was
// taught needs none.

import {ask} from "./api.js";
import {$, put} from "./elements.js";
import {words} from "./language.js";

const kAgainMs = 5000;  // before the first result the server has no state
const kSelftest = "selftest";  // the model's name

let session = undefined;
let timer = 0;

// Nothing: the server cannot tell yet.
async function readState() {
  const answer = await fetch("state", {cache: "no-store"}).catch(() => null);
  return answer?.ok ? answer.json() : undefined;
}

// Guests do not know who taught a watch.
async function isTaught({watches}) {
  if (session.role !== "owner") return (watches ?? []).length > 0;
  const taught = await ask("GET", "teach");
  return taught.watches.some(({model}) => model);
}

// To be called again when other things are watched.
export async function drawInvitation() {
  clearTimeout(timer);
  if (!session?.teach || document.hidden) return;
  try {
    const state = await readState();
    if (state) {
      const isSelftest = state.result?.model === kSelftest;
      put("invitation-why", isSelftest ? words.onlySelftest : words.nothingTaught);
      $("invitation").hidden = await isTaught(state);
      return;
    }
  } catch ({status}) {
    if (status === 401 || status === 404) return;  // nobody is logged in any more
  }
  timer = setTimeout(drawInvitation, kAgainMs);
}

// `answer`: of showLink().
export function showInvitation(answer) {
  session = answer;
  document.addEventListener("visibilitychange", drawInvitation);
  drawInvitation();
}
