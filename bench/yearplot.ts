// The year at a library as a plot of its own: an SVG for the documents, in the colours of all plots.

import { frame } from "../src/report/drawings.ts";
import { html } from "../src/report/html.ts";
import type { YearLine } from "./year.ts";

/** The light ones of src/report/base.css. */
const COLOURS = {
  ground: "#ffffff",
  muted: "#4d5866",
  grid: "#dfe3e8",
  series: ["#0b5cad", "#b34700", "#00735c"],
};
const [WIDTH, HEIGHT, LEGEND] = [720, 280, 28];
const NAMES = { learned: "learns", never: "never learns", anew: "trained anew on all" } as const;

export function yearPlot(lines: readonly YearLine[]): string {
  const values = lines.flatMap(({ figures }) => Object.values(figures).map(({ f1 }) => f1));
  const documents = lines.map((line) => line.documents);
  const place = frame(
    WIDTH,
    HEIGHT,
    { name: "documents learned before", from: Math.min(...documents), to: Math.max(...documents) },
    { name: "F1@5 on the next 500 (%)", from: Math.min(...values) - 1, to: Math.max(...values) + 1 },
  );
  const drawn = Object.entries(NAMES).map(([name, said], i) => {
    const colour = COLOURS.series[i];
    const points = lines.flatMap(({ documents, figures }) => {
      const own = figures[name];
      return own ? [{ x: place.x(documents), y: place.y(own.f1) }] : [];
    });
    const dots = points.map(({ x, y }) => html`<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`);
    // A training anew is measured now and then: dots alone.
    const path =
      name === "anew"
        ? undefined
        : html`<path fill="none" stroke="${colour}" stroke-width="2" d="M${points.map(({ x, y }) => `${x} ${y}`).join("L")}"/>`;
    const at = 60 + 200 * i;
    const legend = html`<circle cx="${at}" cy="${HEIGHT + 14}" r="4" fill="${colour}"/><text x="${at + 10}" y="${HEIGHT + 18}">${said}</text>`;
    return [path, dots, legend];
  });
  const { ground, muted, grid } = COLOURS;
  const title =
    "F1@5 on each batch before it is learned, of a model that learns, one that never does, one trained anew";
  return `${
    html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + LEGEND}" role="img" aria-label="${title}"
font-family="system-ui, sans-serif" font-size="12" fill="${muted}">
<title>${title}</title>
<style>.grid{stroke:${grid}}</style>
<rect width="100%" height="100%" fill="${ground}"/>
${place.axes}${drawn}</svg>`.text
  }\n`;
}
