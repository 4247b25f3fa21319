// The tree of units of a hierarchy: who controls each, how far each is behind, and what flows between it and the unit
// around it.

import { el, plural } from "./dom.js";

/** A place in words is its kind, then the names of the units around it, the widest first. */
function pathOf(place) {
  const [, path] = place.split(/ (.*)/s);
  return path.split("/").filter(Boolean);
}

const inWords = (names, depth) => (names.length ? `${depth ? "unit" : "broker"} ${names.join("/")}` : "unit /");

/** All places, as a list of lists; those in `way` are marked. */
export function unitTree(own, found, way) {
  const hosts = new Map(own.members.flatMap((member) => member.stands_at_places.map((place) => [place, member])));
  const ends = new Map(
    found.hubs.flatMap((hub) => [...hub.links, ...hub.inside].map((each) => [`${each.place}>${each.to_place}`, each])),
  );
  const places = [...hosts.keys()].sort((one, other) => compare(pathOf(one), pathOf(other)));
  const isIn = (path, names) => path.length === names.length + 1 && names.every((name, depth) => name === path[depth]);
  const inside = (names) => places.filter((place) => isIn(pathOf(place), names));
  const branch = (place) => {
    const names = pathOf(place);
    const below = place.startsWith("unit ") ? inside(names) : [];
    return el(
      "li",
      { class: way.has(place) ? "on-the-way" : null },
      el("strong", {}, names.at(-1) ?? "The network"),
      " ",
      ...standing(place, hosts.get(place), found),
      way.has(place) ? el("em", {}, " It came by here.") : null,
      names.length ? el("p", { class: "hint" }, flow(place, inWords(names.slice(0, -1), 1), ends)) : null,
      below.length ? el("ul", { class: "tree" }, below.map(branch)) : null,
    );
  };
  return el("ul", { class: "tree units", "aria-label": "The units of this network" }, branch("unit /"));
}

/** Numbers of brokers count as numbers. */
function compare(one, other) {
  for (let depth = 0; depth < Math.min(one.length, other.length); depth += 1) {
    const order = one[depth].localeCompare(other[depth], "en", { numeric: true });
    if (order) return order;
  }
  return one.length - other.length;
}

function standing(place, member, found) {
  const isOwn = member.place === place;
  const verb = place.startsWith("unit ") ? "controlled by " : isOwn ? "" : "away; stood in for by ";
  const decides = isOwn && member.name === found.hubs[0].decider ? ", which decides who is a member" : "";
  const silent = member.name in found.silent ? " (does not answer)" : "";
  return [verb, el("code", {}, member.name), decides, silent];
}

/** What goes over the link between a place and the unit around it, as its ends tell. */
function flow(place, around, ends) {
  const up = ends.get(`${place}>${around}`);
  const down = ends.get(`${around}>${place}`);
  const told = [
    down && `asks for ${plural(down.interests, "thing")} and offers ${plural(down.advertised, "thing")}`,
    up && `is asked for ${plural(up.interests, "thing")}`,
  ].filter(Boolean);
  if (!told.length) return "Neither end of its link answers.";
  const some = [up, down].filter(Boolean);
  const waiting = some.reduce((sum, each) => sum + each.waiting, 0);
  const isOpen = some.every((each) => each.is_open);
  return `${isOpen ? "" : "Cut off; "}${told.join("; ")}; ${lagOf(some)}, ${plural(waiting, "message")} on the way.`;
}

function lagOf(some) {
  if (some.some(({ lag }) => lag === null)) return "how far it is behind is not known";
  const most = Math.max(...some.map(({ lag }) => lag));
  return most ? `${plural(most, "message")} behind` : "up to date";
}
