// Honest probabilities: the calibrator that came with the model, read from a compact file and applied to the scores of a text.

import { STRENGTH_DEPTH } from "../calibrate/calibrator.ts";
import {
  calibratorFromPart,
  calibratorToPart,
  thresholdsFromPart,
  thresholdsToPart,
} from "../calibrate/file.ts";
import {
  type CalibratedPoint,
  calibratedLogit,
  calibratePoint,
  greatestLogit,
  logistic,
  type PreparedCalibrator,
  prepareCalibrator,
} from "../calibrate/forward.ts";
import { deterministicLog } from "../data/elementary.ts";
import type { Thresholds } from "../metrics/cut.ts";
import { topLabels } from "../metrics/top.ts";
import type { Parts } from "./parts.ts";
import { labelProbability } from "./probability.ts";
import { bestOfAll, byRank, contenders, type Utilities } from "./ranking.ts";

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

/** Where a calibrated model cuts, if it says so. */
export function thresholdsOf(parts: Parts): Thresholds | undefined {
  const thresholds = thresholdsFromPart(parts.whole, parts.about.labels, parts.file);
  if (!thresholds) return undefined;
  if (parts.about.points === undefined) parts.refuse("thresholds without a calibrator", "both or none");
  parts.took(thresholdsToPart(thresholds).tensors.keys());
  return thresholds;
}

/** The least and the greatest probability that have a logit in single precision, as in a full model. */
const [LEAST, MOST] = [1e-30, 1 - 2 ** -24];

/**
 * log p - log (1 - p) of each label, p of the Bernoulli model. A probability costs some exponentials: it is worked out for labels
 * that are asked for, or may be among the best.
 */
class UtilityScores {
  /** What is not worked out yet is -Infinity, below all others. */
  readonly values: Float64Array;
  readonly #latent: Utilities;

  constructor(latent: Utilities) {
    this.#latent = latent;
    this.values = new Float64Array(latent.utilities.length).fill(Number.NEGATIVE_INFINITY);
  }

  settle(label: number): void {
    if (this.values[label] !== Number.NEGATIVE_INFINITY) return;
    const p = this.#probability(label);
    this.values[label] = deterministicLog(p) - deterministicLog(1 - p);
  }

  /** Works out the best so many, and those that could be. */
  settleBest(depth: number): void {
    const { utilities } = this.#latent;
    let lowest = 1;
    for (const label of topLabels(utilities, 1, utilities.length, Math.min(depth, utilities.length)))
      lowest = Math.min(lowest, this.#probability(label));
    for (const label of contenders(this.#latent, lowest)) this.settle(label);
  }

  #probability(label: number): number {
    const { utilities, variance } = this.#latent;
    return Math.min(MOST, Math.max(LEAST, labelProbability(utilities[label] as number, variance(label))));
  }
}

/** Labels with the greatest of each score that are looked at first. */
const FIRST_LOOK = 64;
/** Room for rounding beside a bound. */
const SLACK = 1e-9;

/** The calibrated logits of a point, which rank as its probabilities do, each worked out when it is asked for. */
export class CalibratedLogits {
  readonly #calibrator: PreparedCalibrator;
  readonly #point: CalibratedPoint;
  readonly #utility: UtilityScores | undefined;
  #moved: ReturnType<typeof byRank> | undefined;

  /** From the scores of a closed form, and what latent functions say; the latter must stay as it is. */
  constructor(calibrator: PreparedCalibrator, closed: readonly Float64Array[], latent?: Utilities) {
    this.#calibrator = calibrator;
    this.#utility = latent && new UtilityScores(latent);
    if (closed.length === 0) this.#utility?.settleBest(STRENGTH_DEPTH);
    this.#point = calibratePoint(calibrator, this.#utility ? [...closed, this.#utility.values] : closed);
  }

  get rankOffsets(): ArrayLike<number> | undefined {
    return this.#calibrator.calibrator.rankOffsets;
  }

  /** The probability of a label, its rank among all looked at. */
  probability(label: number): number {
    this.#moved ??= byRank(this.rankOffsets, () => bestOfAll(this));
    return logistic(this.#moved(label, this.of(label)));
  }

  /** Before its rank is looked at. */
  of(label: number): number {
    this.#utility?.settle(label);
    return calibratedLogit(this.#calibrator, this.#point, label);
  }

  /**
   * Labels with their logits, among them all that are the best `most` of those allowed and have at least the logit `least`. Logits
   * cost some logarithms each; few labels need theirs, for no other can be better than the scores beyond the first ones allow.
   */
  candidates(
    most: number,
    least: number,
    allowed: Uint8Array | undefined,
  ): { labels: Int32Array; logits: Float64Array } {
    const { scores } = this.#point;
    const all = this.#calibrator.places.length;
    const judged = (labels: Int32Array): { labels: Int32Array; logits: Float64Array } => ({
      labels,
      logits: Float64Array.from(labels, (label) => this.of(label)),
    });
    for (let depth = FIRST_LOOK; depth < all; depth *= 4) {
      this.#utility?.settleBest(depth);
      const best = scores.map((values) => topLabels(values, 1, all, depth));
      const edges = best.map(
        (labels, i) => (scores[i] as Float64Array)[labels[depth - 1] as number] as number,
      );
      const labels = best.flatMap((list) => [...list].filter((label) => allowed?.[label] !== 0));
      const found = judged(Int32Array.from(new Set(labels)).sort());
      const { logits } = found;
      const last =
        logits.length < most ? -1 : (topLabels(logits, 1, logits.length, most)[most - 1] as number);
      const bar = last < 0 ? least : Math.max(least, logits[last] as number);
      if (greatestLogit(this.#calibrator, this.#point, edges) + SLACK < bar) return found;
    }
    return judged(
      Int32Array.from({ length: all }, (_, label) => label).filter((label) => allowed?.[label] !== 0),
    );
  }
}
