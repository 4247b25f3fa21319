// The subscriptions that stand.

import { choice, el, link, put, view } from "./dom.js";
import { get } from "./api.js";

export async function showSubscriptions({ section, params, signal, me }) {
  const isMine = me.id !== "" && params.get("of") !== "all";
  const after = params.get("after") ?? "";
  const found = await get("/v1/subscriptions", { after, limit: 100, owner: isMine ? me.id : undefined }, { signal });
  const go = (of) => (location.hash = view("subscriptions", { of }));
  put(
    section,
    el("h1", {}, "Subscriptions"),
    me.id === ""
      ? null
      : choice(
          "Whose",
          [
            ["mine", "mine"],
            ["all", "everybody's"],
          ],
          isMine ? "mine" : "all",
          go,
        ),
    found.subscriptions.length
      ? null
      : el(
          "p",
          {},
          "There is none yet. ",
          link("write", {}, "Write one"),
          ", or browse and ask for things like those that you find.",
        ),
    el("ul", { class: "cards" }, found.subscriptions.map(card)),
    found.next && el("p", {}, link("subscriptions", { after: found.next, of: isMine ? "mine" : "all" }, "Further")),
  );
}

/** Subscriptions with some words in their name or text, to choose from. */
export async function findSubscriptions(words, signal) {
  const { subscriptions } = await get("/v1/subscriptions", { limit: 1000 }, { signal });
  const wanted = words.toLowerCase().split(/\s+/);
  return subscriptions
    .filter((each) => wanted.every((word) => `${each.id} ${each.text}`.toLowerCase().includes(word)))
    .map((each) => [each.id, each.id, each.language]);
}

function card(each) {
  const text = each.text
    .split("\n")
    .filter((line) => !/^\s*(#|prefix\b|$)/i.test(line))
    .join("\n")
    .trim();
  return el(
    "li",
    { class: "card" },
    el("h2", {}, link("subscription", { id: each.id }, each.id)),
    el(
      "p",
      { class: "hint" },
      `${each.language}, ${each.scope === "graph" ? "several documents" : "one document"} for an answer`,
    ),
    el("pre", { class: "code" }, text.length > 260 ? `${text.slice(0, 259)}…` : text),
  );
}
