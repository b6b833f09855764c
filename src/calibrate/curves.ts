// Blended curves: the place of a value among knots, the terms, and the weights that a point blends.

import type { ScoreTerm } from "../core/calibrator.ts";
import { deterministicLog } from "../data/elementary.ts";
import type { BlendedCurves, Curve } from "./calibrator.ts";

/** Where a value lies among knots: 1.3 is three tenths of the way from knot 1 to knot 2; beyond the ends, at them. */
export function placeAmong(knots: Float64Array, value: number): number {
  const last = knots.length - 1;
  if (!(value > (knots[0] as number))) return 0;
  for (let i = 0; i < last; i++) {
    const [low, high] = [knots[i] as number, knots[i + 1] as number];
    if (value < high) return i + (value - low) / (high - low);
  }
  return last;
}

/** The values that these shares of all lie below, each `gap` above the one before or left out; 0 where there are none. */
export function knotsAmong(values: Float64Array, shares: readonly number[], gap: number): Float64Array {
  const sorted = values.slice().sort();
  const knots: number[] = [];
  for (const share of shares) {
    const knot = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    if (knots.length === 0 || knot >= (knots.at(-1) as number) + gap) knots.push(knot);
  }
  return Float64Array.from(knots);
}

/** Weight of a knot at a place. */
export const gate = (place: number, knot: number): number => Math.max(0, 1 - Math.abs(place - knot));

/** Of each knot of the labels its constant and weights, blended for a point [A, 1 + terms]. */
export function pointWeights(
  { terms, labelKnots, pointKnots, weights }: BlendedCurves,
  place: number,
): Float64Array {
  const width = 1 + terms.length;
  const out = new Float64Array(labelKnots.length * width);
  for (let a = 0; a < labelKnots.length; a++) {
    for (let b = 0; b < pointKnots.length; b++) {
      const share = gate(place, b);
      if (share === 0) continue;
      const from = (a * pointKnots.length + b) * width;
      for (let j = 0; j < width; j++)
        out[a * width + j] = (out[a * width + j] as number) + share * (weights[from + j] as number);
    }
  }
  return out;
}

/** The same without the terms that weigh nothing anywhere. */
export function pruned<C extends Curve>(curves: C): C {
  const { terms, weights } = curves;
  const width = 1 + terms.length;
  const used = terms.map((_, t) => weights.some((weight, i) => i % width === 1 + t && weight !== 0));
  return {
    ...curves,
    terms: terms.filter((_, t) => used[t]),
    weights: weights.filter((_, i) => i % width === 0 || used[(i % width) - 1]),
  };
}

/** Weight `column` of a label at a place, from what a point has blended. */
function labelWeight(weights: Float64Array, width: number, column: number, place: number): number {
  let sum = 0;
  for (let a = 0; a * width < weights.length; a++) {
    const share = gate(place, a);
    if (share > 0) sum += share * (weights[a * width + column] as number);
  }
  return sum;
}

/** z of a label at a place, by a point's weights; the label's scores stand at `index` of each list. */
export function blendedValue(
  terms: readonly ScoreTerm[],
  weights: Float64Array,
  place: number,
  scores: readonly ArrayLike<number>[],
  index: number,
): number {
  const width = 1 + terms.length;
  let z = labelWeight(weights, width, 0, place);
  for (let t = 0; t < terms.length; t++) {
    const term = terms[t] as ScoreTerm;
    const score = scores[term.score]?.[index] as number;
    z += labelWeight(weights, width, 1 + t, place) * termValue(term, score);
  }
  return z;
}

/** How much that changes when each score changes by its part of `moves`. */
export function blendedChange(
  terms: readonly ScoreTerm[],
  weights: Float64Array,
  place: number,
  scores: readonly ArrayLike<number>[],
  index: number,
  moves: ArrayLike<number>,
): number {
  let sum = 0;
  terms.forEach((term, t) => {
    const slope = termSlope(term, scores[term.score]?.[index] as number);
    sum += labelWeight(weights, 1 + terms.length, 1 + t, place) * slope * (moves[term.score] as number);
  });
  return sum;
}

/** Root of x^2 + (2 width)^2, and the soft positive part made of it; below 0 without cancellation. */
function softHinge(x: number, width: number): { root: number; hinge: number } {
  const spread = 4 * width * width;
  const root = Math.sqrt(x * x + spread);
  const half = (Math.abs(x) + root) * 0.5;
  return { root, hinge: x >= 0 ? half : (spread * 0.25) / half };
}

/** Beyond it a distance from the centre counts as it. */
const FAR = 1e15;

/** Value of a term at a score. */
export function termValue({ shape, centre, width }: ScoreTerm, score: number): number {
  const x = Math.min(FAR, Math.max(-FAR, score - centre));
  if (shape === "linear") return x;
  const turned = shape === "cap" || shape === "limit";
  const { hinge } = softHinge(turned ? -x : x, width);
  const value = shape === "hinge" || shape === "cap" ? hinge : deterministicLog(hinge);
  return turned ? -value : value;
}

/** Derivative of a term: 1; hinge / root; 1 / root; of those turned about the centre, the same at the other side. */
export function termSlope({ shape, centre, width }: ScoreTerm, score: number): number {
  if (shape === "linear") return 1;
  const x = score - centre;
  const { root, hinge } = softHinge(shape === "cap" || shape === "limit" ? -x : x, width);
  return shape === "hinge" || shape === "cap" ? hinge / root : 1 / root;
}
