// The inbox: what happened in all of one's subscriptions, the newest first, and what of it is new since one looked.

import { announce, button, el, field, link, options, plural, problem, put, refill, view } from "./dom.js";
import { get, send } from "./api.js";
import { entry, KINDS, termsToName } from "./events.js";
import { learn } from "./terms.js";

const PAGE = 50;
const EVERY = 10000;
const DAY = 86400000;
const NEW = "new";
const PERIODS = [
  ["", "any time"],
  [NEW, "since I looked"],
  ["1", "the last day"],
  ["7", "the last week"],
  ["30", "the last month"],
];

/** What the address of the view asks the service for; what is new it tells by cursors, and not by time. */
function questionOf(params) {
  const days = Number(params.get("when"));
  return {
    kind: params.getAll("kind"),
    subscription: params.getAll("of"),
    q: params.get("q") || undefined,
    since: days ? new Date(Date.now() - days * DAY).toISOString() : undefined,
    limit: PAGE,
    contents: true,
  };
}

export async function showInbox({ section, params, signal }) {
  const asked = questionOf(params);
  const isOnlyNew = params.get("when") === NEW;
  const list = el("div");
  const head = el("div", { role: "status" });
  const more = el("p", { class: "actions" });
  const days = new Map();
  let [found, news] = await Promise.all([
    get("/v1/inbox", asked, { signal }),
    get("/v1/inbox/news", {}, { signal }),
  ]);
  put(section, el("h1", {}, "What is new"), head, filters(params), list, more);

  function tell(later = 0) {
    const count = `${plural(news.events, "event")}${news.is_cut ? " or more" : ""}`;
    refill(
      head,
      el("p", { class: "lead" }, news.events ? `${count} since you looked.` : "Nothing is new since you looked."),
      news.subscriptions.length > 0 &&
        el("ul", { class: "chips", "aria-label": "New events of" }, news.subscriptions.slice(0, 12).map(chip)),
      el(
        "p",
        { class: "actions" },
        later ? button(`Show ${plural(later, "event")} that just happened`, again, { class: "primary" }) : null,
        news.events ? button("I have seen them", mark) : null,
      ),
    );
  }

  const again = () => dispatchEvent(new HashChangeEvent("hashchange"));

  /** What is shown has been looked at: nothing is new any more, up to the last event when this was shown. */
  async function mark() {
    try {
      await send("PUT", "/v1/inbox/mark", { json: { cursor: news.last } });
      announce("Nothing is new any more.");
      again();
    } catch (error) {
      put(head, problem(error));
    }
  }

  async function add() {
    const fresh = found.events.filter((event) => event.cursor > news.mark);
    const some = isOnlyNew ? fresh : found.events;
    const hasMore = found.next !== null && (!isOnlyNew || fresh.length === found.events.length);
    await learn(some.flatMap(termsToName), signal);
    for (const event of some) dayOf(event).append(line(event));
    refill(more, hasMore ? button(found.is_cut ? "Look further" : "Earlier events", further) : null);
    if (!days.size && !hasMore) refill(list, await nothing(params, signal));
  }

  function line(event) {
    const item = entry(event, signal, false, event.title || event.subscription);
    if (event.cursor > news.mark) {
      item.classList.add("is-unread");
      item.querySelector("summary").prepend(el("span", { class: "unseen" }, "Unread: "));
    }
    return item;
  }

  /** The list of the day of an event, under its heading. */
  function dayOf(event) {
    const day = dayName(event.time);
    if (!days.has(day)) {
      const events = el("ol", { class: "events" });
      days.set(day, events);
      put(list, el("section", { class: "card", "aria-label": day }, el("h2", {}, day), events));
    }
    return days.get(day);
  }

  async function further() {
    try {
      found = await get("/v1/inbox", { ...asked, before: found.next }, { signal });
      await add();
    } catch (error) {
      if (!signal.aborted) refill(more, problem(error));
    }
  }

  /** Look whether there is more by now; it is shown when it is asked for, so that nothing moves under the reader. */
  async function look() {
    if (document.visibilityState !== "visible") return;
    const now = await get("/v1/inbox/news", {}, { signal }).catch(() => news);
    if (now.events > news.events) tell(now.events - news.events);
  }

  tell();
  await add();
  const timer = setInterval(look, EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
}

function chip(each) {
  const count = el("span", { class: "count" }, ` ${each.events.toLocaleString("en")}`);
  return el("li", {}, el("span", {}, link("", { of: each.id, when: NEW }, each.title || each.id), count));
}

function dayName(iso) {
  const parts = { weekday: "long", day: "numeric", month: "long", year: "numeric" };
  const day = (time) => new Date(time).toLocaleDateString("en-GB", parts);
  const name = day(iso);
  if (name === day(Date.now())) return "Today";
  return name === day(Date.now() - DAY) ? "Yesterday" : name;
}

async function nothing(params, signal) {
  if (params.size) return el("p", {}, "Nothing fits. ", link("", {}, "See everything"), ".");
  const { subscriptions } = await get("/v1/subscriptions", { limit: 1 }, { signal });
  if (subscriptions.length) return el("p", {}, "Nothing has happened yet. What subscriptions hear appears here.");
  return el(
    "p",
    {},
    "There is no subscription yet. ",
    link("browse", {}, "See what is there"),
    " and ask for things like those that you find, or ",
    link("write", {}, "write a query"),
    ".",
  );
}

function filters(params) {
  const words = el("input", {
    type: "search",
    value: params.get("q") ?? "",
    maxlength: 200,
    "aria-label": "Words",
    placeholder: "Words in what happened …",
  });
  const when = options(el("select"), PERIODS, params.get("when") ?? "");
  const kind = options(el("select"), [["", "everything"], ...Object.entries(KINDS)], params.get("kind") ?? "");
  const go = (event) => {
    event.preventDefault();
    const wanted = { q: words.value.trim(), when: when.value, kind: kind.value, of: params.getAll("of") };
    location.hash = view("", Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== "")));
  };
  when.addEventListener("change", go);
  kind.addEventListener("change", go);
  return el(
    "form",
    { class: "filters", role: "search", on: { submit: go } },
    el("div", { class: "search" }, words, el("button", {}, "Search")),
    field("What", kind),
    field("When", when),
    params.has("of")
      ? el("p", {}, `Only of ${params.getAll("of").join(", ")}. `, link("", {}, "See everything"))
      : null,
  );
}
