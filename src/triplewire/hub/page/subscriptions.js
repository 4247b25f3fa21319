// The subscriptions that stand: what they are called, whose they are, what they have and when they were told last.

import { choice, el, field, link, options, plural, put, view } from "./dom.js";
import { get } from "./api.js";
import { moment } from "./times.js";

const MOST_COUNTED = 1000;
const SORTS = [
  ["id", "name"],
  ["-last_event", "last event"],
  ["-answers", "answers"],
  ["title", "title"],
  ["-created", "newest"],
];

export async function showSubscriptions({ section, params, signal, me }) {
  const isMine = me.id !== "" && params.get("of") !== "all";
  const asked = { after: params.get("after"), q: params.get("q"), sort: params.get("sort") };
  const found = await get(
    "/v1/subscriptions",
    { ...asked, limit: 100, owner: isMine ? me.id : undefined },
    { signal },
  );
  const here = { q: asked.q, sort: asked.sort, of: isMine || me.id === "" ? null : "all" };
  put(
    section,
    el("h1", {}, "Subscriptions"),
    filters(here, me),
    found.subscriptions.length ? null : nothing(asked.q),
    el("ul", { class: "cards" }, found.subscriptions.map((each) => card(each, me))),
    found.next && el("p", {}, link("subscriptions", { ...here, after: found.next }, "Further")),
  );
}

function nothing(words) {
  if (words) return el("p", {}, "None has these words. ", link("subscriptions", {}, "See all"), ".");
  return el(
    "p",
    {},
    "There is none yet. ",
    link("write", {}, "Write one"),
    ", or ",
    link("browse", {}, "browse"),
    " and ask for things like those that you find.",
  );
}

function filters(here, me) {
  const words = el("input", {
    type: "search",
    value: here.q ?? "",
    maxlength: 200,
    "aria-label": "Words",
    placeholder: "Words in names, texts, owners …",
  });
  const sort = options(el("select"), SORTS, here.sort ?? "id");
  const go = (change) => {
    const wanted = { ...here, q: words.value.trim() || null, sort: sort.value === "id" ? null : sort.value, ...change };
    location.hash = view("subscriptions", wanted);
  };
  sort.addEventListener("change", () => go());
  const whose = [
    ["mine", "mine"],
    ["all", "everybody's"],
  ];
  return el(
    "form",
    { class: "filters", role: "search", on: { submit: (event) => (event.preventDefault(), go()) } },
    el("div", { class: "search" }, words, el("button", {}, "Search")),
    field("Sorted by", sort),
    me.id === "" ? null : choice("Whose", whose, here.of ?? "mine", (of) => go({ of: of === "all" ? "all" : null })),
  );
}

/** Subscriptions with some words in their name or text, to choose from. */
export async function findSubscriptions(words, signal) {
  const { subscriptions } = await get("/v1/subscriptions", { q: words, limit: 20 }, { signal });
  return subscriptions.map((each) => [each.id, each.title || each.id, each.title ? each.id : each.language]);
}

function card(each, me) {
  const text = each.text
    .split("\n")
    .filter((line) => !/^\s*(#|prefix\b|$)/i.test(line))
    .join("\n")
    .trim();
  return el(
    "li",
    { class: "card" },
    el(
      "h2",
      {},
      link("subscription", { id: each.id }, each.title || each.id),
      each.paused_since ? [" ", el("span", { class: "badge late" }, "paused")] : null,
    ),
    each.title ? el("p", { class: "address" }, el("code", {}, each.id)) : null,
    each.description ? el("p", {}, each.description) : null,
    el("p", { class: "hint facts" }, facts(each, me)),
    el("pre", { class: "code" }, text.length > 260 ? `${text.slice(0, 259)}…` : text),
  );
}

/** How many answers it has, when it was told last, whose it is; what may not be seen is left out. */
function facts(each, me) {
  const over = each.answers >= MOST_COUNTED ? "over " : "";
  const told = [
    each.answers === null ? null : `${over}${plural(each.answers, "answer")}`,
    each.last_event ? ["last event ", moment(each.last_event)] : each.answers === null ? null : "no event yet",
    each.owner && each.owner !== me.id ? `of ${each.owner}` : null,
    `${each.language}, ${each.scope === "graph" ? "several documents" : "one document"} for an answer`,
  ].filter(Boolean);
  return told.map((some, number) => [number ? " · " : "", some]);
}
