// The picture of a query: things as boxes, properties as arrows, and the same in sentences for who cannot see it.

import { el, refill, svg } from "./dom.js";
import { shortened } from "./terms.js";

const CHARACTER = 7.4;
const LINE = 18;
const PAD = 12;
const GAP_X = 46;
const GAP_Y = 26;
const MOST = 34;
const SMALLEST = 0.8; // a wide picture shrinks as far as it can be read; one that would not fit then is drawn as a list
const STEP = 26;

const cut = (text) => (text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text);

/** All alternatives of a query, each as a figure. */
export function pictures(told) {
  const many = told.alternatives.length > 1;
  return el(
    "div",
    { class: "pictures" },
    told.alternatives.map((alternative, number) => figure(alternative, many ? number + 1 : 0)),
    told.has_more && el("p", { class: "hint" }, "There are more alternatives than are drawn."),
  );
}

function figure(alternative, number) {
  const name = number ? `Alternative ${number}` : "What the query asks for";
  const sentences = alternative.sentences.map(shortened);
  const frame = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${name}, as a picture` });
  let isTall = null;
  const fit = (width) => {
    const wide = drawn(alternative, name, sentences, placed);
    const shallTall = width > 0 && wide.width.baseVal.value * SMALLEST > width;
    if (shallTall === isTall) return;
    isTall = shallTall;
    refill(frame, isTall ? drawn(alternative, name, sentences, listed) : wide);
  };
  fit(0);
  new ResizeObserver(([{ contentRect }]) => fit(contentRect.width)).observe(frame);
  return el(
    "figure",
    { class: "picture" },
    number ? el("figcaption", {}, name) : null,
    frame,
    alternative.conditions.length > 0 &&
      el(
        "ul",
        { class: "conditions" },
        alternative.conditions.map((each) => el("li", {}, el("code", {}, shortened(each)))),
      ),
    el(
      "details",
      {},
      el("summary", {}, "In words"),
      el(
        "ul",
        {},
        sentences.map((each) => el("li", {}, each)),
      ),
    ),
  );
}

function drawn(alternative, name, sentences, layout) {
  const boxes = measured(alternative);
  const { width, height, connect } = layout(boxes, alternative.edges);
  const at = new Map(boxes.map((box) => [box.id, box]));
  const count = new Map();
  const image = svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": `${name}: ${sentences.join("; ")}.`,
    },
    svg(
      "defs",
      {},
      svg(
        "marker",
        {
          id: "arrow",
          viewBox: "0 0 8 8",
          refX: 8,
          refY: 4,
          markerWidth: 8,
          markerHeight: 8,
          orient: "auto-start-reverse",
        },
        svg("path", { d: "M0 0 8 4 0 8Z", class: "head" }),
      ),
    ),
    alternative.edges.map((edge) => {
      const between = `${edge.source} ${edge.target}`;
      count.set(between, (count.get(between) ?? -1) + 1);
      return connect(at.get(edge.source), at.get(edge.target), edge, count.get(between));
    }),
    boxes.map(box),
  );
  return image;
}

function measured(alternative) {
  return alternative.nodes.map((node) => {
    const lines = [
      shortened(node.label),
      ...node.conditions.map((each) => shortened(each).replaceAll(shortened(node.label), "it")),
    ].map(cut);
    const longest = Math.max(...lines.map((line) => line.length));
    return { ...node, lines, width: longest * CHARACTER + 2 * PAD, height: lines.length * LINE + PAD, x: 0, y: 0 };
  });
}

/** Columns from left to right: a thing stands right of what points to it; the first thing of each part is leftmost. */
function placed(boxes, edges) {
  const column = new Map();
  const open = [...boxes];
  while (open.length) {
    const start =
      open.find(
        (box) => !edges.some((edge) => edge.target === box.id && !column.has(edge.source) && edge.source !== box.id),
      ) ?? open[0];
    const before = edges.filter((edge) => edge.target === start.id && column.has(edge.source));
    column.set(start.id, Math.max(-1, ...before.map((edge) => column.get(edge.source))) + 1);
    open.splice(open.indexOf(start), 1);
  }
  const columns = [];
  for (const box of boxes) (columns[column.get(box.id)] ??= []).push(box);
  let x = 8;
  let height = 0;
  columns.filter(Boolean).forEach((some, number, all) => {
    const wide = Math.max(...some.map((box) => box.width));
    let y = 8;
    for (const box of some) {
      Object.assign(box, { x, y });
      y += box.height + GAP_Y;
    }
    height = Math.max(height, y - GAP_Y);
    const labels = edges
      .filter((edge) => all[number + 1]?.some((box) => box.id === edge.target))
      .map((edge) => cut(shortened(edge.label)).length);
    x += wide + GAP_X + Math.max(0, ...labels) * CHARACTER * 0.92;
  });
  for (const some of columns.filter(Boolean)) {
    const used = some.at(-1).y + some.at(-1).height - 8;
    for (const box of some) box.y += (height - 8 - used) / 2;
  }
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  return { width: Math.ceil(right + 8), height: Math.ceil(height + 16), connect: arrow };
}

/** A list from top to bottom: a thing stands below what points to it, one step to the right, under the property. */
function listed(boxes, edges) {
  const lines = [];
  const open = new Set(boxes);
  const add = (box, depth, by) => {
    open.delete(box);
    lines.push({ box, depth, by });
    for (const edge of edges.filter((each) => each.source === box.id)) {
      const target = boxes.find((each) => each.id === edge.target);
      if (open.has(target)) add(target, depth + 1, edge);
    }
  };
  const isRoot = (box) => open.has(box) && !edges.some((edge) => edge.target === box.id && edge.source !== box.id);
  while (open.size) add([...open].find(isRoot) ?? [...open][0], 0, null);
  const drawn = new Set(lines.map(({ by }) => by));
  let y = 8;
  let right = 0;
  for (const { box, depth, by } of lines) {
    const label = by ? cut(shortened(by.label)).length * CHARACTER : 0;
    y += by ? LINE : 0;
    Object.assign(box, { x: 8 + depth * STEP, y });
    y += box.height + 10;
    right = Math.max(right, box.x + Math.max(box.width, label));
  }
  const others = edges.some((edge) => !drawn.has(edge)) ? 150 : 8;
  const connect = (from, to, edge, nth) => (drawn.has(edge) ? branch(from, to, edge) : loop(from, to, edge, nth));
  return { width: Math.ceil(right + others), height: Math.ceil(y), connect };
}

/** From under a thing down, and to the right to the thing that it has; the property stands above that. */
function branch(from, to, edge) {
  const y = to.y + to.height / 2;
  const x = from.x + 12;
  return svg(
    "g",
    { class: edge.is_optional ? "edge optional" : "edge" },
    svg("path", {
      d: `M${x} ${from.y + from.height} V${y - 6} Q${x} ${y} ${x + 6} ${y} H${to.x}`,
      "marker-end": "url(#arrow)",
    }),
    svg("text", { x: to.x, y: to.y - 5 }, cut(shortened(edge.label)), svg("title", {}, edge.label)),
  );
}

/** To a thing that stands elsewhere in the list already: around the right side. */
function loop(from, to, edge, nth) {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x + to.width, to.y + to.height / 2 + nth * 10 + 6];
  const far = Math.max(x1, x2) + 24 + nth * 12;
  return svg(
    "g",
    { class: edge.is_optional ? "edge optional" : "edge" },
    svg("path", { d: `M${x1} ${y1} C${far} ${y1} ${far} ${y2} ${x2} ${y2}`, "marker-end": "url(#arrow)" }),
    svg("text", { x: far - 6, y: (y1 + y2) / 2 + 4 }, cut(shortened(edge.label)), svg("title", {}, edge.label)),
  );
}

function arrow(from, to, edge, nth) {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x, y: to.y + to.height / 2 + nth * 14 };
  const backward = end.x < start.x;
  const middle = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
  const bend = Math.max(20, Math.abs(end.x - start.x) / 2);
  const path = backward
    ? `M${from.x + from.width / 2} ${from.y + from.height} C${from.x} ${from.y + from.height + 40} ${to.x + to.width} ${to.y + to.height + 40} ${to.x + to.width / 2} ${to.y + to.height}`
    : `M${start.x} ${start.y} C${start.x + bend} ${start.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}`;
  return svg(
    "g",
    { class: edge.is_optional ? "edge optional" : "edge" },
    svg("path", { d: path, "marker-end": "url(#arrow)" }),
    svg(
      "text",
      { x: middle.x, y: middle.y - 5, "text-anchor": "middle" },
      cut(shortened(edge.label)),
      svg("title", {}, edge.label),
    ),
  );
}

function box(node) {
  return svg(
    "g",
    { class: `node is-${node.kind}${node.is_answer ? " is-answer" : ""}` },
    svg("title", {}, [node.label, ...node.conditions].join("\n")),
    svg("rect", { x: node.x, y: node.y, width: node.width, height: node.height, rx: node.kind === "literal" ? 4 : 12 }),
    node.lines.map((line, number) =>
      svg(
        "text",
        {
          x: node.x + node.width / 2,
          y: node.y + PAD / 2 + LINE * number + 13,
          "text-anchor": "middle",
          class: number ? "condition" : "name",
        },
        line,
      ),
    ),
  );
}
