// The exact form: every training point carries the mean. For N up to some 20,000 (N^3 multiplications and additions,
// N^2 numbers; the kernel matrix becomes its inverse in its own place).
//
//     C = inverse(K + lam I)      a = C (Y - mu)      s(x) = k(x,X) a + mu      v(x) = lam + k(x,x) - k(x,X) C k(X,x)
//     left out:  s_i = y_i - a_i / C_ii,   v_i = 1 / C_ii

import { finiteNumber } from "../core/check.ts";
import type { Precision } from "../core/core.ts";
import { addDiagonal, combine, convert, diagonal, fill, gemm, rowSums, transpose } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { inverseBytes, inverseInPlace } from "../core/inverse.ts";
import { Postings, sparseProducts } from "../core/kernelrows.ts";
import { type Matrix, matrix, matrixFrom, Scope } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import { pause, type WorkOptions } from "../core/progress.ts";
import { addTransposeTimes } from "../core/sums.ts";
import { Kernel, type KernelChoice } from "./kernel.ts";
import { blocksOf, type LeaveOneOut, type LeftOutBlock, type WalkOptions } from "./leaveoneout.ts";
import type { Points } from "./points.ts";

/** Rows of K, or of new points, that are made together. */
const BLOCK_ROWS = 256;

/** Noise and covariance. */
export interface ExactOptions extends WorkOptions {
  /** lam */
  readonly noise: number;
  readonly kernel: KernelChoice;
  /** mu [K]; the labels' frequencies if not given. */
  readonly mean?: ArrayLike<number>;
}

/** Bytes of a core's memory that the exact form takes at its height, beside the points. */
export function exactBytes(points: number, labels: number, precision: Precision): number {
  const size = precision === "f32" ? 4 : 8;
  const fitting = inverseBytes(points, precision);
  const dual = points * labels * size + 2 * BLOCK_ROWS * labels * 8;
  return points * points * size + Math.max(fitting, dual);
}

/** A fitted exact form. The points and labels it was fitted on must outlive it. */
export class ExactForm implements LeaveOneOut {
  readonly kernel: Kernel;
  readonly noise: number;
  /** mu [1,K] */
  readonly mean: Matrix;
  /** a [N,K] */
  readonly dual: Matrix;
  /** C_ii [1,N] */
  readonly pivots: Matrix;
  readonly #training: Points;
  readonly #labels: Pattern;
  readonly #index: Postings;
  #inverse: Matrix | undefined;
  readonly #scope: Scope;

  constructor(parts: {
    kernel: Kernel;
    noise: number;
    mean: Matrix;
    dual: Matrix;
    pivots: Matrix;
    training: Points;
    labels: Pattern;
    index: Postings;
    inverse: Matrix;
    scope: Scope;
  }) {
    this.kernel = parts.kernel;
    this.noise = parts.noise;
    this.mean = parts.mean;
    this.dual = parts.dual;
    this.pivots = parts.pivots;
    this.#training = parts.training;
    this.#labels = parts.labels;
    this.#index = parts.index;
    this.#inverse = parts.inverse;
    this.#scope = parts.scope;
  }

  get points(): number {
    return this.#training.rows;
  }

  get labels(): number {
    return this.dual.columns;
  }

  /** Gives back the memory of C; variances at new points are not to be had any more. */
  dropInverse(): void {
    this.#inverse?.free();
    this.#inverse = undefined;
  }

  async forBlocks(
    stage: string,
    work: (block: LeftOutBlock) => void,
    options: WalkOptions = {},
  ): Promise<void> {
    const { core, precision } = this.dual;
    const room = matrix(core, Math.min(BLOCK_ROWS, this.points), this.labels, precision);
    const factors = matrix(core, room.rows, 1, precision);
    const blocks = blocksOf(this.points, BLOCK_ROWS, options.ranges);
    try {
      for (const [number, { from, to }] of blocks.entries()) {
        await pause(options, stage, number / blocks.length);
        const variances = Float64Array.from(this.pivots.view().subarray(from, to), (pivot) => 1 / pivot);
        const inverses = factors.rowRange(0, to - from).set(variances.map((variance) => -variance));
        const scores = room.rowRange(0, to - from);
        combine("multiply", this.dual.rowRange(from, to), inverses, scores);
        addLabels(scores, this.#labels, from);
        work({ from, to, scores, variances });
      }
    } finally {
      room.free();
      factors.free();
    }
  }

  /** Scores [n,K] (and, where there is room for them, variances) of new points, a block at a time. */
  async predict(
    points: Points,
    work: (block: LeftOutBlock) => void,
    options: WorkOptions & { variances?: boolean } = {},
  ): Promise<void> {
    const { core, precision } = this.dual;
    const { variances: wanted = true, ...rest } = options;
    const scope = new Scope();
    try {
      const rows = Math.min(BLOCK_ROWS, points.rows);
      const make = (columns: number) => scope.keep(matrix(core, rows, columns, precision));
      const [products, kernelRows, room] = [make(this.points), make(this.points), make(this.labels)];
      const blocks = blocksOf(points.rows, BLOCK_ROWS);
      for (const [number, { from, to }] of blocks.entries()) {
        await pause(rest, "scores", number / blocks.length);
        const part = (m: Matrix): Matrix => m.rowRange(0, to - from);
        const product = sparseProducts(points.x, this.#index, part(products), { from, to });
        const k = this.kernel.map(
          product,
          points.squaresOf(from, to),
          this.#training.squares,
          part(kernelRows),
        );
        const scores = gemm(k, this.dual, part(room));
        combine("add", scores, this.mean, scores);
        const variances = wanted ? this.#variances(points, from, to, k, part(products)) : new Float64Array(0);
        work({ from, to, scores, variances });
      }
    } finally {
      scope.free();
    }
  }

  /** lam + k(x,x) - k C k' of a block of kernel rows. */
  #variances(points: Points, from: number, to: number, k: Matrix, work: Matrix): Float64Array {
    if (this.#inverse === undefined)
      throw new ArgumentError("variances", "found true after the inverse was dropped, expected false");
    const { core, precision } = k;
    const known = matrix(core, 1, to - from, precision);
    try {
      const own = this.kernel.self(points.squaresOf(from, to).view());
      const explained = rowSums(gemm(k, this.#inverse, work), known, k).view();
      return own.map((self, i) => this.noise + self - (explained[i] as number));
    } finally {
      known.free();
    }
  }

  free(): void {
    this.dropInverse();
    this.#scope.free();
  }
}

/** Adds 1 to the score of every label that a point of the block has. */
function addLabels(scores: Matrix, labels: Pattern, from: number): void {
  const starts = labels.start.view();
  const ids = labels.column.view();
  const elements = scores.view();
  for (let i = 0; i < scores.rows; i++)
    for (let e = starts[from + i] as number; e < (starts[from + i + 1] as number); e++)
      (elements[i * scores.columns + (ids[e] as number)] as number) += 1;
}

/** How many points have each label [K]. */
export function labelCountsOf(labels: Pattern): Float64Array {
  const counts = new Float64Array(labels.columns);
  for (const label of labels.column.view()) (counts[label] as number) += 1;
  return counts;
}

/** Fits the exact form. */
export async function fitExact(training: Points, labels: Pattern, options: ExactOptions): Promise<ExactForm> {
  const { x } = training;
  const { core, precision, rows } = x;
  if (labels.rows !== rows)
    throw new ArgumentError("labels", `found ${labels.rows} rows, expected ${rows} as there are points`);
  const noise = finiteNumber("noise", options.noise);
  if (!(noise > 0)) throw new ArgumentError("noise", `found ${noise}, expected a number above 0`);
  const scope = new Scope();
  let inverse: Matrix | undefined;
  try {
    const kernel = scope.keep(new Kernel(core, precision, options.kernel));
    const index = scope.keep(new Postings(x));
    const frequencies = labelCountsOf(labels).map((count) => count / rows);
    const mean = scope.keep(matrixFrom(core, 1, labels.columns, options.mean ?? frequencies, precision));
    inverse = matrix(core, rows, rows, precision);
    await kernelMatrix(training, index, kernel, inverse, options);
    const ridge = fill(matrix(core, 1, rows, precision), noise);
    addDiagonal(inverse, ridge);
    ridge.free();
    await inverseInPlace(inverse, options);
    const pivots = diagonal(inverse, scope.keep(matrix(core, 1, rows, precision)));
    const dual = scope.keep(matrix(core, rows, labels.columns, precision));
    await dualOf(inverse, labels, mean, dual, options);
    return new ExactForm({ kernel, noise, mean, dual, pivots, training, labels, index, inverse, scope });
  } catch (error) {
    inverse?.free();
    scope.free();
    throw error;
  }
}

/** K in the lower triangle of out. */
export async function kernelMatrix(
  points: Points,
  index: Postings,
  kernel: Kernel,
  out: Matrix,
  options: WorkOptions = {},
): Promise<Matrix> {
  const { x, squares } = points;
  const products = matrix(x.core, Math.min(BLOCK_ROWS, x.rows), x.rows, x.precision);
  try {
    for (const { from, to } of blocksOf(x.rows, BLOCK_ROWS)) {
      await pause(options, "kernel", (from / x.rows) ** 2);
      const block = sparseProducts(x, index, products.rowRange(0, to - from), { from, to, lower: true });
      const left = block.block(0, 0, to - from, to);
      kernel.map(
        left,
        points.squaresOf(from, to),
        squares.block(0, 0, 1, to),
        out.block(from, 0, to - from, to),
      );
    }
    return out;
  } finally {
    products.free();
  }
}

/**
 * a = C (Y - mu) = C Y - (C 1) mu'. Y is nearly all zeros: column k of C Y is the sum of the rows of C that have label
 * k, so that this costs N for each label of each point, and nothing for the rest. Sums are in double precision.
 */
async function dualOf(
  inverse: Matrix,
  labels: Pattern,
  mean: Matrix,
  out: Matrix,
  options: WorkOptions,
): Promise<void> {
  const { core, precision, rows } = inverse;
  const scope = new Scope();
  try {
    const totals = rowSums(inverse, scope.keep(matrix(core, 1, rows, precision)));
    const double = (m: Matrix): Matrix => convert(m, scope.keep(matrix(core, m.rows, m.columns, "f64")));
    const [totalsInDouble, meanInDouble] = [double(totals), double(mean).reshape(mean.columns, 1)];
    const sums = scope.keep(matrix(core, labels.columns, Math.min(BLOCK_ROWS, rows), "f64"));
    const turned = scope.keep(matrix(core, sums.columns, labels.columns, "f64"));
    for (const { from, to } of blocksOf(rows, BLOCK_ROWS)) {
      await pause(options, "dual weights", from / rows);
      const part = sums.block(0, 0, labels.columns, to - from);
      // The outer product also clears what was there.
      gemm(meanInDouble, totalsInDouble.block(0, from, 1, to - from), part, { alpha: -1 });
      addTransposeTimes(labels, inverse.block(0, from, rows, to - from), part);
      convert(transpose(part, turned.rowRange(0, to - from)), out.rowRange(from, to));
    }
  } finally {
    scope.free();
  }
}
