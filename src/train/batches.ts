// The points of each step: every epoch in a new order, and for each point the labels that are looked at.

import type { LabelLists } from "../backend/backend.ts";
import type { Core } from "../core/core.ts";
import { choice, permutation } from "../core/random.ts";
import type { LabelSets } from "../data/dataset.ts";

const ORDER_STREAM = 1000;
const NEGATIVES_STREAM = 2 ** 31;

/** Which points make up a step: an endless run through new orders of all points, so that every batch is full. */
export class BatchOrder {
  readonly #core: Core;
  readonly #points: number;
  readonly #batch: number;
  readonly #seed: number;
  #epoch = -1;
  #order: Int32Array = new Int32Array(0);

  constructor(core: Core, points: number, batch: number, seed: number) {
    this.#core = core;
    this.#points = points;
    this.#batch = batch;
    this.#seed = seed;
  }

  /** The points of a step; any step can be asked for at any time. */
  rows(step: number): Int32Array {
    return Int32Array.from({ length: this.#batch }, (_, i) => {
      const place = step * this.#batch + i;
      const epoch = Math.floor(place / this.#points);
      if (epoch !== this.#epoch) {
        this.#order = permutation(this.#core, this.#points, {
          seed: this.#seed,
          stream: ORDER_STREAM + epoch,
        });
        this.#epoch = epoch;
      }
      return this.#order[place % this.#points] as number;
    });
  }
}

const labelsOf = (labels: LabelSets, row: number): Int32Array =>
  labels.labelIndex.subarray(labels.rowStart[row], labels.rowStart[row + 1]);

function join(parts: Int32Array[]): LabelLists {
  const rowStart = new Int32Array(parts.length + 1);
  parts.forEach((part, i) => {
    rowStart[i + 1] = (rowStart[i] as number) + part.length;
  });
  const labelIndex = new Int32Array(rowStart.at(-1) as number);
  parts.forEach((part, i) => {
    labelIndex.set(part, rowStart[i] as number);
  });
  return { rowStart, labelIndex };
}

/** The labels that the points of a batch have. */
export function presentLabels(labels: LabelSets, rows: Int32Array): LabelLists {
  return join(Array.from(rows, (row) => labelsOf(labels, row)));
}

/**
 * The labels that the points have, and of the others `count` sampled for each point. A sampled one stands for all that
 * could have been: its weight is -(absent / sampled), a present one's is 1.
 */
export function sampledLabels(
  core: Core,
  labels: LabelSets,
  rows: Int32Array,
  count: number,
  seed: number,
  step: number,
): { lists: LabelLists; signedWeight: Float64Array } {
  const weights: number[] = [];
  const parts = Array.from(rows, (row, i) => {
    const present = labelsOf(labels, row);
    const absent = labels.labels - present.length;
    const sampled = Math.min(count, absent);
    const stream = (NEGATIVES_STREAM + step * rows.length + i) % 2 ** 32;
    const others = choice(core, labels.labels, sampled, { seed, stream }, present);
    for (let e = 0; e < present.length; e++) weights.push(1);
    for (let e = 0; e < sampled; e++) weights.push(-absent / sampled);
    const all = new Int32Array(present.length + sampled);
    all.set(present);
    all.set(others, present.length);
    return all;
  });
  return { lists: join(parts), signedWeight: Float64Array.from(weights) };
}
