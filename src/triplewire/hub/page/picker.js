// Choosing one of many by a few letters of its name: a field, and below it what fits.

import { el, field, problem, refill } from "./dom.js";

const PAUSE = 250;
const MOST = 8;

/** `find(words)` gives what fits, as pairs of a value and a name with a hint; `chosen(value, name)` hears the choice.
 *  What is typed is a choice by itself where `isWhole(text)` says so. */
export function picker({ label, hint, find, chosen, isWhole = () => false, signal }) {
  const list = el("ul", { class: "choices", "aria-label": `${label}: what fits` });
  const told = el("p", { class: "hint", role: "status" });
  const input = el("input", {
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    on: {
      input: () => (clearTimeout(timer), (timer = setTimeout(look, PAUSE))),
      keydown: (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        if (isWhole(input.value.trim())) choose(input.value.trim(), input.value.trim());
        else list.querySelector("button")?.click();
      },
    },
  });
  let timer;
  let asked = 0;

  async function look() {
    const mine = (asked += 1);
    const words = input.value.trim();
    try {
      const found = await find(words);
      if (mine === asked) fill(found, words);
    } catch (error) {
      if (!signal.aborted && mine === asked) refill(list, el("li", {}, problem(error)));
    }
  }

  function fill(found, words) {
    told.textContent = found.length || !words ? "" : "Nothing fits.";
    refill(
      list,
      found.slice(0, MOST).map(([value, name, more]) =>
        el(
          "li",
          {},
          el(
            "button",
            { type: "button", class: "option", on: { click: () => choose(value, name) } },
            el("span", {}, name),
            more && el("span", { class: "hint" }, more),
          ),
        ),
      ),
    );
  }

  function choose(value, name) {
    input.value = name;
    list.replaceChildren();
    told.textContent = "";
    chosen(value, name);
  }

  return { element: el("div", { class: "picker" }, field(label, input, hint), list, told), look };
}
