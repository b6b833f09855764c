// The covariance of the posterior q(u_p) = N(Kz mu_p, (Kz^-1 + Sigma_p^-1)^-1): its variance at some points, its part of
// the KL, gradients. (The mean and its part, 1/2 mu' Kz mu, are in means/.)
//
//   C = Kz + diag(sigma)      W = C^-1 Kx'      s_i = kxx_i - Kx_i. W_.i
//   KL_p = 1/2 mu' Kz mu - 1/2 tr(C^-1 Kz) + 1/2 log|C| - 1/2 log|Sigma|,   tr(C^-1 Kz) = M - sum_j sigma_j (C^-1)_jj
//
// Nothing factorises Kz. There is one C for each group of factors that share a Sigma; a group of several factors counts
// that many times in the KL.

import type { Backend, Tensor } from "../../backend/backend.ts";
import type { LatentShape } from "../shape.ts";
import { firstPart, rowOf } from "../views.ts";
import { groupsOf } from "./index.ts";

export interface KlTerms {
  /** All of each group. */
  sigmaTrace: number[];
  logDeterminant: number[];
  logSigma: number[];
}

export class PosteriorCovariance {
  /** s [G,B]: variance of each group's latent functions at each point */
  variance: Tensor;
  readonly #factor: Tensor;
  readonly #inverse: Tensor;
  /** s, and W' of each group, one below the other, with room for a full batch */
  readonly #room: { variance: Tensor; w: Tensor };
  #forGradients: ReturnType<typeof gradientRoom> | undefined;
  readonly #backend: Backend;
  readonly #shape: LatentShape;
  readonly #groups: number;
  #points: number;

  constructor(backend: Backend, shape: LatentShape) {
    const { inducingPoints: m, batch: b } = shape;
    const groups = groupsOf(shape);
    this.#backend = backend;
    this.#shape = shape;
    this.#groups = groups;
    this.#points = b;
    this.#room = { variance: backend.tensor(groups, b), w: backend.tensor(groups * b, m) };
    this.variance = this.#room.variance;
    this.#factor = backend.tensor(groups * m, m);
    this.#inverse = backend.tensor(groups * m, m);
  }

  /** Group q's matrix in a stack of matrices of so many rows. */
  #part(stack: Tensor, q: number, rows: number = this.#shape.inducingPoints): Tensor {
    return this.#backend.rowRange(stack, q * rows, (q + 1) * rows);
  }
  #w(q: number): Tensor {
    return this.#part(this.#room.w, q, this.#points);
  }
  #row(tensor: Tensor, q: number): Tensor {
    return this.#backend.rowRange(tensor, q, q + 1);
  }

  /** C^-1 of each group, from Kz and sigma [G,M]. */
  factorise(kz: Tensor, sigma: Tensor): void {
    const backend = this.#backend;
    for (let q = 0; q < this.#groups; q++) {
      const c = this.#part(this.#factor, q);
      backend.blend(1, kz, 0, kz, c);
      backend.addDiagonal(c, this.#row(sigma, q));
    }
    backend.factorise(this.#factor, this.#groups);
    backend.inverseFromFactor(this.#factor, this.#inverse, this.#groups);
  }

  /** s at points with these covariances. */
  forward(kx: Tensor, kxx: Tensor): void {
    const backend = this.#backend;
    this.#points = kx.rows;
    this.variance = firstPart(backend, this.#room.variance, this.#groups, kx.rows);
    for (let q = 0; q < this.#groups; q++) {
      backend.gemm(kx, this.#part(this.#inverse, q), this.#w(q));
      const s = this.#row(this.variance, q);
      backend.rowSums(kx, s, this.#w(q));
      backend.blend(1, kxx, -1, s, s);
    }
  }

  /** The terms of the KL. */
  divergence(sigma: Tensor): void {
    const backend = this.#backend;
    this.#forGradients ??= gradientRoom(backend, this.#shape, this.#groups);
    const { terms, row, inverseDiagonal } = this.#forGradients;
    for (let q = 0; q < this.#groups; q++)
      backend.diagonal(this.#part(this.#inverse, q), this.#row(inverseDiagonal, q));
    backend.rowSums(sigma, terms.sigmaTrace, inverseDiagonal);
    backend.logDeterminant(this.#factor, terms.logDeterminant, this.#groups);
    for (let q = 0; q < this.#groups; q++) {
      backend.map("log", this.#row(sigma, q), row);
      backend.rowSums(row, rowOf(backend, terms.logSigma, q));
    }
  }

  /** The terms that were computed last. */
  async terms(): Promise<KlTerms> {
    this.#forGradients ??= gradientRoom(this.#backend, this.#shape, this.#groups);
    const { terms } = this.#forGradients;
    const read = async (tensor: Tensor): Promise<number[]> => [...(await this.#backend.read(tensor))];
    const [sigmaTrace, logDeterminant, logSigma] = await Promise.all([
      read(terms.sigmaTrace),
      read(terms.logDeterminant),
      read(terms.logSigma),
    ]);
    return { sigmaTrace, logDeterminant, logSigma };
  }

  /**
   * From H = d bound / d s [G,B] to the gradients by sigma and, where wanted, by Kz and Kx (added to them); after
   * divergence():
   *   dsigma = diag(T) - diag(C^-1) + 1/2 diag(Q) + 1/2 / sigma,   T = W diag(H) W',   Q = C^-1 diag(sigma) C^-1
   *   dKz = sum T + 1/2 Q - 1/2 C^-1                               dKx = -2 diag(H) W'
   */
  backward(
    h: Tensor,
    sigma: Tensor,
    klWeight: number,
    dSigma: Tensor,
    dKz: Tensor | undefined,
    dKx: Tensor | undefined,
  ): void {
    const backend = this.#backend;
    this.#forGradients ??= gradientRoom(backend, this.#shape, this.#groups);
    const { row, weighted, scaled, inverseDiagonal } = this.#forGradients;
    const share = (klWeight * this.#shape.factors) / this.#groups;
    for (let q = 0; q < this.#groups; q++) {
      const hq = this.#row(h, q);
      const sigmaQ = this.#row(sigma, q);
      const inverse = this.#part(this.#inverse, q);
      const d = this.#row(dSigma, q);
      // diag(T)
      backend.combine("multiply", this.#w(q), backend.reshape(hq, this.#points, 1), weighted);
      backend.columnSums(weighted, d, this.#w(q));
      if (dKx) backend.blend(1, dKx, -2, weighted, dKx);
      // + share (1/2 diag(Q) - diag(C^-1) + 1/2 / sigma)
      backend.combine("multiply", inverse, sigmaQ, scaled);
      backend.rowSums(scaled, row, inverse);
      backend.blend(1, d, share / 2, row, d);
      backend.blend(1, d, -share, this.#row(inverseDiagonal, q), d);
      backend.map("reciprocal", sigmaQ, row);
      backend.blend(1, d, share / 2, row, d);
      if (dKz) {
        backend.syrk(this.#w(q), dKz, { transpose: true, weights: hq, beta: 1 });
        backend.syrk(inverse, dKz, { weights: sigmaQ, alpha: share / 2, beta: 1 });
        backend.blend(1, dKz, -share / 2, inverse, dKz);
      }
    }
  }

  free(): void {
    const { terms, ...rest } = this.#forGradients ?? {};
    this.#backend.free(
      this.#factor,
      this.#inverse,
      ...Object.values(this.#room),
      ...Object.values(terms ?? {}),
      ...Object.values(rest),
    );
  }
}

function gradientRoom(backend: Backend, { inducingPoints: m, batch: b }: LatentShape, groups: number) {
  return {
    terms: {
      sigmaTrace: backend.tensor(1, groups),
      logDeterminant: backend.tensor(1, groups),
      logSigma: backend.tensor(1, groups),
    },
    row: backend.tensor(1, m),
    inverseDiagonal: backend.tensor(groups, m),
    weighted: backend.tensor(b, m),
    scaled: backend.tensor(m, m),
  };
}

/** KL of all factors together, from the mean's quadratic term and these. */
export function divergenceOf(shape: LatentShape, quadratic: number, terms: KlTerms): number {
  const groups = groupsOf(shape);
  const share = shape.factors / groups;
  let total = quadratic / 2;
  for (let q = 0; q < groups; q++) {
    const trace = shape.inducingPoints - (terms.sigmaTrace[q] as number);
    total += (share / 2) * ((terms.logDeterminant[q] as number) - (terms.logSigma[q] as number) - trace);
  }
  return total;
}
