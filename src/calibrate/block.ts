// The calibrator's forward pass over blocks of scores in a core.

import { type BlendedCurves, type Calibrator, type Curve, STRENGTH_DEPTH } from "../base/calibrator.ts";
import { sameSize } from "../base/check.ts";
import { calibrateScores } from "../core/calibrator.ts";
import { topK } from "../core/dense.ts";
import type { Matrix } from "../core/matrix.ts";
import {
  below,
  excludeOthers,
  moveByRank,
  type PreparedCalibrator,
  placeAmong,
  pointStrength,
  pointWeights,
  pruned,
  RANKS,
} from "./forward.ts";
import { IDENTITY, OUTER_TERMS } from "./terms.ts";

/** out [rows,K] = probabilities, or logits, which never tie at 1, from a matrix [rows,K] of each score; out may be one. */
export function calibrateBlock(
  prepared: PreparedCalibrator,
  { scores }: { scores: readonly Matrix[] },
  out: Matrix,
  { logit = false }: { logit?: boolean } = {},
): Matrix {
  const { calibrator, places: place, offsets: shift } = prepared;
  const { curves, outer, rankOffsets, sharpness } = calibrator;
  sameSize("scores", "matrices", scores.length, calibrator.scores.length);
  const weights = rowWeights(curves, strengthsOf(calibrator, scores[0]));
  const gates = curves.labelKnots.length;
  const { terms } = curves;
  calibrateScores({ scores, terms, weights, gates, place, shift, logit: true, out });
  alongCurve(out, outer, logit || rankOffsets !== undefined || sharpness !== undefined);
  if (!rankOffsets && sharpness === undefined) return out;
  if (rankOffsets) moveRows(out, rankOffsets);
  if (sharpness !== undefined)
    for (let i = 0; i < out.rows; i++)
      excludeOthers(out.rowRange(i, i + 1).view() as Float32Array | Float64Array, sharpness);
  return logit ? out : logisticBlock(out);
}

/** The curve that leaves a logit as it is. */
const SAME: Curve = pruned({ terms: OUTER_TERMS, weights: IDENTITY });

/** Every logit by the same curve, in place: the logit after it, or its probability. */
function alongCurve(out: Matrix, { terms, weights }: Curve, logit: boolean): Matrix {
  const same = new Float64Array(out.columns);
  const all = repeated(weights, out.rows);
  return calibrateScores({ scores: [out], terms, weights: all, gates: 1, place: same, shift: same, logit, out });
}

/** Probabilities of logits, in place. */
export const logisticBlock = (logits: Matrix): Matrix => alongCurve(logits, SAME, false);

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
    if (most < values[from + depth - 1])
      for (let label = 0; label < columns; label++) own[label] = Math.min(own[label], most);
    for (const [rank, logit] of moved.entries()) own[indices[from + rank]] = logit;
  }
}

function strengthsOf(calibrator: Calibrator, leading: Matrix): Float64Array {
  const depth = Math.min(STRENGTH_DEPTH, leading.columns);
  const { values } = topK(leading, depth);
  return Float64Array.from({ length: leading.rows }, (_, i) =>
    pointStrength(calibrator, values.subarray(i * depth, (i + 1) * depth)),
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
