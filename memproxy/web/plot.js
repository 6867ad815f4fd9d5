// Small line plots: one line a series over a common x, with the figures in words for who cannot see them.

import { h, svg } from "./dom.js";

const WIDTH = 560, HEIGHT = 150, LEFT = 44, BELOW = 22;

/** `points` are [label, value]; the drawing scales to the width it has. */
export function plot(title, points, unit = "") {
  if (points.length < 2) return h("figure", {}, h("figcaption", {}, title), h("p", { class: "quiet" }, "Not enough to draw yet."));
  const top = Math.max(...points.map(([, value]) => value), 1);
  const x = (at) => LEFT + (at * (WIDTH - LEFT - 8)) / (points.length - 1);
  const y = (value) => 8 + (1 - value / top) * (HEIGHT - BELOW - 8);
  const line = points.map(([, value], at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const words = `${title}: from ${points[0][1]}${unit} (${points[0][0]}) to ${points.at(-1)[1]}${unit} (${points.at(-1)[0]}), at most ${top}${unit}.`;
  return h("figure", {}, h("figcaption", {}, title), svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words },
    [0, top].map((value) => [
      svg("line", { x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value), class: "grid" }),
      svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, `${Number(value.toPrecision(3))}${unit}`)]),
    svg("text", { x: LEFT, y: HEIGHT - 5 }, points[0][0]),
    svg("text", { x: WIDTH - 8, y: HEIGHT - 5, "text-anchor": "end" }, points.at(-1)[0]),
    svg("path", { d: line, class: "line" })));
}
