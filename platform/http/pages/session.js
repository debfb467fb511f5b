// Who looks at the page: a guest, or an owner, who logged in and may teach.

import {ask} from "./api.js";
import {$, put} from "./elements.js";
import {words} from "./language.js";

const kGuest = {role: "guest", teach: false};

// `{"role":"guest" or "owner","teach":...}`; without an answer nobody may teach.
export async function session() {
  return ask("GET", "session").catch(() => kGuest);
}

// On the live page: leads to the one for teaching, where that is on. A server without owners has no
// answer, and is not asked. Returns the session; nothing: the server has no owners.
export async function showLink(link) {
  if (link.dataset.owners === "none") return undefined;
  const {role, teach} = await session();
  link.textContent = role === "owner" ? words.teach : words.logIn;
  link.parentElement.hidden = !teach;
  return {role, teach};
}

async function logIn(entered) {
  $("send").disabled = true;
  put("login-problem", "");
  try {
    await ask("POST", "login", {password: $("password").value});
    $("password").value = "";
    entered();
  } catch (refusal) {
    put("login-problem", refusal.message);
    $("password").select();
  }
  $("send").disabled = false;
}

// Whoever listens on the way can read what plain HTTP carries.
const isPlain = () => location.protocol === "http:";

// `entered`: called when the password was right; `left`: after Log out.
export function listenToLogin(entered, left) {
  $("plain").hidden = !isPlain();
  $("login-form").addEventListener("submit", (event) => {
    event.preventDefault();
    logIn(entered);
  });
  $("logout").addEventListener("click", async () => {
    try {
      await ask("POST", "logout");
      left("");
    } catch (refusal) {
      left(refusal.message);
    }
  });
}

// `why`: a sentence before the form, or none. `teach`: whether anybody can log in.
export function showLogin(teach, why) {
  $("login-form").hidden = !teach;
  $("off").hidden = teach;
  put("login-problem", why);
  if (teach) $("password").focus();
}
