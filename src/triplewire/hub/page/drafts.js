// The query that is being written: kept for this tab, so that looking something up does not lose it.

import { view } from "./dom.js";

const KEY = "triplewire.draft";
const EMPTY = { text: "", language: "sparql", scope: "document", start: "ever", id: "", prefixes: "" };

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

export function forgetDraft() {
  sessionStorage.removeItem(KEY);
}
