// Which labels a step looks at, where there are too many to look at all: those that a point of the batch has, and of the
// others some that are drawn, frequent ones more often. A label that is drawn with probability p counts 1 / p, so that the
// step's gradient is on average the one over all labels, whatever the probabilities are. They decide how much it varies:
// a label that no point of the batch has pushes about as much as it is probable, so p grows with its frequency.

import type { Backend, LabelLists } from "../backend/backend.ts";
import type { Core } from "../core/core.ts";
import { uniformNumbers } from "../core/random.ts";
import { type LabelSets, labelFrequencies } from "../data/dataset.ts";
import type { DrawnLabels } from "../model/batch.ts";
import { presentLabels } from "./batches.ts";

const DRAW_STREAM = 3 * 2 ** 29;

/** The labels of a step. */
export interface Draw {
  labels: Int32Array;
  /** For how many labels each counts. */
  weight: Float64Array;
  /** The labels that the points have, by their places in `labels`. */
  positives: LabelLists;
}

/** A draw on the device. */
export function drawnLabels(backend: Backend, of: number, { labels, weight, positives }: Draw): DrawnLabels {
  const rowStart = Int32Array.from({ length: labels.length + 1 }, (_, i) => i);
  return {
    drawn: backend.pattern(of, { rowStart, labelIndex: labels }),
    weight: backend.tensor(1, labels.length, weight),
    positives,
  };
}

export class LabelDraw {
  readonly #core: Core;
  readonly #sets: LabelSets;
  readonly #count: number;
  readonly #seed: number;
  /** Labels, the most frequent first, and how much more often than others each is to be drawn. */
  readonly #order: Int32Array;
  readonly #size: Float64Array;
  /** Where a label stands among those of the step, or -1. */
  readonly #place: Int32Array;

  /** Draws of `count` labels, or of as many more as a batch needs that has many of its own. */
  constructor(core: Core, sets: LabelSets, count: number, seed: number) {
    this.#core = core;
    this.#sets = sets;
    this.#count = count;
    this.#seed = seed;
    const frequency = labelFrequencies(sets);
    this.#order = Int32Array.from(frequency.keys()).sort(
      (a, b) => (frequency[b] as number) - (frequency[a] as number) || a - b,
    );
    this.#size = Float64Array.from(frequency, sizeOf);
    this.#place = new Int32Array(sets.labels).fill(-1);
  }

  /** The labels that a step with these points looks at. */
  at(step: number, rows: Int32Array): Draw {
    const positives = presentLabels(this.#sets, rows);
    const place = this.#place;
    const present: number[] = [];
    const labelIndex = positives.labelIndex.map((label) => {
      if ((place[label] as number) < 0) place[label] = present.push(label) - 1;
      return place[label] as number;
    });
    const total = this.#total(present.length);
    const labels = new Int32Array(total);
    const weight = new Float64Array(total).fill(1);
    labels.set(present);
    this.#drawAbsent(labels, weight, present.length, step);
    for (const label of present) place[label] = -1;
    return { labels, weight, positives: { rowStart: positives.rowStart, labelIndex } };
  }

  /** At least half of the labels are drawn; a batch with more of its own gets more in all, by steps so that sizes repeat. */
  #total(present: number): number {
    const half = Math.ceil(this.#count / 2);
    return Math.min(this.#sets.labels, Math.max(this.#count, half * Math.ceil(present / half) + half));
  }

  /**
   * Fills up with labels that are not present: systematic sampling, the probabilities laid end to end and one random number for
   * where a comb of unit spacing begins. Exactly as many as there is room for, and none twice.
   */
  #drawAbsent(labels: Int32Array, weight: Float64Array, from: number, step: number): void {
    const [order, size, place] = [this.#order, this.#size, this.#place];
    let rest = 0;
    for (const label of order) if ((place[label] as number) < 0) rest += size[label] as number;
    const [start] = uniformNumbers(this.#core, 1, {
      seed: this.#seed,
      stream: (DRAW_STREAM + step) % 2 ** 32,
    }) as unknown as [number];
    let [to, reached, last] = [from, 0, -1];
    /** Size of a unit of probability; 0 until the largest, who would have more than one, are in. */
    let unit = 0;
    let tooth = start;
    for (const label of order) {
      if (to === labels.length) return;
      if ((place[label] as number) >= 0) continue;
      const own = size[label] as number;
      if (unit === 0 && own * (labels.length - to) >= rest) {
        labels[to++] = label;
        rest -= own;
        continue;
      }
      if (unit === 0) unit = rest / (labels.length - to);
      last = label;
      reached += own / unit;
      if (reached <= tooth) continue;
      labels[to] = label;
      weight[to++] = unit / own;
      tooth++;
    }
    // The last tooth may be missed by a rounding.
    if (to < labels.length) {
      labels[to] = last;
      weight[to] = unit / (size[last] as number);
    }
  }
}

/** How often a label is to be drawn that so many points have, beside others. */
function sizeOf(count: number): number {
  return count + 1;
}
