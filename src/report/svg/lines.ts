// Lines over the steps of a training, as they stand on paper and where no script runs.

import { type Html, html } from "../html.ts";
import { drawing, frame } from "./frame.ts";

export interface Line {
  name: string;
  values: readonly number[];
}

export interface LinesInput {
  x: { name: string; values: readonly number[] };
  y: { name: string; from?: number; to?: number };
  lines: readonly Line[];
  description: string;
}

const WIDTH = 720;
const HEIGHT = 260;

export function linesDrawing({ x, y, lines, description }: LinesInput): Html {
  const all = lines.flatMap(({ values }) => values).filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = 0.05 * (high > low ? high - low : Math.abs(high) || 1);
  const vertical = { name: y.name, from: y.from ?? low - room, to: y.to ?? high + room };
  const horizontal = { name: x.name, from: Math.min(...x.values), to: Math.max(...x.values) };
  const place = frame(WIDTH, HEIGHT, horizontal, vertical);
  const paths = lines.map(({ name, values }, i) => {
    const points = values.flatMap((value, j) =>
      Number.isFinite(value) ? [`${place.x(x.values[j] as number)} ${place.y(value)}`] : [],
    );
    return html`<path class="line s${i + 1}" d="M${points.join("L")}"><title>${name}</title></path>`;
  });
  const legend = lines.map(
    ({ name }, i) =>
      html`<span><svg viewBox="0 0 20 8" aria-hidden="true"><path class="line s${i + 1}" d="M0 4H20"/></svg>${name}</span> `,
  );
  const drawn = drawing("lines", WIDTH, HEIGHT, description, [place.axes, paths]);
  return lines.length > 1 ? html`${drawn}<p class="legend">${legend}</p>` : drawn;
}
