// Edges: hubs that keep what rules register here; and, where this hub is one, what it keeps and why.

import { button, el, field, options, plural, problem, put, refill, table } from "./dom.js";
import { get, post, send } from "./api.js";
import { label, learn, shown } from "./terms.js";
import { ago, exact } from "./times.js";

/** "Keep this at my edge": asks `rule` for a query when it is pressed; nothing where the account has no edge. */
export function keepAtEdge({ rule, signal }) {
  const place = el("div", { class: "keep" });
  get("/v1/edges", {}, { signal }).then(
    (edges) => edges.length && put(place, form(edges, rule, signal)),
    () => {}, // what cannot be asked now is not offered
  );
  return place;
}

function form(edges, rule, signal) {
  const which = options(
    el("select"),
    edges.map(({ name }) => [name, name]),
  );
  const said = el("p", { class: "hint", role: "status" });
  const keep = button("Keep this at my edge", async () => {
    const text = rule();
    if (!text) return refill(said, "Choose what to keep first.");
    try {
      const edge = which.value;
      await post(`/v1/edges/${encodeURIComponent(edge)}/rules`, { text, language: "sparql" }, { signal });
      refill(said, `${edge} keeps it as soon as it asks.`);
    } catch (error) {
      refill(said, problem(error));
    }
  });
  return el(
    "section",
    { class: "card", "aria-label": "Keep it elsewhere" },
    edges.length > 1 ? field("Edge", which) : null,
    el("p", { class: "actions" }, keep),
    said,
  );
}

/** A query that registers one resource. */
export const queryFor = (iri) => `SELECT ?it { ?it ?property ?value FILTER(?it = ${iri}) }`;

/** What this edge keeps, why, how old it is, and what the link to its hub does. */
export async function showEdge({ section, signal, may }) {
  const found = await get("/v1/edge", {}, { signal });
  const age = found.confirmed ? `as of ${ago(found.confirmed)}` : "nothing was told yet";
  put(
    section,
    el("h1", {}, "This edge"),
    el("p", { class: "lead" }, "It keeps what its rules register at ", el("code", {}, found.hub), ", ", age, "."),
    el(
      "p",
      { role: "status" },
      found.problem ? `The hub cannot be reached: ${found.problem}` : "The link to the hub works.",
    ),
    found.link ? el("p", { class: "hint" }, linkSaid(found.link)) : null,
    el("p", {}, `${plural(found.cached, "document")} cached, and ${found.private} private: these are told to nobody.`),
    el(
      "section",
      { class: "card", "aria-label": "Rules" },
      el("h2", {}, "Rules"),
      found.rules.length ? rules(found.rules, may("admin"), signal) : el("p", {}, "It follows none yet."),
    ),
  );
}

/** What the channel to a hub does. A lag that is not known is not 0. */
export function linkSaid({ state, since, peer, heard, lag }) {
  if (state === "idle") return "The hub was not dialled yet.";
  if (state === "away") return `There is no channel to the hub since ${exact(since)}; it is dialled again and again.`;
  const behind = lag === null ? "how far it is behind is not known" : `${plural(lag, "batch", "batches")} behind`;
  return `Connected to ${peer} since ${exact(since)}, last heard ${ago(heard)}, ${behind}.`;
}

function rules(found, mayChange, signal) {
  const heads = ["Rule", "State", "Keeps", "Text", ...(mayChange ? [""] : [])];
  const letGo = (rule) =>
    button(`Let go of ${rule.id}`, async (event) => {
      const row = event.target.closest("tr");
      await send("DELETE", `/v1/edge/rules/${encodeURIComponent(rule.id)}`, { signal });
      row.remove();
    });
  return table(
    "The rules of this edge",
    heads,
    found.map((rule) => [
      rule.id,
      rule.reason ? `${rule.state}: ${rule.reason}` : rule.state,
      plural(rule.resources, "resource"),
      el("code", {}, rule.text),
      ...(mayChange ? [letGo(rule)] : []),
    ]),
    { stacked: true },
  );
}

/** Why something is said of a resource at this edge. */
export async function whyHere(iri, signal) {
  const found = await get("/v1/edge/cause", { iri }, { signal });
  await learn(found.parents, signal);
  const causes = [
    ...found.rules.map((rule) => ["The rule ", el("code", {}, rule), " registers it."]),
    ...found.parents.map((parent) => [shown(parent), " holds it."]),
    ...found.private.map((uri) => ["The private document ", el("code", {}, uri), " speaks of it."]),
  ];
  if (found.private.length && !found.is_cached) causes.push(["No rule brings what the hub says of it."]);
  return el(
    "aside",
    { class: "card", "aria-label": "Why it is here" },
    el("h2", {}, "Why it is here"),
    causes.length
      ? el("ul", {}, ...causes.map((cause) => el("li", {}, cause)))
      : el("p", {}, `No rule brings ${label(iri)}.`),
  );
}
