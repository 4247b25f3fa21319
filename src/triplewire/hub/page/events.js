// The events of a subscription: what happened, what is different since, and why.

import { announce, el, link, problem, put, refill } from "./dom.js";
import { follow, get } from "./api.js";
import { changeLine, difference, differenceList, statement, termsOf } from "./difference.js";
import { label, learn, rememberFrom, shown } from "./terms.js";
import { documentLinks } from "./sources.js";
import { moment, time } from "./times.js";

const MOST_EVENTS = 200;
export const KINDS = { matched: "New", changed: "Changed", unmatched: "Gone" };

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
    await learn(known.events.flatMap(termsToName), signal);
    for (const event of known.events) add(event, false);
    let renewing;
    await follow(id, known.next, {
      signal,
      told: async (event) => {
        await learn(termsToName(event), signal).catch(() => {});
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

/** The terms of an event's line: those of its row, and of what is different. */
export function termsToName(event) {
  const isTold = Array.isArray(event.before) && Array.isArray(event.after);
  const { gone, came } = isTold ? difference(event.before, event.after) : { gone: [], came: [] };
  return [...Object.values(event.row), ...termsOf([...gone, ...came].slice(0, 40))];
}

/** An event as a line that opens: what happened to what, when, and in a few words what is different. */
export function entry(event, signal, isNew, of = null) {
  if (Array.isArray(event.before)) rememberFrom(event.before);
  const changed = changeOf(event);
  const details = el(
    "details",
    { on: { toggle: () => details.open && fill() } },
    el(
      "summary",
      {},
      el("span", { class: `badge ${event.kind}` }, KINDS[event.kind]),
      " ",
      el("span", { class: "what" }, of && el("span", { class: "of" }, of, ": "), values(event.row, label)),
      " ",
      moment(event.time),
      changed && [" ", el("span", { class: "change" }, changed)],
    ),
  );
  let isFilled = false;
  async function fill() {
    if (isFilled) return;
    isFilled = true;
    const lists = [event.triples, event.before, event.after].filter(Array.isArray);
    await learn(termsOf(lists.flat()), signal).catch(() => {});
    put(
      details,
      el("p", { class: "hint" }, "On ", time(event.time), "."),
      of && el("p", { class: "hint" }, "Told by ", link("subscription", { id: event.subscription }, of), "."),
      el("p", { class: "hint" }, "Look at ", values(event.row, shown)),
      event.before || event.after
        ? [
            el("h3", {}, "What is different"),
            isExcerpt(event) ? excerpts(event) : differenceList(event.before, event.after),
          ]
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

function isExcerpt({ before, after }) {
  return [before, after].some((each) => each && !Array.isArray(each));
}

/** What is different, for the line: of an answer that changed; of one that came or went, if its document stayed. */
function changeOf(event) {
  if (isExcerpt(event)) {
    const [before, after] = [event.before?.text, event.after?.text];
    if (event.kind !== "changed" || before === after) return null;
    return [el("del", {}, before), " → ", el("ins", {}, after)];
  }
  if (event.kind !== "changed" && !(event.before?.length && event.after?.length)) return null;
  return changeLine(event.before, event.after);
}

/** Before and after of a place in an XML document. */
function excerpts({ before, after }) {
  const line = (kind, sign, word, excerpt) =>
    excerpt &&
    el(
      "li",
      { class: kind },
      el("span", { class: "sign", "aria-hidden": "true" }, sign),
      el("span", { class: "unseen" }, word),
      el("code", {}, excerpt.content || excerpt.text),
    );
  return el(
    "div",
    { class: "difference" },
    el("ul", {}, line("gone", "−", "before: ", before), line("came", "+", "after: ", after)),
  );
}

/** The values of a row, as texts or as links: a summary is a button itself, and has no links in it. What says the same
 *  again, as a title does of the thing that is called so, is told once. */
function values(row, as) {
  const said = new Set();
  const entries = Object.entries(row).filter(([, term]) => {
    const text = label(term);
    return !said.has(text) && said.add(text);
  });
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
