// Beside a query: is it one, what does it look like, what would it give; and the way to subscribe.

import { announce, button, choice, el, field, plural, problem, refill, table, view } from "./dom.js";
import { post } from "./api.js";
import { pictures } from "./picture.js";
import { learn, shortened, shown } from "./terms.js";
import { draft, forgetDraft, keep } from "./drafts.js";

const PAUSE = 250;
const MOST_ROWS = 10;

/** Prefixes as people write them, one on a line: `name address`. */
export function prefixesOf(text) {
  const lines = text.split("\n").map((line) => line.trim().match(/^([\w-]*):?\s+<?([^<>\s]+)>?$/));
  return Object.fromEntries(lines.filter(Boolean).map(([, prefix, namespace]) => [prefix, namespace]));
}

/** `asked()` gives the text, the language and the prefixes; `wrong(mistake)` hears where it is wrong, or null. */
export function panel({ asked, wrong, signal }) {
  const kept = draft();
  const state = { scope: kept.scope, start: kept.start };
  const status = el("p", { class: "status", id: "query-told", role: "status" });
  const findings = el("ul", { class: "findings" });
  const picture = el("div");
  const preview = el("div", { class: "preview", "aria-live": "polite" });
  const told = el("div");
  const id = el("input", {
    type: "text",
    maxlength: 200,
    value: kept.id,
    autocomplete: "off",
    spellcheck: "false",
    on: { input: () => keep({ id: id.value }) },
  });
  const subscribe = button("Subscribe", register, { class: "primary" });
  const ahead = button("Preview", look);
  let timer;
  let edits = 0;

  /** The query is another one: what was told of the old one is no longer true. */
  function changed() {
    edits += 1;
    preview.replaceChildren();
    told.replaceChildren();
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  }

  function query() {
    const { text, language, prefixes } = asked();
    return { text, language, prefixes, scope: state.scope };
  }

  async function check() {
    const mine = edits;
    const wanted = query();
    if (!wanted.text.trim()) {
      say("Nothing is asked yet.", "");
      findings.replaceChildren();
      picture.replaceChildren();
      return;
    }
    try {
      const found = await post("/v1/check", wanted, { signal });
      if (mine === edits) tell(found);
    } catch (error) {
      if (!signal.aborted && mine === edits) say(error.message, "error");
    }
  }

  function say(text, kind, ...more) {
    status.className = `status ${kind}`;
    refill(status, text, ...more);
    const isWrong = kind !== "good";
    subscribe.disabled = isWrong;
    ahead.disabled = isWrong;
  }

  function tell(found) {
    wrong(found.mistake);
    if (found.mistake) {
      const { line, column, reason, expected, hint } = found.mistake;
      const where = line ? `Line ${line}${column ? `, column ${column}` : ""}: ` : "";
      const rest = [expected.length ? `Expected ${expected.slice(0, 6).join(", ")}.` : "", hint ?? ""]
        .filter(Boolean)
        .join(" ");
      say(`${where}${reason}.`.replace(/\.\.$/, "."), "error", rest && el("span", { class: "hint" }, " ", rest));
      findings.replaceChildren();
      picture.replaceChildren();
      return;
    }
    const columns = found.picture.columns.map((name) => `?${name}`).join(", ");
    const never = found.findings.find((each) => each.severity === "error");
    if (never) say(`${shortened(never.message)}.`, "error");
    else
      say(
        columns ? `This is a query. Its answers have ${columns}.` : "This is a query. Its answer is yes, or nothing.",
        "good",
      );
    refill(
      findings,
      ...found.findings.filter((each) => each !== never).map((each) =>
        el("li", { class: each.severity }, el("strong", {}, `${each.severity}: `), shortened(each.message)),
      ),
    );
    refill(picture, pictures(found.picture));
  }

  async function look() {
    const mine = edits;
    refill(preview, el("p", { class: "hint" }, "Looking …"));
    try {
      const found = await post("/v1/preview", { ...query(), start: state.start, limit: 50 }, { signal });
      await learn(
        found.rows.slice(0, MOST_ROWS).flatMap((row) => Object.values(row)),
        signal,
      );
      if (mine === edits) refill(preview, lookedAhead(found, state.start));
    } catch (error) {
      if (!signal.aborted && mine === edits) refill(preview, problem(error));
    }
  }

  async function register() {
    subscribe.disabled = true;
    try {
      const made = await post("/v1/subscriptions", {
        ...query(),
        start: state.start,
        ...(id.value.trim() ? { id: id.value.trim() } : {}),
      });
      forgetDraft();
      announce(`Subscribed as ${made.id}.`);
      location.hash = view("subscription", { id: made.id });
    } catch (error) {
      subscribe.disabled = false;
      refill(told, problem(error));
    }
  }

  function set(name, value) {
    state[name] = value;
    keep({ [name]: value });
    changed();
  }

  const element = el(
    "div",
    { class: "panel" },
    status,
    findings,
    picture,
    el(
      "div",
      { class: "card" },
      choice(
        "The triples of an answer may come from",
        [
          ["document", "one document"],
          ["graph", "several documents"],
        ],
        state.scope,
        (value) => set("scope", value),
      ),
      choice(
        "Tell me",
        [
          ["ever", "what is there, then what comes"],
          ["now", "only what comes from now on"],
        ],
        state.start,
        (value) => set("start", value),
      ),
      field("Name of the subscription", id, "If you give none, one is made."),
      el("p", { class: "actions" }, subscribe, ahead),
      told,
    ),
    preview,
  );
  check();
  return { element, changed };
}

function lookedAhead(found, start) {
  const { frequency } = found;
  const rate =
    frequency.per_day === null
      ? ""
      : ` That is ${frequency.per_day.toLocaleString("en", { maximumFractionDigits: 1 })} a day.`;
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "Preview"),
    el(
      "p",
      {},
      el("strong", {}, found.problem ? "Too many answers to tell. " : `${plural(found.count, "answer")} now. `),
      found.problem ?? (start === "now" && found.count ? "Starting now, these are not told." : ""),
    ),
    found.rows.length ? rowsTable("Answers now", Object.keys(found.rows[0]), found.rows.slice(0, MOST_ROWS)) : null,
    found.count > MOST_ROWS ? el("p", { class: "hint" }, `and ${plural(found.count - MOST_ROWS, "other")}`) : null,
    el(
      "p",
      {},
      frequency.batches
        ? `It would have fired about ${plural(frequency.events, "time")} so far.${rate}`
        : "There is no history yet to estimate from.",
      frequency.how && el("span", { class: "hint" }, ` An estimate: ${frequency.how}.`),
    ),
    found.atoms.length
      ? [
          el("h3", {}, "What it costs"),
          table(
            "What it costs",
            ["Part", "Triples now", "Shared with"],
            found.atoms.map((atom) => [
              el("code", {}, shortened(atom.text)),
              atom.triples.toLocaleString("en"),
              plural(atom.shared_with, "other query", "other queries"),
            ]),
          ),
        ]
      : null,
    el(
      "p",
      {},
      `Estimated cost: ${plural(found.cost.total, "lookup")}, if all that is there came again`,
      found.cost_allowed === undefined ? "." : `; this hub allows ${found.cost_allowed.toLocaleString("en")}.`,
    ),
    same("The same is asked by", found.equal_to),
    same("All of its answers are also answers of", found.covered_by),
  );
}

function same(text, ids) {
  if (!ids.length) return null;
  return el(
    "p",
    {},
    `${text} `,
    ids.slice(0, 5).map((id, number) => [number ? ", " : "", el("a", { href: view("subscription", { id }) }, id)]),
    ids.length > 5 ? ` and ${plural(ids.length - 5, "other")}` : "",
    ".",
  );
}

export function rowsTable(caption, columns, rows, more = null) {
  return table(
    caption,
    [...columns.map((name) => `?${name}`), ...(more ? [el("span", { class: "unseen" }, "Why")] : [])],
    rows.map((row) => [
      ...columns.map((name) => (row[name] === undefined ? "" : shown(row[name]))),
      ...(more ? [more(row)] : []),
    ]),
  );
}
