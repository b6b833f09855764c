// Scores of a row as probabilities by the calibrator, loaded by models that have one. Parts are scored once.

import { STRENGTH_DEPTH } from "../base/calibrator.ts";
import { deterministicLog } from "../base/math.ts";
import { bestOf, type Judged, type RankedValue, topLabels } from "../base/top.ts";
import {
  below,
  type CalibratedPoint,
  calibratedLogit,
  calibratePoint,
  excludeOthers,
  greatestLogit,
  logistic,
  moveByRank,
  type PreparedCalibrator,
  RANKS,
} from "../calibrate/forward.ts";
import type { LabelScores, LazyLogits } from "../parts/row.ts";

export { calibratorFromFile, thresholdsFromFile } from "../calibrate/file.ts";
export { prepareCalibrator } from "../calibrate/forward.ts";

export interface RankedLabel {
  label: number;
  probability: number;
}

export interface RowScores {
  probability(label: number): number;
  /** The best `most` labels of those allowed, of at least this probability, most probable first; equals by label. */
  best(most: number, threshold: number, allowed?: Uint8Array): RankedLabel[];
  /** Labels beyond the model's that stand in the text, most probable first. */
  readonly beyond?: readonly RankedLabel[];
}

/** Moves the logits of a row by its text; `known` is how many labels the calibrator has. */
export type MoveLogits = (logits: Logits, known: number) => MovedLogits;

export function rowScores(parts: readonly LabelScores[], calibrator: PreparedCalibrator, move?: MoveLogits): RowScores {
  const logits = new CalibratedLogits(calibrator, parts);
  const { sharpness } = calibrator.calibrator;
  if (sharpness !== undefined) return exclusiveScores(logits, calibrator.places.length, sharpness);
  const moved = move?.(logits, calibrator.places.length);
  return moved ? { ...calibratedScores(moved), beyond: moved.beyond } : calibratedScores(logits);
}

/** Calibrated logits, which rank as probabilities do and do not tie where these are all but 1. */
export interface Logits {
  readonly rankOffsets: ArrayLike<number> | undefined;
  /** Logit of a label, before its rank is looked at. */
  of(label: number): number;
  /** Labels, rising, among which are the best `most` of those allowed with at least the logit `least`, with their logits. */
  candidates(most: number, least: number, allowed: Uint8Array | undefined): Judged;
}

/** Logits that the text has moved. */
export interface MovedLogits extends Logits {
  /** Labels beyond the calibrator's that stand in the text, most probable first. */
  readonly beyond: readonly RankedLabel[];
}

/** Room for rounding beside the logit of a threshold. */
const SLACK = 1e-6;

/** Probabilities of logits, ranks being those among all labels. */
export function calibratedScores(logits: Logits): RowScores {
  const { rankOffsets } = logits;
  const leading = (): RankedValue[] => bestOf(logits.candidates(RANKS, -Infinity, undefined), RANKS);
  let ofAll: ReturnType<typeof byRank> | undefined;
  return {
    probability(label) {
      ofAll ??= byRank(rankOffsets, leading);
      return logistic(ofAll(label, logits.of(label)));
    },
    best(most, threshold, allowed) {
      const bounded = threshold > 0 && threshold < 1;
      const least = bounded ? deterministicLog(threshold) - deterministicLog(1 - threshold) - SLACK : -Infinity;
      const rise = Math.max(0, ...Array.from(rankOffsets ?? []));
      const listed = bestOf(logits.candidates(most, least - rise, allowed), most);
      const moved = byRank(rankOffsets, () => (allowed ? leading() : listed.slice(0, RANKS)));
      return listed
        .map(({ label, value }) => ({ label, probability: logistic(moved(label, value)) }))
        .filter(({ probability }) => probability >= threshold);
    },
  };
}

/** The same where exactly one label is true: the probabilities of all sum to one. */
function exclusiveScores(logits: Logits, labels: number, sharpness: number): RowScores {
  const all = Float64Array.from({ length: labels }, (_, label) => logits.of(label));
  const every = Int32Array.from(all.keys());
  const moved = byRank(logits.rankOffsets, () => bestOf({ labels: every, values: all }, RANKS));
  const values = all.map((logit, label) => moved(label, logit));
  excludeOthers(values, sharpness);
  return {
    probability: (label) => logistic(values[label]),
    best(most, threshold, allowed) {
      const kept = every.filter((label) => allowed?.[label] !== 0 && logistic(values[label]) >= threshold);
      return bestOf({ labels: kept, values: Float64Array.from(kept, (label) => values[label]) }, most).map(
        ({ label, value }) => ({ label, probability: logistic(value) }),
      );
    },
  };
}

/** The logit of a label that its rank has moved, where ranks move any; `best` are the best of all labels, best first. */
export function byRank(
  offsets: ArrayLike<number> | undefined,
  best: () => readonly RankedValue[],
): (label: number, logit: number) => number {
  if (!offsets) return (_, logit) => logit;
  const leading = best();
  const moved = moveByRank(
    leading.map(({ value }) => value),
    offsets,
  );
  const beyond = below(moved);
  const ofLabel = new Map(leading.map(({ label }, rank) => [label, moved[rank]]));
  return (label, logit) => ofLabel.get(label) ?? Math.min(logit, beyond);
}

/** Labels with the greatest of each score that are looked at first. */
const FIRST_LOOK = 64;
/** Room for rounding beside a bound. */
export const ROUNDING = 1e-9;

/** The calibrated logits of a row, each worked out when it is asked for. */
class CalibratedLogits implements Logits {
  readonly #calibrator: PreparedCalibrator;
  readonly #point: CalibratedPoint;
  readonly #lazy: readonly LazyLogits[];
  /** Those that are known, NaN for others: ranks and moved logits ask for them again. */
  readonly #known: Float64Array;

  constructor(calibrator: PreparedCalibrator, parts: readonly LabelScores[]) {
    parts[0].logits?.settleBest(STRENGTH_DEPTH);
    this.#calibrator = calibrator;
    this.#known = new Float64Array(calibrator.places.length).fill(Number.NaN);
    this.#lazy = parts.flatMap(({ logits = [] }) => logits);
    this.#point = calibratePoint(
      calibrator,
      parts.map(({ values, logits }) => logits?.values ?? values),
    );
  }

  get rankOffsets(): ArrayLike<number> | undefined {
    return this.#calibrator.calibrator.rankOffsets;
  }

  of(label: number): number {
    if (Number.isNaN(this.#known[label])) {
      for (const scores of this.#lazy) scores.settle(label);
      this.#known[label] = calibratedLogit(this.#calibrator, this.#point, label);
    }
    return this.#known[label];
  }

  /** Logits cost some logarithms each; few labels need theirs, for no other can be better than the scores beyond the first allow. */
  candidates(most: number, least: number, allowed: Uint8Array | undefined): Judged {
    const { scores } = this.#point;
    const all = this.#calibrator.places.length;
    const judged = (labels: Int32Array): Judged => ({
      labels,
      values: Float64Array.from(labels, (label) => this.of(label)),
    });
    for (let depth = FIRST_LOOK; depth < all; depth *= 4) {
      for (const lazy of this.#lazy) lazy.settleBest(depth);
      const best = scores.map((values) => topLabels(values, 1, all, depth));
      const edges = best.map((labels, i) => scores[i][labels[depth - 1]]);
      const labels = best.flatMap((list) => [...list].filter((label) => allowed?.[label] !== 0));
      const found = judged(Int32Array.from(new Set(labels)).sort());
      const [last] = bestOf(found, most).slice(most - 1);
      const bar = last ? Math.max(least, last.value) : least;
      if (greatestLogit(this.#calibrator, this.#point, edges) + ROUNDING < bar) return found;
    }
    return judged(Int32Array.from({ length: all }, (_, label) => label).filter((label) => allowed?.[label] !== 0));
  }
}
