// A model on a device, ready to score points: mean utilities, probabilities that integrate the variance, deviations.

import type { Backend, SparseTensor, Tensor } from "../backend/backend.ts";
import type { SparseRows } from "../data/dataset.ts";
import { applyTransform } from "../train/features.ts";
import type { TrainedModel } from "./model.ts";

export interface Scores {
  rows: number;
  /** Mean utilities [rows,K]: what labels are ranked by. */
  utility: Float32Array | Float64Array;
  /** E sigmoid(f) [rows,K], where asked for. */
  probability?: Float32Array | Float64Array;
  /** Variance of the utilities [rows,K], where asked for. */
  variance?: Float32Array | Float64Array;
}

/** Points scored together. */
const BLOCK = 256;

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
    const { rows, columns, rowStart, columnIndex, values } = applyTransform(features, this.model.transform);
    const backend = this.#backend;
    for (let first = 0; first < rows; first += BLOCK) {
      const count = Math.min(BLOCK, rows - first);
      const [begin, end] = [rowStart[first] as number, rowStart[first + count] as number];
      const starts = rowStart.slice(first, first + count + 1).map((start) => start - begin);
      const x = backend.sparse(
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
      try {
        yield { firstRow: first, ...(await this.#block(x, count, squares, want)) };
      } finally {
        backend.free(x);
      }
    }
  }

  async #block(
    x: SparseTensor,
    count: number,
    squareValues: Float64Array,
    want: { probability?: boolean; variance?: boolean },
  ): Promise<Scores> {
    const backend = this.#backend;
    const { inducing: m, factors: p, labels: k, kernel } = this.model;
    const all = backend.indices(count);
    backend.writeIndices(
      all,
      Int32Array.from({ length: count }, (_, i) => i),
    );
    const squares = backend.tensor(1, count, squareValues);
    const [products, kx] = [backend.tensor(count, m), backend.tensor(count, m)];
    const [mean, utility] = [backend.tensor(count, p), backend.tensor(count, k)];
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
    const scores: Scores = { rows: count, utility: await backend.read(utility) };
    if (want.probability || want.variance) {
      const variance = await this.#variance(kx, squares, count);
      if (want.variance) scores.variance = await backend.read(variance);
      if (want.probability) {
        backend.probability(utility, variance, utility);
        scores.probability = await backend.read(utility);
      }
      backend.free(variance);
    }
    backend.free(all, squares, products, kx, mean, utility);
    return scores;
  }

  /** v = s (Phi*Phi)', s_i = kxx_i - Kx_i. C^-1 Kx_i.' */
  async #variance(kx: Tensor, squares: Tensor, count: number): Promise<Tensor> {
    const backend = this.#backend;
    const { inducing: m, labels: k, groups, kernel } = this.model;
    const inverse = await this.#inverses();
    const [w, s, own, out, scale] = [
      backend.tensor(count, m),
      backend.tensor(groups, count),
      backend.tensor(1, count),
      backend.tensor(count, k),
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
    if (groups === 1) backend.gemm(s, this.#labelScale, out, { transposeA: true });
    else backend.gemm(s, this.#phiSquare, out, { transposeA: true, transposeB: true });
    backend.free(w, s, own, scale);
    return out;
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
