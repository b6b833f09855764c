// Which labels a step looks at, where there are too many to look at all: those that a point of the batch has, and of the
// others some that are drawn, frequent ones more often. A label that is drawn with probability p counts 1 / p, so that the
// step's gradient is on average the one over all labels, whatever the probabilities are. They decide how much it varies:
// a label that no point of the batch has pushes about as much as it is probable, so p grows with its frequency.

import type { Backend, LabelLists } from "../backend/backend.ts";
import type { Core } from "../core/core.ts";
import { drawInProportion } from "../core/draw.ts";
import { uniformNumbers } from "../core/random.ts";
import { type LabelSets, labelFrequencies } from "../data/dataset.ts";
import type { DrawnLabels } from "../model/batch.ts";
import { presentLabels } from "./batches.ts";

const DRAW_STREAM = 3 * 2 ** 29;

/** The random number in [0, 1) of a step's draw, of labels to look at or of those whose gradient counts: one has nothing to do with the other. */
export function drawStart(core: Core, seed: number, step: number, of: "labels" | "gradients"): number {
  const key = { seed, stream: (DRAW_STREAM + 2 * step + (of === "labels" ? 0 : 1)) % 2 ** 32 };
  return uniformNumbers(core, 1, key)[0] as number;
}

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
  /** How much more often than others each label is to be drawn. */
  readonly #size: Float64Array;
  /** Which of the step's labels this one is, counted from 1, or 0. */
  readonly #place: Int32Array;

  /** Draws of `count` labels, or of as many more as a batch needs that has many of its own. */
  constructor(core: Core, sets: LabelSets, count: number, seed: number) {
    this.#core = core;
    this.#sets = sets;
    this.#count = count;
    this.#seed = seed;
    this.#size = Float64Array.from(labelFrequencies(sets), (count) => count + 1);
    this.#place = new Int32Array(sets.labels);
  }

  /** The labels that a step with these points looks at. */
  at(step: number, rows: Int32Array): Draw {
    const positives = presentLabels(this.#sets, rows);
    const place = this.#place;
    const present: number[] = [];
    const labelIndex = positives.labelIndex.map((label) => {
      if (place[label] === 0) place[label] = present.push(label);
      return (place[label] as number) - 1;
    });
    const start = drawStart(this.#core, this.#seed, step, "labels");
    const count = this.#total(present.length) - present.length;
    const drawn = drawInProportion(this.#size, count, start, place);
    for (const label of present) place[label] = 0;
    return {
      labels: Int32Array.from([...present, ...drawn.chosen]),
      weight: Float64Array.from([...present.map(() => 1), ...drawn.weight]),
      positives: { rowStart: positives.rowStart, labelIndex },
    };
  }

  /** At least half of the labels are drawn; a batch with more of its own gets more in all, by steps so that sizes repeat. */
  #total(present: number): number {
    const half = Math.ceil(this.#count / 2);
    return Math.min(this.#sets.labels, Math.max(this.#count, half * Math.ceil(present / half) + half));
  }
}
