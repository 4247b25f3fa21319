// What is there: classes and the taxonomy as trees, and search.

import { button, el, link, plural, put, refill, view } from "./dom.js";
import { get } from "./api.js";
import { label, parse, property, remember, shown } from "./terms.js";
import { nodeLink } from "./places.js";

export async function showBrowse({ section, signal, may }) {
  const [{ classes, has_more: hasMore }, { totals }] = await Promise.all([
    get("/v1/classes", {}, { signal }),
    get("/v1/statistics", { count: 1 }, { signal }),
  ]);
  for (const each of classes) remember(each.iri, each.name);
  put(
    section,
    el("h1", {}, "What is there"),
    el(
      "p",
      { class: "lead" },
      link("documents", {}, count(totals.documents, "document", totals.counted_to)),
      `, ${plural(totals.triples, "triple")}, `,
      link("subscriptions", {}, count(totals.subscriptions, "subscription", totals.counted_to)),
      `, ${plural(totals.events, "event")} told.`,
    ),
    searchForm(""),
  );
  if (!classes.length) {
    put(
      section,
      el(
        "p",
        {},
        "Nothing is published yet. ",
        may("publisher")
          ? [
              link("publish", {}, "Publish a document"),
              ", or use the command ",
              el("code", {}, "triplewire publish"),
              ".",
            ]
          : "Whoever publishes here has not begun.",
      ),
    );
    return;
  }
  const isClass = (each) => each.instances > 0;
  put(
    section,
    el(
      "div",
      { class: "columns" },
      part(
        "Classes",
        "Kinds of things that documents speak of.",
        tree(classes, isClass),
      ),
      part(
        "Taxonomy",
        "What is below what. A subscription can ask for all that is below.",
        tree(classes, (each) => !isClass(each)),
      ),
    ),
  );
  if (hasMore)
    put(
      section,
      el(
        "p",
        { class: "hint" },
        `There are more than ${classes.length.toLocaleString("en")} classes; search for the others.`,
      ),
    );
}

function count(number, word, most) {
  return number >= most ? `over ${plural(most, word)}` : plural(number, word);
}

function part(title, text, list) {
  return list && el("section", { class: "card" }, el("h2", {}, title), el("p", { class: "hint" }, text), list);
}

/** Those that are wanted, each below its parents; one with several parents is told below each of them. */
function tree(classes, isWanted) {
  const wanted = new Map(classes.filter(isWanted).map((each) => [each.iri, each]));
  const below = new Map();
  for (const each of wanted.values()) {
    const parents = each.parents.filter((parent) => wanted.has(parent));
    for (const parent of parents.length ? parents : [""]) below.set(parent, [...(below.get(parent) ?? []), each]);
  }
  const list = (parent, path) => {
    const found = (below.get(parent) ?? []).filter((each) => !path.includes(each.iri));
    found.sort((a, b) => b.resources - a.resources || label(a.iri).localeCompare(label(b.iri)));
    return found.length
      ? el(
          "ul",
          { class: "tree" },
          found.map((each) => el("li", {}, nodeLink(each), list(each.iri, [...path, each.iri]))),
        )
      : null;
  };
  return list("", []);
}

function searchForm(text) {
  const input = el("input", {
    type: "search",
    name: "q",
    value: text,
    required: true,
    maxlength: 200,
    "aria-label": "Words",
    placeholder: "Words in titles, descriptions, addresses …",
  });
  const submit = (event) => {
    event.preventDefault();
    location.hash = view("search", { q: input.value });
  };
  return el(
    "form",
    { class: "search", role: "search", on: { submit } },
    input,
    el("button", { class: "primary" }, "Search"),
  );
}

export async function showSearch({ section, params, signal }) {
  const words = params.get("q") ?? "";
  const list = el("ul", { class: "resources" });
  const more = el("p");
  put(section, el("h1", {}, `Search: ${words}`), searchForm(words), list, more);

  const told = new Set(); // a theme may be found in the taxonomy first, and as a term later
  async function next(before) {
    refill(more, "Looking …");
    const found = await get("/v1/search", { q: words, before }, { signal });
    for (const hit of found.hits) remember(hit.resource, hit.name);
    const fresh = found.hits.filter((hit) => !told.has(hit.resource) && told.add(hit.resource));
    put(list, fresh.map(hitLine));
    refill(
      more,
      found.next === null
        ? `${plural(list.childElementCount, "resource")} found.`
        : button(list.childElementCount ? "Look further" : "Nothing yet; look further", () => next(found.next)),
    );
  }

  await next(undefined);
}

function hitLine(hit) {
  const where =
    hit.property &&
    el("p", { class: "hint" }, property(hit.property), " ", el("span", {}, parse(hit.value).value.slice(0, 300)));
  return el("li", {}, shown(hit.resource), where || el("p", { class: "hint" }, hit.resource.slice(1, -1)));
}
