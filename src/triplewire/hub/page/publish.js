// Publishing: paste a document, or drop files.

import { el, field, link, options, plural, problem, put, view } from "./dom.js";
import { send } from "./api.js";
import { forgetNames } from "./terms.js";

const SYNTAXES = [
  ["text/turtle", "Turtle", /\.(ttl|turtle)$/i],
  ["application/ld+json", "JSON-LD", /\.(jsonld|json)$/i],
  ["application/rdf+xml", "RDF/XML", /\.(rdf|owl)$/i],
  ["application/n-triples", "N-Triples", /\.nt$/i],
  ["application/rss+xml", "RSS", /\.rss$/i],
  ["application/atom+xml", "Atom", /\.atom$/i],
  ["application/xml", "XML", /\.xml$/i],
];

export function showPublish({ section, params, may }) {
  put(section, el("h1", {}, "Publish"));
  if (!may("publisher")) {
    put(section, el("p", {}, "This needs the role publisher."));
    return;
  }
  const uri = el("input", {
    type: "url",
    required: true,
    value: params.get("uri") ?? "",
    spellcheck: "false",
    placeholder: "https://data.example/beach.ttl",
  });
  const syntax = options(
    el("select"),
    SYNTAXES.map(([type, name]) => [type, name]),
    "text/turtle",
  );
  const content = el("textarea", { rows: 12, required: true, spellcheck: "false", class: "code" });
  const told = el("ul", { class: "plain", "aria-live": "polite" });
  const files = el("input", { type: "file", multiple: true, on: { change: () => take(files.files) } });
  const form = el(
    "form",
    { class: "drop", on: { submit: publish, dragover: over, dragleave: () => form.classList.remove("is-over"), drop } },
    el(
      "p",
      {},
      field(
        "Files",
        files,
        "Choose some, or drop them here. One goes into the form; several are published at once, each under its name below the address.",
      ),
    ),
    field("Address (uri) of the document", uri, "Publishing under the same address again makes a new version."),
    field("Syntax", syntax),
    field("Content", content),
    el("p", { class: "actions" }, el("button", { class: "primary" }, "Publish")),
  );
  put(
    section,
    el(
      "p",
      { class: "lead" },
      "A document is what one publisher says about something. Whoever subscribed to what it says is told.",
    ),
    form,
    told,
  );

  function over(event) {
    event.preventDefault();
    form.classList.add("is-over");
  }

  function drop(event) {
    event.preventDefault();
    form.classList.remove("is-over");
    take(event.dataTransfer.files);
  }

  /** The old mistakes are no longer true once something else is sent. */
  function forgetProblems() {
    for (const each of told.querySelectorAll("li:has(> .problem)")) each.remove();
  }

  async function take(given) {
    forgetProblems();
    const chosen = [];
    for (const file of [...given]) {
      const reason = await noDocument(file);
      if (reason) told.prepend(el("li", {}, problem(new Error(reason))));
      else chosen.push(file);
    }
    if (!chosen.length) return;
    if (chosen.length === 1) {
      const [file] = chosen;
      content.value = await file.text();
      syntax.value = syntaxOf(file.name);
      if (!uri.value || uri.value.endsWith("/"))
        uri.value = new URL(encodeURIComponent(file.name), uri.value || `${location.origin}/documents/`).href;
      return uri.focus();
    }
    const folder = uri.value || `${location.origin}/documents/`;
    for (const file of chosen)
      await one(new URL(encodeURIComponent(file.name), folder).href, syntaxOf(file.name), await file.text());
  }

  function publish(event) {
    event.preventDefault();
    forgetProblems();
    return one(uri.value, syntax.value, content.value);
  }

  async function one(address, type, body) {
    try {
      const receipt = await send("PUT", "/v1/document", {
        query: { uri: address },
        headers: { "Content-Type": type, Prefer: "wait" },
        body,
      });
      forgetNames();
      told.prepend(el("li", {}, outcome(receipt)));
    } catch (error) {
      const { line } = error.told ?? {};
      if (line) select(line);
      told.prepend(el("li", {}, problem(error)));
    }
  }

  function select(line) {
    const lines = content.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    content.focus();
    content.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  }
}

/** Why a file is no document, in words; null if it may be one. */
async function noDocument(file) {
  const kind = file.type.split("/")[0];
  const what = { image: "a picture", audio: "a sound", video: "a film" }[kind];
  if (what && file.type !== "image/svg+xml")
    return `${file.name} is ${what}, and no document: publish a document that describes it, with its address.`;
  const start = new Uint8Array(await file.slice(0, 4096).arrayBuffer());
  if (start.includes(0))
    return `${file.name} is no text, so it is no document: those are ${SYNTAXES.map(([, name]) => name).join(", ")}.`;
  return null;
}

function syntaxOf(name) {
  return SYNTAXES.find(([, , pattern]) => pattern.test(name))?.[0] ?? "text/turtle";
}

function outcome(receipt) {
  const events = receipt.events ?? [];
  const heard = [...new Set(events.map((event) => event.subscription))];
  return el(
    "div",
    { class: "good" },
    link("document", { uri: receipt.uri }, receipt.uri),
    receipt.changed ? ` is published as version ${receipt.version}. ` : " says what it said before: nothing is new. ",
    receipt.changed ? `${plural(events.length, "event")}${heard.length ? ", told to " : "."}` : "",
    heard.slice(0, 5).map((id, number) => [number ? ", " : "", el("a", { href: view("subscription", { id }) }, id)]),
    heard.length > 5 ? ` and ${plural(heard.length - 5, "other")}` : "",
    receipt.warnings.map((each) => el("p", { class: "problem" }, each.detail)),
    receipt.errors.map((each) => el("p", { class: "problem" }, each.detail)),
  );
}
