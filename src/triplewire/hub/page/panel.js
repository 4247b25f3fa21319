// Beside a query: is it one, what does it look like, what would it give; and the way to subscribe.

import { announce, button, choice, el, field, plural, problem, refill, table, view } from "./dom.js";
import { get, post } from "./api.js";
import { pictures } from "./picture.js";
import { label, learn, parse, short, shortened, shown } from "./terms.js";
import { draft, draftOf, forgetDraft, keep as keepDraft } from "./drafts.js";
import { change } from "./managing.js";

const PAUSE = 250;
const MOST_ROWS = 10;

/** Prefixes as people write them, one on a line: `name address`. */
export function prefixesOf(text) {
  const lines = text.split("\n").map((line) => line.trim().match(/^([\w-]*):?\s+<?([^<>\s]+)>?$/));
  return Object.fromEntries(lines.filter(Boolean).map(([, prefix, namespace]) => [prefix, namespace]));
}

/** `asked()` gives the text, the language and the prefixes; `wrong(mistake)` hears where it is wrong, or null.
 *  `correct(term, other)` puts another term into the text. `example` is a resource that shall be among the answers, and
 *  `isApart()` says that what makes it one is in several documents. `edited` is the subscription that is changed. */
export function panel({ asked, wrong, correct = null, example = null, isApart = () => false, edited = null, signal }) {
  const kept = edited ? draftOf(edited) : draft();
  const keep = edited ? () => {} : keepDraft;
  const state = { scope: kept.scope, start: kept.start };
  let isChosenByHand = false;
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
    on: { input: () => (keep({ id: id.value }), told.replaceChildren()) },
  });
  const title = el("input", {
    type: "text",
    maxlength: 200,
    value: kept.title,
    autocomplete: "off",
    on: { input: () => keep({ title: title.value }) },
  });
  const description = el("textarea", {
    rows: 2,
    maxlength: 2000,
    value: kept.description,
    on: { input: () => keep({ description: description.value }) },
  });
  const apart = el("p", { class: "hint", role: "status" });
  const subscribe = button(edited ? "Save" : "Subscribe", edited ? save : register, { class: "primary" });
  const ahead = button("Preview", look);
  let timer;
  let edits = 0;

  /** The query is another one: what was told of the old one is no longer true. */
  function changed() {
    edits += 1;
    arrange();
    preview.replaceChildren();
    told.replaceChildren();
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  }

  function query() {
    const { text, language, prefixes } = asked();
    return { text, language, prefixes, scope: language === "xpath" ? "document" : state.scope };
  }

  /** Whether the query that is edited is still the one that stands: its prefixes are not known any more. */
  function isAsItStands() {
    const { text, language, scope } = query();
    return edited !== null && text === edited.text && language === edited.language && scope === edited.scope;
  }

  /** Several documents are chosen by themselves where the example needs them; who chooses otherwise is told. */
  function arrange() {
    scopes.hidden = asked().language === "xpath"; // which asks one document, and not for triples
    const needsMany = isApart();
    if (!isChosenByHand && example) state.scope = needsMany ? "graph" : kept.scope;
    for (const radio of scopes.querySelectorAll("input")) radio.checked = radio.value === state.scope;
    apart.textContent = !needsMany
      ? ""
      : state.scope === "graph"
        ? `What you chose of ${label(example)} is stated in several documents, so several are chosen here.`
        : `${label(example)} would be no answer: what you chose of it is stated in several documents.`;
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
      const found = isAsItStands() ? await standing(edited, signal) : await post("/v1/check", wanted, { signal });
      if (mine === edits) tell(found);
    } catch (error) {
      if (!signal.aborted && mine === edits) say(error.message, "error");
    }
  }

  function say(text, kind, ...more) {
    status.className = `status ${kind}`;
    refill(status, text, ...more);
    const isWrong = kind !== "good" && kind !== "warn";
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
    const [worst, ...others] = found.findings;
    verdict(found.picture.columns, worst?.severity === "note" ? null : worst);
    refill(
      findings,
      ...(worst?.severity === "note" ? found.findings : others).map((each) =>
        el("li", { class: each.severity }, el("strong", {}, `${each.severity}: `), shortened(each.message)),
      ),
    );
    refill(picture, pictures(found.picture));
  }

  /** One sentence on the query, of the worst that is found. */
  function verdict(columns, worst) {
    const answers = columns.length
      ? `Its answers have ${columns.map((name) => `?${name}`).join(", ")}.`
      : "Its answer is yes, or nothing.";
    if (worst?.severity === "error") say(`${sentence(worst.message)}.`, "error");
    else if (worst) say(`This is a query, but ${ended(shortened(worst.message))}`, "warn", suggestions(worst));
    else say(`This is a query. ${answers}`, "good");
  }

  /** What may have been meant, to be put in with a click. */
  function suggestions(finding) {
    if (!correct || !finding.suggestions.length) return null;
    const uses = finding.suggestions.map((term) =>
      button(`Use ${short(parse(term).value)}`, () => correct(finding.term, term), { class: "quiet" }),
    );
    return el("span", { class: "actions" }, uses);
  }

  async function look() {
    const mine = edits;
    refill(preview, el("p", { class: "hint" }, "Looking …"));
    try {
      const asking = { ...query(), start: state.start, limit: example ? 500 : 50 };
      const found = await post("/v1/preview", asking, { signal });
      const isExample = (row) => Object.values(row).includes(example);
      found.rows.sort((one, other) => isExample(other) - isExample(one));
      await learn(
        found.rows.slice(0, MOST_ROWS).flatMap((row) => Object.values(row)),
        signal,
      );
      if (mine === edits) refill(preview, lookedAhead(found, state.start, example));
    } catch (error) {
      if (!signal.aborted && mine === edits) refill(preview, problem(error));
    }
  }

  async function register() {
    if (id.value.includes("/")) {
      refill(told, problem(new Error("A name is a part of addresses, and must not have a slash in it.")));
      return id.focus();
    }
    subscribe.disabled = true;
    try {
      const made = await post("/v1/subscriptions", {
        ...query(),
        start: state.start,
        ...(id.value.trim() ? { id: id.value.trim() } : {}),
        ...about(),
      });
      forgetDraft();
      announce(`Subscribed as ${made.id}.`);
      location.hash = view("subscription", { id: made.id });
    } catch (error) {
      subscribe.disabled = false;
      refill(told, problem(error));
    }
  }

  /** What the subscription is called, where it is called something. */
  function about() {
    const given = { title: title.value.trim(), description: description.value.trim() };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  }

  async function save() {
    subscribe.disabled = true;
    try {
      const called = { title: title.value.trim(), description: description.value.trim() }; // one that is empty goes
      await change(edited, isAsItStands() ? called : { ...query(), ...called });
      announce(`${edited.id} is changed.`);
      location.hash = view("subscription", { id: edited.id });
    } catch (error) {
      subscribe.disabled = false;
      refill(told, problem(error));
    }
  }

  function set(name, value) {
    if (name === "scope") isChosenByHand = true;
    state[name] = value;
    keep({ [name]: value });
    changed();
  }

  const scopes = choice(
    "The triples of an answer may come from",
    [
      ["document", "one document"],
      ["graph", "several documents"],
    ],
    state.scope,
    (value) => set("scope", value),
  );
  const element = el(
    "div",
    { class: "panel" },
    status,
    findings,
    picture,
    el(
      "div",
      { class: "card" },
      scopes,
      apart,
      edited
        ? el("p", { class: "hint" }, "What begins and what ends to be an answer by the change is told as events.")
        : choice(
            "Tell me",
            [
              ["ever", "what is there, then what comes"],
              ["now", "only what comes from now on"],
            ],
            state.start,
            (value) => set("start", value),
          ),
      field("Title", title, "What people read; the name, if you give none."),
      field("Description", description),
      edited ? null : field("Name of the subscription", id, "For addresses and commands; made if you give none."),
      el("p", { class: "actions" }, subscribe, ahead),
      told,
    ),
    preview,
  );
  arrange();
  check();
  return { element, changed, scope: () => query().scope };
}

/** A query that stands is right, as it is. */
async function standing({ id }, signal) {
  const picture = await get(`/v1/subscriptions/${encodeURIComponent(id)}/picture`, {}, { signal });
  return { mistake: null, picture, findings: [] };
}

const ended = (text) => (/[.?!]$/.test(text) ? text : `${text}.`);
const sentence = (text) => shortened(text).replace(/^./, (first) => first.toUpperCase());

/** Whether the resource from which somebody began is among the answers. */
function exampleTold(found, example) {
  if (!example || found.problem) return null;
  if (found.rows.some((row) => Object.values(row).includes(example)))
    return el("p", { class: "status good" }, `${label(example)}, from which you began, is among them.`);
  if (found.count > found.rows.length) return null;
  return el("p", { class: "status warn" }, `${label(example)}, from which you began, is not among them.`);
}

function lookedAhead(found, start, example) {
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
    exampleTold(found, example),
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

/** Rows with their values as links; `more(row)` gives a control for each, and what lies below it. */
export function rowsTable(caption, columns, rows, more = null) {
  const line = (row) => columns.map((name) => (row[name] === undefined ? "" : shown(row[name])));
  return table(
    caption,
    [...columns.map((name) => `?${name}`), ...(more ? [el("span", { class: "unseen" }, "Why")] : [])],
    rows.map((row) => {
      if (!more) return line(row);
      const { control, below } = more(row);
      return { cells: [...line(row), control], below };
    }),
    { stacked: true },
  );
}
