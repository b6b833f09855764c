// A model of latent functions on a device: mean utilities, their variance, probabilities that integrate it.

import type { Backend, Tensor } from "../backend/backend.ts";
import type { RealArray } from "../core/matrix.ts";
import type { SparseRows } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import type { Batch } from "./batch.ts";
import { LabelLayer } from "./labels.ts";
import { Latent } from "./latent.ts";
import type { ModelFrame } from "./model.ts";
import type { ModelNumbers } from "./numbers.ts";
import type { BestLabels, BestOptions, Predictor, ScoreOptions, Scores } from "./predictor.ts";
import { squaresWithin } from "./reach.ts";

/** Points scored together, and how many there is room for when only a few come. */
const BLOCK = 256;
const FEW = 16;

/** A block of points on the device, with their mean utilities [rows,K]. */
interface Block {
  firstRow: number;
  batch: Batch;
  utility: Tensor;
}

/** The latent functions with room for so many points; C^-1 is made when variances are first asked for. */
interface Room {
  latent: Latent;
  points: number;
  factorised: boolean;
}

/** Scores points on a device, batch by batch. */
export class LatentPredictor implements Predictor {
  readonly frame: ModelFrame;
  readonly #backend: Backend;
  readonly #numbers: ModelNumbers;
  readonly #labels: LabelLayer;
  /** Made for the largest block that has come. */
  #room: Room | undefined;

  constructor(backend: Backend, numbers: ModelNumbers) {
    this.frame = numbers.frame;
    this.#backend = backend;
    this.#numbers = numbers;
    this.#labels = new LabelLayer(backend, numbers.shape);
    this.#labels.prepare(numbers.tensors.phi);
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
          this.#labels.likelihood.probability(backend, utility, variance, utility);
          scores.probability = await backend.read(utility);
        }
        backend.free(variance);
      }
      yield scores;
    }
  }

  /** The best labels of all points, block by block. `depth` is at most K. */
  async *best(
    features: SparseRows,
    depth: number,
    { rank = "probability", details = false }: BestOptions = {},
  ): AsyncGenerator<BestLabels> {
    const backend = this.#backend;
    for (const { firstRow, batch, utility } of this.#blocks(features)) {
      if (rank === "probability") {
        const variance = await this.#variance(batch);
        this.#labels.likelihood.probability(backend, utility, variance, utility);
        backend.free(variance);
      }
      // Numbers of this matrix are given as they are; what else is asked for is computed for the best labels alone.
      const { indices: labels, values } = await backend.topScores(utility, depth);
      const rows = batch.rows.length;
      if (!details) yield { firstRow, rows, labels, values };
      else {
        const known = { ...(await this.#details(batch, labels)), [rank]: values };
        yield { firstRow, rows, labels, values, details: known };
      }
    }
  }

  /** Utility, variance and probability of listed labels, as many for each point. */
  async #details(
    batch: Batch,
    labelIndex: Int32Array,
  ): Promise<Required<Omit<NonNullable<BestLabels["details"]>, "sd">>> {
    const backend = this.#backend;
    const { likelihood, scale } = this.#labels;
    const { phi, bias } = this.#numbers.tensors;
    const rows = batch.rows.length;
    const latent = await this.#factorised(batch);
    const rowStart = Int32Array.from({ length: rows + 1 }, (_, i) => (i * labelIndex.length) / rows);
    const pattern = backend.pattern(phi.rows, { rowStart, labelIndex });
    const list = (): Tensor => backend.tensor(1, labelIndex.length);
    const [utility, variance, probability] = [list(), list(), list()] as const;
    const ones = backend.tensor(rows, 1);
    const sByPoint = backend.tensor(rows, latent.variance.rows);
    backend.fill(ones, 1);
    backend.transpose(latent.variance, sByPoint);
    backend.sampledProducts(pattern, latent.mean, phi, utility);
    backend.sampledProducts(pattern, ones, backend.reshape(bias, phi.rows, 1), variance);
    backend.combine("add", utility, variance, utility);
    backend.sampledProducts(pattern, sByPoint, scale, variance);
    likelihood.probability(backend, utility, variance, probability);
    const read = await Promise.all([utility, variance, probability].map((tensor) => backend.read(tensor)));
    backend.free(pattern, utility, variance, probability, ones, sByPoint);
    return {
      utility: read[0] as RealArray,
      variance: read[1] as RealArray,
      probability: read[2] as RealArray,
    };
  }

  /** All points, a block at a time; a block's tensors are freed when the next one is asked for. */
  *#blocks(features: SparseRows): Generator<Block> {
    const backend = this.#backend;
    for (let first = 0; first < features.rows; first += BLOCK) {
      const count = Math.min(BLOCK, features.rows - first);
      const batch = this.#batch(transformedRows(features, this.frame.transform, first, count), first);
      const { tensors } = this.#numbers;
      const latent = this.#roomFor(count);
      latent.ofBatch(tensors, batch);
      latent.forwardMean(tensors, batch);
      const utility = backend.tensor(count, this.frame.labels);
      this.#labels.utilities(tensors, latent.mean, utility);
      try {
        yield { firstRow: first, batch, utility };
      } finally {
        backend.free(batch.x, batch.rows, batch.squares, utility);
      }
    }
  }

  /** Rows on the device. */
  #batch(given: SparseRows, firstRow: number): Batch {
    const backend = this.#backend;
    const { rows, columns, rowStart, columnIndex, values } = given;
    const squares = squaresWithin(this.#numbers.reach, given, firstRow);
    const x = backend.sparse(rows, columns, rowStart, columnIndex, values);
    const all = backend.indices(rows);
    backend.writeIndices(
      all,
      Int32Array.from({ length: rows }, (_, i) => i),
    );
    return { x, rows: all, squares: backend.tensor(1, rows, squares) };
  }

  /** The latent functions with room for so many points. */
  #roomFor(points: number): Latent {
    if (this.#room && this.#room.points >= points) return this.#room.latent;
    this.#room?.latent.free();
    const batch = points <= FEW ? FEW : BLOCK;
    const { shape, tensors } = this.#numbers;
    const latent = new Latent(this.#backend, { ...shape, batch, inducing: "free", rank: 0 });
    latent.ofInducing(tensors);
    this.#room = { latent, points: batch, factorised: false };
    return latent;
  }

  /** v [rows,K] */
  async #variance(batch: Batch): Promise<Tensor> {
    const { variance } = await this.#factorised(batch);
    const out = this.#backend.tensor(batch.rows.length, this.frame.labels);
    this.#labels.variance(variance, out);
    return out;
  }

  /** The latent functions with s of the block that was made last. */
  async #factorised(batch: Batch): Promise<Latent> {
    const backend = this.#backend;
    const room = this.#room as Room;
    if (!room.factorised) {
      await backend.factorisationReport();
      room.latent.factorise(this.#numbers.tensors);
      const { failed } = await backend.factorisationReport();
      if (failed >= 0) {
        throw new Error(
          `the model: found no Cholesky factor of C of factor ${failed}, expected a positive definite C`,
        );
      }
      room.factorised = true;
    }
    room.latent.forwardVariance(batch);
    return room.latent;
  }

  free(): void {
    this.#room?.latent.free();
    this.#labels.free();
    this.#numbers.free();
  }
}
