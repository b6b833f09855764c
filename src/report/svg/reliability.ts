// The reliability plot: how often predictions came true against how probable they were said to be.

import type { ReliabilityBin } from "../../metrics/bins.ts";
import { type Html, html } from "../html.ts";
import { drawing, frame } from "./frame.ts";

const SIZE = 420;
const HEIGHT = 400;
/** Below it the frequency of a bin is mostly chance. */
export const FEW = 50;

export function reliabilityDrawing(bins: readonly ReliabilityBin[]): Html {
  const { x, y, axes } = frame(
    SIZE,
    HEIGHT,
    { name: "said: mean probability (%)", from: 0, to: 100 },
    { name: "came true (%)", from: 0, to: 100 },
  );
  const points = bins.map(({ meanProbability, frequency }) => [x(100 * meanProbability), y(100 * frequency)]);
  const dots = bins.map(({ meanProbability, frequency, count }, i) => {
    const [cx, cy] = points[i] as [string, string];
    const text = `said ${(100 * meanProbability).toFixed(1)} %, came true ${(100 * frequency).toFixed(1)} %, ${count} predictions`;
    return html`<circle class="dot${count < FEW ? " few" : ""}" cx="${cx}" cy="${cy}" r="5"><title>${text}</title></circle>`;
  });
  const description =
    "Reliability plot: how often predictions came true against the probability that was said, with the line where both are equal. The numbers are in the table below.";
  return drawing("reliability", SIZE, HEIGHT, description, [
    axes,
    html`<path class="ideal" d="M${x(0)} ${y(0)}L${x(100)} ${y(100)}"/>`,
    html`<path class="line s1" d="M${points.map((point) => point.join(" ")).join("L")}"/>`,
    dots,
  ]);
}
