// How far predictions can be believed. Their calibration error is the mean over predictions of |confidence - accuracy| of
// their bin, where the confidence of a bin is its mean probability and the accuracy the part of it that was true:
//
//     ECE  15 bins of equal width (Guo et al. 2017); of the k top labels of each point it is ECE@k (Ullah et al. 2024)
//     ACE  15 bins of equal count (Nixon et al. 2019)

import { ratio, sumOf } from "./rows.ts";

/** Neighbours in the order of their probability: one dot of a reliability plot. */
export interface ReliabilityGroup {
  /** Least and greatest probability. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Mean probability. */
  readonly confidence: number;
  /** Part that was true. */
  readonly accuracy: number;
  /** Wilson's 95 % interval of the accuracy. */
  readonly low: number;
  readonly high: number;
}

/** Calibration error with bins of equal width, and what of it is in bins that say too much and in those that say too little. */
export interface CalibrationError {
  readonly ece: number;
  readonly overconfidence: number;
  readonly underconfidence: number;
}

/** How far some predictions can be believed; all are parts of one. */
export interface Reliability extends CalibrationError {
  readonly predictions: number;
  readonly positives: number;
  /** Mean probability, and the part that was true. */
  readonly confidence: number;
  readonly accuracy: number;
  /** confidence - accuracy: above zero they were too sure. */
  readonly bias: number;
  /** Calibration error with bins of equal count: those of `groups`. */
  readonly ace: number;
  readonly groups: readonly ReliabilityGroup[];
}

/** Bins, as in the literature. */
const GROUPS = 15;

/** The 97.5 % point of the normal distribution: 95 % lie between it and its negative. */
const Z = 1.959963984540054;

/**
 * Wilson's 95 % interval of a frequency f seen in n trials; it never leaves [0, 1] and holds for few trials too:
 *     (f + z^2/2n -+ z sqrt(f (1 - f)/n + z^2/4n^2)) / (1 + z^2/n)
 */
export function wilsonInterval(frequency: number, trials: number): [low: number, high: number] {
  if (trials === 0) return [0, 1];
  const square = (Z * Z) / trials;
  const spread = Z * Math.sqrt((frequency * (1 - frequency)) / trials + square / (4 * trials));
  const low = (frequency + square / 2 - spread) / (1 + square);
  const high = (frequency + square / 2 + spread) / (1 + square);
  return [Math.max(0, Math.min(low, frequency)), Math.min(1, Math.max(high, frequency))];
}

/** Predictions of the same probability, or of one so nearly the same that their mean stands for it. */
export interface Step {
  probability: number;
  count: number;
  positives: number;
}

/** Sums of the predictions in each bin. */
class Bins {
  readonly #counts: Float64Array;
  readonly #sums: Float64Array; // their probabilities
  readonly #positives: Float64Array;

  constructor(
    bins: number,
    private readonly binOf: (probability: number) => number,
  ) {
    this.#counts = new Float64Array(bins);
    this.#sums = new Float64Array(bins);
    this.#positives = new Float64Array(bins);
  }

  add(probability: number, positive = false): void {
    const bin = this.binOf(probability);
    this.#counts[bin]++;
    this.#sums[bin] += probability;
    if (positive) this.#positives[bin]++;
  }

  /** Makes a prediction that was added one that is true. */
  addPositive(probability: number): void {
    this.#positives[this.binOf(probability)]++;
  }

  *steps(): Generator<Step> {
    for (const [bin, count] of this.#counts.entries())
      if (count > 0) yield { probability: this.#sums[bin] / count, count, positives: this.#positives[bin] };
  }

  error(): CalibrationError {
    const total = sumOf(this.#counts);
    let [over, under] = [0, 0];
    for (const [bin, sum] of this.#sums.entries()) {
      const difference = sum - this.#positives[bin];
      if (difference > 0) over += difference;
      else under -= difference;
    }
    return {
      ece: ratio(over + under, total),
      overconfidence: ratio(over, total),
      underconfidence: ratio(under, total),
    };
  }
}

/** 15 bins of equal width. */
export const widthBins = (): Bins =>
  new Bins(GROUPS, (probability) => Math.min(Math.floor(probability * GROUPS), GROUPS - 1));

/** So many predictions are kept as they are; of more only sums in cells are. */
const KEPT = 1 << 18;
/** Cells are equal steps in the bits of a float: 1024 to a doubling of the probability. */
const CELL_SHIFT = 13;
const CELLS = (0x3f800000 >>> CELL_SHIFT) + 1; // 1.0 is the last
const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);

function cellOf(probability: number): number {
  float[0] = probability;
  return bits[0] >>> CELL_SHIFT;
}

/** Equal probabilities as one step, rising. */
export function* stepsOf(negatives: readonly number[], positives: readonly number[]): Generator<Step> {
  const [no, yes] = [Float64Array.from(negatives).sort(), Float64Array.from(positives).sort()];
  let [i, j] = [0, 0];
  while (i < no.length || j < yes.length) {
    const probability = Math.min(no[i] ?? Infinity, yes[j] ?? Infinity);
    const [firstNo, firstYes] = [i, j];
    while (no[i] === probability) i++;
    while (yes[j] === probability) j++;
    yield { probability, count: i - firstNo + (j - firstYes), positives: j - firstYes };
  }
}

/**
 * Adds up predictions. Up to a quarter of a million they are kept and the groups are exact; beyond that groups are
 * put together from narrow cells (0.1 % of the probability), which moves a mean by less than that.
 */
export class ReliabilityMeter {
  readonly #negatives: number[] = [];
  readonly #positives: number[] = [];
  #cells: Bins | undefined;
  readonly #bins = widthBins();

  constructor(private readonly kept: number = KEPT) {}

  add(probability: number, positive: boolean): void {
    this.#bins.add(probability, positive);
    if (this.#cells) this.#cells.add(probability, positive);
    else (positive ? this.#positives : this.#negatives).push(probability);
    if (this.#negatives.length + this.#positives.length > this.kept) this.#pour();
  }

  #pour(): void {
    const cells = new Bins(CELLS, cellOf);
    for (const probability of this.#negatives.splice(0)) cells.add(probability);
    for (const probability of this.#positives.splice(0)) cells.add(probability, true);
    this.#cells = cells;
  }

  report(): Reliability {
    const steps = [...(this.#cells?.steps() ?? stepsOf(this.#negatives, this.#positives))];
    const predictions = steps.reduce((total, { count }) => total + count, 0);
    const positives = steps.reduce((total, step) => total + step.positives, 0);
    const sum = steps.reduce((total, { count, probability }) => total + count * probability, 0);
    const confidence = ratio(sum, predictions);
    const accuracy = ratio(positives, predictions);
    const groups = equalGroups(steps, predictions, GROUPS);
    const bias = confidence - accuracy;
    const ace = groupError(groups);
    return { predictions, positives, confidence, accuracy, bias, ...this.#bins.error(), ace, groups };
  }
}

/**
 * Groups whose sizes differ by at most one, the larger ones first. A step that lies across a cut gives each side its
 * share of its sums, so that the order of equal probabilities does not matter.
 */
export function equalGroups(steps: readonly Step[], predictions: number, most: number): ReliabilityGroup[] {
  const groups: ReliabilityGroup[] = [];
  let at = 0;
  let taken = 0; // of steps[at]
  for (let g = 0; g < most; g++) {
    const size = Math.floor(predictions / most) + (g < predictions % most ? 1 : 0);
    if (size === 0) break;
    const from = steps[at].probability;
    let [to, count, sum, positives] = [from, 0, 0, 0];
    while (count < size) {
      const step = steps[at];
      const part = Math.min(size - count, step.count - taken);
      sum += (part / step.count) * (step.count * step.probability);
      positives += (part / step.count) * step.positives;
      to = step.probability;
      count += part;
      taken += part;
      if (taken === step.count) {
        at++;
        taken = 0;
      }
    }
    const accuracy = positives / count;
    const [low, high] = wilsonInterval(accuracy, count);
    groups.push({ from, to, count, confidence: sum / count, accuracy, low, high });
  }
  return groups;
}

/** The mean over predictions of |confidence - accuracy| of their group. */
function groupError(groups: readonly ReliabilityGroup[]): number {
  let [total, error] = [0, 0];
  for (const { count, confidence, accuracy } of groups) {
    total += count;
    error += count * Math.abs(confidence - accuracy);
  }
  return ratio(error, total);
}
