// What two sets of triples have in common, and what they do not.

import { el, plural } from "./dom.js";
import { label, parse, property, short, shown, triple } from "./terms.js";

const MOST = 400;

/** Lines that are gone and lines that came, of two lists of triples; null stands for nothing there. */
export function difference(before, after) {
  const old = new Set(before ?? []);
  const fresh = new Set(after ?? []);
  return { gone: [...old].filter((each) => !fresh.has(each)), came: [...fresh].filter((each) => !old.has(each)) };
}

/** The difference as a list, in the order of subjects and properties. */
export function differenceList(before, after) {
  const { gone, came } = difference(before, after);
  const lines = [...gone.map((text) => ["gone", text]), ...came.map((text) => ["came", text])];
  lines.sort((a, b) => order(a[1]).localeCompare(order(b[1])) || b[0].localeCompare(a[0]));
  if (!lines.length) return el("p", { class: "hint" }, "Nothing is different.");
  return el(
    "div",
    { class: "difference" },
    el("p", { class: "hint" }, `${plural(gone.length, "triple")} gone, ${plural(came.length, "triple")} new`),
    el(
      "ul",
      {},
      lines.slice(0, MOST).map(([kind, text]) => line(kind, text)),
    ),
    lines.length > MOST && el("p", { class: "hint" }, `and ${plural(lines.length - MOST, "more line")}`),
  );
}

/** What is different in a few words: each property with its values before and after. */
export function changeLine(before, after, most = 2) {
  if (!Array.isArray(before) || !Array.isArray(after)) return null;
  const { gone, came } = difference(before, after);
  const properties = new Map();
  const note = (texts, side) => {
    for (const [, predicate, object] of texts.map(triple)) {
      if (object === undefined) continue;
      if (!properties.has(predicate)) properties.set(predicate, { gone: [], came: [] });
      properties.get(predicate)[side].push(object.startsWith("_:") ? "…" : label(object));
    }
  };
  note(gone, "gone");
  note(came, "came");
  if (!properties.size) return null;
  const values = (list) => (list.length > 3 ? `${list.length} values` : list.join(", "));
  const told = [...properties].slice(0, most).map(([predicate, side]) => [
    el("span", { class: "property" }, short(parse(predicate).value)),
    " ",
    side.gone.length ? el("del", {}, values(side.gone)) : null,
    side.gone.length && side.came.length ? " → " : null,
    side.came.length ? el("ins", {}, values(side.came)) : null,
  ]);
  const more = properties.size - told.length;
  return [
    told.map((each, number) => [number ? "; " : "", each]),
    more > 0 ? ` and ${plural(more, "other property", "other properties")}` : "",
  ];
}

function order(text) {
  const [subject, predicate] = triple(text);
  return `${subject} ${predicate}`;
}

function line(kind, text) {
  const isGone = kind === "gone";
  return el(
    "li",
    { class: kind },
    el("span", { class: "sign", "aria-hidden": "true" }, isGone ? "−" : "+"),
    el("span", { class: "unseen" }, isGone ? "gone: " : "new: "),
    el("span", {}, statement(text)),
  );
}

/** A triple as links. */
export function statement(text) {
  const [subject, predicate, object] = triple(text);
  if (object === undefined) return text;
  return [shown(subject), " ", property(predicate), " ", shown(object)];
}

/** The terms of some triples, to learn what they are called. */
export function termsOf(triples) {
  return (triples ?? []).flatMap(triple).filter((term) => parse(term).kind === "iri");
}
