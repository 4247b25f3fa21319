// The events of a subscription: what happened, what is different since, and why.

import { announce, el, problem, put, refill } from "./dom.js";
import { follow, get } from "./api.js";
import { differenceList, statement, termsOf } from "./difference.js";
import { label, learn, shown } from "./terms.js";
import { documentLinks } from "./sources.js";

const MOST_EVENTS = 200;
const KINDS = { matched: "New", changed: "Changed", unmatched: "Gone" };

/** The last events of a subscription, and each new one as it happens; `changed` is told when there was something. */
export function eventList(id, path, changed, signal) {
  const state = el("p", { class: "hint", role: "status" }, "Connecting …");
  const list = el("ol", { class: "events" });
  const empty = el("p", { class: "hint" }, "Nothing has happened yet.");

  function add(event, isNew) {
    empty.remove();
    list.prepend(entry(event, signal, isNew));
    while (list.childElementCount > MOST_EVENTS) list.lastElementChild.remove();
  }

  async function begin() {
    const known = await get(`${path}/recent`, { limit: 50 }, { signal });
    await learn(
      known.events.flatMap((event) => Object.values(event.row)),
      signal,
    );
    for (const event of known.events) add(event, false);
    let renewing;
    await follow(id, known.next, {
      signal,
      told: async (event) => {
        await learn(Object.values(event.row), signal).catch(() => {});
        add(event, true);
        announce(`${KINDS[event.kind]} in ${id}`);
        clearTimeout(renewing);
        renewing = setTimeout(changed, 300);
      },
      state: (name) => {
        state.textContent = {
          open: "Live: what happens appears here.",
          lost: "The connection is lost; trying again.",
          gone: "The subscription was removed.",
        }[name];
        state.className = name === "open" ? "hint live" : "hint";
      },
    });
  }

  begin().catch((error) => signal.aborted || refill(state, problem(error)));
  return [state, empty, list];
}

function entry(event, signal, isNew) {
  const details = el(
    "details",
    { on: { toggle: () => details.open && fill() } },
    el("summary", {}, el("span", { class: `badge ${event.kind}` }, KINDS[event.kind]), " ", values(event.row, label)),
  );
  let isFilled = false;
  async function fill() {
    if (isFilled) return;
    isFilled = true;
    await learn(termsOf([...event.triples, ...(event.before ?? []), ...(event.after ?? [])]), signal).catch(() => {});
    put(
      details,
      el("p", { class: "hint" }, "Look at ", values(event.row, shown)),
      event.before || event.after
        ? [el("h3", {}, "What is different"), differenceList(event.before, event.after)]
        : null,
      event.triples.length
        ? [
            el("h3", {}, event.kind === "unmatched" ? "What made it an answer" : "Why it is an answer"),
            el(
              "ul",
              { class: "statements" },
              event.triples.map((each) => el("li", {}, statement(each))),
            ),
          ]
        : "",
      el("h3", {}, "Documents"),
      documentChanges(event.documents),
    );
  }
  return el("li", { class: isNew ? "event is-new" : "event" }, details);
}

/** The values of a row, as texts or as links: a summary is a button itself, and has no links in it. */
function values(row, as) {
  const entries = Object.entries(row);
  if (!entries.length) return "yes";
  return entries.map(([name, term], number) => [
    number ? el("span", { class: "hint" }, " · ") : "",
    el("span", { title: `?${name}` }, as(term)),
  ]);
}

function documentChanges(documents) {
  return el(
    "ul",
    { class: "plain" },
    documents.map(({ uri, before, after }) =>
      el(
        "li",
        {},
        documentLinks([{ uri, from: before, to: after }]),
        el(
          "span",
          { class: "hint" },
          before === after ? ` version ${after}` : ` version ${before ?? "none"} → ${after ?? "none"}`,
        ),
      ),
    ),
  );
}
