// One subscription: its query, its answers, its events as they happen, and why.

import { button, el, link, plural, problem, put, refill } from "./dom.js";
import { get, post, serves } from "./api.js";
import { pictures } from "./picture.js";
import { parts } from "./highlight.js";
import { termsOf } from "./difference.js";
import { label, learn, parse, remember, shortened } from "./terms.js";
import { deliveriesOf } from "./deliveries.js";
import { downloads } from "./downloads.js";
import { eventList } from "./events.js";
import { plainFeeds, secretFeeds } from "./feeds.js";
import { rowsTable } from "./panel.js";
import { management, removal } from "./managing.js";
import { picker } from "./picker.js";
import { exact } from "./times.js";
import { reason, tellWhyNot } from "./why.js";

const ROWS = 50; // of a page of answers

export async function showSubscription({ section, params, signal, me, may }) {
  const id = params.get("id") ?? "";
  const path = `/v1/subscriptions/${encodeURIComponent(id)}`;
  const [told, picture] = await Promise.all([get(path, {}, { signal }), get(`${path}/picture`, {}, { signal })]);
  const answers = el("div", { "aria-live": "off" });
  const isOwn = may("admin") || told.owner === me.id;
  put(
    section,
    el("h1", {}, told.title || id),
    told.title ? el("p", { class: "address" }, el("code", {}, id)) : null,
    told.description ? el("p", { class: "lead" }, told.description) : null,
    el(
      "p",
      { class: "hint" },
      told.owner && told.owner !== me.id ? `Of ${told.owner}; ` : "",
      `${told.language}; ${told.scope === "graph" ? "an answer may come from several documents" : "an answer comes from one document"}; ${told.start === "ever" ? "began with what was there" : "began with what came after it"}.`,
      told.reach === "hub" ? null : [" ", link("network", { subscription: id }, "The way of its last event"), "."],
    ),
    told.stale_since
      ? el(
          "p",
          { class: "status error" },
          `Its answers may be out of date since ${exact(told.stale_since)}: finding them takes more than a limit allows. It is tried again by itself; a narrower query helps.`,
        )
      : null,
    management(told, isOwn),
    el(
      "div",
      { class: "workbench" },
      el(
        "div",
        {},
        part(
          "Events",
          eventList(id, path, () => rows(path, answers, signal), signal),
          downloads(`${path}/events`, "Events"),
        ),
        part("Why is something not an answer?", ...whyNot(id, signal)),
      ),
      el(
        "div",
        {},
        part("Answers now", answers, downloads(`${path}/rows`, "Answers")),
        part("The query", query(told), pictures(picture), otherwise(path, told.language, signal)),
        await deliveriesPart(id, signal),
        await feedPart(path, me, isOwn, signal),
        isOwn ? part("Remove it", ...removal(told)) : null,
      ),
    ),
  );
  await rows(path, answers, signal);
}

function part(title, ...children) {
  return el("section", { class: "card" }, el("h2", {}, title), ...children);
}

function query(told) {
  return el(
    "pre",
    { class: "code query", tabindex: "0", "aria-label": "The text of the query" },
    parts(told.text.trim(), told.language).map(([kind, text]) =>
      el("span", { class: kind ? `is-${kind}` : null }, text),
    ),
  );
}

/** The same query in the other languages that can say it, and how it is matched; asked for when it is opened. */
function otherwise(path, own, signal) {
  const place = el("div");
  async function fill() {
    if (!details.open || place.childElementCount) return;
    try {
      const { explanation, languages } = await get(`${path}/explain`, {}, { signal });
      const others = Object.entries(languages).filter(([language]) => language !== own);
      const texts = others.map(([language, text]) => [el("h3", {}, language), query({ text, language })]);
      const plan = el(
        "pre",
        { class: "code query", tabindex: "0", "aria-label": "How it is matched" },
        shortened(explanation),
      );
      refill(place, texts, el("h3", {}, "How it is matched"), plan);
    } catch (error) {
      if (!signal.aborted) refill(place, problem(error));
    }
  }
  const details = el("details", { on: { toggle: fill } }, el("summary", {}, "In other words"), place);
  return details;
}

async function feedPart(path, me, isOwn, signal) {
  if (!(await serves("/v1/subscriptions/{id}/feed"))) return null;
  const found = me.id === "" ? plainFeeds(path) : isOwn ? await secretFeeds(path, signal) : null;
  return found && part("Feeds", found);
}

async function deliveriesPart(id, signal) {
  if (!(await serves("/v1/subscriptions/{id}/deliveries"))) return null;
  const found = await deliveriesOf(id, signal);
  return found && part("Deliveries", ...found);
}

// -- answers, and why

/** As many pages as were open; the last has a button for the next. */
async function rows(path, place, signal, pages = Number(place.dataset.pages ?? 1)) {
  try {
    const some = [];
    let found = { next: "" };
    for (let page = 0; page < pages && found.next !== null; page += 1) {
      found = await get(`${path}/rows`, { after: found.next, limit: ROWS }, { signal });
      some.push(...found.rows);
    }
    place.dataset.pages = String(pages);
    await learn(
      some.flatMap((row) => Object.values(row)),
      signal,
    );
    const words = plural(some.length, "answer");
    const more = button("More answers", async () => {
      await rows(path, place, signal, pages + 1);
      place.querySelectorAll("tbody tr:not(.below)")[some.length]?.querySelector("button")?.focus();
    });
    refill(
      place,
      el("p", {}, found.next !== null ? `The first ${words}; there are more.` : some.length ? `${words}.` : "None."),
      some.length ? rowsTable("Answers now", found.columns, some, (row) => whyButton(path, row, signal)) : "",
      found.next !== null ? more : null,
    );
  } catch (error) {
    if (!signal.aborted) refill(place, problem(error));
  }
}

/** A button, and the reason below the row: over its whole width, so that no column gets narrower. */
function whyButton(path, row, signal) {
  const below = el("div", { class: "why", "aria-live": "polite" });
  const control = button(
    "Why?",
    async () => {
      const isOpen = below.childElementCount > 0;
      control.setAttribute("aria-expanded", String(!isOpen));
      if (isOpen) return below.replaceChildren();
      try {
        const told = await post(`${path}/why`, { row }, { signal });
        await learn(termsOf(told.triples.map((each) => each.triple)), signal);
        refill(below, reason(told));
      } catch (error) {
        refill(below, problem(error));
      }
    },
    { class: "quiet", "aria-expanded": "false" },
  );
  return { control, below };
}

/** Asked of a resource that is found by words, or by its address. */
function whyNot(id, signal) {
  const place = el("div", { "aria-live": "polite" });
  const { element } = picker({
    label: "A resource",
    hint: "Words of its name, or its address.",
    find: (words) => findResources(words, signal),
    isWhole: isAddress,
    chosen: (resource) => tellWhyNot(place, id, resource, signal),
    signal,
  });
  return [element, place];
}

async function findResources(words, signal) {
  if (!words) return [];
  const { hits } = await get("/v1/search", { q: words.slice(0, 200) }, { signal });
  for (const hit of hits) remember(hit.resource, hit.name);
  const found = hits.map((hit) => [hit.resource, label(hit.resource), parse(hit.resource).value]);
  return isAddress(words) && !found.length ? [[words, words, "this address"]] : found;
}

const isAddress = (text) => /^[a-z][\w+.-]*:\S+$/i.test(text);
