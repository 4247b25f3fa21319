// Why a row is an answer, and why a resource is none: triples, who states them, conditions, and what was there instead.

import { el, problem, refill } from "./dom.js";
import { post } from "./api.js";
import { statement, termsOf } from "./difference.js";
import { label, learn, shortened, shown } from "./terms.js";
import { documentLinks } from "./sources.js";
import { parts } from "./highlight.js";

/** A part of a query, in its colours. */
function code(text) {
  return el(
    "code",
    {},
    parts(shortened(text), "sparql").map(([kind, some]) => el("span", { class: kind ? `is-${kind}` : null }, some)),
  );
}

/** Triples with the documents that state them, and the conditions that they passed. */
export function reason(told) {
  if (told.triples.length === 0) return el("p", { class: "plain-text" }, shortened(told.text));
  return el(
    "div",
    {},
    el(
      "ul",
      { class: "statements" },
      told.triples.map((each) =>
        el("li", {}, statement(each.triple), el("span", { class: "hint" }, " in ", documentLinks(each.documents))),
      ),
    ),
    told.conditions.length
      ? el(
          "ul",
          { class: "conditions" },
          told.conditions.map((each) => el("li", {}, code(each))),
        )
      : null,
  );
}

/** Ask why a resource is no answer, and draw what is told into a place. */
export async function tellWhyNot(place, subscription, resource, signal) {
  try {
    const path = `/v1/subscriptions/${encodeURIComponent(subscription)}/why-not`;
    const told = await post(path, { resource }, { signal });
    const terms = told.stops.flatMap((stop) => [...termsOf(stop.near), ...Object.values(stop.seen).flat()]);
    await learn([told.resource, ...terms], signal);
    refill(place, whyNot(told));
  } catch (error) {
    if (!signal.aborted) refill(place, problem(error));
  }
}

function whyNot(told) {
  const name = label(told.resource);
  if (told.matches) return el("p", { class: "status good" }, `${name} is an answer.`);
  if (told.earlier.length)
    return el(
      "div",
      {},
      el("p", { class: "status warn" }, `${name} is no answer: what makes it one was there before the subscription.`),
      el("p", {}, "It hears only of what comes after it. Published before: ", documentLinks(told.earlier), "."),
    );
  return el(
    "div",
    {},
    el("p", { class: "status warn" }, `${name} is no answer.`),
    told.is_mentioned ? null : el("p", {}, "No document that counts for the subscription speaks of it."),
    told.stops.map((stop) => stopped(stop, told.stops.length > 1)),
    told.stops.length || !told.is_mentioned
      ? null
      : el("p", {}, "The query can never match: it has no alternative that could."),
    told.document
      ? el(
          "p",
          { class: "hint" },
          "Looked at in ",
          documentLinks([told.document]),
          ", because all triples of an answer must come from one document.",
        )
      : null,
  );
}

/** One alternative of the query: what fits, and the first part that does not. */
function stopped(stop, isOneOfSeveral) {
  const line = (kind, sign, word, text) =>
    el(
      "li",
      { class: kind },
      el("span", { class: "sign", "aria-hidden": "true" }, sign),
      el("span", { class: "unseen" }, word),
      code(text),
    );
  const seen = Object.entries(stop.seen).filter(([, values]) => values.length);
  return el(
    "div",
    { class: "difference" },
    isOneOfSeveral ? el("h3", {}, `Alternative ${stop.alternative}`) : null,
    el(
      "ul",
      {},
      stop.matched.map((text) => line("came", "✓", "this fits: ", text)),
      line("gone", "✗", stop.is_condition ? "this condition fails: " : "nothing fits this: ", stop.failed),
    ),
    seen.length || stop.values?.length
      ? el(
          "p",
          {},
          el("span", { class: "hint" }, "There was "),
          seen.map(([variable, values], number) => [
            number ? "; " : "",
            code(`?${variable}`),
            " = ",
            values.map((value, place) => [place ? ", " : "", shown(value)]),
          ]),
          stop.values?.join(", "),
          ".",
        )
      : null,
    stop.near.length
      ? [
          el("p", { class: "hint" }, "What comes close to it:"),
          el(
            "ul",
            { class: "statements" },
            stop.near.map((text) => el("li", {}, statement(text))),
          ),
        ]
      : null,
    stop.never ? el("p", { class: "problem" }, `It can never match: ${shortened(stop.never)}.`) : null,
  );
}
