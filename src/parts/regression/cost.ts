// Cost of a fit before it is begun: bytes of a core's memory at its height, beside the points, and operations
// (multiplications and additions, those in double precision counted twice). Kernel rows and sparse products are left
// out: they are the smaller part.

import { inverseBytes } from "../../core/inverse.ts";
import type { Cost } from "../part.ts";

/** Labels whose dual weights are solved for together with L. */
export const DUAL_LABELS = 256;

/** How a of the exact form is found. */
export type ExactWay = "inverse" | "factor";

/** Points with left-out scores where not all have them, and that the calibrator is fitted on. */
export const LEFT_OUT = 6000;

function exactOperations(points: number, labels: number, by: ExactWay, leftOut: number): number {
  if (by === "inverse") return points ** 3;
  return points ** 3 / 3 + 2 * points ** 2 * labels + Math.min(points, leftOut) ** 3 / 3;
}

/** The way with fewer operations for so many points and labels. */
export function exactWay(points: number, labels: number, leftOut: number = LEFT_OUT): ExactWay {
  const of = (by: ExactWay): number => exactOperations(points, labels, by, leftOut);
  return of("factor") < of("inverse") ? "factor" : "inverse";
}

/** The exact form in single precision, by the way given or by the one with fewer operations. */
export function exactCost(
  { points, labels }: { points: number; labels: number },
  by: ExactWay = exactWay(points, labels),
): Cost {
  const dual = 4 * points * labels;
  const solving = by === "factor" ? 4 * points * Math.min(DUAL_LABELS, labels) : 2 * DUAL_LABELS * labels * 8;
  return {
    bytes: 4 * points * points + Math.max(inverseBytes(points, "f32"), dual + solving),
    operations: exactOperations(points, labels, by, LEFT_OUT),
  };
}

/** Factors, inverses and solves take so much longer than as many operations of a matrix product. */
const SLOWER = 1.25;
/** The calibrator's operations for each pair of a point left out and a label, and the most pairs it looks at. */
const [PAIR_OPERATIONS, MOST_PAIRS] = [1.4e5, 1e6];
/** Fits to some of the points, from which noise and length scale are chosen. */
const [CHOICES, CHOICE_POINTS] = [2, 4000];
const [DENSE_CHOICES, DENSE_POINTS] = [16, 1000];
/** Then uphill from the best of them, on more points. */
const [REFINED_CHOICES, REFINED_POINTS] = [7, 4000];

/** Cost of a training through a kernel: choices that are tried on some points, the fit, the calibrator. */
export function kernelCost(
  points: number,
  labels: number,
  dense: boolean,
  full: Cost = exactCost({ points, labels }),
): Cost {
  const pairs = (of: number): number => PAIR_OPERATIONS * Math.min(MOST_PAIRS, labels * Math.min(of, LEFT_OUT));
  const costOf = (of: number): Cost => exactCost({ points: of, labels });
  // Where choices are compared on all points, the fit of the best is kept.
  const [tries, some] = dense
    ? [DENSE_CHOICES, Math.min(points, DENSE_POINTS)]
    : [points > CHOICE_POINTS ? CHOICES : CHOICES - 1, Math.min(points, CHOICE_POINTS)];
  const { operations, bytes } = full;
  const triesOn = (of: number): number => SLOWER * costOf(of).operations + (dense ? pairs(of) : 0);
  const refined = dense ? REFINED_CHOICES * triesOn(Math.min(points, REFINED_POINTS)) : 0;
  const tried = tries * triesOn(some) + refined;
  return { operations: tried + SLOWER * operations + pairs(points), bytes: bytes + 30e6 };
}

/** Limits of a fit in closed form: operations (some two minutes on two cores), and bytes of a core's four gigabytes. */
export const isAffordable = ({ operations, bytes }: Cost): boolean => operations <= 6e12 && bytes <= 3.2e9;

/** There are few enough points for each of them to carry the mean. */
export const canBeExact = (points: number, labels: number): boolean => isAffordable(exactCost({ points, labels }));

/** The most points that can be exact. */
export function mostExact(labels: number): number {
  let [most, beyond] = [0, 2 ** 20];
  while (beyond - most > 1) {
    const middle = (most + beyond) >> 1;
    if (canBeExact(middle, labels)) most = middle;
    else beyond = middle;
  }
  return most;
}
