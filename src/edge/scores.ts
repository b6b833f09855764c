// Scores of a row as probabilities: by the calibrator or, without one, by the sigmoid of the only part. Parts are scored once.

import { STRENGTH_DEPTH } from "../base/calibrator.ts";
import { deterministicLog } from "../base/math.ts";
import { topLabels } from "../base/top.ts";
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
import type { LabelScores, RowMover } from "../parts/row.ts";
import { labelProbability } from "./probability.ts";

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

/** The part that moves the logits of a row, and its text. */
export interface MovedText {
  readonly mover: RowMover;
  readonly text: string;
}

export function rowScores(
  parts: readonly LabelScores[],
  calibrator: PreparedCalibrator | undefined,
  moved?: MovedText,
): RowScores {
  if (calibrator) {
    const logits = new CalibratedLogits(calibrator, parts);
    const { sharpness } = calibrator.calibrator;
    if (sharpness !== undefined) return exclusiveScores(logits, calibrator.places.length, sharpness);
    if (!moved) return calibratedScores(logits);
    const all = new MovedLogits(logits, moved, calibrator.places.length);
    return { ...calibratedScores(all), beyond: all.beyond };
  }
  const scores = new SigmoidScores(parts[0]);
  return {
    probability: (label) => scores.probability(label),
    best(most, threshold, allowed) {
      const labels = scores.contenders(most, threshold, allowed);
      const values = labels.map((label) => scores.probability(label));
      return bestOf({ labels, values }, most)
        .map(({ label, value }) => ({ label, probability: value }))
        .filter(({ probability }) => probability >= threshold);
    },
  };
}

/** Labels, rising, with what ranks them. */
interface Judged {
  readonly labels: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

function bestOf({ labels, values }: Judged, most: number): { label: number; value: number }[] {
  const places = topLabels(values, 1, values.length, Math.min(most, values.length));
  return Array.from(places, (place) => ({ label: labels[place], value: values[place] }));
}

/** Calibrated logits, which rank as probabilities do and do not tie where these are all but 1. */
export interface Logits {
  readonly rankOffsets: ArrayLike<number> | undefined;
  /** Logit of a label, before its rank is looked at. */
  of(label: number): number;
  /** Labels, rising, among which are the best `most` of those allowed with at least the logit `least`, with their logits. */
  candidates(most: number, least: number, allowed: Uint8Array | undefined): Judged;
}

/** Room for rounding beside the logit of a threshold. */
const SLACK = 1e-6;

/** Probabilities of logits, ranks being those among all labels. */
export function calibratedScores(logits: Logits): RowScores {
  const { rankOffsets } = logits;
  const leading = (): { label: number; value: number }[] =>
    bestOf(logits.candidates(RANKS, -Infinity, undefined), RANKS);
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
function byRank(
  offsets: ArrayLike<number> | undefined,
  best: () => readonly { label: number; value: number }[],
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
const ROUNDING = 1e-9;

/** The calibrated logits of a row, each worked out when it is asked for. */
class CalibratedLogits implements Logits {
  readonly #calibrator: PreparedCalibrator;
  readonly #point: CalibratedPoint;
  /** Scores that are worked out label by label. */
  readonly #lazy: readonly SigmoidScores[];

  constructor(calibrator: PreparedCalibrator, parts: readonly LabelScores[]) {
    const scores = parts.map((part) => (part.variance ? new SigmoidScores(part) : part));
    const [first] = scores;
    if (first instanceof SigmoidScores) first.settleBest(STRENGTH_DEPTH);
    this.#calibrator = calibrator;
    this.#lazy = scores.filter((each) => each instanceof SigmoidScores);
    this.#point = calibratePoint(
      calibrator,
      scores.map(({ values }) => values),
    );
  }

  get rankOffsets(): ArrayLike<number> | undefined {
    return this.#calibrator.calibrator.rankOffsets;
  }

  of(label: number): number {
    for (const scores of this.#lazy) scores.settle(label);
    return calibratedLogit(this.#calibrator, this.#point, label);
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

/** Logits that the text has moved, those of labels beyond the calibrator's among them. */
class MovedLogits implements Logits {
  readonly rankOffsets: undefined;
  readonly #base: Logits;
  readonly #mover: RowMover;
  readonly #known: number;
  readonly #standing: ReadonlyMap<number, Float64Array>;
  readonly #ranked: ReturnType<typeof byRank>;

  constructor(base: Logits, { mover, text }: MovedText, known: number) {
    this.#base = base;
    this.#mover = mover;
    this.#known = known;
    this.#standing = mover.standing(text);
    this.#ranked = byRank(base.rankOffsets, () => bestOf(base.candidates(RANKS, -Infinity, undefined), RANKS));
  }

  /** Labels beyond that stand in the text, most probable first. */
  get beyond(): RankedLabel[] {
    const labels = Int32Array.from(this.#standing.keys()).filter((label) => label >= this.#known);
    const values = Float64Array.from(labels, (label) => this.of(label));
    return bestOf({ labels, values }, labels.length).map(({ label, value }) => ({
      label,
      probability: logistic(value),
    }));
  }

  of(label: number): number {
    const before = label < this.#known ? this.#ranked(label, this.#base.of(label)) : 0;
    return this.#mover.moved(label, before, this.#standing.get(label));
  }

  candidates(most: number, least: number, allowed: Uint8Array | undefined): Judged {
    for (let depth = Math.max(FIRST_LOOK, most); ; depth *= 4) {
      const count = Math.min(depth, this.#known);
      const base = this.#base.candidates(count, -Infinity, allowed);
      const others = [...this.#standing.keys()].filter((label) => allowed?.[label] !== 0);
      const labels = Int32Array.from(new Set([...Array.from(base.labels), ...others])).sort();
      const found = { labels, values: Float64Array.from(labels, (label) => this.of(label)) };
      const [edge] = bestOf(base, count).slice(count - 1);
      const [last] = bestOf(found, most).slice(most - 1);
      const bar = last ? Math.max(least, last.value) : least;
      if (count === this.#known || !edge || this.#mover.most(edge.value) + ROUNDING < bar) return found;
    }
  }
}

/** E sigmoid(f) lies within this of sigmoid(mean / sqrt(1 + pi variance / 8)), by 0.018 at the most. */
const CLOSE = 0.025;
/** Beside the bound of a logarithm there is also the error of a probability, 1e-10: so much of the least that count. */
const ROOM = 0.01;
/** The least and the greatest probability that have a logit in single precision, as in a full model. */
const [LEAST, MOST] = [1e-30, 1 - 2 ** -24];

/**
 * Labels whose probability is the expected sigmoid of a utility with a mean and a variance. A probability costs some exponentials: it
 * is worked out for labels that are asked for, or may be among the best. E sigmoid(f) <= E e^f = e^(mean + variance / 2) says of most
 * that they cannot be.
 */
class SigmoidScores {
  /** log p - log (1 - p) of each label; what is not worked out yet is -Infinity, below all others. */
  readonly values: Float64Array;
  readonly #means: Float64Array;
  readonly #variance: (label: number) => number;

  constructor({ values, variance }: LabelScores) {
    this.#means = values;
    this.#variance = variance ?? (() => 0);
    this.values = new Float64Array(values.length).fill(-Infinity);
  }

  probability(label: number): number {
    return labelProbability(this.#means[label], this.#variance(label));
  }

  settle(label: number): void {
    if (this.values[label] !== -Infinity) return;
    const p = Math.min(MOST, Math.max(LEAST, this.probability(label)));
    this.values[label] = deterministicLog(p) - deterministicLog(1 - p);
  }

  /** Works out the best so many, and those that could be. */
  settleBest(depth: number): void {
    for (const label of this.contenders(depth, 0)) this.settle(label);
  }

  /** Labels of those allowed, rising, that may be among the best `most` and have at least this probability; no other is. */
  contenders(most: number, threshold: number, allowed?: Uint8Array): number[] {
    const candidates = allowed ? allowed.reduce((sum, one) => sum + one, 0) : this.#means.length;
    const wanted = Math.min(most, candidates);
    // The labels of the greatest mean are good enough to rule others out.
    let lowest = wanted < candidates ? 1 : 0;
    if (lowest > 0) {
      const means = allowed ? this.#means.map((mean, label) => (allowed[label] === 0 ? -Infinity : mean)) : this.#means;
      for (const label of topLabels(means, 1, means.length, wanted)) lowest = Math.min(lowest, this.probability(label));
    }
    return this.#reaching(Math.max(threshold, lowest), allowed);
  }

  #reaching(least: number, allowed: Uint8Array | undefined): number[] {
    const means = this.#means;
    const floor = least > 0 ? deterministicLog(least) - ROOM : -Infinity;
    const bar = least > CLOSE ? deterministicLog((least - CLOSE) / (1 - least + CLOSE)) : -Infinity;
    // Every label passes here: a plain loop, several times as fast as one with a function for each.
    const kept: number[] = [];
    for (let label = 0; label < means.length; label++) {
      const mean = means[label];
      const spread = this.#variance(label);
      if (mean + spread / 2 < floor || mean < bar * Math.sqrt(1 + (Math.PI / 8) * spread)) continue;
      if (allowed?.[label] !== 0) kept.push(label);
    }
    return kept;
  }
}
