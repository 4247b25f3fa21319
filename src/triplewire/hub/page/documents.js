// Documents, their versions, and what changed from one to another.

import { announce, button, confirmed, el, link, options, plural, problem, put, refill, view } from "./dom.js";
import { get, send, text } from "./api.js";
import { differenceList, statement, termsOf } from "./difference.js";
import { forgetNames, learn } from "./terms.js";
import { time } from "./times.js";

const MOST_SHOWN = 300;

export async function showDocuments({ section, params, signal }) {
  const after = params.get("after") ?? "";
  const found = await get("/v1/documents", { after, limit: 100 }, { signal });
  put(
    section,
    el("h1", {}, "Documents"),
    found.documents.length ? null : el("p", {}, "There is none."),
    el(
      "ul",
      { class: "resources" },
      found.documents.map((each) =>
        el(
          "li",
          {},
          link("document", { uri: each.uri }, each.uri),
          el("p", { class: "hint" }, `version ${each.version}, `, time(each.time)),
        ),
      ),
    ),
    found.next && el("p", {}, link("documents", { after: found.next }, "Further")),
  );
}

function triplesOf(uri, version, signal) {
  const options = { signal };
  return text("/v1/document", { uri, version }, "application/n-triples", options).then((body) =>
    body
      .split("\n")
      .filter(Boolean)
      .map((line) => line.replace(/ \.$/, "")),
  );
}

export async function showDocument({ section, params, signal, may }) {
  const uri = params.get("uri") ?? "";
  const { versions } = await get("/v1/document/versions", { uri }, { signal });
  const last = versions.at(-1);
  put(
    section,
    el("h1", {}, uri.split(/[/#]/).filter(Boolean).at(-1) ?? uri),
    el("p", { class: "address" }, el("code", {}, uri)),
    el("p", {}, last.present ? `Version ${last.version}, published ` : "Taken back ", time(last.time), "."),
    may("publisher") && last.present ? actions(uri, section) : null,
  );
  if (versions.length > 1) put(section, comparison(uri, versions, params, signal));
  const present = versions.filter((each) => each.present);
  if (!present.length) return;
  const triples = await triplesOf(uri, present.at(-1).version, signal);
  await learn(termsOf(triples.slice(0, MOST_SHOWN)), signal);
  put(
    section,
    el(
      "section",
      { class: "card" },
      el("h2", {}, last.present ? "What it states" : `What version ${present.at(-1).version} stated`),
      el(
        "p",
        { class: "hint" },
        triples.length ? `${plural(triples.length, "triple")}.` : "No triples: if it is XML, ask for it in XPath.",
      ),
      el(
        "ul",
        { class: "statements" },
        triples.slice(0, MOST_SHOWN).map((each) => el("li", {}, statement(each))),
      ),
      triples.length > MOST_SHOWN && el("p", { class: "hint" }, `and ${plural(triples.length - MOST_SHOWN, "more")}`),
    ),
  );
}

function actions(uri, section) {
  const told = el("div");
  async function retract() {
    if (
      !(await confirmed(`Take back ${uri}? Whoever heard of what it states is told that it is gone.`, "Take it back"))
    )
      return;
    try {
      const { events } = await send("DELETE", "/v1/document", { query: { uri }, headers: { Prefer: "wait" } });
      forgetNames();
      announce(`Taken back; ${plural(events.length, "event")}.`);
      location.hash = view("documents");
    } catch (error) {
      refill(told, problem(error));
    }
  }
  return el(
    "div",
    {},
    el(
      "p",
      { class: "actions" },
      link("publish", { uri }, "Publish a new version"),
      button("Take it back", retract, { class: "danger" }),
    ),
    told,
  );
}

function comparison(uri, versions, params, signal) {
  const place = el("div", { "aria-live": "polite" });
  const pairs = versions.map((each) => [String(each.version), `${each.version}${each.present ? "" : " (taken back)"}`]);
  const from = options(el("select", { id: "from" }), pairs, params.get("from") ?? String(versions.at(-2).version));
  const to = options(el("select", { id: "to" }), pairs, params.get("to") ?? String(versions.at(-1).version));

  async function compare() {
    try {
      const [before, after] = await Promise.all([from, to].map((select) => contentOf(Number(select.value))));
      await learn(termsOf([...before, ...after].slice(0, 2000)), signal);
      refill(place, differenceList(before, after));
    } catch (error) {
      if (!signal.aborted) refill(place, problem(error));
    }
  }
  function contentOf(version) {
    return versions.find((each) => each.version === version)?.present ? triplesOf(uri, version, signal) : [];
  }

  from.addEventListener("change", compare);
  to.addEventListener("change", compare);
  compare();
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "What changed"),
    el(
      "table",
      { class: "versions" },
      el("caption", { class: "unseen" }, "Versions"),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["Version", "When", ""].map((head) =>
            el("th", { scope: "col" }, head || el("span", { class: "unseen" }, "State")),
          ),
        ),
      ),
      el(
        "tbody",
        {},
        versions
          .slice(-20)
          .reverse()
          .map((each) =>
            el(
              "tr",
              {},
              el("td", {}, String(each.version)),
              el("td", {}, time(each.time)),
              el("td", {}, each.present ? "" : "taken back"),
            ),
          ),
      ),
    ),
    el(
      "p",
      { class: "inline" },
      el("label", { for: "from" }, "From version"),
      from,
      el("label", { for: "to" }, "to version"),
      to,
    ),
    place,
  );
}
