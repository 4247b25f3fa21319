// The query that is being written: kept for this tab, so that looking something up does not lose it.

import { view } from "./dom.js";

const KEY = "triplewire.draft";
const EMPTY = {
  text: "",
  language: "sparql",
  scope: "document",
  start: "ever",
  id: "",
  title: "",
  description: "",
  prefixes: "",
};

export function draft() {
  try {
    return { ...EMPTY, ...JSON.parse(sessionStorage.getItem(KEY)) };
  } catch {
    return { ...EMPTY };
  }
}

export function keep(changes) {
  sessionStorage.setItem(KEY, JSON.stringify({ ...draft(), ...changes }));
}

export function openDraft(fresh) {
  sessionStorage.setItem(KEY, JSON.stringify({ ...EMPTY, ...fresh }));
  location.hash = view("write");
}

/** A subscription that stands, to be changed: what is being written beside it is not touched. */
export function draftOf(told) {
  return { ...EMPTY, ...told, title: told.title ?? "", description: told.description ?? "" };
}

export function forgetDraft() {
  sessionStorage.removeItem(KEY);
}
