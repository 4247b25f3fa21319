// "Tell me about things like this": a resource's properties to choose from, which become a query.

import { button, el, options, problem, put, refill } from "./dom.js";
import { get } from "./api.js";
import { label, learn, parse, short, triple, TYPE } from "./terms.js";
import { parts } from "./highlight.js";
import { openDraft } from "./drafts.js";
import { panel } from "./panel.js";
import { sparqlOf, ways } from "./wish.js";
import { keepAtEdge } from "./edges.js";

const MOST = 60;

export async function showLike({ section, params, signal }) {
  const iri = params.get("iri") ?? "";
  const found = await get("/v1/resource", { iri }, { signal });
  await learn([found.iri, ...[...found.triples, ...found.referenced_by].flatMap(triple)], signal);
  const wishes = [];
  const code = el("pre", { class: "code query", tabindex: "0", "aria-label": "The query" });
  let query = "";

  function rewrite() {
    query = sparqlOf(chosen(wishes), nameOf(found));
    if (!chosen(wishes).length) query = "";
    refill(
      code,
      ...parts(query, "sparql").map(([kind, text]) => el("span", { class: kind ? `is-${kind}` : null }, text)),
    );
    side.changed();
  }

  const side = panel({
    asked: () => ({ text: query, language: "sparql", prefixes: {} }),
    wrong: () => {},
    example: found.iri,
    isApart: () => areApart(chosen(wishes)),
    signal,
  });
  const context = { rewrite, signal };
  put(
    section,
    el("h1", {}, `Things like ${label(found.iri)}`),
    el(
      "p",
      { class: "lead" },
      "Choose what matters. You hear of everything that has all of what you choose: what is there, and what comes.",
    ),
    el(
      "div",
      { class: "workbench" },
      el(
        "div",
        {},
        el(
          "section",
          { class: "card", "aria-label": "What it has" },
          el("h2", {}, "It has"),
          list(own(found), context, wishes),
        ),
        found.referenced_by.length
          ? el(
              "section",
              { class: "card" },
              el("h2", {}, "It is referred to"),
              list(
                found.referenced_by.slice(0, MOST).map((text) => {
                  const [subject, predicate] = triple(text);
                  return { predicate, value: subject, documents: found.stated_by[text] };
                }),
                { ...context, back: true },
                wishes,
              ),
            )
          : null,
      ),
      el(
        "div",
        {},
        el(
          "section",
          { class: "card" },
          el("h2", {}, "The query"),
          code,
          el(
            "p",
            { class: "actions" },
            button("Edit it as text", () => openDraft({ text: query, scope: side.scope() })),
          ),
        ),
        side.element,
        keepAtEdge({ rule: () => query, signal }),
      ),
    ),
  );
  rewrite();
}

function nameOf(found) {
  const type = found.triples.map(triple).find(([, predicate]) => predicate === TYPE)?.[2];
  const word = type && /[A-Za-z]\w*$/.exec(parse(type).value)?.[0];
  return word ? word[0].toLowerCase() + word.slice(1) : "thing";
}

/** Only what is ticked, and of that only what is ticked inside. */
function chosen(wishes) {
  return wishes.filter((wish) => wish.isChosen).map((wish) => ({ ...wish, wishes: chosen(wish.wishes) }));
}

/** What a resource has, besides what has no name, with the documents that state it. */
function own(found) {
  return found.triples
    .map((text) => ({ text, terms: triple(text) }))
    .filter(({ terms: [, , value] }) => !value.startsWith("_:"))
    .slice(0, MOST)
    .map(({ text, terms: [, predicate, value] }) => ({ predicate, value, documents: found.stated_by[text] }));
}

/** Whether no document states all that is chosen. */
function areApart(wishes) {
  const stated = (wish) => [new Set(wish.documents), ...wish.wishes.flatMap(stated)];
  const [first, ...others] = wishes.flatMap(stated);
  return first !== undefined && ![...first].some((uri) => others.every((each) => each.has(uri)));
}

function list(found, context, wishes) {
  return el(
    "ul",
    { class: "wishes" },
    found.map((each) => line(each, context, wishes)),
  );
}

let numbers = 0;

function line({ predicate, value, documents }, context, wishes) {
  const term = parse(value);
  const isType = predicate === TYPE && !context.back;
  const wish = {
    predicate,
    value,
    documents,
    how: isType ? "isa" : "is",
    back: context.back ?? false,
    isChosen: isType,
    text: term.value,
    from: term.value,
    to: term.value,
    wishes: [],
  };
  wishes.push(wish);
  const id = `wish-${(numbers += 1)}`;
  const tick = el("input", {
    type: "checkbox",
    id,
    checked: wish.isChosen,
    on: { change: () => choose(tick.checked) },
  });
  const how = options(
    el("select", { "aria-label": `${short(parse(predicate).value)} must be` }),
    context.back
      ? [
          ["is", "exactly this"],
          ["any", "anything; tell me what"],
        ]
      : ways(term),
    wish.how,
  );
  const limits = el("span", { class: "limits" });
  const inside = el("div", { class: "inside" });
  const rest = el(
    "div",
    { class: "how", hidden: !wish.isChosen },
    how,
    limits,
    term.kind === "iri" && !isType ? follow() : null,
    inside,
  );

  function choose(isChosen) {
    wish.isChosen = isChosen;
    rest.hidden = !isChosen;
    context.rewrite();
  }

  function input(what, key) {
    return el("input", {
      type: "text",
      value: wish[key],
      "aria-label": `${short(parse(predicate).value)} ${what}`,
      on: { input: (event) => ((wish[key] = event.target.value), context.rewrite()) },
    });
  }

  function chose() {
    wish.how = how.value;
    const fields = {
      contains: [["contains", "text"]],
      least: [["at least", "from"]],
      most: [["at most", "to"]],
      between: [
        ["at least", "from"],
        ["at most", "to"],
      ],
    };
    refill(limits, ...(fields[wish.how] ?? []).map(([what, key]) => input(what, key)));
    context.rewrite();
  }

  // A reference can be followed: then it is about what the other resource has, and no longer about which one it is.
  function follow() {
    const open = button(
      "about it …",
      async () => {
        open.disabled = true;
        try {
          const found = await get("/v1/resource", { iri: value }, { signal: context.signal });
          await learn(found.triples.flatMap(triple), context.signal);
          const inner = own(found);
          how.value = "any";
          refill(
            inside,
            inner.length
              ? list(inner, { ...context, back: undefined }, wish.wishes)
              : el("p", { class: "hint" }, "Nothing is said of it."),
          );
          chose();
        } catch (error) {
          refill(inside, problem(error));
        }
      },
      { class: "quiet", "aria-label": `Choose among what ${label(value)} has` },
    );
    return open;
  }

  how.addEventListener("change", chose);
  return el(
    "li",
    {},
    el(
      "div",
      { class: "wish" },
      tick,
      el(
        "label",
        { for: id },
        el("span", { class: "property" }, short(parse(predicate).value)),
        context.back ? " of " : " ",
        el("span", {}, label(value)),
      ),
    ),
    rest,
  );
}
