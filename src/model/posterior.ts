// The covariance of the posterior q(u_p) = N(Kz mu_p, (Kz^-1 + Sigma_p^-1)^-1): its variance at the batch, its part of
// the KL, gradients. (The mean and its part, 1/2 mu' Kz mu, are in mean.ts.)
//
//   C = Kz + diag(sigma)      W = C^-1 Kx'      s_i = kxx_i - Kx_i. W_.i
//   KL_p = 1/2 mu' Kz mu - 1/2 tr(C^-1 Kz) + 1/2 log|C| - 1/2 log|Sigma|,   tr(C^-1 Kz) = M - sum_j sigma_j (C^-1)_jj
//
// Nothing factorises Kz. There is one C for each group: all factors (shared) or one factor (perFactor); a group of
// several factors counts that many times in the KL.

import type { Backend, Tensor } from "../backend/backend.ts";
import { groupsOf, type ModelShape } from "./shape.ts";

export interface KlTerms {
  /** All of each group. */
  sigmaTrace: number[];
  logDeterminant: number[];
  logSigma: number[];
}

export class Posterior {
  /** s [groups,B]: variance of each latent function at each point */
  readonly variance: Tensor;
  readonly #sigma: Tensor;
  readonly #factor: Tensor;
  readonly #inverse: Tensor;
  /** W' of each group, one below the other */
  readonly #w: Tensor;
  readonly #weighted: Tensor;
  readonly #scaled: Tensor;
  readonly #floor: Tensor;
  readonly #terms: {
    sigmaTrace: Tensor;
    logDeterminant: Tensor;
    logSigma: Tensor;
  };
  readonly #rows: { a: Tensor; b: Tensor; inverseDiagonal: Tensor };
  readonly #backend: Backend;
  readonly #shape: ModelShape;
  readonly #groups: number;

  constructor(backend: Backend, shape: ModelShape) {
    const { inducing: m, batch: b } = shape;
    const groups = groupsOf(shape);
    this.#backend = backend;
    this.#shape = shape;
    this.#groups = groups;
    this.variance = backend.tensor(groups, b);
    this.#sigma = backend.tensor(groups, m);
    this.#factor = backend.tensor(groups * m, m);
    this.#inverse = backend.tensor(groups * m, m);
    this.#w = backend.tensor(groups * b, m);
    this.#weighted = backend.tensor(b, m);
    this.#scaled = backend.tensor(m, m);
    this.#floor = backend.tensor(1, 1, [shape.floor]);
    this.#terms = {
      sigmaTrace: backend.tensor(1, groups),
      logDeterminant: backend.tensor(1, groups),
      logSigma: backend.tensor(1, groups),
    };
    this.#rows = {
      a: backend.tensor(1, m),
      b: backend.tensor(1, m),
      inverseDiagonal: backend.tensor(groups, m),
    };
  }

  /** The matrix of group q in a stack of square ones, or of B x M ones. */
  #square(stack: Tensor, q: number): Tensor {
    return this.#backend.rowRange(stack, q * this.#shape.inducing, (q + 1) * this.#shape.inducing);
  }
  #w_(q: number): Tensor {
    return this.#backend.rowRange(this.#w, q * this.#shape.batch, (q + 1) * this.#shape.batch);
  }
  #row(tensor: Tensor, q: number): Tensor {
    return this.#backend.rowRange(tensor, q, q + 1);
  }

  forward(kz: Tensor, kx: Tensor, kxx: Tensor, logSigma: Tensor): void {
    const backend = this.#backend;
    backend.map("exp", logSigma, this.#sigma);
    backend.combine("add", this.#sigma, this.#floor, this.#sigma);
    for (let q = 0; q < this.#groups; q++) {
      const c = this.#square(this.#factor, q);
      backend.blend(1, kz, 0, kz, c);
      backend.addDiagonal(c, this.#row(this.#sigma, q));
    }
    backend.factorise(this.#factor, this.#groups);
    backend.inverseFromFactor(this.#factor, this.#inverse, this.#groups);
    for (let q = 0; q < this.#groups; q++) {
      backend.gemm(kx, this.#square(this.#inverse, q), this.#w_(q));
      const s = this.#row(this.variance, q);
      backend.rowSums(kx, s, this.#w_(q));
      backend.blend(1, kxx, -1, s, s);
    }
  }

  /** The terms of the KL. */
  divergence(): void {
    const backend = this.#backend;
    const { sigmaTrace, logDeterminant, logSigma } = this.#terms;
    for (let q = 0; q < this.#groups; q++)
      backend.diagonal(this.#square(this.#inverse, q), this.#row(this.#rows.inverseDiagonal, q));
    backend.rowSums(this.#sigma, sigmaTrace, this.#rows.inverseDiagonal);
    backend.logDeterminant(this.#factor, logDeterminant, this.#groups);
    for (let q = 0; q < this.#groups; q++) {
      backend.map("log", this.#row(this.#sigma, q), this.#rows.a);
      backend.rowSums(this.#rows.a, backend.rowRange(backend.reshape(logSigma, this.#groups, 1), q, q + 1));
    }
  }

  async terms(): Promise<KlTerms> {
    const read = async (tensor: Tensor): Promise<number[]> => [...(await this.#backend.read(tensor))];
    const { sigmaTrace, logDeterminant, logSigma } = this.#terms;
    const [trace, determinant, sigma] = await Promise.all([sigmaTrace, logDeterminant, logSigma].map(read));
    return {
      sigmaTrace: trace as number[],
      logDeterminant: determinant as number[],
      logSigma: sigma as number[],
    };
  }

  /**
   * From H = d bound / d s [groups,B] to the gradients by logSigma and, where wanted, by Kz and Kx (added to them):
   *   dsigma = diag(T) - diag(C^-1) + 1/2 diag(Q) + 1/2 / sigma,   T = W diag(H) W',   Q = C^-1 diag(sigma) C^-1
   *   dKz = sum T + 1/2 Q - 1/2 C^-1                               dKx = -2 diag(H) W'
   */
  backward(
    h: Tensor,
    klWeight: number,
    dLogSigma: Tensor,
    dKz: Tensor | undefined,
    dKx: Tensor | undefined,
  ): void {
    const backend = this.#backend;
    const { batch } = this.#shape;
    const share = (klWeight * this.#shape.factors) / this.#groups;
    for (let q = 0; q < this.#groups; q++) {
      const hq = this.#row(h, q);
      const sigma = this.#row(this.#sigma, q);
      const inverse = this.#square(this.#inverse, q);
      const d = this.#row(dLogSigma, q);
      // diag(T)
      backend.combine("multiply", this.#w_(q), backend.reshape(hq, batch, 1), this.#weighted);
      backend.columnSums(this.#weighted, d, this.#w_(q));
      if (dKx) backend.blend(1, dKx, -2, this.#weighted, dKx);
      // + share (1/2 diag(Q) - diag(C^-1) + 1/2 / sigma)
      backend.combine("multiply", inverse, sigma, this.#scaled);
      backend.rowSums(this.#scaled, this.#rows.a, inverse);
      backend.blend(1, d, share / 2, this.#rows.a, d);
      backend.blend(1, d, -share, this.#row(this.#rows.inverseDiagonal, q), d);
      backend.map("reciprocal", sigma, this.#rows.a);
      backend.blend(1, d, share / 2, this.#rows.a, d);
      // d sigma / d logSigma = sigma - floor
      backend.combine("subtract", sigma, this.#floor, this.#rows.b);
      backend.combine("multiply", d, this.#rows.b, d);
      if (dKz) {
        backend.syrk(this.#w_(q), dKz, { transpose: true, weights: hq, beta: 1 });
        backend.syrk(inverse, dKz, { weights: sigma, alpha: share / 2, beta: 1 });
        backend.blend(1, dKz, -share / 2, inverse, dKz);
      }
    }
  }

  free(): void {
    this.#backend.free(
      this.variance,
      this.#sigma,
      this.#factor,
      this.#inverse,
      this.#w,
      this.#weighted,
      this.#scaled,
      this.#floor,
      ...Object.values(this.#terms),
      ...Object.values(this.#rows),
    );
  }
}

/** KL of all factors together, from the mean's quadratic term and these. */
export function divergenceOf(shape: ModelShape, quadratic: number, terms: KlTerms): number {
  const groups = groupsOf(shape);
  const share = shape.factors / groups;
  let total = quadratic / 2;
  for (let q = 0; q < groups; q++) {
    const trace = shape.inducing - (terms.sigmaTrace[q] as number);
    total += (share / 2) * ((terms.logDeterminant[q] as number) - (terms.logSigma[q] as number) - trace);
  }
  return total;
}
