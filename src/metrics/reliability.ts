// Whether predictions come true as often as they say: sorted by their probability, cut into groups of equal size, and
// in each group the mean of what was said beside how often it came true.

import { wilsonInterval } from "./interval.ts";
import { addAt, ratio } from "./rows.ts";

/** Neighbours in the order of their probability: one dot of a reliability plot. */
export interface ReliabilityGroup {
  /** Least and greatest probability. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly meanProbability: number;
  /** Part that was true. */
  readonly frequency: number;
  /** Wilson's 95 % interval of the frequency. */
  readonly low: number;
  readonly high: number;
}

/** How far some predictions can be believed; all are parts of one. */
export interface Reliability {
  readonly predictions: number;
  readonly positives: number;
  /** Mean probability, and the part that was true. */
  readonly said: number;
  readonly came: number;
  /** said - came: above zero they were too sure. */
  readonly bias: number;
  /** Expected calibration error: mean over predictions of |mean probability - frequency| of their group. */
  readonly ece: number;
  readonly groups: readonly ReliabilityGroup[];
}

/** As in the literature. */
const GROUPS = 15;
/** So many predictions are kept as they are; of more only sums in cells are. */
const KEPT = 1 << 18;
/** Cells are equal steps in the bits of a float: 1024 to a doubling of the probability. */
const CELL_SHIFT = 13;
const CELLS = (0x3f800000 >>> CELL_SHIFT) + 1; // 1.0 is the last

const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);

function cellOf(probability: number): number {
  float[0] = probability;
  return (bits[0] as number) >>> CELL_SHIFT;
}

/** Predictions that lie so close together that a cut between them is made by sharing them out evenly. */
interface Step {
  from: number;
  to: number;
  count: number;
  /** Sum of their probabilities. */
  said: number;
  positives: number;
}

/** Sums of the predictions in each cell. */
class Cells {
  readonly #counts = new Float64Array(CELLS);
  readonly #said = new Float64Array(CELLS);
  readonly #positives = new Float64Array(CELLS);
  readonly #least = new Float64Array(CELLS).fill(1);
  readonly #greatest = new Float64Array(CELLS);

  add(probability: number, positive: boolean): void {
    const cell = cellOf(probability);
    addAt(this.#counts, cell, 1);
    addAt(this.#said, cell, probability);
    if (positive) addAt(this.#positives, cell, 1);
    this.#least[cell] = Math.min(this.#least[cell] as number, probability);
    this.#greatest[cell] = Math.max(this.#greatest[cell] as number, probability);
  }

  *steps(): Generator<Step> {
    for (let cell = 0; cell < CELLS; cell++) {
      const count = this.#counts[cell] as number;
      if (count === 0) continue;
      yield {
        from: this.#least[cell] as number,
        to: this.#greatest[cell] as number,
        count,
        said: this.#said[cell] as number,
        positives: this.#positives[cell] as number,
      };
    }
  }
}

/** Equal probabilities as one step, rising. */
function* stepsOf(negatives: readonly number[], positives: readonly number[]): Generator<Step> {
  const [no, yes] = [Float64Array.from(negatives).sort(), Float64Array.from(positives).sort()];
  let [i, j] = [0, 0];
  while (i < no.length || j < yes.length) {
    const value = Math.min(no[i] ?? Infinity, yes[j] ?? Infinity);
    const [firstNo, firstYes] = [i, j];
    while (no[i] === value) i++;
    while (yes[j] === value) j++;
    const count = i - firstNo + (j - firstYes);
    yield { from: value, to: value, count, said: count * value, positives: j - firstYes };
  }
}

/**
 * Adds up predictions. Up to a quarter of a million they are kept and the groups are exact; beyond that groups are
 * put together from narrow cells (0.1 % of the probability), which moves a mean by less than that.
 */
export class ReliabilityMeter {
  #negatives: number[] = [];
  #positives: number[] = [];
  #cells: Cells | undefined;
  readonly #kept: number;

  constructor(kept: number = KEPT) {
    this.#kept = kept;
  }

  add(probability: number, positive: boolean): void {
    if (this.#cells) {
      this.#cells.add(probability, positive);
      return;
    }
    (positive ? this.#positives : this.#negatives).push(probability);
    if (this.#negatives.length + this.#positives.length > this.#kept) this.#pour();
  }

  #pour(): void {
    const cells = new Cells();
    for (const probability of this.#negatives) cells.add(probability, false);
    for (const probability of this.#positives) cells.add(probability, true);
    this.#cells = cells;
    this.#negatives = [];
    this.#positives = [];
  }

  report(): Reliability {
    const steps = [...(this.#cells?.steps() ?? stepsOf(this.#negatives, this.#positives))];
    const total = (of: (step: Step) => number): number => steps.reduce((sum, step) => sum + of(step), 0);
    const predictions = total(({ count }) => count);
    const positives = total((step) => step.positives);
    const said = ratio(
      total((step) => step.said),
      predictions,
    );
    const came = ratio(positives, predictions);
    const groups = equalGroups(steps, predictions);
    return { predictions, positives, said, came, bias: said - came, ece: calibrationError(groups), groups };
  }
}

/**
 * Groups whose sizes differ by at most one, the larger ones first. A step that lies across a cut gives each side its
 * share of what was said and what came true, so that the order of equal probabilities does not matter.
 */
function equalGroups(steps: readonly Step[], predictions: number): ReliabilityGroup[] {
  const groups: ReliabilityGroup[] = [];
  let at = 0;
  let taken = 0; // of steps[at]
  for (let g = 0; g < GROUPS; g++) {
    const size = Math.floor(predictions / GROUPS) + (g < predictions % GROUPS ? 1 : 0);
    if (size === 0) break;
    const from = (steps[at] as Step).from;
    let [to, count, said, positives] = [from, 0, 0, 0];
    while (count < size) {
      const step = steps[at] as Step;
      const part = Math.min(size - count, step.count - taken);
      said += (part / step.count) * step.said;
      positives += (part / step.count) * step.positives;
      to = step.to;
      count += part;
      taken += part;
      if (taken === step.count) {
        at++;
        taken = 0;
      }
    }
    const frequency = positives / count;
    const [low, high] = wilsonInterval(frequency, count);
    groups.push({ from, to, count, meanProbability: said / count, frequency, low, high });
  }
  return groups;
}

/** Expected calibration error: the mean over predictions of |mean probability - frequency| of their group. */
export function calibrationError(
  groups: readonly Pick<ReliabilityGroup, "count" | "meanProbability" | "frequency">[],
): number {
  let total = 0;
  let error = 0;
  for (const { count, meanProbability, frequency } of groups) {
    total += count;
    error += count * Math.abs(meanProbability - frequency);
  }
  return ratio(error, total);
}
