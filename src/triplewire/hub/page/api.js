// The HTTP API. The token travels in a header and is kept for this tab only; it is never part of an address. A session
// that is over is renewed by itself, where there is a key to prove it with.

const KEY = "triplewire.token";

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

let prove = null;

/** How old what an edge answers may be, in seconds, or null where the service is none; and what to do when it says. */
export const age = { seconds: null, told: () => {} };

function noteAge(answer) {
  if (!answer.headers.has("Triplewire-As-Of")) return;
  age.seconds = answer.headers.has("Age") ? Number(answer.headers.get("Age")) : Infinity;
  age.told(age.seconds);
}

/** How to get another token when the one that there is does not count any more; null where there is no way. */
export const proveWith = (way) => (prove = way);

/** What the service refused, in its own words; `told` has all that it said. */
export class Problem extends Error {
  constructor(status, told) {
    super(told.detail || told.title || `The service answered with ${status}.`);
    this.status = status;
    this.told = told;
  }
}

function address(path, query = {}) {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  const known = pairs.filter(([, value]) => value !== undefined && value !== null);
  return known.length ? `${path}?${new URLSearchParams(known)}` : path;
}

async function answered(path, { isProof = false, ...options } = {}) {
  try {
    return await asked(path, options);
  } catch (error) {
    if (error.status !== 401 || isProof) throw error;
    if (await renewed()) return asked(path, options);
    dispatchEvent(new CustomEvent("signed-out"));
    throw error;
  }
}

let renewing = null;

/** Whether there is another token now; all who find out at the same time that they need one share it. */
function renewed() {
  const trying = async () => {
    try {
      if (prove) token.set(await prove());
      return prove !== null;
    } catch {
      return false;
    }
  };
  renewing ??= trying().finally(() => (renewing = null));
  return renewing;
}

async function asked(path, { method = "GET", query, headers = {}, body, signal } = {}) {
  const sent = token.get() ? { ...headers, Authorization: `Bearer ${token.get()}` } : headers;
  const request = { method, headers: sent, body, signal, credentials: "omit", cache: "no-store" };
  let answer;
  try {
    answer = await fetch(address(path, query), request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The service cannot be reached. It may have been stopped; try again later." });
  }
  noteAge(answer);
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Problem(answer.status, told);
}

export async function get(path, query, options = {}) {
  return (await answered(path, { query, ...options })).json();
}

export async function text(path, query, accept, options = {}) {
  return (await answered(path, { query, headers: { Accept: accept }, ...options })).text();
}

/** A file, with the name that the service gives it. */
export async function file(path, query, options = {}) {
  const answer = await answered(path, { query, ...options });
  const [, name = "download"] = /filename="([^"]*)"/.exec(answer.headers.get("Content-Disposition") ?? "") ?? [];
  return { name, content: await answer.blob() };
}

export async function send(method, path, { json, headers = {}, ...options } = {}) {
  const spoken =
    json === undefined
      ? { headers }
      : { headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(json) };
  const answer = await answered(path, { method, ...spoken, ...options });
  return answer.status === 204 ? null : answer.json();
}

export const post = (path, json, options = {}) => send("POST", path, { json, ...options });

let description;

/** Whether the service has an address: what it does not have is not shown. */
export async function serves(path) {
  description ??= get("/v1/openapi.json").catch(() => ({ paths: {} }));
  return path in (await description).paths;
}

/** The events of a subscription as they happen, from a cursor on; comes back by itself when the connection is lost.
 *  A browser's own EventSource could not send the token. `state` hears "open" and "lost". */
export async function follow(id, after, { signal, told, state }) {
  const path = `/v1/subscriptions/${encodeURIComponent(id)}/stream`;
  let last = after;
  while (!signal.aborted) {
    try {
      const answer = await answered(path, { query: { after: last, contents: true }, signal });
      state("open");
      for await (const event of events(answer.body)) {
        if (event.kind === "gone") return state("gone");
        if (event.id) last = Number(event.id);
        if (event.data) await told(JSON.parse(event.data));
      }
    } catch (error) {
      if (signal.aborted || error.status === 401 || error.status === 403) return;
      if (error.status === 404) return state("gone");
    }
    state("lost");
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

/** Server-Sent Events out of a stream of bytes. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const whole = rest.split("\n\n");
    rest = whole.pop();
    for (const block of whole) yield parsed(block);
  }
}

function parsed(block) {
  const event = { kind: "message", id: "", data: "" };
  for (const line of block.split("\n")) {
    const [, name, value] = /^(event|id|data): ?(.*)$/.exec(line) || [];
    if (name === "event") event.kind = value;
    else if (name) event[name] += value;
  }
  return event;
}
