// Rates, lag and load: how the hub is.

import { choice, el, plural, problem, put, refill, table, view } from "./dom.js";
import { get, serves } from "./api.js";
import { bars } from "./plot.js";
import { deliveriesTable } from "./deliveries.js";
import { duration } from "./times.js";

const WINDOWS = {
  quarter: [15, 60, "15 minutes"],
  hour: [60, 60, "an hour"],
  day: [1800, 48, "a day"],
  week: [10800, 56, "a week"],
};
const EVERY = 5000;

export async function showDashboard({ section, params, signal }) {
  const chosen = params.get("over") in WINDOWS ? params.get("over") : "hour";
  const [seconds, count] = WINDOWS[chosen];
  const place = el("div");
  put(
    section,
    el("h1", {}, "Dashboard"),
    choice(
      "The last",
      Object.entries(WINDOWS).map(([name, [, , text]]) => [name, text.replace(/^an? /, "")]),
      chosen,
      (over) => (location.hash = view("dashboard", { over })),
    ),
    place,
  );

  async function renew() {
    const found = await get("/v1/statistics", { seconds, count }, { signal });
    const deliveries = (await serves("/v1/deliveries")) ? await deliveriesTable(signal) : null;
    const open = [...place.querySelectorAll("details")].map((each) => each.open);
    const focused = [...place.querySelectorAll("[tabindex], a, summary")].indexOf(document.activeElement);
    refill(place, ...filled(found, seconds, deliveries));
    place.querySelectorAll("details").forEach((each, number) => (each.open = open[number] ?? false));
    if (focused >= 0) place.querySelectorAll("[tabindex], a, summary")[focused]?.focus();
  }

  await renew();
  const timer = setInterval(() => {
    if (document.visibilityState !== "visible") return;
    renew().catch((error) => signal.aborted || refill(place, problem(error)));
  }, EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
}

function filled(found, seconds, deliveries) {
  const at = (iso) =>
    new Date(iso).toLocaleString(
      "en",
      seconds >= 1800
        ? { weekday: "short", hour: "2-digit", minute: "2-digit", hour12: false }
        : { hour: "2-digit", minute: "2-digit", hour12: false },
    );
  const points = (name) => found.intervals.map((each) => [at(each.start), each[name]]);
  const { totals, lag } = found;
  const over = (number) =>
    number >= totals.counted_to ? `${totals.counted_to.toLocaleString("en")}+` : number.toLocaleString("en");
  const waiting = lag.in_memory + lag.on_the_log;
  const late = lag.since ? Math.max(0, (new Date(found.now) - new Date(lag.since)) / 1000) : 0;
  return [
    el(
      "dl",
      { class: "tiles" },
      tile("Documents", over(totals.documents)),
      tile("Triples", totals.triples.toLocaleString("en")),
      tile("Subscriptions", over(totals.subscriptions)),
      tile("Events told", totals.events.toLocaleString("en")),
      tile("Waiting", waiting.toLocaleString("en"), lag.since ? `${duration(late)} behind` : "nothing is late"),
      tile("Set aside", lag.rejected.toLocaleString("en"), "changes that could not be applied"),
    ),
    el(
      "div",
      { class: "columns" },
      el("section", { class: "card" }, bars("Documents", points("documents"), "documents")),
      el("section", { class: "card" }, bars("Events", points("events"), "events")),
    ),
    found.is_cut ? el("p", { class: "hint" }, "There was so much that the oldest of it is left out here.") : "",
    el(
      "div",
      { class: "columns" },
      load("Busiest subscriptions", "By their events among the last ten thousand.", found.busiest),
      load(
        "Subscriptions by estimated cost",
        "Not measured, because queries are matched together: how many lookups each would take, if all that is there came again.",
        found.costliest,
      ),
    ),
    deliveries ? el("section", { class: "card" }, el("h2", {}, "Deliveries"), deliveries) : "",
    found.quotas.length ? quotas(found.quotas) : "",
    found.requests ? requests(found.requests) : "",
  ];
}

function tile(name, value, hint) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value, hint && el("span", { class: "hint" }, hint)));
}

function load(title, hint, loads) {
  const rows = loads.map((each) => [
    [
      el("a", { href: view("subscription", { id: each.subscription }) }, each.subscription),
      each.others ? el("span", { class: "hint" }, ` and ${plural(each.others, "other")}`) : "",
    ],
    each.events.toLocaleString("en"),
    each.rows.toLocaleString("en"),
    each.estimated_cost.toLocaleString("en"),
  ]);
  return el(
    "section",
    { class: "card" },
    el("h2", {}, title),
    el("p", { class: "hint" }, hint),
    rows.length ? table(title, ["Subscription", "Events", "Answers", "Estimated cost"], rows) : el("p", {}, "None yet."),
  );
}

const QUOTAS = {
  documents: "Documents",
  subscriptions: "Subscriptions",
  events: "Events in a day",
  query_cost: "Cost of one query",
  sparql_seconds: "Seconds of SPARQL in a minute",
};

function quotas(list) {
  const told = (number) => (number === null ? "–" : number.toLocaleString("en", { maximumFractionDigits: 1 }));
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "Quotas"),
    table(
      "Quotas",
      ["Quota", "Used", "Allowed", "Refused since the start"],
      list.map((each) => [QUOTAS[each.name], told(each.used), told(each.most), told(each.refused)]),
    ),
  );
}

function requests(list) {
  const told = (seconds) =>
    seconds === null
      ? "over 30 s"
      : seconds < 1
        ? `${(seconds * 1000).toLocaleString("en", { maximumFractionDigits: 1 })} ms`
        : `${seconds.toFixed(1)} s`;
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "Requests"),
    el("p", { class: "hint" }, "Since the service began: from a request's arrival to the start of its answer."),
    table(
      "Requests",
      ["Request", "Count", "Average", "9 of 10 within"],
      list
        .slice(0, 15)
        .map((each) => [
          each.route === "none"
            ? [el("code", {}, each.method), " of what is not there"]
            : el("code", {}, `${each.method} ${each.route}`),
          each.count.toLocaleString("en"),
          told(each.mean),
          told(each.nine_of_ten),
        ]),
    ),
  );
}
