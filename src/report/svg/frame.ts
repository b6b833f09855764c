// Axes of a drawing: from numbers to places, with round numbers and names along the sides.

import { readable, roundNumbers } from "../../plots/numbers.ts";
import { type Html, type HtmlPart, html } from "../html.ts";

export interface Axis {
  name: string;
  from: number;
  to: number;
}

export interface Frame {
  x(value: number): string;
  y(value: number): string;
  axes: Html;
}

const MARGIN = { left: 64, right: 14, top: 12, bottom: 44 };

/** A place in the drawing: a tenth of a pixel is enough. */
export const place = (value: number): string => String(Number(value.toFixed(1)));

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
export function drawing(
  kind: string,
  width: number,
  height: number,
  description: string,
  content: HtmlPart,
): Html {
  return html`<svg class="${kind}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${description}">${content}</svg>`;
}
