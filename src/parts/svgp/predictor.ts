// A trained SVGP on a device: mean utilities, their variance, probabilities that integrate it.

import type { Backend, Tensor } from "../../backend/backend.ts";
import type { SparseRows } from "../../base/sparse.ts";
import type { RealArray } from "../../core/matrix.ts";
import { transformedRows } from "../../data/transform.ts";
import { atLabels, chooseRows, type LabelChoice } from "../choose.ts";
import { checkNorms, maxNorm } from "../overflow.ts";
import type { ModelSchema } from "../part.ts";
import type { ChosenLabels, Predictor, ScoreOptions, Scores } from "../predictor.ts";
import { svgpBounds } from "./faults.ts";
import { LabelLayer, type LabelParameters, type LabelShape } from "./labels.ts";
import { Latent, type LatentParameters } from "./posterior.ts";
import { type Batch, forEachName, type LatentShape, partArrays, partSizes, type SvgpPart } from "./shape.ts";

/** A model's numbers on a device: uploaded from a trained part, or those that a training is learning. */
export interface ModelNumbers {
  schema: ModelSchema;
  /** Its forms and sizes; Z is there in full, as Z' [D,M]. */
  shape: Omit<LatentShape, "rank" | "inducing"> & LabelShape;
  tensors: LatentParameters & LabelParameters;
  /** The longest row for which every number stays finite. */
  maxNorm: number;
  /** Frees what was made for this. */
  free(): void;
}

export function uploadModel(backend: Backend, part: SvgpPart, schema: ModelSchema): ModelNumbers {
  const shape = { ...part, features: schema.features, labels: schema.labels };
  const sizes = partSizes(shape);
  const tensors = forEachName(partArrays, (name) => backend.tensor(...sizes[name], part[name]));
  return {
    schema,
    shape,
    tensors,
    maxNorm: maxNorm([svgpBounds(part)]),
    free: () => backend.free(...Object.values(tensors)),
  };
}

/** Points scored together. */
const BLOCK = 256;

/** Scores points on a device, batch by batch. */
export class SvgpPredictor implements Predictor {
  readonly schema: ModelSchema;
  readonly #backend: Backend;
  readonly #numbers: ModelNumbers;
  readonly #labels: LabelLayer;
  readonly #latent: Latent;
  /** Kz and C^-1 are there. */
  #covariances = false;
  #factorised = false;

  constructor(backend: Backend, numbers: ModelNumbers) {
    this.schema = numbers.schema;
    this.#backend = backend;
    this.#numbers = numbers;
    this.#labels = new LabelLayer(backend, numbers.shape);
    this.#labels.prepare(numbers.tensors.phi);
    this.#latent = new Latent(backend, { ...numbers.shape, inducing: "free", rank: 0 });
  }

  /** Scores of all points, block by block; `want` decides what is computed beyond the utilities. */
  async *score(features: SparseRows, want: ScoreOptions = {}): AsyncGenerator<Scores> {
    const backend = this.#backend;
    for (const { firstRow, batch, utility } of this.#blocks(features)) {
      const rows = batch.rows.length;
      const scores: Scores = { firstRow, rows, utility: await backend.read(utility) };
      if (want.probability || want.variance) {
        const variance = await this.#variance(batch);
        if (want.variance) scores.variance = await backend.read(variance);
        if (want.probability) {
          backend.probability(utility, variance, utility);
          scores.probability = await backend.read(utility);
        }
        backend.free(variance);
      }
      yield scores;
    }
  }

  async *choose(features: SparseRows, choice: LabelChoice, deviations = true): AsyncGenerator<ChosenLabels> {
    const { labels: k } = this.schema;
    for await (const scores of this.score(features, { probability: true, variance: deviations })) {
      const { rows, utility, variance } = scores;
      const all = scores.probability as RealArray;
      const lists = chooseRows(all, k, (p) => p, choice);
      const probability = atLabels(all, k, lists);
      const sd = variance && atLabels(variance, k, lists, (v) => Math.sqrt(Math.max(0, v)));
      yield { rows, ...lists, utility: atLabels(utility, k, lists), probability, sd };
    }
  }

  /** All points in blocks with their mean utilities [rows,K]; a block's tensors are freed when the next one is asked for. */
  *#blocks(features: SparseRows): Generator<{ firstRow: number; batch: Batch; utility: Tensor }> {
    const backend = this.#backend;
    const latent = this.#latent;
    const { tensors } = this.#numbers;
    if (!this.#covariances) latent.ofInducing(tensors);
    this.#covariances = true;
    for (let first = 0; first < features.rows; first += BLOCK) {
      const count = Math.min(BLOCK, features.rows - first);
      const batch = this.#batch(transformedRows(features, this.schema.transform, first, count), first);
      latent.forwardMean(tensors, batch);
      const utility = backend.tensor(count, this.schema.labels);
      this.#labels.utilities(tensors, latent.mean, utility);
      try {
        yield { firstRow: first, batch, utility };
      } finally {
        backend.free(batch.x, batch.rows, batch.squares, utility);
      }
    }
  }

  #batch(given: SparseRows, firstRow: number): Batch {
    const backend = this.#backend;
    const squares = checkNorms(this.#numbers.maxNorm, given, firstRow);
    const rows = backend.indices(Int32Array.from({ length: given.rows }, (_, i) => i));
    return { x: backend.sparse(given), rows, squares: backend.tensor(1, given.rows, squares) };
  }

  /** v [rows,K] of the block that was made last. */
  async #variance(batch: Batch): Promise<Tensor> {
    const backend = this.#backend;
    const latent = this.#latent;
    if (!this.#factorised) {
      await backend.factorisationReport();
      latent.factorise(this.#numbers.tensors);
      const { failed } = await backend.factorisationReport();
      const found = `found no Cholesky factor of C of factor ${failed}`;
      if (failed >= 0) throw new Error(`the model: ${found}, expected a positive definite C`);
      this.#factorised = true;
    }
    latent.forwardVariance(batch);
    const out = backend.tensor(batch.rows.length, this.schema.labels);
    this.#labels.variance(latent.variance, out);
    return out;
  }

  free(): void {
    this.#latent.free();
    this.#labels.free();
    this.#numbers.free();
  }
}
