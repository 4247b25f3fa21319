// RDF terms as people see them. They come in the spelling of N-Triples, and go out as texts and links.

import { el, link } from "./dom.js";
import { post } from "./api.js";

export const RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
export const RDFS = "http://www.w3.org/2000/01/rdf-schema#";
export const XSD = "http://www.w3.org/2001/XMLSchema#";
export const TYPE = `<${RDF}type>`;

export const PREFIXES = {
  rdf: RDF,
  rdfs: RDFS,
  xsd: XSD,
  owl: "http://www.w3.org/2002/07/owl#",
  dcterms: "http://purl.org/dc/terms/",
  dc: "http://purl.org/dc/elements/1.1/",
  dcat: "http://www.w3.org/ns/dcat#",
  foaf: "http://xmlns.com/foaf/0.1/",
  skos: "http://www.w3.org/2004/02/skos/core#",
  schema: "https://schema.org/",
  vcard: "http://www.w3.org/2006/vcard/ns#",
  rss: "http://purl.org/rss/1.0/",
  void: "http://rdfs.org/ns/void#",
  prov: "http://www.w3.org/ns/prov#",
};

const TERM = /<[^>]*>|_:[^\s]+|"(?:[^"\\]|\\[^])*"(?:@[\w-]+|\^\^<[^>]*>)?/g;
const ESCAPED = { t: "\t", b: "\b", n: "\n", r: "\r", f: "\f" };

function unescaped(text) {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^]))/g, (_, small, large, other) =>
    small || large ? String.fromCodePoint(parseInt(small || large, 16)) : (ESCAPED[other] ?? other),
  );
}

/** A term: its kind (iri, blank, literal), its value, and of a literal its language and datatype. */
export function parse(spelled) {
  if (spelled.startsWith("<")) return { kind: "iri", value: unescaped(spelled.slice(1, -1)), spelled };
  if (!spelled.startsWith('"')) return { kind: "blank", value: spelled, spelled };
  const end = spelled.lastIndexOf('"');
  const suffix = spelled.slice(end + 1);
  const literal = { kind: "literal", value: unescaped(spelled.slice(1, end)), spelled };
  if (suffix.startsWith("@")) return { ...literal, language: suffix.slice(1) };
  return { ...literal, datatype: suffix ? suffix.slice(3, -1) : `${XSD}string` };
}

/** The three terms of a triple, in their spelling. */
export function triple(text) {
  return text.match(TERM) ?? [];
}

/** A short form of an IRI: with a prefix that everybody knows, or its end. */
export function short(iri) {
  for (const [prefix, namespace] of Object.entries(PREFIXES)) {
    const local = iri.startsWith(namespace) ? iri.slice(namespace.length) : null;
    if (local && /^[\w.-]+$/.test(local)) return `${prefix}:${local}`;
  }
  const end = /[^/#:]+[/#]?$/.exec(iri);
  return end && end[0] !== iri ? decoded(end[0].replace(/[/#]$/, "")) : iri;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A sentence with the IRIs in it shortened. */
export function shortened(text) {
  return text.replace(/\^\^<[^>]*>/g, "").replace(/<([^<>\s]+)>/g, (_, iri) => short(iri));
}

// -- what resources are called

const known = new Map();

/** Learn what resources are called, those that are not known yet; a name that cannot be had is none. */
export async function learn(terms, signal) {
  const asked = [...new Set(terms)].filter((term) => term.startsWith("<") && !known.has(term));
  for (let first = 0; first < asked.length; first += 400) {
    const some = asked.slice(first, first + 400);
    const { names } = await post("/v1/names", { resources: some }, { signal });
    for (const term of some) known.set(term, names[term] ?? null);
  }
}

export function remember(term, name) {
  known.set(term, name ?? null);
}

const NAMES = /[#/](prefLabel|label|title|name|fn)>$/;

/** Learn the names of what has none now from triples that were stated once: of what is gone. As everywhere, one without
 *  a language or in English goes first. */
export function rememberFrom(triples) {
  const isFirst = ([, , object]) => /"(@en)?$/.test(object);
  const names = triples.map(triple).filter(([, predicate, object]) => object?.startsWith('"') && NAMES.test(predicate));
  for (const [subject, , object] of [...names.filter(isFirst), ...names])
    if (!known.get(subject)) known.set(subject, parse(object).value);
}

/** What is new may be called something else. */
export function forgetNames() {
  known.clear();
}

/** A term as a plain text. */
export function label(spelled) {
  const term = parse(spelled);
  if (term.kind === "iri") return known.get(spelled) || short(term.value);
  return term.kind === "blank" ? "something without a name" : term.value;
}

/** A term as an element; resources lead to what is known of them. */
export function shown(spelled) {
  const term = parse(spelled);
  if (term.kind === "literal") return literal(term);
  const name = el("a", { href: link("resource", { iri: spelled }).getAttribute("href"), title: term.value });
  name.append(label(spelled));
  if (term.kind === "blank") name.className = "blank";
  return name;
}

function literal(term) {
  const kind = term.language || (term.datatype === `${XSD}string` ? "" : short(term.datatype).replace(/^xsd:/, ""));
  return el(
    "span",
    { class: "literal" },
    el("span", term.language ? { lang: term.language } : {}, term.value),
    kind && el("span", { class: "kind" }, " ", kind),
  );
}

/** A property, which is a resource as well, in smaller words. */
export function property(spelled) {
  return el(
    "a",
    { class: "property", href: link("resource", { iri: spelled }).getAttribute("href"), title: spelled.slice(1, -1) },
    short(parse(spelled).value),
  );
}

/** A way out to the web, for addresses that are on the web: no other scheme becomes a link. */
export function outside(iri) {
  if (!/^https?:\/\//i.test(iri)) return null;
  return el("a", { href: iri, target: "_blank", rel: "noopener noreferrer", class: "outside" }, "Open on the web");
}
