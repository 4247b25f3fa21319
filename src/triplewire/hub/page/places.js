// Where something stands in the taxonomy: what is above it, what is below it, and how many resources that leads to.

import { el, link, plural } from "./dom.js";
import { get } from "./api.js";
import { label, parse, property, remember, shown, TYPE } from "./terms.js";

export const MOST_COUNTED = 1000;

/** How many, as far as they are counted. */
export function counted(number, most = MOST_COUNTED) {
  return number >= most ? `${most.toLocaleString("en")}+` : number.toLocaleString("en");
}

/** The property by which resources have a node, or one below it. */
export function propertyOf(node) {
  return node.instances ? TYPE : node.used_by;
}

/** A node as a link to the resources that have it, or one below it, with how many they are. */
export function nodeLink(node) {
  const by = propertyOf(node);
  const name = by ? link("find", { where: `${by} isa ${node.iri}` }, label(node.iri)) : shown(node.iri);
  name.title = parse(node.iri).value;
  return [name, el("span", { class: "count" }, ` ${counted(node.resources)}`)];
}

/** The place of a node; null where the taxonomy does not have it. */
export async function placeOf(iri, signal) {
  const place = await get("/v1/place", { iri }, { signal });
  for (const each of [place.node, ...place.parents, ...place.children]) remember(each.iri, each.name);
  return place.parents.length || place.children.length ? place : null;
}

/** Parents, children, and what is below, in a card. */
export function placeCard(place) {
  const { node, parents, children } = place;
  const by = propertyOf(node);
  const line = (word, nodes) =>
    nodes.length > 0 && [el("dt", {}, word), el("dd", {}, nodes.map((each) => el("p", {}, nodeLink(each))))];
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "In the taxonomy"),
    el(
      "dl",
      { class: "properties" },
      line(parents.length === 1 ? "It is below" : "It is below all of", parents),
      line("Below it", children),
      el("dt", {}, "What has it"),
      el(
        "dd",
        {},
        by
          ? [
              link(
                "find",
                { where: `${by} isa ${node.iri}` },
                node.resources >= MOST_COUNTED
                  ? `over ${plural(MOST_COUNTED, "resource")}`
                  : plural(node.resources, "resource"),
              ),
              " with it, or what is below it, as ",
              property(by),
            ]
          : "nothing yet",
      ),
    ),
  );
}
