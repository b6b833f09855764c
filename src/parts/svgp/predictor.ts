// A trained SVGP on a device: mean utilities, their variance, probabilities that integrate it.

import type { Backend, Tensor } from "../../backend/backend.ts";
import type { SparseRows } from "../../base/sparse.ts";
import type { RealArray } from "../../core/matrix.ts";
import { transformedRows } from "../../data/transform.ts";
import { chooseRows, type LabelChoice } from "../choose.ts";
import { checkNorms, maxNorm } from "../overflow.ts";
import type { ModelSchema } from "../part.ts";
import type { BestLabels, ChosenLabels, Predictor, ScoreOptions, Scores } from "../predictor.ts";
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

  /** The best labels of all points, block by block. `depth` is at most K. */
  async *best(features: SparseRows, depth: number): AsyncGenerator<BestLabels> {
    for (const { firstRow, batch, utility } of this.#blocks(features)) {
      await this.#probabilities(batch, utility);
      const { indices: labels, values } = await this.#backend.topScores(utility, depth);
      yield { firstRow, rows: batch.rows.length, labels, values };
    }
  }

  async *choose(features: SparseRows, choice: LabelChoice, deviations = true): AsyncGenerator<ChosenLabels> {
    const { labels: k } = this.schema;
    for (const { batch, utility } of this.#blocks(features)) {
      await this.#probabilities(batch, utility);
      const lists = chooseRows(await this.#backend.read(utility), k, (p) => p, choice);
      const { variance, ...details } = await this.#details(batch, lists);
      const sd = deviations ? variance.map((v) => Math.sqrt(Math.max(0, v))) : undefined;
      yield { rows: batch.rows.length, ...lists, ...details, sd };
    }
  }

  /** Mean utilities become probabilities. */
  async #probabilities(batch: Batch, utility: Tensor): Promise<void> {
    const variance = await this.#variance(batch);
    this.#backend.probability(utility, variance, utility);
    this.#backend.free(variance);
  }

  async #details(
    batch: Batch,
    { rowStart, labels: labelIndex }: Pick<ChosenLabels, "rowStart" | "labels">,
  ): Promise<Record<"utility" | "variance" | "probability", RealArray>> {
    const backend = this.#backend;
    const latent = await this.#variances(batch);
    const pattern = backend.pattern(this.schema.labels, { rowStart, labelIndex });
    const { mean: utility, variance } = this.#labels.listed(pattern, latent, this.#numbers.tensors);
    const probability = backend.tensor(1, labelIndex.length);
    backend.probability(utility, variance, probability);
    const read = await Promise.all([utility, variance, probability].map((tensor) => backend.read(tensor)));
    backend.free(pattern, probability);
    return { utility: read[0], variance: read[1], probability: read[2] };
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

  /** v [rows,K] */
  async #variance(batch: Batch): Promise<Tensor> {
    const { variance } = await this.#variances(batch);
    const out = this.#backend.tensor(batch.rows.length, this.schema.labels);
    this.#labels.variance(variance, out);
    return out;
  }

  /** The latent functions with s of the block that was made last. */
  async #variances(batch: Batch): Promise<Latent> {
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
    return latent;
  }

  free(): void {
    this.#latent.free();
    this.#labels.free();
    this.#numbers.free();
  }
}
