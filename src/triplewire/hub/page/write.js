// A subscription in the words of any of the languages, checked while it is written.

import { el, field, link, options, put } from "./dom.js";
import { get } from "./api.js";
import { parse, PREFIXES } from "./terms.js";
import { editor } from "./editor.js";
import { panel, prefixesOf } from "./panel.js";
import { draft, draftOf, keep } from "./drafts.js";

const LANGUAGES = [
  [
    "sparql",
    "SPARQL",
    'SELECT ?dataset ?title WHERE {\n  ?dataset a dcat:Dataset ;\n           dcterms:title ?title .\n  FILTER (CONTAINS(LCASE(?title), "water"))\n}',
  ],
  [
    "rules",
    "Rules: search, register, where",
    "search   dcat:Dataset d\nregister d\nwhere    d.dcterms:title contains 'water'",
  ],
  [
    "gql",
    "GQL: graphs with constraints",
    "SELECT ?dataset, ?theme\nWHERE (?dataset, dcat:theme, ?theme), (?dataset, dcterms:title, ?title)\nSUCHTHAT (?title contains 'water')",
  ],
  [
    "qel",
    "QEL: one resource, many properties",
    'q(?dataset) :- (?dataset, rdf:type, dcat:Dataset), (?dataset, dcat:keyword, ?word),\n               (?word = "real time" or ?word = "beach")',
  ],
  [
    "conjunctive",
    "Conjunctive: triples joined by variables",
    '?dataset, ?title : (?dataset, dcat:keyword, "beach") ^ (?dataset, dcterms:title, ?title)',
  ],
  ["xpath", "XPath, for XML documents", "/menu/softdrinks[price > 1.80]/name"],
];

export async function showWrite({ section, params, signal }) {
  const id = params.get("edit");
  const edited = id ? await get(`/v1/subscriptions/${encodeURIComponent(id)}`, {}, { signal }) : null;
  const kept = edited ? draftOf(edited) : draft();
  const examples = Object.fromEntries(LANGUAGES.map(([name, , example]) => [name, example]));
  const language = options(
    el("select"),
    LANGUAGES.map(([name, text]) => [name, text]),
    kept.language,
  );
  const prefixes = el("textarea", { rows: 4, value: kept.prefixes, spellcheck: "false", class: "code" });
  const sheet = editor({
    text: kept.text || examples[kept.language],
    language: kept.language,
    label: "Query",
    changed: typed,
  });
  const go = el("button", { type: "button", class: "quiet", hidden: true }, "Go to the mistake");
  const side = panel({
    asked: () => ({
      text: sheet.text,
      language: language.value,
      prefixes: { ...PREFIXES, ...prefixesOf(prefixes.value) },
    }),
    wrong: (mistake) => {
      sheet.mark(mistake?.line ? mistake : null);
      go.hidden = !mistake?.line;
      go.onclick = () => sheet.goTo(mistake.line, mistake.column);
    },
    correct: (term, other) => {
      sheet.text = corrected(sheet.text, term, other, { ...PREFIXES, ...prefixesOf(prefixes.value) });
      typed();
    },
    edited,
    signal,
  });

  function typed() {
    if (!edited) keep({ text: sheet.text, prefixes: prefixes.value, language: language.value });
    side.changed();
  }

  language.addEventListener("change", () => {
    const isExample = Object.values(examples).includes(sheet.text.trim()) || !sheet.text.trim();
    if (isExample) sheet.text = examples[language.value];
    sheet.language = language.value;
    typed();
  });
  prefixes.addEventListener("input", typed);

  put(
    section,
    el("h1", {}, edited ? `Edit ${edited.title || edited.id}` : "Subscribe"),
    edited
      ? el("p", { class: "lead" }, "It keeps its name, its log and its deliveries.")
      : el(
          "p",
          { class: "lead" },
          "Write what you want to hear of; it is checked as you write. Or find something you like first, and ask for ",
          link("browse", {}, "things like it"),
          ".",
        ),
    el(
      "div",
      { class: "workbench" },
      el(
        "div",
        {},
        field("Language", language),
        sheet.element,
        go,
        el(
          "details",
          {},
          el("summary", {}, "Prefixes"),
          field(
            "More prefixes, one on a line",
            prefixes,
            `Known already: ${Object.keys(PREFIXES).join(", ")}. For example: theme https://data.example/theme/`,
          ),
        ),
      ),
      side.element,
    ),
  );
}

/** The text with another IRI in the place of one, written in the way that the first was. */
function corrected(text, term, other, prefixes) {
  const [from, to] = [parse(term).value, parse(other).value];
  const declared = [...text.matchAll(/PREFIX\s+([\w-]*):\s*<([^<>\s]*)>/gi)].map(([, prefix, iri]) => [prefix, iri]);
  const known = { ...prefixes, ...Object.fromEntries(declared) };
  const named = (prefix) => {
    const [own] = [prefix, ...Object.keys(known)].filter((each) => known[each] && to.startsWith(known[each]));
    return own === undefined ? `<${to}>` : `${own}:${to.slice(known[own].length)}`;
  };
  return text
    .replaceAll(`<${from}>`, `<${to}>`)
    .replace(/(?<![\w<?$"'])([A-Za-z][\w-]*|):([\w.-]*\w)/g, (whole, prefix, local) =>
      known[prefix] !== undefined && known[prefix] + local === from ? named(prefix) : whole,
    );
}
