// One resource: what is said of it, who says it, and what refers to it.

import { el, link, plural, put, view } from "./dom.js";
import { get } from "./api.js";
import { label, learn, outside, parse, property, shown, triple, TYPE } from "./terms.js";
import { picker } from "./picker.js";
import { placeCard, placeOf } from "./places.js";
import { tellWhyNot } from "./why.js";
import { findSubscriptions } from "./subscriptions.js";
import { keepAtEdge, queryFor, whyHere } from "./edges.js";

const SHOWN = 12;
const FIRST = [/(title|label|name|prefLabel)$/, /(description|comment|abstract|summary)$/, /#type$/];

/** What says the most comes first: names, then descriptions, then what it is. */
function rank(predicate) {
  const place = FIRST.findIndex((pattern) => pattern.test(parse(predicate).value));
  return place < 0 ? FIRST.length : place;
}

export async function showResource({ section, params, signal, me }) {
  const iri = params.get("iri") ?? "";
  const found = await get("/v1/resource", { iri }, { signal });
  const term = parse(found.iri);
  const [isDocument, place] = await Promise.all([
    get("/v1/document/versions", { uri: term.value }, { signal }).then(Boolean, () => false),
    term.kind === "iri" ? placeOf(found.iri, signal) : null,
    learn([found.iri, ...[...found.content, ...found.referenced_by].flatMap(triple)], signal),
  ]);
  const types = found.triples
    .map(triple)
    .filter(([, predicate]) => predicate === TYPE)
    .map(([, , type]) => type);
  put(
    section,
    el("h1", {}, label(found.iri)),
    el("p", { class: "address" }, el("code", {}, term.value), " ", outside(term.value)),
    types.length
      ? el(
          "p",
          {},
          "Is a ",
          types.map((type, number) => [number ? ", " : "", shown(type)]),
          ".",
        )
      : null,
  );
  if (isDocument)
    put(section, el("p", {}, "It is a document: ", link("document", { uri: term.value }, "see its versions"), "."));
  if (!found.triples.length && !found.references) {
    put(section, el("p", {}, "No document that is there now speaks of it."), place && placeCard(place));
    return;
  }
  put(
    section,
    el(
      "p",
      { class: "actions" },
      el("a", { class: "button primary", href: view("like", { iri: found.iri }) }, "Tell me about things like this"),
    ),
    el(
      "div",
      { class: "with-side wide-side" },
      el(
        "div",
        {},
        found.triples.length
          ? el("section", { class: "card" }, el("h2", {}, "What is said of it"), properties(found.iri, found.content))
          : null,
        place && placeCard(place),
        references(found),
      ),
      el(
        "div",
        {},
        found.documents.length
          ? el(
              "aside",
              { class: "card", "aria-label": "Who says it" },
              el("h2", {}, "Who says it"),
              sources(found.documents),
            )
          : null,
        me?.is_edge && term.kind === "iri" ? await whyHere(found.iri, signal) : null,
        term.kind === "iri" ? keepAtEdge({ rule: () => queryFor(found.iri), signal }) : null,
        whetherAnswer(found.iri, signal),
      ),
    ),
  );
}

/** Of a subscription that is chosen: is it an answer, and if not, why? */
function whetherAnswer(iri, signal) {
  const place = el("div", { "aria-live": "polite" });
  const { element, look } = picker({
    label: "Subscription",
    find: (words) => findSubscriptions(words, signal),
    chosen: (id) => tellWhyNot(place, id, iri, signal),
    signal,
  });
  const details = el(
    "details",
    { on: { toggle: () => details.open && look() } },
    el("summary", {}, "Why is it no answer?"),
    el("p", { class: "hint" }, "Choose a subscription that should have told of it."),
    element,
    place,
  );
  return el("section", { class: "card", "aria-label": "Is it an answer?" }, details);
}

/** Properties with their values; what has no name of its own is told in its place. */
function properties(subject, content, path = []) {
  const groups = new Map();
  for (const [s, p, o] of content.map(triple)) if (s === subject) groups.set(p, [...(groups.get(p) ?? []), o]);
  return el(
    "dl",
    { class: "properties" },
    [...groups]
      .sort(([one], [other]) => rank(one) - rank(other))
      .map(([predicate, values]) => [
        el("dt", {}, property(predicate)),
        values
          .slice(0, 200)
          .map((value) =>
            el(
              "dd",
              {},
              value.startsWith("_:") && !path.includes(value)
                ? properties(value, content, [...path, subject])
                : shown(value),
            ),
          ),
        values.length > 200 && el("dd", { class: "hint" }, `and ${plural(values.length - 200, "more value")}`),
      ]),
  );
}

function references(found) {
  if (!found.references) return null;
  const groups = new Map();
  for (const [s, p] of found.referenced_by.map(triple)) groups.set(p, [...(groups.get(p) ?? []), s]);
  const many = `${found.has_more ? "more than " : ""}${plural(found.references, "reference")}`;
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "What refers to it"),
    el("p", { class: "hint" }, many, found.has_more ? "; properties with very many of them are left out here." : "."),
    el(
      "dl",
      { class: "properties" },
      [...groups].map(([predicate, subjects]) => [
        el("dt", {}, property(predicate), " of"),
        subjects.slice(0, SHOWN).map((subject) => el("dd", {}, shown(subject))),
        el(
          "dd",
          { class: "hint" },
          link(
            "find",
            { where: `${predicate} ${found.iri}` },
            subjects.length > SHOWN ? `all ${subjects.length}` : "as a list, to narrow down",
          ),
        ),
      ]),
    ),
    found.has_more && el("p", {}, link("find", { where: `${TYPE} ${found.iri}` }, "What is of this class")),
  );
}

function sources(documents) {
  return el(
    "ul",
    { class: "plain" },
    documents.map(({ uri, version }) =>
      el(
        "li",
        {},
        link("document", { uri }, uri.split(/[/#]/).filter(Boolean).at(-1) ?? uri),
        el("span", { class: "hint" }, ` version ${version}`),
      ),
    ),
  );
}
