// When something happened and how long something takes, in words, and exactly in the zone of who reads it.

import { el } from "./dom.js";

const STEPS = [
  ["year", 31536000],
  ["month", 2592000],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const EVERY = 20000;

/** How long ago, as people say it. */
export function ago(iso, now = Date.now()) {
  const seconds = (new Date(iso) - now) / 1000;
  const [unit, length] = STEPS.find(([, least]) => Math.abs(seconds) >= least) ?? [];
  return unit ? RELATIVE.format(Math.round(seconds / length), unit) : "just now";
}

/** The day and the minute, with the zone of the reader. */
export function exact(iso) {
  return new Date(iso).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  });
}

/** A moment: how long ago, which goes on while it is looked at, and exactly for who points at it. */
export function moment(iso) {
  return el("time", { datetime: iso, title: exact(iso), class: "moment" }, ago(iso));
}

/** A moment with both: exactly, and how long ago. */
export function time(iso) {
  const past = el("span", { class: "hint" }, " (", moment(iso), ")");
  return el("span", {}, el("time", { datetime: iso }, exact(iso)), past);
}

/** A length of time in the unit that says most: 45 s, 20 min, 3 h, 5 days. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

setInterval(() => {
  for (const each of document.querySelectorAll("time.moment")) {
    const text = ago(each.dateTime);
    if (each.textContent !== text) each.textContent = text;
  }
}, EVERY);
