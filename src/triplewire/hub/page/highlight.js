// Which part of a query is what, for colours: by the words of its language, without understanding it.

const COMMON = [
  ["comment", /(?<=^|\s)#[^\n]*/],
  ["string", /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/],
  ["iri", /<[^<>\s"{}|^`\\]*>/],
  ["variable", /[?$]\w+/],
  ["number", /\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b/],
];
const OPERATORS = ["operator", /[<>=!≠≤≥⊒∧∨¬]=?|&&|\|\||[\^/|*+]/];
const NAME = ["name", /[A-Za-z_][\w-]*:[\w.-]*|(?<![\w])\:[A-Za-z_][\w.-]*/];

const words = (list) => ["keyword", new RegExp(`\\b(?:${list})\\b`, "i")];

const LANGUAGES = {
  sparql: [
    ...COMMON,
    words(
      "select|ask|where|filter|optional|union|values|prefix|base|distinct|reduced|in|not|undef|a|true|false|" +
        "contains|strstarts|strends|regex|str|lang|langmatches|datatype|bound|lcase|ucase|strlen|sameterm|isiri|" +
        "isuri|isblank|isliteral|isnumeric",
    ),
    NAME,
    OPERATORS,
  ],
  rules: [...COMMON, words("search|register|where|and|or|not|contains"), NAME, OPERATORS],
  gql: [
    ...COMMON,
    words(
      "select|where|suchthat|union|and|or|not|contains|isa|below|descendantof|atorbelow|ancestorof|above|" +
        "instanceof|directlybelow|is|member",
    ),
    NAME,
    OPERATORS,
  ],
  qel: [...COMMON, ["variable", /\b[A-Z]\w*\b(?!:)/], words("and|or|not|contains"), NAME, OPERATORS],
  conjunctive: [...COMMON, words("and|not|contains"), NAME, OPERATORS],
  xpath: [
    COMMON[1],
    ["variable", /@[\w:-]+/],
    COMMON[4],
    words("and|or|div|mod|contains|starts-with|position|last|count|not|text|node|string|number|normalize-space|sum"),
    ["name", /[A-Za-z_][\w-]*(?::[\w-]+)?/],
    ["operator", /[/|=<>!+*-]+|\.\.?/],
  ],
};

/** The parts of a text: pairs of a kind ("" for the rest) and the text. */
export function parts(text, language) {
  const kinds = LANGUAGES[language] ?? COMMON;
  const any = new RegExp(kinds.map(([, words]) => `(${words.source})`).join("|"), "gim");
  const found = [];
  let end = 0;
  for (const match of text.matchAll(any)) {
    if (!match[0]) continue;
    if (match.index > end) found.push(["", text.slice(end, match.index)]);
    found.push([kinds[match.slice(1).findIndex((group) => group !== undefined)][0], match[0]]);
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push(["", text.slice(end)]);
  return found;
}
