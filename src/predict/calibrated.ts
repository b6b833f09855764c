// A calibrated model, ready to score points: its parts' scores, and the probabilities the calibrator makes of them.

import { calibrateBlock } from "../calibrate/block.ts";
import type { Calibrator } from "../calibrate/calibrator.ts";
import {
  calibratedDeviation,
  calibratePoint,
  logistic,
  type PreparedCalibrator,
  prepareCalibrator,
} from "../calibrate/forward.ts";
import type { Core } from "../core/core.ts";
import { type Matrix, matrix, type RealArray } from "../core/matrix.ts";
import { topK } from "../core/select.ts";
import type { SparseRows } from "../data/dataset.ts";
import type { ModelFrame } from "../model/model.ts";
import type { BestLabels, BestOptions, Predictor, ScoreOptions, Scores } from "../model/predictor.ts";
import type { Deviations, ScoreSource } from "./scores.ts";

export class CalibratedPredictor implements Predictor {
  readonly frame: ModelFrame;
  readonly #core: Core;
  readonly #source: ScoreSource;
  readonly #prepared: PreparedCalibrator;
  readonly #onFree: () => void;

  constructor(core: Core, source: ScoreSource, calibrator: Calibrator, onFree: () => void = () => {}) {
    this.frame = source.frame;
    this.#core = core;
    this.#source = source;
    this.#prepared = prepareCalibrator(calibrator, source.frame);
    this.#onFree = onFree;
  }

  async *score(features: SparseRows, want: ScoreOptions = {}): AsyncGenerator<Scores> {
    for await (const { firstRow, rows, scores } of this.#source.blocks(features)) {
      const found: Scores = { firstRow, rows, utility: (scores[0] as Matrix).toArray() };
      if (want.probability)
        found.probability = this.#calibrated(scores, false, (probability) => probability.toArray());
      yield found;
    }
  }

  async *best(
    features: SparseRows,
    depth: number,
    { rank = "probability", details = false, deviations = details }: BestOptions = {},
  ): AsyncGenerator<BestLabels> {
    const { labels: k } = this.frame;
    for await (const block of this.#source.blocks(features, deviations)) {
      const { firstRow, rows, scores } = block;
      const first = scores[0] as Matrix;
      // Logits rank as probabilities do, and do not tie where these are all but 1.
      const found = this.#calibrated(scores, true, (logits) => {
        const { indices: labels } = topK(rank === "utility" ? first : logits, depth);
        const listed = (all: RealArray, value: (x: number) => number): Float64Array =>
          Float64Array.from(labels, (label, at) => value(all[Math.floor(at / depth) * k + label] as number));
        const utility = listed(first.view(), (x) => x);
        const probability = listed(logits.view(), logistic);
        return { labels, utility, probability };
      });
      const { labels, ...known } = found;
      const sd = block.deviations && this.#deviations(scores, labels, known.probability, block.deviations);
      yield {
        firstRow,
        rows,
        labels,
        values: known[rank],
        ...(details && { details: { ...known, ...(sd && { sd }) } }),
      };
    }
  }

  /** Standard deviations of the probabilities of some labels of each row: what the two likelihoods do not know is independent. */
  #deviations(
    scores: readonly Matrix[],
    labels: Int32Array,
    probability: Float64Array,
    deviations: Deviations,
  ): Float64Array {
    const { labels: k } = this.frame;
    const depth = labels.length / Math.max(1, (scores[0] as Matrix).rows);
    const views = scores.map((all) => all.view());
    const out = new Float64Array(labels.length);
    for (let from = 0; from < labels.length; from += depth) {
      const row = from / depth;
      const own = views.map((all) => all.subarray(row * k, (row + 1) * k));
      const point = calibratePoint(this.#prepared, own);
      for (let at = from; at < from + depth; at++) {
        const label = labels[at] as number;
        const p = probability[at] as number;
        const moved = (by: number, utility: boolean): number => {
          const spreads = this.#source.names.map((name) => ((name === "utility") === utility ? by : 0));
          return calibratedDeviation(this.#prepared, point, label, spreads, p);
        };
        const gaussian = moved(deviations.gaussian?.(row, label) ?? 0, false);
        const utility = moved(deviations.utility?.(row, label) ?? 0, true);
        out[at] = Math.min(Math.sqrt(p * (1 - p)), Math.sqrt(gaussian * gaussian + utility * utility));
      }
    }
    return out;
  }

  /** What `use` makes of the probabilities, or logits, of a block. */
  #calibrated<T>(scores: readonly Matrix[], logit: boolean, use: (out: Matrix) => T): T {
    const { rows, columns } = scores[0] as Matrix;
    const out = matrix(this.#core, rows, columns, "f32");
    try {
      return use(calibrateBlock(this.#prepared, { scores }, out, { logit }));
    } finally {
      out.free();
    }
  }

  free(): void {
    this.#source.free();
    this.#onFree();
  }
}
