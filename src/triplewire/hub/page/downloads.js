// Rows and events as files. A link does, where nobody signs in; else the page sends the token, and saves the file.

import { announce, button, el, problem, refill } from "./dom.js";
import { file, token } from "./api.js";

const FORMATS = { csv: "CSV", xlsx: "Excel", parquet: "Parquet", jsonl: "JSON lines" };

/** Ways to take something away: `path` is its address, `what` names it. */
export function downloads(path, what) {
  const told = el("div");
  const save = async (format) => {
    try {
      const { name, content } = await file(path, { format });
      const address = URL.createObjectURL(content);
      el("a", { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
      refill(told);
      announce(`${name} is saved.`);
    } catch (error) {
      refill(told, problem(error));
    }
  };
  const way = ([format, name]) =>
    token.get()
      ? button(name, () => save(format), { class: "quiet", "aria-label": `${what} as ${name}` })
      : el(
          "a",
          { class: "button quiet", href: `${path}?format=${format}`, download: "", "aria-label": `${what} as ${name}` },
          name,
        );
  return el(
    "div",
    { class: "downloads", role: "group", "aria-label": `Take the ${what.toLowerCase()} away` },
    el("p", { class: "actions" }, el("span", { class: "hint" }, "Download:"), Object.entries(FORMATS).map(way)),
    told,
  );
}
