// Guarantee: a chart shows what was read and when, with a gap where nothing was, and says the same in words.

import { drawing, setAttribute, setText } from "../dom.js";

const WIDTH = 600, HEIGHT = 120;
const SHORTEST_MS = 300_000;
const GAP_MS = 15_000;

/** Draws `points`, `[at, value]` oldest first, into an SVG; `limit` is a level to compare with. */
export function drawChart(svg, points, { limit, words }) {
  const end = points.at(-1)[0];
  // A few minutes at first, so that a burst can be seen; then as long as there is something to show.
  const span = Math.max(SHORTEST_MS, end - points[0][0]);
  const top = Math.max(1, limit ?? 0, ...points.map(([, value]) => value)) * 1.05;
  const x = (at) => (WIDTH - ((end - at) / span) * WIDTH).toFixed(1);
  const y = (value) => (HEIGHT - (value / top) * HEIGHT).toFixed(1);

  const stretches = [];
  for (const [place, point] of points.entries()) {
    if (place === 0 || point[0] - points[place - 1][0] > GAP_MS) stretches.push([]);
    stretches.at(-1).push(point);
  }
  const line = (stretch) => stretch.map(([at, value]) => `${x(at)} ${y(value)}`).join("L");
  const area = stretches.map((stretch) => `M${x(stretch[0][0])} ${HEIGHT}L${line(stretch)}L${x(stretch.at(-1)[0])} ${HEIGHT}Z`).join("");
  const parts = [drawing("path", { class: "area", d: area }), drawing("path", { d: stretches.map((stretch) => `M${line(stretch)}`).join("") })];
  if (limit) parts.unshift(drawing("line", { class: "limit", x1: 0, x2: WIDTH, y1: y(limit), y2: y(limit) }));
  svg.replaceChildren(...parts);
  setAttribute(svg, "aria-label", words);
  setText(svg.parentElement.querySelector(".axis span"), `${Math.round(span / 60_000)} min ago`);
}
