// The exact form: every training point carries the mean. For N up to some 20,000 (N^2 numbers; the kernel matrix
// becomes its factor or its inverse in its own place).
//
//     C = inverse(K + lam I)      a = C (Y - mu)      s(x) = k(x,X) a + mu      v(x) = lam + k(x,x) - k(x,X) C k(X,x)
//     left out:  s_i = y_i - a_i / C_ii,   v_i = 1 / C_ii
//
// A point that counts as w points has lam / w in the place of lam, as w copies of it would come to; left out, it is a new
// point, with lam in its variance.
//
// Two ways to it. By the inverse: N^3 operations, then C Y costs N additions for each label of each point, and every
// point has its left-out score. By the factor L L' = K + lam I: N^3 / 3, then 2 N^2 K for a by two solves; C_ii of the
// last n points is the sum of the squares of column i of the inverse of L's last n rows and columns (a column of
// inverse(L) is zero above its diagonal), n^3 / 3, and only these points have left-out scores. Where the points come in
// a random order they are a fair sample.

import { finiteNumber, sameSize, wholeNumber } from "../core/check.ts";
import { addDiagonal, columnSums, combine, diagonal, fill, gemm, rowSums } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { solveTriangular } from "../core/factor.ts";
import { factorInPlace, inverseInPlace, lowerInverseColumns } from "../core/inverse.ts";
import { Postings, sparseProducts } from "../core/kernelrows.ts";
import { type Matrix, matrix, matrixFrom, Scope } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import { pause, type WorkOptions } from "../core/progress.ts";
import { type ExactWay, exactWay, LEFT_OUT } from "./cost.ts";
import type { ClosedDevice } from "./device/closed.ts";
import type { ExactAnswers, ExactProblem } from "./device/exact.ts";
import { dualFromFactor, dualFromInverse } from "./dual.ts";
import { Kernel, type KernelChoice } from "./kernel.ts";
import { addLabels } from "./labels.ts";
import {
  allPoints,
  blocksOf,
  type LeaveOneOut,
  type LeftOutBlock,
  type PointRange,
  type WalkOptions,
} from "./leaveoneout.ts";
import type { Points } from "./points.ts";

/** Rows of K, or of new points, that are made together. */
const BLOCK_ROWS = 256;

/** Noise and covariance, and the way. */
export interface ExactOptions extends WorkOptions {
  /** lam */
  readonly noise: number;
  readonly kernel: KernelChoice;
  /** As how many points each counts [N]; as one if not given. */
  readonly weights?: ArrayLike<number> | undefined;
  /** mu [K]; the labels' frequencies if not given. */
  readonly mean?: ArrayLike<number>;
  /** The way with fewer operations if not given. */
  readonly by?: ExactWay;
  /** n: by the factor, how many of the last points have left-out scores. */
  readonly leftOut?: number;
  /** Keeps C or L for variances at new points; true if not given. */
  readonly variances?: boolean;
  /** What computes parts of it, if not the core. */
  readonly device?: ClosedDevice | undefined;
}

/** What fitExact found. */
interface ExactParts extends ExactAnswers {
  readonly kernel: Kernel;
  readonly noise: number;
  readonly by: ExactWay;
  readonly mean: Matrix;
  readonly training: Points;
  readonly labels: Pattern;
  readonly weights: ArrayLike<number> | undefined;
  readonly index: Postings;
  readonly scope: Scope;
}

/** A fitted exact form. The points and labels it was fitted on must outlive it. */
export class ExactForm implements LeaveOneOut {
  readonly kernel: Kernel;
  readonly noise: number;
  readonly by: ExactWay;
  /** mu [1,K] */
  readonly mean: Matrix;
  /** a [N,K] */
  readonly dual: Matrix;
  /** C_ii [1,n] of the last n points. */
  readonly pivots: Matrix;
  readonly #training: Points;
  readonly #labels: Pattern;
  readonly #weights: ArrayLike<number> | undefined;
  readonly #index: Postings;
  /** C, or L. */
  readonly #square: Matrix | undefined;
  readonly #scope: Scope;

  constructor(parts: ExactParts) {
    this.kernel = parts.kernel;
    this.noise = parts.noise;
    this.by = parts.by;
    this.mean = parts.mean;
    this.dual = parts.dual;
    this.pivots = parts.pivots;
    this.#training = parts.training;
    this.#labels = parts.labels;
    this.#weights = parts.weights;
    this.#index = parts.index;
    this.#square = parts.square;
    this.#scope = parts.scope;
  }

  /** N */
  get points(): number {
    return this.#training.rows;
  }

  get labels(): number {
    return this.dual.columns;
  }

  get ranges(): readonly PointRange[] {
    return [{ from: this.points - this.pivots.columns, to: this.points }];
  }

  async forBlocks(
    stage: string,
    work: (block: LeftOutBlock) => void,
    options: WalkOptions = {},
  ): Promise<void> {
    const { core, precision } = this.dual;
    const first = this.points - this.pivots.columns;
    const blocks = blocksOf(options.ranges ?? this.ranges, BLOCK_ROWS);
    const scope = new Scope();
    try {
      const room = scope.keep(matrix(core, BLOCK_ROWS, this.labels, precision));
      const factors = scope.keep(matrix(core, BLOCK_ROWS, 1, precision));
      for (const [number, { from, to }] of blocks.entries()) {
        await pause(options, stage, number / blocks.length);
        wholeNumber("ranges", from, first, this.points);
        const pivots = this.pivots.view().subarray(from - first, to - first);
        const inverses = factors.rowRange(0, to - from).set(Float64Array.from(pivots, (pivot) => -1 / pivot));
        const variances = Float64Array.from(pivots, (pivot, i) => 1 / pivot + this.#lacking(from + i));
        const scores = room.rowRange(0, to - from);
        combine("multiply", this.dual.rowRange(from, to), inverses, scores);
        addLabels(scores, this.#labels, from);
        work({ from, to, scores, variances });
      }
    } finally {
      scope.free();
    }
  }

  /** lam - lam / w of a point. */
  #lacking(point: number): number {
    return this.#weights ? this.noise - this.noise / (this.#weights[point] as number) : 0;
  }

  /** Scores [n,K] of new points and, if wanted, their variances, a block at a time. */
  async predict(
    points: Points,
    work: (block: LeftOutBlock) => void,
    options: WorkOptions & { variances?: boolean } = {},
  ): Promise<void> {
    const { core, precision } = this.dual;
    const { variances: wanted = true, ...rest } = options;
    const blocks = blocksOf(allPoints(points.rows), BLOCK_ROWS);
    const scope = new Scope();
    try {
      const make = (columns: number) => scope.keep(matrix(core, BLOCK_ROWS, columns, precision));
      const [products, kernelRows, room] = [make(this.points), make(this.points), make(this.labels)];
      for (const [number, { from, to }] of blocks.entries()) {
        await pause(rest, "scores", number / blocks.length);
        const part = (m: Matrix): Matrix => m.rowRange(0, to - from);
        const squares = points.squaresOf(from, to);
        const product = sparseProducts(points.x, this.#index, part(products), { from, to });
        const k = this.kernel.map(product, squares, this.#training.squares, part(kernelRows));
        const scores = combine("add", gemm(k, this.dual, part(room)), this.mean, room.rowRange(0, to - from));
        const variances = wanted ? this.#variances(squares, k, part(products)) : new Float64Array(0);
        work({ from, to, scores, variances });
      }
    } finally {
      scope.free();
    }
  }

  /** lam + k(x,x) - k C k' of a block of kernel rows, k C k' = |inverse(L) k'|^2. `work` has the shape of k. */
  #variances(squares: Matrix, k: Matrix, work: Matrix): Float64Array {
    const square = this.#square;
    if (square === undefined)
      throw new ArgumentError("variances", "found true, expected false as when the form was fitted");
    const known = matrix(k.core, 1, k.rows, k.precision);
    try {
      if (this.by === "inverse") rowSums(gemm(k, square, work), known, k);
      else {
        const solved = solveTriangular(square, k, { side: "right", transpose: true });
        rowSums(solved, known, solved);
      }
      const explained = known.view();
      return this.kernel.self(squares.view()).map((own, i) => this.noise + own - (explained[i] as number));
    } finally {
      known.free();
    }
  }

  free(): void {
    this.#scope.free();
  }
}

/** mu_k: how many of the points have each label [K]. */
function frequenciesOf(labels: Pattern, weights: ArrayLike<number> | undefined): Float64Array {
  const counts = new Float64Array(labels.columns);
  const [starts, columns] = [labels.start.view(), labels.column.view()];
  let points = 0;
  for (let i = 0; i < labels.rows; i++) {
    const weight = weights?.[i] ?? 1;
    points += weight;
    for (const label of columns.subarray(starts[i], starts[i + 1])) (counts[label] as number) += weight;
  }
  return counts.map((count) => count / points);
}

/** Fits the exact form. */
export async function fitExact(training: Points, labels: Pattern, options: ExactOptions): Promise<ExactForm> {
  const { core, precision, rows } = training.x;
  sameSize("labels", "rows", labels.rows, rows);
  if (options.weights) sameSize("weights", "length", options.weights.length, rows);
  const noise = finiteNumber("noise", options.noise);
  if (!(noise > 0)) throw new ArgumentError("noise", `found ${noise}, expected a number above 0`);
  const { weights, device } = options;
  const by =
    options.by ??
    (device?.exact.holds(training) ? "inverse" : exactWay(rows, labels.columns, options.leftOut));
  const scope = new Scope();
  try {
    const kernel = scope.keep(new Kernel(core, precision, options.kernel));
    const index = scope.keep(new Postings(training.x));
    const mu = options.mean ?? frequenciesOf(labels, weights);
    const mean = scope.keep(matrixFrom(core, 1, labels.columns, mu, precision));
    const ridge = scope.keep(ridgeOf(training, noise, weights));
    const problem = { points: training, labels, kernel, ridge, mean };
    const onDevice = by === "inverse" ? await solveOnDevice(problem, options, scope) : undefined;
    const answers = onDevice ?? (await solveOnCore(problem, index, by, options, scope));
    return new ExactForm({ ...answers, kernel, noise, by, mean, training, labels, weights, index, scope });
  } catch (error) {
    scope.free();
    throw error;
  }
}

/** lam / w [1,N] */
function ridgeOf({ x }: Points, noise: number, weights: ArrayLike<number> | undefined): Matrix {
  const ridge = fill(matrix(x.core, 1, x.rows, x.precision), noise);
  return weights ? ridge.set(Float64Array.from(weights, (weight) => noise / weight)) : ridge;
}

/** All of it by the device, where there is one that can. */
async function solveOnDevice(
  problem: ExactProblem,
  { device, variances = true, ...options }: ExactOptions,
  scope: Scope,
): Promise<ExactAnswers | undefined> {
  if (!device?.exact.holds(problem.points)) return undefined;
  const { core, precision, rows } = problem.points.x;
  const own = scope.keep(new Scope());
  const make = (m: number, n: number): Matrix => own.keep(matrix(core, m, n, precision));
  const [pivots, dual] = [make(1, rows), make(rows, problem.labels.columns)];
  const answers = { pivots, dual, square: variances ? make(rows, rows) : undefined };
  if (await device.exact.solve(problem, answers, options)) return answers;
  own.free();
  return undefined;
}

/** What no device did as a whole; it may still make kernel rows, or invert. */
async function solveOnCore(
  { points, labels, kernel, ridge, mean }: ExactProblem,
  index: Postings,
  by: ExactWay,
  options: ExactOptions,
  scope: Scope,
): Promise<ExactAnswers> {
  const { core, precision, rows } = points.x;
  const make = (m: number, n: number): Matrix => scope.keep(matrix(core, m, n, precision));
  const square = make(rows, rows);
  await kernelMatrix(points, index, kernel, square, options);
  addDiagonal(square, ridge);
  await (by === "inverse" ? invert : factorInPlace)(square, options);
  const pivots = make(1, by === "inverse" ? rows : Math.min(rows, options.leftOut ?? LEFT_OUT));
  if (by === "inverse") diagonal(square, pivots);
  else await trailingPivots(square, pivots, options);
  const dual = make(rows, labels.columns);
  await (by === "inverse" ? dualFromInverse : dualFromFactor)(square, labels, mean, dual, options);
  if (options.variances ?? true) return { pivots, dual, square };
  square.free();
  return { pivots, dual };
}

/** A becomes inverse(A), both triangles, from its lower triangle. */
async function invert(a: Matrix, options: ExactOptions): Promise<void> {
  const onDevice = await options.device?.inverse.invert(a, options);
  const done = await onDevice?.read(a, options).finally(() => onDevice.free());
  if (!done) await inverseInPlace(a, options);
}

/** C_ii of the last n points from the factor. */
async function trailingPivots(l: Matrix, pivots: Matrix, options: WorkOptions): Promise<void> {
  const count = pivots.columns;
  const first = l.rows - count;
  const put = (columns: Matrix, from: number): void =>
    void columnSums(columns, pivots.block(0, from, 1, columns.columns), columns);
  await lowerInverseColumns(l.block(first, first, count, count), put, options);
}

/** K in the lower triangle of out. */
export async function kernelMatrix(
  points: Points,
  index: Postings,
  kernel: Kernel,
  out: Matrix,
  options: Pick<ExactOptions, "device" | keyof WorkOptions> = {},
): Promise<Matrix> {
  if (!(await options.device?.exact.kernelRows(points, kernel, out, options)))
    await kernelRows(points, index, kernel, out, options);
  return kernel.writeDiagonal(out, points.squares);
}

async function kernelRows(
  points: Points,
  index: Postings,
  kernel: Kernel,
  out: Matrix,
  options: WorkOptions,
): Promise<void> {
  const { x, squares } = points;
  const products = matrix(x.core, Math.min(BLOCK_ROWS, x.rows), x.rows, x.precision);
  try {
    for (const { from, to } of blocksOf(allPoints(x.rows), BLOCK_ROWS)) {
      await pause(options, "kernel", (from / x.rows) ** 2);
      const rows = sparseProducts(x, index, products.rowRange(0, to - from), { from, to, lower: true });
      const left = rows.block(0, 0, to - from, to);
      const own = points.squaresOf(from, to);
      kernel.map(left, own, squares.block(0, 0, 1, to), out.block(from, 0, to - from, to));
    }
  } finally {
    products.free();
  }
}
