// The reliability plot: how often predictions came true against how probable they were said to be, and how much of that
// may be chance.

import type { ReliabilityGroup } from "../../metrics/reliability.ts";
import { grouped } from "../../plots/numbers.ts";
import { type Html, html } from "../html.ts";
import { drawing, frame } from "./frame.ts";

const SIZE = 360;
const HEIGHT = 345;

const inPercent = (part: number): string => (100 * part).toFixed(1);

/** `name` says which predictions these are. */
export function reliabilityDrawing(name: string, groups: readonly ReliabilityGroup[]): Html {
  const { x, y, axes } = frame(
    SIZE,
    HEIGHT,
    { name: "said: mean probability (%)", from: 0, to: 100 },
    { name: "came true (%)", from: 0, to: 100 },
  );
  const dots = groups.map(({ meanProbability, frequency, low, high, count }) => {
    const [cx, cy] = [x(100 * meanProbability), y(100 * frequency)];
    const text = `said ${inPercent(meanProbability)} %, came true ${inPercent(frequency)} % (95 % interval ${inPercent(low)} to ${inPercent(high)} %), ${grouped(count)} predictions`;
    return html`<g><title>${text}</title><path class="interval" d="M${cx} ${y(100 * low)}V${y(100 * high)}m-4 0h8M${cx} ${y(100 * low)}m-4 0h8"/><circle class="dot" cx="${cx}" cy="${cy}" r="3"/></g>`;
  });
  const description = `Reliability plot of ${name}: how often predictions came true against the probability that was said, with a 95 % interval and the line where both are equal. The numbers are in the table below.`;
  return drawing("reliability", SIZE, HEIGHT, description, [
    axes,
    html`<path class="ideal" d="M${x(0)} ${y(0)}L${x(100)} ${y(100)}"/>`,
    dots,
  ]);
}
