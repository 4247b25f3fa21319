// Small plots: bars over time, drawn as SVG, with the numbers in a table for who wants them.

import { el, svg, table } from "./dom.js";

const HEIGHT = 150;
const LEFT = 44;
const BOTTOM = 22;

/** A round number that is not less. */
function roundUp(value) {
  if (value <= 5) return Math.max(1, Math.ceil(value));
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((times) => times * unit).find((each) => each >= value);
}

/** Bars of some numbers; `points` are pairs of a label and a number. */
export function bars(title, points, kind) {
  const width = innerWidth < 600 ? 320 : 640; // the text keeps its size on a phone
  const top = roundUp(Math.max(...points.map(([, value]) => value), 0));
  const step = (width - LEFT) / points.length;
  const y = (value) => 8 + (HEIGHT - BOTTOM - 8) * (1 - value / top);
  const total = points.reduce((sum, [, value]) => sum + value, 0);
  const most = points.reduce((best, point) => (point[1] > best[1] ? point : best), ["", 0]);
  const told = `${title}: ${total.toLocaleString("en")} in all${most[1] ? `; the most, ${most[1].toLocaleString("en")}, at ${most[0]}` : ""}.`;
  return el(
    "figure",
    { class: `plot is-${kind}` },
    el("figcaption", {}, title, " ", el("span", { class: "count" }, `${total.toLocaleString("en")} in all`)),
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": told },
      [0, top / 2, top]
        .filter(Number.isInteger)
        .map((value) => [
          svg("line", { x1: LEFT, x2: width, y1: y(value), y2: y(value), class: "grid" }),
          svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, value.toLocaleString("en")),
        ]),
      points.map(([label, value], number) =>
        svg(
          "rect",
          {
            x: LEFT + number * step + step * 0.1,
            width: step * 0.8,
            y: y(value),
            height: Math.max(0, y(0) - y(value)),
            rx: Math.min(2, step / 4),
          },
          svg("title", {}, `${label}: ${value.toLocaleString("en")}`),
        ),
      ),
      [0, points.length >> 1, points.length - 1].map((number) =>
        svg(
          "text",
          {
            x: LEFT + (number + 0.5) * step,
            y: HEIGHT - 5,
            "text-anchor": number === 0 ? "start" : number === points.length - 1 ? "end" : "middle",
          },
          points[number][0],
        ),
      ),
    ),
    el(
      "details",
      {},
      el("summary", {}, "Numbers"),
      table(
        title,
        ["From", title],
        points.filter(([, value]) => value).map(([label, value]) => [label, value.toLocaleString("en")]),
      ),
    ),
  );
}
