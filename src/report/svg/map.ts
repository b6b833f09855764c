// The map of labels: a dot for each, and as many names as fit without lying on one another, frequent labels first.

import { clean, type Html, html, shorten } from "../html.ts";
import { drawing, place } from "./frame.ts";

export interface MapDot {
  name: string;
  /** Training points of the label. */
  count: number;
  x: number;
  y: number;
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Placed {
  name: string;
  x: number;
  y: number;
}

const WIDTH = 720;
const HEIGHT = 560;
const MARGIN = 16;
/** Names in the middle of a wide page, and on a phone where the drawing is half as large. */
const WIDE = { font: 12, most: 45, letters: 26 };
const NARROW = { font: 24, most: 14, letters: 16 };

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function boxAt(x: number, y: number, width: number, font: number): Box {
  return { left: x, top: y - 0.8 * font, right: x + width, bottom: y + 0.25 * font };
}

/** Tries the right and the left of each dot, above and below, in the order of the dots. */
function placeNames(dots: readonly MapDot[], { font, most, letters }: typeof WIDE): Placed[] {
  const taken: Box[] = [];
  const placed: Placed[] = [];
  for (const dot of dots) {
    if (placed.length >= most) break;
    const name = shorten(clean(dot.name), letters);
    const width = 0.6 * font * Array.from(name).length;
    const starts: [number, number][] = [
      [dot.x + 7, dot.y + 0.3 * font],
      [dot.x - 7 - width, dot.y + 0.3 * font],
      [dot.x - width / 2, dot.y - 8],
      [dot.x - width / 2, dot.y + 8 + 0.7 * font],
    ];
    const free = starts.find(([x, y]) => {
      const box = boxAt(x, y, width, font);
      const inside = box.left >= 0 && box.top >= 0 && box.right <= WIDTH && box.bottom <= HEIGHT;
      return inside && !taken.some((other) => overlap(box, other));
    });
    if (free === undefined) continue;
    taken.push(boxAt(free[0], free[1], width, font));
    placed.push({ name, x: free[0], y: free[1] });
  }
  return placed;
}

function names(dots: readonly MapDot[], form: typeof WIDE, kind: string): Html {
  const texts = placeNames(dots, form).map(
    ({ name, x, y }) => html`<text x="${place(x)}" y="${place(y)}">${name}</text>`,
  );
  return html`<g class="names ${kind}" font-size="${form.font}" aria-hidden="true">${texts}</g>`;
}

/** From 3 for the rarest label to 7 for the most frequent. */
function radius(count: number, most: number): number {
  return 2.5 + 4.5 * Math.sqrt(count / Math.max(1, most));
}

export function mapDrawing(places: readonly MapDot[]): Html {
  const [left, right] = ends(places.map(({ x }) => x));
  const [low, high] = ends(places.map(({ y }) => y));
  const dots = places.map((dot) => ({
    ...dot,
    x: MARGIN + ((dot.x - left) / (right - left)) * (WIDTH - 2 * MARGIN),
    y: HEIGHT - MARGIN - ((dot.y - low) / (high - low)) * (HEIGHT - 2 * MARGIN),
  }));
  const most = Math.max(1, ...places.map(({ count }) => count));
  const circles = dots.map(
    ({ name, count, x, y }) =>
      html`<circle cx="${place(x)}" cy="${place(y)}" r="${place(radius(count, most))}"><title>${shorten(name, 80)} (${count})</title></circle>`,
  );
  const description = `Map of ${places.length} labels: labels near each other share their factors.`;
  return drawing("map", WIDTH, HEIGHT, description, [
    html`<g class="dots">${circles}</g>`,
    names(dots, WIDE, "wide"),
    names(dots, NARROW, "narrow"),
  ]);
}

/** Least and greatest, never equal. */
function ends(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high > low ? [low, high] : [low - 1, low + 1];
}
