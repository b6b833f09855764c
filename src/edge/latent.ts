// From a row of features to the latent functions: their means and their variance, decoded row by row from the file's
// bytes. Sums run over features in rising order, in double precision: the same bits everywhere.

import { type ScalarKernel, scalarKernel } from "../model/kernels/index.ts";
import { type Row, type RowMatrix, squareSum } from "./matrix.ts";
import type { CompactModel, LatentNumbers } from "./read.ts";

/** The latent functions at a point. */
export interface LatentPoint {
  /** The means h [P]. */
  readonly mean: Float64Array;
  /** The variance s [G], or empty where the model has none. */
  readonly variance: Float64Array;
}

export class Latent {
  readonly #model: LatentNumbers & Pick<CompactModel, "about" | "rows">;
  readonly #kernel: ScalarKernel;
  /** k(x,Z) [M] and what the variance's matrix gives [r]. */
  readonly #kernelRow: Float64Array;
  readonly #covered: Float64Array;

  constructor({ about, rows }: CompactModel, numbers: LatentNumbers) {
    const { cover, root, inducing } = numbers;
    this.#model = { about, rows, ...numbers };
    this.#kernel = scalarKernel(about.kernel, about.hyper);
    this.#kernelRow = new Float64Array(inducing ? about.inducing : 0);
    this.#covered = new Float64Array(cover || root ? about.rank : 0);
  }

  /** Room for a point. */
  point(): LatentPoint {
    const { about, own, root } = this.#model;
    return {
      mean: new Float64Array(about.factors),
      variance: new Float64Array(own || root ? about.groups : 0),
    };
  }

  /** Computes mean and variance for a row. */
  compute(x: Row, { mean, variance }: LatentPoint): void {
    const { inducing, weights, mu, own, root } = this.#model;
    const squares = squareSum(x.values);
    if (inducing) this.#computeKernelRow(x, squares);
    if (weights) this.#rowTimes(x, weights, mean);
    else denseTimes(this.#kernelRow, mu as RowMatrix, 0, mean);
    if (own) this.#throughFeatures(x, own, variance);
    else if (root) this.#throughInducing(squares, root, variance);
  }

  /** out = x matrix; features without a row add nothing. */
  #rowTimes(x: Row, matrix: RowMatrix, out: Float64Array): void {
    const { rows } = this.#model;
    out.fill(0);
    if (!rows) {
      matrix.add(x.columns, x.values, x.columns.length, out);
      return;
    }
    const kept: number[] = [];
    const values: number[] = [];
    for (let e = 0; e < x.columns.length; e++) {
      const row = rows[x.columns[e] as number] as number;
      if (row < 0) continue;
      kept.push(row);
      values.push(x.values[e] as number);
    }
    matrix.add(kept, values, kept.length, out);
  }

  /** k(x, Z) */
  #computeKernelRow(x: Row, squares: number): void {
    const { inducing } = this.#model;
    const out = this.#kernelRow;
    const { z, squares: zSquares } = inducing as NonNullable<LatentNumbers["inducing"]>;
    this.#rowTimes(x, z, out);
    for (let j = 0; j < out.length; j++)
      out[j] = this.#kernel.covariance(out[j] as number, squares, zSquares[j] as number);
  }

  /** s = sum_j own_j x_j^2 - |x cover|^2 */
  #throughFeatures(x: Row, own: RowMatrix, variance: Float64Array): void {
    const { cover } = this.#model;
    variance[0] = 0;
    const squares = Float64Array.from(x.values, (value) => value * value);
    own.add(x.columns, squares, squares.length, variance);
    if (cover) {
      this.#rowTimes(x, cover, this.#covered);
      variance[0] = (variance[0] as number) - squareSum(this.#covered);
    }
    variance[0] = notNegative(variance[0] as number);
  }

  /** s_g = k(x,x) - |k(x,Z) root_g|^2 */
  #throughInducing(squares: number, root: RowMatrix, variance: Float64Array): void {
    const { groups, inducing } = this.#model.about;
    const own = this.#kernel.own(squares);
    for (let group = 0; group < groups; group++) {
      denseTimes(this.#kernelRow, root, group * inducing, this.#covered);
      variance[group] = notNegative(own - squareSum(this.#covered));
    }
  }
}

/** Rounding, or numbers of few bits, can take a variance below 0. */
function notNegative(value: number): number {
  return value > 0 ? value : 0;
}

/** out = x times the rows of the matrix from `first` on */
function denseTimes(x: Float64Array, matrix: RowMatrix, first: number, out: Float64Array): void {
  out.fill(0);
  const rows = Int32Array.from(x, (_, i) => first + i);
  matrix.add(rows, x, x.length, out);
}
