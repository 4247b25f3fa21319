// From what a person clicked to SPARQL. A wish is a property of the thing that is asked for, and what its value must be:
// `is` this value, `any` value (which is then told), `isa` (this class or one below it), `contains` a text, `least`,
// `most`, or `between`. `back` turns the property around; `wishes` are wishes about the value.

import { parse, PREFIXES, RDFS, short, TYPE, XSD } from "./terms.js";

const NUMBERS = [
  "integer",
  "decimal",
  "double",
  "float",
  "long",
  "int",
  "short",
  "nonNegativeInteger",
  "positiveInteger",
];
const TIMES = ["date", "dateTime", "gYear"];

/** What can be asked of a value: pairs of how, and that in words. */
export function ways(term) {
  if (term.kind === "blank") return [["any", "anything; tell me what"]];
  if (term.kind === "iri")
    return [
      ["is", "exactly this"],
      ["isa", "this, or what is below it"],
      ["any", "anything; tell me what"],
    ];
  const type = term.datatype?.startsWith(XSD) ? term.datatype.slice(XSD.length) : "";
  const ordered = NUMBERS.includes(type) || TIMES.includes(type);
  const range = ordered
    ? [
        ["least", "at least"],
        ["most", "at most"],
        ["between", "between"],
      ]
    : [["contains", "contains"]];
  return [["is", "exactly this"], ...range, ["any", "anything; tell me what"]];
}

/** The query for things that have all of these. */
export function sparqlOf(wishes, name = "thing") {
  const used = new Map();
  const taken = new Set([name]);
  const answer = [name];
  const lines = wishes.flatMap((wish) => linesOf(`?${name}`, wish, { used, taken, answer }));
  const prefixes = [...used].map(([prefix, namespace]) => `PREFIX ${prefix}: <${namespace}>`);
  const select = `SELECT ${answer.map((each) => `?${each}`).join(" ")} WHERE {`;
  return [...prefixes.sort(), prefixes.length ? "" : null, select, ...lines.map((line) => `  ${line}`), "}"]
    .filter((line) => line !== null)
    .join("\n");
}

function linesOf(subject, wish, state) {
  const predicate = wish.predicate === TYPE ? "a" : spelled(wish.predicate, state.used);
  const stated = (value, path = predicate) =>
    wish.back ? `${value} ${path} ${subject} .` : `${subject} ${path} ${value} .`;
  const inside = wish.wishes ?? [];
  if (wish.how === "is" && !inside.length) return [stated(spelled(wish.value, state.used))];
  if (wish.how === "isa" && !inside.length) {
    state.used.set("rdfs", RDFS);
    const path = wish.predicate === TYPE ? spelled(TYPE, state.used) : predicate;
    return [stated(spelled(wish.value, state.used), `${path}/rdfs:subClassOf*`)];
  }
  const variable = fresh(wish.predicate, state.taken, wish.back);
  if (wish.how === "any") state.answer.push(variable.slice(1)); // also if more is asked of it
  const tests = test(variable, wish, state);
  return [stated(variable), ...tests, ...inside.flatMap((each) => linesOf(variable, each, state))];
}

function test(variable, wish, state) {
  const value = () => spelled(wish.value, state.used);
  if (wish.how === "contains")
    return [`FILTER (CONTAINS(LCASE(STR(${variable})), ${quoted(wish.text.toLowerCase())}))`];
  if (wish.how === "least") return [`FILTER (${variable} >= ${bound(wish.value, wish.from, state.used)})`];
  if (wish.how === "most") return [`FILTER (${variable} <= ${bound(wish.value, wish.to, state.used)})`];
  if (wish.how === "between")
    return [
      `FILTER (${variable} >= ${bound(wish.value, wish.from, state.used)} && ${variable} <= ${bound(wish.value, wish.to, state.used)})`,
    ];
  if (wish.how === "is") return [`FILTER (${variable} = ${value()})`];
  return [];
}

/** A limit that was typed, of the type of the value that it replaces. */
function bound(value, typed, used) {
  const { datatype } = parse(value);
  if (/^[+-]?\d+(\.\d+)?$/.test(typed) && !TIMES.includes(datatype.slice(XSD.length))) return typed;
  return spelled(`${quoted(typed)}^^<${datatype}>`, used);
}

function quoted(text) {
  const escapes = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return `"${text.replace(/[\\"\n\r\t]/g, (character) => escapes[character])}"`;
}

/** A term as SPARQL has it, with a prefix where one is known. */
function spelled(text, used) {
  const term = parse(text);
  if (term.kind === "literal") {
    const type = term.datatype?.slice(XSD.length);
    if (term.language) return `${quoted(term.value)}@${term.language}`;
    if (type === "string") return quoted(term.value);
    if ((type === "integer" && /^\d+$/.test(term.value)) || type === "boolean") return term.value;
    return `${quoted(term.value)}^^${spelled(`<${term.datatype}>`, used)}`;
  }
  const name = short(term.value);
  const prefix = /^(\w+):[A-Za-z_][\w-]*$/.exec(name)?.[1];
  if (!prefix || !(prefix in PREFIXES) || !term.value.startsWith(PREFIXES[prefix])) return text;
  used.set(prefix, PREFIXES[prefix]);
  return name;
}

function fresh(predicate, taken, back) {
  const word = /[A-Za-z]\w*$/.exec(parse(predicate).value.replace(/[/#]$/, ""))?.[0] ?? "value";
  const stem = (back ? `${word}Of` : word).replace(/^./, (first) => first.toLowerCase());
  let name = stem;
  for (let number = 2; taken.has(name); number += 1) name = `${stem}${number}`;
  taken.add(name);
  return `?${name}`;
}
