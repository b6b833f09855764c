// Drawings of a report, as SVG: axes, lines, reliability plots. They need no script; what the pointer rests on says its numbers.

import type { ReliabilityGroup } from "../metrics/reliability.ts";
import { type Html, type HtmlPart, html } from "./html.ts";
import { grouped, percent, readable, roundNumbers } from "./numbers.ts";

export interface Axis {
  name: string;
  from: number;
  to: number;
}

export interface Frame {
  x(value: number): string;
  y(value: number): string;
  /** Round numbers and names along the sides. */
  axes: Html;
}

const MARGIN = { left: 64, right: 14, top: 12, bottom: 44 };

/** A place in the drawing: a tenth of a pixel is enough. */
const place = (value: number): string => String(Number(value.toFixed(1)));

export function frame(width: number, height: number, horizontal: Axis, vertical: Axis): Frame {
  const [left, right] = [MARGIN.left, width - MARGIN.right];
  const [top, bottom] = [MARGIN.top, height - MARGIN.bottom];
  const scale = ({ from, to }: Axis, low: number, high: number) => {
    const span = to > from ? to - from : 1;
    return (value: number): string => place(low + ((value - from) / span) * (high - low));
  };
  const x = scale(horizontal, left, right);
  const y = scale(vertical, bottom, top);
  const columns = roundNumbers(horizontal.from, horizontal.to).map(
    (tick) =>
      html`<path class="grid" d="M${x(tick)} ${top}V${bottom}"/><text x="${x(tick)}" y="${bottom + 17}" text-anchor="middle">${readable(tick)}</text>`,
  );
  const rows = roundNumbers(vertical.from, vertical.to, 5).map(
    (tick) =>
      html`<path class="grid" d="M${left} ${y(tick)}H${right}"/><text x="${left - 7}" y="${y(tick)}" dy=".35em" text-anchor="end">${readable(tick)}</text>`,
  );
  const middle = place((top + bottom) / 2);
  const axes = html`${columns}${rows}
<text class="name" x="${place((left + right) / 2)}" y="${height - 6}" text-anchor="middle">${horizontal.name}</text>
<text class="name" transform="translate(12 ${middle}) rotate(-90)" text-anchor="middle">${vertical.name}</text>`;
  return { x, y, axes };
}

/** The drawing itself, with its description for those who do not see it. */
function drawing(kind: string, width: number, height: number, description: string, content: HtmlPart): Html {
  return html`<svg class="${kind}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${description}">${content}</svg>`;
}

export interface LinesPlot {
  id: string;
  caption: string;
  description: string;
  x: { name: string; values: readonly number[] };
  y: { name: string; from?: number; to?: number };
  lines: readonly { name: string; values: readonly number[] }[];
  /** A dot on each value: for lines of few values. */
  dots: boolean;
}

const [LINES_WIDTH, LINES_HEIGHT] = [720, 260];
/** So many places along a plot say their numbers. */
const MOST_TOLD = 60;

export function linesFigure({ id, caption, description, x, y, lines, dots }: LinesPlot): Html {
  const all = lines.flatMap(({ values }) => values).filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = 0.05 * (high > low ? high - low : Math.abs(high) || 1);
  const vertical = { name: y.name, from: y.from ?? low - room, to: y.to ?? high + room };
  const horizontal = { name: x.name, from: Math.min(...x.values), to: Math.max(...x.values) };
  const at = frame(LINES_WIDTH, LINES_HEIGHT, horizontal, vertical);
  const paths = lines.map(({ values }, i) => {
    const points = values.flatMap((value, j) =>
      Number.isFinite(value) ? [`${at.x(x.values[j])} ${at.y(value)}`] : [],
    );
    const marks = dots
      ? html`<path class="marks s${i + 1}" d="${points.map((point) => `M${point}h0`).join("")}"/>`
      : "";
    return html`<path class="line s${i + 1}" d="M${points.join("L")}"/>${marks}`;
  });
  const every = Math.ceil(x.values.length / MOST_TOLD);
  const told = x.values.flatMap((value, j) => {
    if (j % every !== 0) return [];
    const numbers = lines.map(({ name, values }) => `${name} ${readable(values[j])}`).join(", ");
    const width = place((LINES_WIDTH - MARGIN.left - MARGIN.right) / Math.ceil(x.values.length / every));
    return html`<rect x="${place(Number(at.x(value)) - Number(width) / 2)}" y="${MARGIN.top}" width="${width}" height="${LINES_HEIGHT - MARGIN.top - MARGIN.bottom}"><title>${x.name} ${readable(value)}: ${numbers}</title></rect>`;
  });
  const legend = lines.map(
    ({ name }, i) =>
      html`<span><svg viewBox="0 0 20 8" aria-hidden="true"><path class="line s${i + 1}" d="M0 4H20"/></svg>${name}</span> `,
  );
  const content = [at.axes, paths, html`<g class="told">${told}</g>`];
  return html`<figure data-plot="${id}">${drawing("lines", LINES_WIDTH, LINES_HEIGHT, description, content)}
${lines.length > 1 ? html`<p class="legend">${legend}</p>` : undefined}<figcaption>${caption}</figcaption></figure>
`;
}

/** How often predictions were right against how probable they were, and how much of that may be chance. */
export function reliabilityDrawing(name: string, groups: readonly ReliabilityGroup[]): Html {
  const [size, height] = [360, 345];
  const axis = (name: string): Axis => ({ name, from: 0, to: 100 });
  const { x, y, axes } = frame(size, height, axis("confidence: mean probability (%)"), axis("accuracy (%)"));
  const dots = groups.map(({ confidence, accuracy, low, high, count }) => {
    const [cx, cy] = [x(100 * confidence), y(100 * accuracy)];
    const text = `predicted ${percent(confidence)}, observed ${percent(accuracy)} (95 % interval ${percent(low)} to ${percent(high)}), ${grouped(count)} predictions`;
    return html`<g><title>${text}</title><path class="interval" d="M${cx} ${y(100 * low)}V${y(100 * high)}m-4 0h8M${cx} ${y(100 * low)}m-4 0h8"/><circle class="dot" cx="${cx}" cy="${cy}" r="3"/></g>`;
  });
  const description = `Reliability plot of ${name}: accuracy against confidence, with a 95 % interval and the line where both are equal. The numbers are in the table below.`;
  return drawing("reliability", size, height, description, [
    axes,
    html`<path class="ideal" d="M${x(0)} ${y(0)}L${x(100)} ${y(100)}"/>`,
    dots,
  ]);
}
