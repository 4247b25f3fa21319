// Elements, made of names, attributes and texts. A text is always a text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "value" || name === "checked" || name === "open") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  return put(node, ...children);
}

/** Add children to a node: nodes, texts, lists of these; what is null or false is left out. */
export function put(node, ...children) {
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** The same, in place of the children that it has. */
export function refill(node, ...children) {
  node.replaceChildren();
  return put(node, ...children);
}

/** An HTML element; `on` has its listeners, and children are nodes or texts. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** An address of the page: a view, and what it is to show. */
export function view(path, params = {}) {
  const pairs = Object.entries(params).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  const query = new URLSearchParams(pairs.filter(([, value]) => value !== null && value !== undefined));
  return `#/${path}${query.size ? `?${query}` : ""}`;
}

export function link(path, params, ...children) {
  return el("a", { href: view(path, params) }, ...children);
}

export function button(text, act, attributes = {}) {
  return el("button", { type: "button", on: { click: act }, ...attributes }, text);
}

let numbers = 0;

/** A control with its label above it, and perhaps a hint below. */
export function field(text, control, hint) {
  control.id ||= `field-${(numbers += 1)}`;
  const told = hint && el("p", { class: "hint", id: `${control.id}-hint` }, hint);
  if (told) control.setAttribute("aria-describedby", told.id);
  return el("div", { class: "field" }, el("label", { for: control.id }, text), control, told);
}

/** Radio buttons in a group; `changed` hears the value that is chosen. */
export function choice(legend, options, chosen, changed) {
  const name = `choice-${(numbers += 1)}`;
  return el(
    "fieldset",
    { class: "choice" },
    el("legend", {}, legend),
    options.map(([value, text]) =>
      el(
        "label",
        {},
        el("input", { type: "radio", name, value, checked: value === chosen, on: { change: () => changed(value) } }),
        el("span", {}, text),
      ),
    ),
  );
}

export function options(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  return select;
}

/** A table with a caption that only screen readers tell, in a frame that scrolls by itself. A row is a list of cells,
 *  or has `cells`, and `below`: what lies under them over the whole width. On a phone, a `stacked` table tells each row
 *  as a block, with the heads before the values. */
export function table(caption, heads, rows, { stacked = false } = {}) {
  const texts = heads.map((head) => (typeof head === "string" ? head : ""));
  const line = (cells) =>
    el(
      "tr",
      { role: "row" },
      cells.map((cell, place) => el("td", { role: "cell", "data-head": texts[place] || null }, cell)),
    );
  return el(
    "div",
    { class: stacked ? "scroll stacked" : "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      { role: "table" },
      el("caption", { class: "unseen" }, caption),
      el(
        "thead",
        { role: "rowgroup" },
        el(
          "tr",
          { role: "row" },
          heads.map((head) => el("th", { scope: "col", role: "columnheader" }, head)),
        ),
      ),
      el(
        "tbody",
        { role: "rowgroup" },
        rows.map((row) => {
          if (Array.isArray(row)) return line(row);
          const whole = el("td", { role: "cell", colspan: heads.length }, row.below);
          return [line(row.cells), el("tr", { role: "row", class: "below" }, whole)];
        }),
      ),
    ),
  );
}

/** A button that copies a text, and says so; where a browser does not let it, the text is selected instead. */
export function copyButton(text, shown) {
  const copy = button(
    "Copy",
    async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = "Copied";
        announce("Copied.");
      } catch {
        getSelection().selectAllChildren(shown);
        announce("Selected: copy it with the keyboard.");
      }
    },
    { class: "quiet" },
  );
  return copy;
}

/** Tell something to who does not see the page. */
export function announce(text) {
  document.getElementById("announcements").textContent = text;
}

export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export function problem(error) {
  return el("p", { class: "problem", role: "alert" }, error.message);
}

/** Ask before something is done that cannot be undone; resolves to whether it shall be. */
export function confirmed(question, deed) {
  return new Promise((resolve) => {
    const dialog = el(
      "dialog",
      { "aria-labelledby": "question", on: { close: () => (dialog.remove(), resolve(dialog.returnValue === "yes")) } },
      el("p", { id: "question" }, question),
      el(
        "p",
        { class: "actions" },
        button(deed, () => dialog.close("yes"), { class: "danger" }),
        button("Cancel", () => dialog.close("no"), { autofocus: true }),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}
