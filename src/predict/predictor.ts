// A model on a device, ready to score points: mean utilities, probabilities that integrate the variance, deviations.

import type { Backend, SparseTensor, Tensor } from "../backend/backend.ts";
import type { SparseRows } from "../data/dataset.ts";
import { applyTransform } from "../train/features.ts";
import type { TrainedModel } from "./model.ts";

/** Scores of some points, for all labels. */
export interface Scores {
  rows: number;
  /** Mean utilities [rows,K]: what labels are ranked by. */
  utility: Float32Array | Float64Array;
  /** E sigmoid(f) [rows,K], where asked for. */
  probability?: Float32Array | Float64Array;
  /** Variance of the utilities [rows,K], where asked for. */
  variance?: Float32Array | Float64Array;
}

/** The best labels of some points, [rows,depth], best first. */
export interface BestLabels {
  rows: number;
  labels: Int32Array;
  /** Mean utilities of these labels. */
  utility: Float32Array | Float64Array;
  /** E sigmoid(f) and the variance of the utilities, where asked for. */
  probability?: Float32Array | Float64Array;
  variance?: Float32Array | Float64Array;
}

/** Points scored together. */
const BLOCK = 256;

/** A block of points on the device, as far as their mean utilities. */
interface Block {
  firstRow: number;
  rows: number;
  /** |x_i|^2 [1,rows], Kx [rows,M], mean utilities [rows,K] */
  squares: Tensor;
  kx: Tensor;
  utility: Tensor;
}

/** Scores points on a device, batch by batch. */
export class Predictor {
  readonly model: TrainedModel;
  readonly #backend: Backend;
  readonly #z: Tensor;
  readonly #zSquares: Tensor;
  readonly #mu: Tensor;
  readonly #phi: Tensor;
  readonly #phiSquare: Tensor;
  readonly #labelScale: Tensor;
  readonly #bias: Tensor;
  readonly #hyper: Tensor;
  /** C^-1 of each group, made when variances are first asked for. */
  #inverse: Tensor | undefined;

  constructor(backend: Backend, model: TrainedModel) {
    const { features: d, labels: k, factors: p, inducing: m } = model;
    this.model = model;
    this.#backend = backend;
    this.#z = backend.tensor(d, m, model.inducingInputs);
    this.#mu = backend.tensor(model.mean === "features" ? d : m, p, model.mu);
    this.#phi = backend.tensor(k, p, model.phi);
    this.#bias = backend.tensor(1, k, model.bias);
    this.#hyper = backend.tensor(1, 3, model.hyper);
    this.#zSquares = backend.tensor(1, m);
    backend.columnSums(this.#z, this.#zSquares, this.#z);
    this.#phiSquare = backend.tensor(k, p);
    backend.map("square", this.#phi, this.#phiSquare);
    this.#labelScale = backend.tensor(1, k);
    backend.rowSums(this.#phiSquare, this.#labelScale);
  }

  /** C = Kz + diag(sigma) of each group, inverted. */
  async #inverses(): Promise<Tensor> {
    if (this.#inverse) return this.#inverse;
    const backend = this.#backend;
    const { inducing: m, groups, kernel } = this.model;
    const products = backend.tensor(m, m);
    const factors = backend.tensor(groups * m, m);
    const sigma = backend.tensor(groups, m, this.model.sigma);
    backend.syrk(this.#z, products, { transpose: true });
    const inputs = {
      kernel,
      products,
      rowSquares: this.#zSquares,
      columnSquares: this.#zSquares,
      hyper: this.#hyper,
    };
    for (let q = 0; q < groups; q++) {
      const c = backend.rowRange(factors, q * m, (q + 1) * m);
      backend.covariance(inputs, c);
      backend.addDiagonal(c, backend.rowRange(sigma, q, q + 1));
    }
    await backend.factorisationReport();
    backend.factorise(factors, groups);
    const { failed } = await backend.factorisationReport();
    if (failed < 0) {
      this.#inverse = backend.tensor(groups * m, m);
      backend.inverseFromFactor(factors, this.#inverse, groups);
    }
    backend.free(products, factors, sigma);
    if (this.#inverse === undefined)
      throw new Error(
        `the model: found no Cholesky factor of C of factor ${failed}, expected a positive definite C`,
      );
    return this.#inverse;
  }

  /** Scores of all points, block by block; `want` decides what is computed beyond the utilities. */
  async *score(
    features: SparseRows,
    want: { probability?: boolean; variance?: boolean } = {},
  ): AsyncGenerator<Scores & { firstRow: number }> {
    const backend = this.#backend;
    for (const block of this.#blocks(features)) {
      const { firstRow, rows, utility } = block;
      const scores: Scores = { rows, utility: await backend.read(utility) };
      if (want.probability || want.variance) {
        const variance = await this.#variance(block);
        if (want.variance) scores.variance = await backend.read(variance);
        if (want.probability) {
          backend.probability(utility, variance, utility);
          scores.probability = await backend.read(utility);
        }
        backend.free(variance);
      }
      yield { firstRow, ...scores };
    }
  }

  /** The best labels of all points, block by block. `depth` is at most K. */
  async *best(
    features: SparseRows,
    depth: number,
    want: { probability?: boolean } = {},
  ): AsyncGenerator<BestLabels & { firstRow: number }> {
    for (const block of this.#blocks(features)) {
      const { firstRow, rows } = block;
      const { indices: labels, values: utility } = await this.#backend.topScores(block.utility, depth);
      const spread = want.probability ? await this.#spread(block, labels, utility) : {};
      yield { firstRow, rows, labels, utility, ...spread };
    }
  }

  /** Variance and probability of listed labels, as many for each point. */
  async #spread(
    block: Block,
    labelIndex: Int32Array,
    utility: Float32Array | Float64Array,
  ): Promise<Pick<BestLabels, "variance" | "probability">> {
    const backend = this.#backend;
    const { labels: k, groups } = this.model;
    const s = await this.#latentVariance(block);
    const depth = labelIndex.length / block.rows;
    const rowStart = Int32Array.from({ length: block.rows + 1 }, (_, i) => i * depth);
    const pattern = backend.pattern(k, { rowStart, labelIndex });
    const sByPoint = backend.tensor(block.rows, groups);
    const [variance, probability] = [
      backend.tensor(1, labelIndex.length),
      backend.tensor(1, labelIndex.length, utility),
    ];
    backend.transpose(s, sByPoint);
    const ofLabel = groups === 1 ? backend.reshape(this.#labelScale, k, 1) : this.#phiSquare;
    backend.sampledProducts(pattern, sByPoint, ofLabel, variance);
    backend.probability(probability, variance, probability);
    const read = await Promise.all([backend.read(variance), backend.read(probability)]);
    backend.free(s, pattern, sByPoint, variance, probability);
    return { variance: read[0], probability: read[1] };
  }

  /** All points, a block at a time; a block's tensors are freed when the next one is asked for. */
  *#blocks(features: SparseRows): Generator<Block> {
    const { rows, columns, rowStart, columnIndex, values } = applyTransform(features, this.model.transform);
    for (let first = 0; first < rows; first += BLOCK) {
      const count = Math.min(BLOCK, rows - first);
      const [begin, end] = [rowStart[first] as number, rowStart[first + count] as number];
      const starts = rowStart.slice(first, first + count + 1).map((start) => start - begin);
      const x = this.#backend.sparse(
        count,
        columns,
        starts,
        columnIndex.slice(begin, end),
        values.slice(begin, end),
      );
      const squares = Float64Array.from({ length: count }, (_, i) => {
        let sum = 0;
        for (let e = rowStart[first + i] as number; e < (rowStart[first + i + 1] as number); e++)
          sum += (values[e] as number) * (values[e] as number);
        return sum;
      });
      const block = this.#forward(x, first, squares);
      try {
        yield block;
      } finally {
        this.#backend.free(x, block.squares, block.kx, block.utility);
      }
    }
  }

  /** Mean utilities of the points in x. */
  #forward(x: SparseTensor, firstRow: number, squareValues: Float64Array): Block {
    const backend = this.#backend;
    const { inducing: m, factors: p, labels: k, kernel } = this.model;
    const { rows } = x;
    const all = backend.indices(rows);
    backend.writeIndices(
      all,
      Int32Array.from({ length: rows }, (_, i) => i),
    );
    const squares = backend.tensor(1, rows, squareValues);
    const [products, kx] = [backend.tensor(rows, m), backend.tensor(rows, m)];
    const [mean, utility] = [backend.tensor(rows, p), backend.tensor(rows, k)];
    backend.sparseTimes(x, all, this.#z, products);
    const inputs = {
      kernel,
      products,
      rowSquares: squares,
      columnSquares: this.#zSquares,
      hyper: this.#hyper,
    };
    backend.covariance(inputs, kx);
    if (this.model.mean === "features") backend.sparseTimes(x, all, this.#mu, mean);
    else backend.gemm(kx, this.#mu, mean);
    backend.gemm(mean, this.#phi, utility, { transposeB: true });
    backend.combine("add", utility, this.#bias, utility);
    backend.free(all, products, mean);
    return { firstRow, rows, squares, kx, utility };
  }

  /** v = s (Phi*Phi)' [rows,K] */
  async #variance(block: Block): Promise<Tensor> {
    const backend = this.#backend;
    const s = await this.#latentVariance(block);
    const out = backend.tensor(block.rows, this.model.labels);
    if (this.model.groups === 1) backend.gemm(s, this.#labelScale, out, { transposeA: true });
    else backend.gemm(s, this.#phiSquare, out, { transposeA: true, transposeB: true });
    backend.free(s);
    return out;
  }

  /** s_i = kxx_i - Kx_i. C^-1 Kx_i.' of each group [groups,rows] */
  async #latentVariance({ rows, kx, squares }: Block): Promise<Tensor> {
    const backend = this.#backend;
    const { inducing: m, groups, kernel } = this.model;
    const inverse = await this.#inverses();
    const [w, s, own, scale] = [
      backend.tensor(rows, m),
      backend.tensor(groups, rows),
      backend.tensor(1, rows),
      backend.tensor(3, 1),
    ] as const;
    // kxx = a |x|^2 + v, of the terms that there are
    backend.map("exp", backend.reshape(this.#hyper, 3, 1), scale);
    if (kernel === "se") backend.fill(own, 0);
    else backend.combine("multiply", squares, backend.rowRange(scale, 0, 1), own);
    if (kernel !== "linear") backend.combine("add", own, backend.rowRange(scale, 1, 2), own);
    for (let q = 0; q < groups; q++) {
      const row = backend.rowRange(s, q, q + 1);
      backend.gemm(kx, backend.rowRange(inverse, q * m, (q + 1) * m), w);
      backend.rowSums(kx, row, w);
      backend.blend(1, own, -1, row, row);
    }
    backend.free(w, own, scale);
    return s;
  }

  free(): void {
    this.#backend.free(
      this.#z,
      this.#zSquares,
      this.#mu,
      this.#phi,
      this.#phiSquare,
      this.#labelScale,
      this.#bias,
      this.#hyper,
      ...(this.#inverse ? [this.#inverse] : []),
    );
  }
}
