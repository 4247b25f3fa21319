// A text area with colours: what is typed lies over the same text, painted. So the browser's own editing, undo,
// spelling of screen readers and keyboard stay as they are.

import { el, refill } from "./dom.js";
import { parts } from "./highlight.js";

/** An editor; `changed` hears every new text. `mark` underlines a place, `language` changes the colours. */
export function editor({ text = "", language = "sparql", label, changed }) {
  const paint = el("pre", { "aria-hidden": "true" });
  const area = el("textarea", {
    id: "query",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    rows: Math.min(24, Math.max(10, text.split("\n").length + 2)), // a query that is there is seen as a whole
    value: text,
    "aria-describedby": "query-told",
    on: { input: typed, scroll: follow, keydown: leave },
  });
  let marked = null;

  function typed() {
    marked = null;
    painted();
    changed(area.value);
  }

  function follow() {
    paint.scrollTop = area.scrollTop;
    paint.scrollLeft = area.scrollLeft;
  }

  // Tab goes on to the next control, as everywhere; Ctrl-] and Ctrl-[ indent.
  function leave(event) {
    if (!event.ctrlKey || (event.key !== "]" && event.key !== "[")) return;
    event.preventDefault();
    const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const has = area.value.slice(start).startsWith("  ");
    if (event.key === "]") area.setRangeText("  ", start, start, "end");
    else if (has) area.setRangeText("", start, start + 2, "end");
    typed();
  }

  function painted() {
    let place = 0;
    const nodes = parts(area.value, language).flatMap(([kind, piece]) => {
      const from = place;
      place += piece.length;
      return split(piece, from).map(([some, isMarked]) =>
        el("span", { class: [kind && `is-${kind}`, isMarked && "is-wrong"].filter(Boolean).join(" ") || null }, some),
      );
    });
    const missing = marked !== null && marked.from >= area.value.length && el("span", { class: "is-wrong" }, " ");
    refill(paint, ...nodes, missing || "", "\n");
    follow();
  }

  function split(piece, from) {
    if (marked === null || marked.to <= from || marked.from >= from + piece.length) return [[piece, false]];
    const start = Math.max(0, marked.from - from);
    const end = Math.min(piece.length, marked.to - from);
    return [
      [piece.slice(0, start), false],
      [piece.slice(start, end), true],
      [piece.slice(end), false],
    ].filter(([some]) => some);
  }

  painted();
  return {
    element: el(
      "div",
      { class: "editor" },
      el("label", { for: "query" }, label),
      el("div", { class: "sheet" }, paint, area),
    ),
    area,
    get text() {
      return area.value;
    },
    set text(value) {
      area.value = value;
      marked = null;
      painted();
    },
    set language(value) {
      language = value;
      painted();
    },
    /** Underline what is at a line and a column, which count from 1; null takes the underline away. */
    mark(place) {
      marked = place && range(area.value, place.line, place.column ?? 1);
      area.setAttribute("aria-invalid", place ? "true" : "false");
      painted();
    },
    /** Put the cursor there. */
    goTo(line, column) {
      const { from } = range(area.value, line, column ?? 1);
      area.focus();
      area.setSelectionRange(from, from);
    },
  };
}

/** From a place in lines and columns to one in characters, as far as the word there goes. */
function range(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  // Columns count characters; JavaScript counts some of them as two.
  const from = Math.min(text.length, before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length);
  const word = /^[^\s,;.(){}[\]]+/.exec(text.slice(from));
  return { from, to: from + Math.max(1, word ? word[0].length : 1) };
}
