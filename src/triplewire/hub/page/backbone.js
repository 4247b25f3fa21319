// The backbone: the other hubs that hold the same, how far this one is with each, and what was decided between them.

import { el, plural, put, refill, table } from "./dom.js";
import { get } from "./api.js";
import { linkSaid } from "./edges.js";

const AGAIN = 3000;

/** What this hub says of its backbone, asked again every few seconds until the view is left. */
export async function showBackbone({ section, signal }) {
  const words = el("p", { role: "status" });
  const lists = el("div");
  put(
    section,
    el("h1", {}, "Backbone"),
    el(
      "p",
      { class: "lead" },
      "Hubs that hold the same documents. Each document has one home, which orders its changes.",
    ),
    words,
    lists,
  );
  const draw = async () => {
    const found = await get("/v1/backbone", {}, { signal });
    refill(words, summary(found));
    refill(lists, members(found), homes(found), conflicts(found));
  };
  await draw();
  const again = setInterval(() => draw().catch(() => {}), AGAIN); // what cannot be asked now is asked again
  signal.addEventListener("abort", () => clearInterval(again));
}

function summary({ name, members: others, waiting }) {
  const away = others.filter(({ problem }) => problem).length;
  const missing = away ? `; ${away} of them cannot be reached` : "";
  const waits = waiting ? `${plural(waiting, "change")} still to be passed on to their homes.` : "Nothing waits.";
  return `This hub is ${name}, with ${plural(others.length, "other")}${missing}. ${waits}`;
}

function members({ members: found }) {
  return card(
    "Other hubs",
    found.length
      ? table(
          "The other hubs of this backbone",
          ["Hub", "Address", "State"],
          found.map(({ name, url, problem, link }) => [
            name || "not known yet",
            el("code", {}, url),
            state(problem, link),
          ]),
          { stacked: true },
        )
      : el("p", {}, "It names none."),
  );
}

/** What is wrong comes first; then what the channel does. */
function state(problem, link) {
  const does = link ? linkSaid(link) : "";
  return problem ? `Away: ${problem}${does ? ` ${does}` : ""}` : does || "Reached.";
}

function homes({ name, homes: found }) {
  const rows = Object.entries(found).map(([home, count]) => [
    home === name ? `${home} (this hub)` : home,
    plural(count, "document"),
  ]);
  return card("Homes", table("The homes of the documents here", ["Home", "Documents"], rows, { stacked: true }));
}

function conflicts({ conflicts: found }) {
  if (!found.length) return card("Conflicts", el("p", {}, "No document was registered at two hubs."));
  const rows = found.map(({ uri, home, other }) => [el("code", {}, uri), home, other]);
  return card(
    "Conflicts",
    table("Documents that two hubs registered", ["Document", "Its home", "Gave way"], rows, { stacked: true }),
  );
}

function card(heading, ...content) {
  return el("section", { class: "card", "aria-label": heading }, el("h2", {}, heading), ...content);
}
