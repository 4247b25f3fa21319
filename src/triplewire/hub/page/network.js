// The network: a map of its hubs and links, and what each hub says of itself.

import { el, plural, put, refill, svg, table } from "./dom.js";
import { get } from "./api.js";
import { traces } from "./traces.js";
import { unitTree } from "./units.js";

const WIDTH = 640;
const HEIGHT = 420;
const AGAIN = 3000;

const LEADS = {
  hypercube: "Hubs at the corners of a cube.",
  hierarchy: "Hubs in units, and units in wider ones.",
};

const SENT = "Each is sent of the others' what its subscribers ask for, and nothing else.";

/** The map of the network, drawn again every few seconds until the view is left. */
export async function showNetwork({ section, params, signal }) {
  const lead = el("p", { class: "lead" });
  const drawing = el("div", { class: "picture" });
  const words = el("p", { role: "status" });
  const lists = el("div");
  const way = el("div");
  put(
    section,
    el("h1", {}, "Network"),
    lead,
    words,
    drawing,
    way,
    lists,
  );
  let places = new Set();
  const draw = async () => {
    const found = await get("/v1/network/map", {}, { signal });
    const own = found.hubs[0];
    refill(lead, `${LEADS[own.network] ?? ""} ${SENT}`);
    refill(words, summary(own, found));
    const isTree = own.network === "hierarchy" && own.members.length > 0;
    refill(drawing, isTree ? unitTree(own, found, places) : map(own, found));
    refill(lists, hubs(own, found), links(own, found));
  };
  await draw();
  const shown = (found) => {
    places = found;
    return draw();
  };
  put(way, await traces({ params, signal, shown }));
  const again = setInterval(() => draw().catch(() => {}), AGAIN); // what cannot be asked now is asked again
  signal.addEventListener("abort", () => clearInterval(again));
}

function summary(own, found) {
  const silent = Object.keys(found.silent).length;
  const missing = silent ? `; ${silent} of them ${silent === 1 ? "does" : "do"} not answer` : "";
  return `${plural(own.members.length, "hub")}${missing}. This one is ${own.name}.${own.problem ? ` ${own.problem}` : ""}`;
}

/** Where a corner is drawn: members in a circle, in the order of their corners. */
function places(members) {
  const turn = (number) => (2 * Math.PI * number) / members.length - Math.PI / 2;
  return new Map(
    members.map(({ name }, number) => [
      name,
      [WIDTH / 2 + 180 * Math.cos(turn(number)), HEIGHT / 2 + 150 * Math.sin(turn(number))],
    ]),
  );
}

function map(own, found) {
  const at = places(own.members);
  const drawn = new Map();
  for (const hub of found.hubs)
    for (const each of hub.links) {
      const key = [hub.name, each.member].sort().join(" ");
      const before = drawn.get(key);
      drawn.set(key, { ends: [hub.name, each.member], isOpen: each.is_open && (before?.isOpen ?? true) });
    }
  const lines = [...drawn.values()].filter(({ ends }) => ends.every((name) => at.has(name)));
  const title = `${plural(own.members.length, "hub")} and ${plural(lines.length, "link")} between them`;
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, class: "map" },
    lines.map(({ ends: [one, other], isOpen }) =>
      svg("line", {
        x1: at.get(one)[0],
        y1: at.get(one)[1],
        x2: at.get(other)[0],
        y2: at.get(other)[1],
        stroke: "currentColor",
        "stroke-width": isOpen ? 2 : 1,
        "stroke-dasharray": isOpen ? null : "4 4",
      }),
    ),
    own.members.map((member) => {
      const [x, y] = at.get(member.name);
      const isSilent = member.is_away || member.name in found.silent;
      return svg(
        "g",
        {},
        svg("circle", { cx: x, cy: y, r: 18, fill: isSilent ? "none" : "CanvasText", stroke: "currentColor" }),
        svg(
          "text",
          { x, y: y + 5, "text-anchor": "middle", fill: isSilent ? "currentColor" : "Canvas" },
          String(member.corner ?? member.place),
        ),
        svg("text", { x, y: y + 36, "text-anchor": "middle", fill: "currentColor" }, short(member.name)),
      );
    }),
  );
}

const short = (name) => name.replace(/-([0-9a-f]{6})[0-9a-f]+$/, "-$1…");

function hubs(own, found) {
  const told = new Map(found.hubs.map((hub) => [hub.name, hub]));
  return table(
    "The hubs of this network",
    ["Hub", placeWord(own), "State", "Asks for", "Keeps"],
    own.members.map((member) => {
      const hub = told.get(member.name);
      const state = member.is_away ? "away: others stand in" : hub ? "answers" : found.silent[member.name];
      return [
        el("code", {}, member.name, member.name === own.decider ? " (decides who is a member)" : ""),
        String(member.corner ?? member.place),
        state,
        hub ? plural(hub.subscriptions, "interest") : "",
        hub ? plural(hub.documents, "document") : "",
      ];
    }),
    { stacked: true },
  );
}

const placeWord = (own) => (own.network === "hierarchy" ? "Place" : "Corner");

function links(own, found) {
  const rows = found.hubs.flatMap((hub) =>
    hub.links.map((each) => [
      `${each.corner ?? each.place} to ${each.to ?? each.to_place}`,
      each.is_open ? "open" : "closed",
      String(each.waiting),
      each.lag === null ? "unknown" : String(each.lag),
      plural(each.interests, "interest"),
    ]),
  );
  const word = `${placeWord(own)}s`;
  return table(`The links between ${word.toLowerCase()}`, [word, "State", "Waiting", "Lag", "Flows back"], rows, {
    stacked: true,
  });
}
