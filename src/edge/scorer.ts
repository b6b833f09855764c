// What the parts of a model say of rows of features: utilities of the latent functions, scores of the closed form, and the
// probabilities that are made of them.

import { ArgumentError } from "../core/errors.ts";
import { CalibratedLogits } from "./calibrated.ts";
import { ClosedForm } from "./closed.ts";
import { Latent, type LatentPoint } from "./latent.ts";
import { LARGEST_MEAN } from "./limits.ts";
import type { Row } from "./matrix.ts";
import { labelWeights } from "./parts.ts";
import { labelProbability } from "./probability.ts";
import type { Utilities } from "./ranking.ts";
import type { CompactModel, LatentNumbers } from "./read.ts";
import { type LabelLayer, plainLayer } from "./utilities.ts";
import { wasmLayer } from "./wasm.ts";

/** Scores of one input. */
export interface Scored extends Utilities {
  /** Mean utilities [K]; of a model without latent functions, the scores of the closed form. */
  utilities: Float64Array;
  probability(label: number): number;
  /** Where the model is calibrated. */
  logits: CalibratedLogits | undefined;
}

export class Scorer {
  /** What computes the labels' utilities; both give the same numbers. */
  readonly path: "wasm" | "plain";
  readonly #calibrator: CompactModel["calibrator"];
  readonly #latent: LatentScorer | undefined;
  readonly #closed: ClosedForm | undefined;

  constructor(model: CompactModel, wasm?: WebAssembly.Module) {
    const { latent, closed, calibrator } = model;
    this.path = wasm ? "wasm" : "plain";
    this.#calibrator = calibrator;
    this.#latent = latent && new LatentScorer(model, latent, wasm);
    this.#closed = closed && new ClosedForm(closed, wasm);
  }

  /** The parts that give scores. */
  get parts(): { closed: ClosedForm | undefined; latent: Latent | undefined } {
    return { closed: this.#closed, latent: this.#latent?.latent };
  }

  /** Scores of at most GROUP rows. Their arrays are used again by the next call. */
  scores(rows: readonly Row[]): Scored[] {
    const utilities = this.#latent?.utilities(rows);
    return rows.map((row, i) => this.#judged(utilities?.[i], this.#closed?.scores(row) ?? []));
  }

  #judged(latent: Utilities | undefined, closed: readonly Float64Array[]): Scored {
    const { utilities, variance } = latent ?? { utilities: closed[0] as Float64Array, variance: () => 0 };
    const calibrator = this.#calibrator;
    const logits = calibrator && new CalibratedLogits(calibrator, closed, latent);
    const probability = (label: number): number =>
      logits?.probability(label) ?? labelProbability(utilities[label] as number, variance(label));
    return { utilities: utilities as Float64Array, variance, probability, logits };
  }
}

/** Latent functions with their label layer. */
class LatentScorer {
  readonly latent: Latent;
  readonly #numbers: LatentNumbers;
  readonly #layer: LabelLayer;
  /** Room for a group of inputs, made as it is needed. */
  readonly #points: LatentPoint[] = [];

  constructor(model: CompactModel, numbers: LatentNumbers, wasm?: WebAssembly.Module) {
    this.latent = new Latent(model, numbers);
    this.#numbers = numbers;
    this.#layer = wasm ? wasmLayer(model, numbers, wasm) : plainLayer(model, numbers);
  }

  utilities(rows: readonly Row[]): Utilities[] {
    const points = rows.map((row, i) => {
      this.#points[i] ??= this.latent.point();
      const point = this.#points[i] as LatentPoint;
      this.latent.compute(row, point);
      // Single precision goes on with the means; beyond it there is nothing to compute with.
      if (!point.mean.every((mean) => Math.abs(mean) <= LARGEST_MEAN))
        throw new ArgumentError("input", "found values too large to compute with, expected smaller ones");
      return point;
    });
    const all = this.#layer.utilities(points.map(({ mean }) => mean));
    return points.map(({ variance }, i) => ({
      utilities: all[i] as Float64Array,
      variance: (label) => this.#variance(variance, label),
    }));
  }

  #variance(latent: Float64Array, label: number): number {
    if (latent.length === 0) return 0;
    const { spread, phi } = this.#numbers;
    return spread ? (latent[0] as number) * (spread[label] as number) : ownVariance(phi, latent, label);
  }
}

/** sum_p phi_kp^2 s_p, where every factor has a variance of its own. */
function ownVariance(phi: LatentNumbers["phi"], variance: Float64Array, label: number): number {
  let sum = 0;
  labelWeights(phi, label, variance.length).forEach((weight, p) => {
    sum += weight * weight * (variance[p] as number);
  });
  return sum;
}
