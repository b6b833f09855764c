// The covariances that the model is made of, and their gradients:
//
//   Kz = k(Z,Z)     Kx = k(X_b,Z)     kxx_i = k(x_i,x_i) = a |x_i|^2 + v
//
// with k(x, z) = a x.z + v g(|x - z|^2 / l^2), of the terms that the kernel has. The inducing inputs Z are known by inner products
// alone, Lz = Z Z' and Lx = X_b Z', in the paper's two forms: Z = A Xtilde in the span of a basis, or free.

import type { Backend, CovarianceInputs, Tensor } from "../../backend/backend.ts";
import { type CovarianceTerms, termsOf } from "../../base/kernels.ts";
import { type Batch, type LatentShape, type ModelShape, rowOf, type Workspace } from "./shape.ts";

/** Inner products with Z; `z` is what is learned of it. */
interface InducingInputs {
  /** out = Lz [M,M] */
  gram(z: Tensor, out: Tensor): void;
  /** out = Lx [B,M] */
  products(z: Tensor, batch: Batch, out: Tensor): void;
  /** out = d bound / d z, from the gradients by Lz (symmetric) and Lx. */
  gradient(z: Tensor, batch: Batch, dLz: Tensor, dLx: Tensor, out: Tensor): void;
}

type MakeInducing = (backend: Backend, room: Workspace, basisGram?: Tensor) => InducingInputs;

/** Z = A Xtilde: Lz = A G A' with G = Xtilde Xtilde',  Lx = (X_b Xtilde') A'. An orthonormal basis has G = I: give none. */
const subspace: MakeInducing = (backend, room, basisGram) => {
  /** A G */
  const timesGram = (a: Tensor): Tensor => {
    if (basisGram === undefined) return a;
    const product = room.tensor("AG", a.rows, a.columns);
    backend.gemm(a, basisGram, product);
    return product;
  };
  return {
    gram(a, out) {
      if (basisGram === undefined) backend.syrk(a, out);
      else backend.gemm(timesGram(a), a, out, { transposeB: true });
    },
    products: (a, batch, out) => backend.gemm(batch.projected as Tensor, a, out, { transposeB: true }),
    // dA = (dLz + dLz') A G + dLx' (X_b Xtilde')
    gradient(a, batch, dLz, dLx, out) {
      backend.gemm(dLz, timesGram(a), out, { alpha: 2 });
      backend.gemm(dLx, batch.projected as Tensor, out, { transposeA: true, beta: 1 });
    },
  };
};

/** Z itself, kept as Z' [D,M]. */
const free: MakeInducing = (backend) => ({
  gram: (z, out) => backend.syrk(z, out, { transpose: true }),
  products: (z, batch, out) => backend.sparseTimes(batch.x, batch.rows, z, out),
  // dZ' = Z' (dLz + dLz') + X_b' dLx
  gradient(z, batch, dLz, dLx, out) {
    backend.gemm(z, dLz, out, { alpha: 2 });
    backend.sparseTransposeTimes(batch.x, batch.rows, dLx, out);
  },
});

const inducingForms: Record<ModelShape["inducing"], MakeInducing> = { subspace, free };

/** The places of log a and log v in the hyper-parameters. */
const [SLOPE, VARIANCE] = [0, 1];

export class Covariances {
  /** Kz [M,M]; Kx [B,M] and kxx [1,B] of the last batch. */
  readonly kz: Tensor;
  kx!: Tensor;
  kxx!: Tensor;
  /** Lz [M,M]; Lx [B,M] of the last batch. */
  readonly #lz: Tensor;
  #lx!: Tensor;
  /** |z_j|^2 [1,M] */
  readonly #zz: Tensor;
  /** a, v, l [1,3] */
  readonly #plain: Tensor;
  readonly #backend: Backend;
  readonly #room: Workspace;
  readonly #terms: CovarianceTerms;
  readonly #inputs: InducingInputs;

  constructor(backend: Backend, room: Workspace, shape: LatentShape, basisGram?: Tensor) {
    const { inducingPoints: m } = shape;
    this.#backend = backend;
    this.#room = room;
    this.#terms = termsOf(shape.kernel);
    this.#inputs = inducingForms[shape.inducing](backend, room, basisGram);
    this.#lz = room.tensor("Lz", m, m);
    this.kz = room.tensor("Kz", m, m);
    this.#zz = room.tensor("zz", 1, m);
    this.#plain = room.tensor("a v l", 1, 3);
  }

  #covariance(products: Tensor, rowSquares: Tensor, hyper: Tensor): CovarianceInputs {
    return { terms: this.#terms, products, rowSquares, columnSquares: this.#zz, hyper };
  }

  /** a [1,1]; after ofInducing(). */
  linearVariance(): Tensor {
    return rowOf(this.#backend, this.#plain, SLOPE);
  }

  /** Kz */
  ofInducing(z: Tensor, hyper: Tensor): void {
    const backend = this.#backend;
    this.#inputs.gram(z, this.#lz);
    backend.diagonal(this.#lz, this.#zz);
    backend.covariance(this.#covariance(this.#lz, this.#zz, hyper), this.kz);
    backend.map("exp", hyper, this.#plain);
  }

  /** Kx of a batch; after ofInducing(). */
  ofBatch(z: Tensor, batch: Batch, hyper: Tensor): void {
    const [points, m] = [batch.rows.length, this.kz.rows];
    this.#lx = this.#room.tensor("Lx", points, m);
    this.kx = this.#room.tensor("Kx", points, m);
    this.#inputs.products(z, batch, this.#lx);
    this.#backend.covariance(this.#covariance(this.#lx, batch.squares, hyper), this.kx);
  }

  /** kxx of a batch. */
  ofPoints({ squares }: Batch): void {
    const backend = this.#backend;
    const { linear, stationary } = this.#terms;
    this.kxx = this.#room.tensor("kxx", 1, squares.columns);
    if (linear) backend.combine("multiply", squares, this.linearVariance(), this.kxx);
    else backend.fill(this.kxx, 0);
    if (stationary) backend.combine("add", this.kxx, rowOf(backend, this.#plain, VARIANCE), this.kxx);
  }

  /**
   * From gradients by Kz (symmetric), Kx and kxx to those by Lz and Lx, in place, by hyper and, where wanted, by z.
   * |z_j|^2 is Lz_jj: what comes through it goes to the diagonal.
   */
  backward(
    { inducingInputs: z, hyper }: { inducingInputs: Tensor; hyper: Tensor },
    batch: Batch,
    d: { kz: Tensor; kx: Tensor; kxx: Tensor },
    dHyper: Tensor,
    dz: Tensor | undefined,
  ): void {
    const backend = this.#backend;
    const m = this.kz.rows;
    /** The stationary term's part of a gradient by Kz or Kx, rows' shares of the one by hyper, and sums. */
    const ofRows = (rows: number, of: string) => ({
      stationary: this.#room.tensor(`stationary ${of}`, rows, m),
      sums: this.#room.tensor(`sums ${of}`, rows, 3),
      totals: this.#room.tensor(`totals ${of}`, 1, m),
    });
    const [ofZ, ofX] = [ofRows(m, "z"), ofRows(this.#lx.rows, "x")];
    const part = this.#room.tensor("dHyper", 1, 3);
    backend.covarianceGradient(this.#covariance(this.#lz, this.#zz, hyper), d.kz, ofZ.stationary, ofZ.sums);
    const ofLx = this.#covariance(this.#lx, batch.squares, hyper);
    backend.covarianceGradient(ofLx, d.kx, ofX.stationary, ofX.sums);
    backend.columnSums(ofZ.sums, dHyper);
    backend.columnSums(ofX.sums, part);
    backend.combine("add", dHyper, part, dHyper);
    const { linear, stationary } = this.#terms;
    if (stationary) {
      // By |z_j|^2: -1/2 of row and column sums for Kz, which are equal, and -1/2 of the column sums for Kx.
      backend.rowSums(ofZ.stationary, ofZ.totals);
      backend.columnSums(ofX.stationary, ofX.totals);
      backend.blend(-1, ofZ.totals, -0.5, ofX.totals, ofZ.totals);
      backend.addDiagonal(d.kz, ofZ.totals);
    }
    // kxx = a |x|^2 + v: log a gains a sum dkxx |x|^2, log v gains v sum dkxx.
    backend.fill(part, 0);
    if (linear) backend.rowSums(batch.squares, rowOf(backend, part, SLOPE), d.kxx);
    if (stationary) backend.rowSums(d.kxx, rowOf(backend, part, VARIANCE));
    backend.combine("multiply", part, this.#plain, part);
    backend.combine("add", dHyper, part, dHyper);
    if (dz) this.#inputs.gradient(z, batch, d.kz, d.kx, dz);
  }
}
