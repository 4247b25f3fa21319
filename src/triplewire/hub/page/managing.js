// What can be done with a subscription that stands: edited, paused, resumed, duplicated, and in the end removed.

import { announce, button, confirmed, el, problem, put, refill, view } from "./dom.js";
import { post, send } from "./api.js";
import { time } from "./times.js";

const pathOf = (id) => `/v1/subscriptions/${encodeURIComponent(id)}`;

/** Change a subscription as it was told; what somebody else changed meanwhile is not overwritten. */
export function change(told, wanted) {
  return send("PATCH", pathOf(told.id), { json: wanted, headers: { "If-Match": `"${told.revision}"` } });
}

/** The buttons of who may change it; whoever sees it may make another one like it. */
export function management(told, isOwn) {
  const place = el("div");
  let now = told;

  async function pause(isPaused) {
    try {
      now = await change(now, { paused: isPaused });
      fill();
      announce(isPaused ? "It is paused." : "It goes on.");
    } catch (error) {
      put(place, problem(error));
    }
  }

  function fill() {
    refill(
      place,
      now.paused_since
        ? el(
            "p",
            { class: "status warn" },
            "Paused since ",
            time(now.paused_since),
            ". What happens meanwhile is told when it goes on; nothing is lost.",
          )
        : null,
      el(
        "p",
        { class: "actions" },
        isOwn ? el("a", { class: "button", href: view("write", { edit: told.id }) }, "Edit") : null,
        isOwn ? button(now.paused_since ? "Resume" : "Pause", () => pause(!now.paused_since)) : null,
        button("Duplicate", duplicate),
      ),
    );
  }

  async function duplicate() {
    try {
      const made = await post(`${pathOf(told.id)}/duplicate`, { title: `${told.title || told.id} (copy)` });
      announce(`There is a copy, ${made.id}.`);
      location.hash = view("write", { edit: made.id });
    } catch (error) {
      put(place, problem(error));
    }
  }

  fill();
  return place;
}

/** The end of it, at the end of its page. */
export function removal(told) {
  const place = el("div");

  async function unsubscribe() {
    const name = told.title || told.id;
    if (!(await confirmed(`Remove the subscription ${name}, with its answers and its events?`, "Unsubscribe"))) return;
    try {
      await send("DELETE", pathOf(told.id));
      announce(`${name} is removed.`);
      location.hash = view("subscriptions");
    } catch (error) {
      refill(place, problem(error));
    }
  }

  return [
    el("p", { class: "hint" }, "With its answers and its events. To hear nothing for a while, pause it instead."),
    el("p", { class: "actions" }, button("Unsubscribe", unsubscribe, { class: "danger" })),
    place,
  ];
}
