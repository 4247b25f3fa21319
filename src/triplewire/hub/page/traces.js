// The way of an event through the network, and where a document went: asked for, and told line by line.

import { button, el, field, options, plural, problem, put, refill } from "./dom.js";
import { get } from "./api.js";

const MOST = 1000;

/** A card that asks for a way; `shown` hears the places on it. An event may be named by the address. */
export async function traces({ params, signal, shown }) {
  const { subscriptions } = await get("/v1/subscriptions", { limit: MOST }, { signal });
  const ids = subscriptions.filter(({ reach }) => reach !== "hub").map(({ id, title }) => [id, title || id]);
  const told = el("div", { "aria-live": "polite" });
  const ask = async (path, query) => {
    try {
      const found = await get(path, query, { signal });
      refill(told, story(found));
      shown(new Set(found.places));
    } catch (error) {
      if (!signal.aborted) refill(told, problem(error));
    }
  };
  const traced = (id, cursor) => ask(`/v1/network/trace/${encodeURIComponent(id)}`, { cursor });
  const card = el("section", { class: "card", "aria-label": "Where it went" }, el("h2", {}, "Where it went"));
  put(card, ids.length ? events(ids, traced) : null, documents(ask), told);
  if (params.get("subscription")) await traced(params.get("subscription"), params.get("cursor"));
  return card;
}

function story({ lines, places }) {
  return [
    el("p", {}, `${plural(places.length, "place")}:`),
    el(
      "ol",
      {},
      lines.map((line) => el("li", {}, line)),
    ),
  ];
}

function events(ids, traced) {
  const choice = options(el("select"), ids, ids[0][0]);
  const deed = button("Show the way of its last event", () => traced(choice.value));
  return el("div", {}, field("A subscription that reaches into the network", choice), el("p", {}, deed));
}

function documents(ask) {
  const uri = el("input", { type: "url", name: "uri", maxlength: 8000, required: true });
  const submit = (event) => {
    event.preventDefault();
    return ask("/v1/network/spread", { uri: uri.value.trim() });
  };
  return el(
    "form",
    { on: { submit } },
    field("A document that was published here, by its uri", uri),
    el("p", {}, el("button", {}, "Show where it went")),
  );
}
