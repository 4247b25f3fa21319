// Resources that have something in common: facets to narrow them down, and a subscription to hear of more of them.

import { el, link, plural, put, view } from "./dom.js";
import { get } from "./api.js";
import { label, learn, parse, remember, shown, triple, TYPE } from "./terms.js";
import { openDraft } from "./drafts.js";
import { nodeLink, placeOf } from "./places.js";
import { sparqlOf } from "./wish.js";

/** `<p> <o>` or `<p> isa <c>`, as a property, a value, and whether what is below counts. */
function narrowing(text) {
  const [predicate, value] = triple(text.replace(/^(<[^>]*>)\s+isa\s+/, "$1 "));
  return { predicate, value, isA: /^<[^>]*>\s+isa\s/.test(text), text };
}

export async function showFind({ section, params, signal }) {
  const where = params.getAll("where");
  const wanted = where.map(narrowing);
  const found = await get("/v1/facets", { where, limit: 200 }, { signal });
  for (const each of [...found.resources, ...found.facets.flatMap((facet) => facet.values)])
    remember(each.term, each.name);
  await learn(
    wanted.map((each) => each.value),
    signal,
  );
  const node = wanted.find((each) => each.isA);
  const place = node ? await placeOf(node.value, signal) : null;
  const first = wanted.find((each) => each.predicate === TYPE) ?? wanted[0];
  const many = found.has_more ? `over ${plural(found.count, "resource")}` : plural(found.count, "resource");
  const shownOf = found.count > found.resources.length ? `, of which ${found.resources.length} are listed` : "";
  put(
    section,
    el("h1", {}, label(first.value)),
    el(
      "ul",
      { class: "chips", "aria-label": "Narrowed by" },
      wanted.map((each) => chip(each, where)),
    ),
    el(
      "p",
      { class: "actions" },
      el(
        "button",
        {
          type: "button",
          class: "primary",
          on: { click: () => openDraft({ text: sparqlOf(wishes(wanted)), language: "sparql" }) },
        },
        "Subscribe to these",
      ),
      el("span", { class: "hint" }, `${many}${shownOf}.`),
    ),
    place && neighbours(place),
    el(
      "div",
      { class: "with-side" },
      el(
        "aside",
        { "aria-label": "Narrow down" },
        el(
          "details",
          { class: "narrowing", open: matchMedia("(min-width: 56rem)").matches },
          el("summary", {}, el("h2", {}, "Narrow down")),
          facets(found, where),
        ),
      ),
      el("section", { "aria-label": "Resources" }, resources(found)),
    ),
  );
}

/** What is above and below the class or theme, to widen or to narrow the list by. */
function neighbours(place) {
  const line = (word, nodes) =>
    nodes.length > 0 &&
    el(
      "p",
      {},
      el("span", { class: "hint" }, `${word} `),
      nodes.map((each, number) => [number ? " · " : "", nodeLink(each)]),
    );
  return el(
    "nav",
    { class: "neighbours", "aria-label": "In the taxonomy" },
    line("Above it:", place.parents),
    line("Below it:", place.children),
    el("p", {}, link("resource", { iri: place.node.iri }, `About ${label(place.node.iri)}`)),
  );
}

function wishes(wanted) {
  return wanted.map((each) => ({ predicate: each.predicate, value: each.value, how: each.isA ? "isa" : "is" }));
}

function chip(each, where) {
  const others = where.filter((text) => text !== each.text);
  const text = [el("span", { class: "property" }, label(each.predicate)), each.isA ? " is a " : " ", label(each.value)];
  const away = others.length && link("find", { where: others }, "×");
  if (away) away.setAttribute("aria-label", `Without ${label(each.predicate)} ${label(each.value)}`);
  return el("li", {}, el("span", {}, text), away || null);
}

function resources(found) {
  if (!found.resources.length) return el("p", {}, "Nothing has all of that.");
  const sorted = [...found.resources].sort((a, b) => label(a.term).localeCompare(label(b.term)));
  return el(
    "ul",
    { class: "resources" },
    sorted.map((each) =>
      el("li", {}, shown(each.term), each.name ? el("p", { class: "hint" }, parse(each.term).value) : null),
    ),
  );
}

function facets(found, where) {
  const useful = found.facets.filter((facet) => facet.values_in_all > 1 || facet.resources < found.resources.length);
  const list = useful.map((facet) => {
    const isTelling = facet.values.some((value) => value.resources > 1);
    return el(
      "details",
      { open: isTelling, class: "facet" },
      el(
        "summary",
        {},
        facet.name || label(facet.property),
        el("span", { class: "count" }, ` ${facet.resources.toLocaleString("en")}`),
      ),
      el(
        "ul",
        {},
        facet.values.map((value) => valueLine(facet, value, where)),
      ),
      facet.values_in_all > facet.values.length &&
        el("p", { class: "hint" }, `and ${plural(facet.values_in_all - facet.values.length, "other value")}`),
    );
  });
  return list.length ? list : el("p", { class: "hint" }, "All of them are alike.");
}

function valueLine(facet, value, where) {
  const text = `${facet.property} ${value.term}`;
  const short = label(value.term);
  const shownAs = short.length > 60 ? `${short.slice(0, 59)}…` : short;
  return el(
    "li",
    {},
    where.includes(text)
      ? el("strong", {}, shownAs)
      : el("a", { href: view("find", { where: [...where, text] }) }, shownAs),
    el("span", { class: "count" }, ` ${value.resources.toLocaleString("en")}`),
  );
}
