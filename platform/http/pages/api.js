// What the pages ask of `/api/1/`, and the sentences for what is refused.

import {words} from "./language.js";

const kAnswerMs = 10000;  // for an answer

// Of what the server says without a capital and a full stop.
export function sentence(text) {
  const said = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(said) ? said : `${said}.`;
}

// Of an error of the server: in the page's language where its code is known, else as the server
// says it. `about`: the name or the number that it is about, for some codes.
export function explain({code, message, about}) {
  const text = Object.hasOwn(words.errors, code) ? words.errors[code] : null;
  if (typeof text !== "function") return text ?? sentence(message);
  return about === undefined ? sentence(message) : text(about);
}

function sentenceOf(error, status, wait) {
  if (error.code === "too_many_guesses") return words.tooManyGuesses(wait);
  return error.message ? explain(error) : words.statusAnswered(status);
}

// Its `message` is for people. `status` 0: no answer came.
export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, {status, code});
  }
}

async function refusalOf(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // A proxy's own error.
  }
  const wait = Number(response.headers.get("Retry-After"));
  return new Refusal(response.status, error.code ?? "", sentenceOf(error, response.status, wait));
}

// Returns the answer; null: it has no content. Throws Refusal. `path`: relative to `api/1/`.
export async function ask(method, path, body = undefined, {limit = kAnswerMs} = {}) {
  const request = {method, cache: "no-store", signal: AbortSignal.timeout(limit)};
  if (method !== "GET") {
    request.headers = {"Content-Type": "application/json", "X-Lookout": "1"};
    // The browser sends it also when the page is closed.
    request.keepalive = true;
    if (method !== "DELETE") request.body = JSON.stringify(body ?? {});
  }
  let response;
  try {
    response = await fetch(`api/1/${path}`, request);
    // The time may be over in the middle of it.
    if (response.ok) return response.status === 204 ? null : await response.json();
  } catch {
    throw new Refusal(0, "no_answer", words.noAnswer);
  }
  throw await refusalOf(response);
}
