// The calibrator's forward pass over blocks of scores in a core.

import { calibrateScores } from "../core/calibrator.ts";
import { sameSize } from "../core/check.ts";
import { type Matrix, matrix, scoped } from "../core/matrix.ts";
import { type TopK, topK } from "../core/select.ts";
import { type BlendedCurves, EXPECTED_DEPTH, STRENGTH_DEPTH } from "./calibrator.ts";
import { placeAmong, pointWeights } from "./curves.ts";
import { logExpected, type PreparedCalibrator, pointStrength } from "./forward.ts";

/** A block of points, scored. */
export interface ScoreBlock {
  /** One matrix [rows,K] for each score of the calibrator, in its order. */
  scores: readonly Matrix[];
  /** v of each row, for a calibrator whose strength is the variance. */
  variances?: ArrayLike<number>;
}

/** The weights of each row, one after another. */
function rowWeights(curves: BlendedCurves, strengths: Float64Array): Float64Array {
  const size = curves.labelKnots.length * (1 + curves.terms.length);
  const all = new Float64Array(strengths.length * size);
  strengths.forEach((strength, i) => {
    all.set(pointWeights(curves, placeAmong(curves.pointKnots, strength)), i * size);
  });
  return all;
}

/** Part i of the best scores, or labels, of each row. */
const ofRow = <A extends { subarray(from: number, to: number): A }>(
  all: A,
  depth: number,
  row: number,
  most: number,
): A => all.subarray(row * depth, row * depth + Math.min(most, depth));

/** out [rows,K] = probabilities, or logits, which rank the same and never tie at 1. out may be one of the scores. */
export function calibrateBlock(
  prepared: PreparedCalibrator,
  { scores, variances }: ScoreBlock,
  out: Matrix,
  { logit = false }: { logit?: boolean } = {},
): Matrix {
  const { calibrator, places: place, slopes: slope, shifts: shift } = prepared;
  sameSize("scores", "matrices", scores.length, calibrator.scores.length);
  const { first, second } = calibrator;
  const depth = Math.min(EXPECTED_DEPTH, out.columns);
  const best = topK(scores[0] as Matrix, depth);
  const strengths = Float64Array.from({ length: out.rows }, (_, i) =>
    pointStrength(calibrator, ofRow(best.values as Float64Array, depth, i, STRENGTH_DEPTH), variances?.[i]),
  );
  const weights = rowWeights(first, strengths);
  const gates = first.labelKnots.length;
  const { terms } = first;
  const asked = { scores, terms, weights, gates, place, slope, shift };
  if (!second) return calibrateScores({ ...asked, logit, out });
  return scoped((scope) => {
    const logits = scope.keep(matrix(out.core, out.rows, out.columns, out.precision));
    calibrateScores({ ...asked, logit: true, out: logits });
    const expected = expectedLabels(logits, best, depth);
    return calibrateScores({
      scores: [logits],
      terms: second.terms,
      weights: rowWeights(second, expected),
      gates: 1,
      place: new Float64Array(out.columns),
      slope: new Float64Array(out.columns).fill(1),
      shift: new Float64Array(out.columns),
      logit,
      out,
    });
  });
}

/** Of each row the log of how many labels are expected among its best. */
function expectedLabels(logits: Matrix, best: TopK, depth: number): Float64Array {
  const all = logits.view();
  return Float64Array.from({ length: logits.rows }, (_, i) =>
    logExpected(
      Array.from(
        ofRow(best.indices, depth, i, EXPECTED_DEPTH),
        (label) => all[i * logits.columns + label] as number,
      ),
    ),
  );
}
