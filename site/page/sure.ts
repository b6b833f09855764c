// "How sure?": a threshold, with the precision and recall that it had on held-out texts and what the model promises there. Pure: no element
// of the page.

import { CONFIDENCE, type Guarantees } from "../../src/base/prediction.ts";
import type { HeldOut } from "../worker/messages.ts";
import { count } from "./words.ts";

/** A threshold, and what holds there. */
export interface Stop {
  readonly threshold: number;
  /** Share of the kept labels that are right; with a confidence of 95 %. */
  readonly precision?: number | undefined;
  /** Share of the true labels that are kept, on average. */
  readonly recall?: number | undefined;
}

const precisionsOf = ({ precision }: Guarantees): Guarantees["precision"] =>
  precision.filter(({ confidence }) => confidence === CONFIDENCE);

/** The promises that hold at a threshold: a precision holds above its own too, and a recall below its own. */
export function stopAt(guarantees: Guarantees, threshold: number): Stop {
  const most = (targets: readonly { target: number }[]): number | undefined =>
    targets.length > 0 ? Math.max(...targets.map(({ target }) => target)) : undefined;
  return {
    threshold,
    precision: most(precisionsOf(guarantees).filter((each) => each.threshold <= threshold)),
    recall: most(guarantees.recall.filter((each) => each.threshold >= threshold)),
  };
}

/** The thresholds at which a promise begins, from few labels to many. */
export function stopsOf(guarantees: Guarantees): Stop[] {
  const thresholds = new Set([...precisionsOf(guarantees), ...guarantees.recall].map(({ threshold }) => threshold));
  return [...thresholds].sort((a, b) => b - a).map((threshold) => stopAt(guarantees, threshold));
}

const whole = (part: number): string => `${Math.round(100 * part)} %`;
const least = (part: number): string => `${Number((100 * part).toPrecision(2))} %`;

const promises = ({ precision, recall }: Stop): string[] => [
  ...(precision === undefined ? [] : [`at least ${whole(precision)} of them are right (in 95 of 100 trainings)`]),
  ...(recall === undefined ? [] : [`on average they hold ${whole(recall)} of the true labels`]),
];

/** The promises at a threshold, in words. */
export function promiseOf(stop: Stop, { evidence, rows }: Guarantees): string {
  const how =
    evidence === "held-out"
      ? `Proven on ${count(rows)} held-out texts`
      : `Measured by leave-one-out on ${count(rows)} texts`;
  return `Labels of at least ${least(stop.threshold)}: ${promises(stop).join(", ")}. ${how}.`;
}

/** The labels that a threshold keeps: what was seen on held-out texts, or what the model promises where there are none. */
export function sureWords(
  percent: number,
  held: Pick<HeldOut, "rows" | "points"> | undefined,
  guarantees?: Guarantees,
): string {
  const stop = guarantees && stopAt(guarantees, percent / 100);
  const promised = stop ? promises(stop) : [];
  const point = held?.points.find((each) => each.percent === percent);
  if (held === undefined || point === undefined)
    return stop && promised.length > 0 ? promiseOf(stop, guarantees) : `Labels of ${percent} % and more are kept.`;
  const on = `on ${count(held.rows)} held-out texts`;
  if (point.kept === 0) return `No label reaches ${percent} % ${on}.`;
  const seen = `Labels of ${percent} % and more: ${whole(point.precision)} of them were right, and ${whole(point.recall)} of the true labels were among them (${on}).`;
  return promised.length > 0 ? `${seen} Promised: ${promised.join(", ")}.` : seen;
}
