// The calibrator's forward pass over blocks of scores in a core.

import { calibrateScores } from "../core/calibrator.ts";
import { sameSize } from "../core/check.ts";
import type { Matrix } from "../core/matrix.ts";
import { topK } from "../core/select.ts";
import { type BlendedCurves, type Curve, STRENGTH_DEPTH } from "./calibrator.ts";
import { placeAmong, pointWeights, pruned } from "./curves.ts";
import { type PreparedCalibrator, pointStrength } from "./forward.ts";
import { below, moveByRank, RANKS } from "./ranks.ts";
import { FINISH_TERMS, IDENTITY } from "./terms.ts";

/** A block of points, scored. */
export interface ScoreBlock {
  /** One matrix [rows,K] for each score of the calibrator, in its order. */
  scores: readonly Matrix[];
  /** v of each row, for a calibrator whose strength is the variance. */
  variances?: ArrayLike<number>;
}

/** out [rows,K] = probabilities, or logits, which rank the same and never tie at 1. out may be one of the scores. */
export function calibrateBlock(
  prepared: PreparedCalibrator,
  block: ScoreBlock,
  out: Matrix,
  { logit = false }: { logit?: boolean } = {},
): Matrix {
  const { calibrator, places: place, slopes: slope, shifts: shift } = prepared;
  const { curves, finish, rankOffsets } = calibrator;
  const { scores } = block;
  sameSize("scores", "matrices", scores.length, calibrator.scores.length);
  const weights = rowWeights(curves, strengthsOf(prepared, block));
  const gates = curves.labelKnots.length;
  const { terms } = curves;
  calibrateScores({
    scores,
    terms,
    weights,
    gates,
    place,
    slope,
    shift,
    logit: logit || finish !== undefined || rankOffsets !== undefined,
    out,
  });
  if (finish) alongCurve(out, finish, logit || rankOffsets !== undefined);
  if (!rankOffsets) return out;
  moveRows(out, rankOffsets);
  return logit ? out : alongCurve(out, SAME, false);
}

/** The curve that leaves a logit as it is. */
const SAME: Curve = pruned({ terms: FINISH_TERMS, weights: IDENTITY });

/** Every logit by the same curve, in place: the logit after it, or its probability. */
function alongCurve(out: Matrix, { terms, weights }: Curve, logit: boolean): Matrix {
  const same = new Float64Array(out.columns);
  return calibrateScores({
    scores: [out],
    terms,
    weights: repeated(weights, out.rows),
    gates: 1,
    place: same,
    slope: same.map(() => 1),
    shift: same,
    logit,
    out,
  });
}

/** Moves the logits of each row by their ranks, in place; those beyond the ranks stay below them. */
function moveRows(logits: Matrix, offsets: Float64Array): void {
  const { rows, columns } = logits;
  const depth = Math.min(RANKS, columns);
  const { indices, values } = topK(logits, depth);
  for (let i = 0; i < rows; i++) {
    const own = logits.rowRange(i, i + 1).view();
    const from = i * depth;
    const moved = moveByRank(Array.from(values.subarray(from, from + depth)), offsets);
    const most = below(moved);
    if (most < (values[from + depth - 1] as number))
      for (let label = 0; label < columns; label++) own[label] = Math.min(own[label] as number, most);
    moved.forEach((logit, rank) => {
      own[indices[from + rank] as number] = logit;
    });
  }
}

function strengthsOf({ calibrator }: PreparedCalibrator, { scores, variances }: ScoreBlock): Float64Array {
  const leading = scores[0] as Matrix;
  const depth = Math.min(STRENGTH_DEPTH, leading.columns);
  const { values } = topK(leading, depth);
  return Float64Array.from({ length: leading.rows }, (_, i) =>
    pointStrength(calibrator, values.subarray(i * depth, (i + 1) * depth), variances?.[i]),
  );
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

function repeated(values: Float64Array, times: number): Float64Array {
  const all = new Float64Array(values.length * times);
  for (let i = 0; i < times; i++) all.set(values, i * values.length);
  return all;
}
