// Guarantee: a chart shows what was read and when, with a gap where nothing was, and says the same in words.

import { drawing, setAttribute, setText } from "../dom.js";

const WIDTH = 600, HEIGHT = 120;
// Longer than the minutes that the API tells of, one of which may be missing.
const GAP_MS = 150_000;

/** Draws those of `points`, `[at, value]` oldest first, from `begin` on into an SVG; `limit` is a level to compare with. */
export function drawChart(svg, all, { begin, limit, words }) {
  const end = all.at(-1)[0];
  const span = end - begin;
  const points = all.filter(([at]) => at >= begin);
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
