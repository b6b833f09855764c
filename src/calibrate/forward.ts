// The calibrator's forward pass, one point at a time, for the edge and for single numbers; assembly/calibrator.ts has the same
// in blocks. Both give the same numbers but for the last places of exp and log.

import {
  type BlendedCurves,
  type Calibrator,
  type Curve,
  type LabelFrequencies,
  type ScoreTerm,
  STRENGTH_DEPTH,
} from "../base/calibrator.ts";
import { deterministicExp, deterministicLog } from "../base/math.ts";
import { topLabels } from "../base/top.ts";

/** A calibrator with what is the same for all points worked out. */
export interface PreparedCalibrator {
  /** Without the terms that weigh nothing. */
  readonly calibrator: Calibrator;
  /** Position of each label among the knots, and u_k. */
  readonly places: Float64Array;
  readonly offsets: Float64Array;
}

/** A point with the curves that its strength blends. */
export interface CalibratedPoint {
  /** Scores of all labels, of each kind. */
  readonly scores: readonly ArrayLike<number>[];
  readonly weights: Float64Array; // [A, 1 + terms]
}

/** log((n + 1/2) / (N + 1)) */
export function logFrequency(count: number, points: number): number {
  return deterministicLog((count + 0.5) / (points + 1));
}

/** For labels as often in the training data as given; those the calibrator has not seen have no effects of their own. */
export function prepareCalibrator(calibrator: Calibrator, frequencies: LabelFrequencies): PreparedCalibrator {
  const { curves, outer, labelOffsets } = calibrator;
  const { labelCounts, points } = frequencies;
  const places = Float64Array.from(labelCounts, (count) => placeAmong(curves.labelKnots, logFrequency(count, points)));
  return {
    calibrator: { ...calibrator, curves: pruned(curves), outer: pruned(outer) },
    places,
    offsets: places.map((_, k) => labelOffsets[k] ?? 0),
  };
}

/** Position of a point by the mean of its ten best first scores. */
export function pointStrength({ strength }: Calibrator, best: ArrayLike<number>): number {
  return termValue(strength, meanOf(best));
}

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / Math.max(1, values.length);
}

/** 1 / (1 + e^-x), both tails to their relative accuracy. */
export function logistic(x: number): number {
  const e = deterministicExp(-Math.abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/** Looks at a point as a whole: `scores` has those of all labels, of each kind. */
export function calibratePoint(
  { calibrator, places }: PreparedCalibrator,
  scores: readonly ArrayLike<number>[],
): CalibratedPoint {
  const [leading = []] = scores;
  const best = topLabels(leading, 1, places.length, Math.min(STRENGTH_DEPTH, places.length));
  const strength = pointStrength(
    calibrator,
    Array.from(best, (label) => leading[label]),
  );
  const { curves } = calibrator;
  return { scores, weights: pointWeights(curves, placeAmong(curves.pointKnots, strength)) };
}

function plainLogit(
  { calibrator, places, offsets }: PreparedCalibrator,
  { scores, weights }: CalibratedPoint,
  label: number,
  index: number = label,
): number {
  return offsets[label] + blendedValue(calibrator.curves.terms, weights, places[label], scores, index);
}

/** log(p / (1 - p)) of a label of that point, whose scores stand at `index`. */
export function calibratedLogit(
  prepared: PreparedCalibrator,
  point: CalibratedPoint,
  label: number,
  index: number = label,
): number {
  return outerValue(prepared.calibrator, plainLogit(prepared, point, label, index));
}

const outerValue = ({ outer }: Calibrator, logit: number): number =>
  blendedValue(outer.terms, outer.weights, 0, [[logit]], 0);

/** No label of that point whose scores are at most these, one of each kind, exceeds it: logits rise with every score. */
export function greatestLogit(
  { calibrator, offsets }: PreparedCalibrator,
  { weights }: CalibratedPoint,
  scores: readonly number[],
): number {
  const { curves } = calibrator;
  const lists = scores.map((score) => [score]);
  // Between two knots z lies between those at the knots.
  let z = -Infinity;
  for (let knot = 0; knot < curves.labelKnots.length; knot++)
    z = Math.max(z, blendedValue(curves.terms, weights, knot, lists, 0));
  let logit = -Infinity;
  for (let label = 0; label < offsets.length; label++) logit = Math.max(logit, offsets[label] + z);
  return outerValue(calibrator, logit);
}

export function calibratedProbability(prepared: PreparedCalibrator, point: CalibratedPoint, label: number): number {
  return logistic(calibratedLogit(prepared, point, label));
}

/**
 * Standard deviation of the probability p when the scores have these: through the slope of the calibrator, as if the scores
 * moved together. At most sqrt(p (1 - p)), which no number between 0 and 1 with the mean p exceeds.
 */
export function calibratedDeviation(
  prepared: PreparedCalibrator,
  point: CalibratedPoint,
  label: number,
  deviations: ArrayLike<number>,
  p: number = calibratedProbability(prepared, point, label),
): number {
  const { calibrator, places } = prepared;
  const { scores, weights } = point;
  const { curves, outer } = calibrator;
  const inner = blendedChange(curves.terms, weights, places[label], scores, label, deviations);
  const logit = plainLogit(prepared, point, label);
  const spread = blendedChange(outer.terms, outer.weights, 0, [[logit]], 0, [inner]);
  return Math.min(Math.sqrt(p * (1 - p)), p * (1 - p) * spread * (calibrator.sharpness ?? 1));
}

/** Ranks that a label may have; see fitRanks(). */
export const RANKS = 20;
/** Least distance of moved logits that follow one another. */
const GAP = 1e-4;

/** Moves the logits of a point, best first, by the offsets of their ranks; each stays below the one before. */
export function moveByRank(logits: readonly number[], offsets: ArrayLike<number>): number[] {
  const moved: number[] = [];
  for (const [rank, logit] of logits.entries()) moved.push(Math.min(below(moved), logit + (offsets[rank] ?? 0)));
  return moved;
}

/** The most that logits after those moved may be. */
export const below = (moved: readonly number[]): number => (moved.at(-1) ?? Infinity) - GAP;

/** The least odds against a label. */
const LEAST_ODDS = 1e-30;

/** Replaces the logits of a point by those of probabilities that sum to one: their softmax, times a sharpness. One may stand for several. */
export function excludeOthers(
  logits: Float32Array | Float64Array,
  sharpness: number,
  times: (i: number) => number = () => 1,
): void {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
  const most = logits[best];
  const odds = Float64Array.from(logits, (logit) => deterministicExp(sharpness * (logit - most)));
  // The best is 1: the sum without it is exact, and that of all less another one loses nothing.
  const others = odds.reduce((sum, own, i) => sum + (i === best ? times(i) - 1 : times(i) * own), 0);
  for (let i = 0; i < logits.length; i++) {
    const rest = i === best ? others : 1 + others - odds[i];
    logits[i] = sharpness * (logits[i] - most) - deterministicLog(Math.max(LEAST_ODDS, rest));
  }
}

/** Where a value lies among knots: 1.3 is three tenths of the way from knot 1 to knot 2; beyond the ends, at them. */
export function placeAmong(knots: Float64Array, value: number): number {
  const last = knots.length - 1;
  if (!(value > knots[0])) return 0;
  for (let i = 0; i < last; i++) {
    const [low, high] = [knots[i], knots[i + 1]];
    if (value < high) return i + (value - low) / (high - low);
  }
  return last;
}

const gate = (place: number, knot: number): number => Math.max(0, 1 - Math.abs(place - knot));

/** Constant and weights at each knot of the labels, blended for a point [A, 1 + terms]. */
export function pointWeights({ terms, labelKnots, pointKnots, weights }: BlendedCurves, place: number): Float64Array {
  const width = 1 + terms.length;
  const out = new Float64Array(labelKnots.length * width);
  for (let a = 0; a < labelKnots.length; a++) {
    for (let b = 0; b < pointKnots.length; b++) {
      const share = gate(place, b);
      if (share === 0) continue;
      const from = (a * pointKnots.length + b) * width;
      for (let j = 0; j < width; j++) out[a * width + j] = out[a * width + j] + share * weights[from + j];
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
    if (share > 0) sum += share * weights[a * width + column];
  }
  return sum;
}

/** z of a label at a place, by a point's weights; the label's scores stand at `index` of each list. */
function blendedValue(
  terms: readonly ScoreTerm[],
  weights: Float64Array,
  place: number,
  scores: readonly ArrayLike<number>[],
  index: number,
): number {
  const width = 1 + terms.length;
  let z = labelWeight(weights, width, 0, place);
  for (let t = 0; t < terms.length; t++) {
    const term = terms[t];
    const score = scores[term.score]?.[index];
    z += labelWeight(weights, width, 1 + t, place) * termValue(term, score);
  }
  return z;
}

/** How much that changes when each score changes by its part of `moves`. */
function blendedChange(
  terms: readonly ScoreTerm[],
  weights: Float64Array,
  place: number,
  scores: readonly ArrayLike<number>[],
  index: number,
  moves: ArrayLike<number>,
): number {
  let sum = 0;
  terms.forEach((term, t) => {
    const slope = termSlope(term, scores[term.score]?.[index]);
    sum += labelWeight(weights, 1 + terms.length, 1 + t, place) * slope * moves[term.score];
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

export function termValue({ shape, centre, width }: ScoreTerm, score: number): number {
  const x = Math.min(FAR, Math.max(-FAR, score - centre));
  if (shape === "linear") return x;
  const turned = shape === "cap" || shape === "limit";
  const { hinge } = softHinge(turned ? -x : x, width);
  const value = shape === "hinge" || shape === "cap" ? hinge : deterministicLog(hinge);
  return turned ? -value : value;
}

/** Derivative of a term: 1; hinge / root; 1 / root; of those turned about the centre, the same at the other side. */
function termSlope({ shape, centre, width }: ScoreTerm, score: number): number {
  if (shape === "linear") return 1;
  const x = score - centre;
  const { root, hinge } = softHinge(shape === "cap" || shape === "limit" ? -x : x, width);
  return shape === "hinge" || shape === "cap" ? hinge / root : 1 / root;
}
