// Honest probabilities: the calibrator that came with the model, read from a compact file and applied to the scores of a text.

import { calibratorFromPart, calibratorToPart } from "../calibrate/file.ts";
import {
  calibratedLogit,
  calibratePoint,
  type PreparedCalibrator,
  prepareCalibrator,
} from "../calibrate/forward.ts";
import { deterministicLog } from "../data/elementary.ts";
import type { Parts } from "./parts.ts";
import { labelProbability } from "./probability.ts";
import type { Utilities } from "./ranking.ts";

/** The calibrator of a model whose parts give scores of these names. */
export function calibratorOf(parts: Parts, scores: readonly string[]): PreparedCalibrator | undefined {
  const { labels, points } = parts.about;
  const calibrator = calibratorFromPart(parts.whole, labels, parts.file);
  if (!calibrator) {
    if (points !== undefined) parts.refuse("a number of points without a calibrator", "both or none");
    return undefined;
  }
  if (points === undefined) return parts.refuse("a calibrator without the number of points", "both or none");
  if (calibrator.scores.join() !== scores.join() || !calibrator.strength)
    parts.refuse("a calibrator of other scores", `one of ${scores.join(", ")}`);
  parts.took(calibratorToPart(calibrator).tensors.keys());
  const labelCounts = parts.integers("labelCounts", labels);
  if (labelCounts.some((count) => count < 0 || count > points))
    parts.refuse("a number in labelCounts beyond the points", `numbers from 0 to ${points}`);
  return prepareCalibrator(calibrator, { labelCounts, points });
}

/** The least and the greatest probability that have a logit in single precision, as in a full model. */
const [LEAST, MOST] = [1e-30, 1 - 2 ** -24];

/** log p - log (1 - p), p of the Bernoulli model. */
export function utilityScores({ utilities, variance }: Utilities): Float64Array {
  return Float64Array.from(utilities, (utility, label) => {
    const p = Math.min(MOST, Math.max(LEAST, labelProbability(utility, variance(label))));
    return deterministicLog(p) - deterministicLog(1 - p);
  });
}

/** Calibrated logits of all labels of a point, which rank as its probabilities do. */
export function calibratedLogits(
  calibrator: PreparedCalibrator,
  scores: readonly Float64Array[],
): Float64Array {
  const point = calibratePoint(calibrator, scores);
  return Float64Array.from(calibrator.places, (_, label) => calibratedLogit(calibrator, point, label));
}
