// The calibrator's forward pass over blocks of scores in a core.

import { calibrateScores } from "../core/calibrator.ts";
import { sameSize } from "../core/check.ts";
import type { Matrix } from "../core/matrix.ts";
import { type PreparedCalibrator, pointTerm } from "./forward.ts";

/** A block of points, scored. */
export interface ScoreBlock {
  /** One matrix [rows,K] for each score of the calibrator, in its order. */
  scores: readonly Matrix[];
  /** v of each row; without them log v counts as 0. */
  variances?: ArrayLike<number>;
}

/** out [rows,K] = probabilities, or logits, which rank the same and never tie at 1. out may be one of the scores. */
export function calibrateBlock(
  prepared: PreparedCalibrator,
  { scores, variances }: ScoreBlock,
  out: Matrix,
  { logit = false }: { logit?: boolean } = {},
): Matrix {
  sameSize("scores", "matrices", scores.length, prepared.scores.length);
  const { terms, weights, labelTerms: label, slopes: slope, shifts: shift } = prepared;
  const point = variances
    ? Float64Array.from(variances, (variance) => pointTerm(prepared, variance))
    : new Float64Array(out.rows);
  return calibrateScores({ scores, terms, weights, point, label, slope, shift, logit, out });
}
