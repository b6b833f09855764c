// Learning into a solution: new points change C and W in as many directions as there are points, without A and B and
// without a new factorisation. For points with features U' [n,P] and labels Y, learned (sign 1) or forgotten (-1),
//
//     V = C U      G = I + sign U'V = L L'      C <- C - sign V inverse(G) V'
//     W <- W + sign V inverse(G) (Y - U'W) - (C m)(mu - mu0)' - C (m - m0) mu0'
//
// where C in the second line is the new one, and m0, mu0 are m and mu from before. It is what solving for all points
// at once gives. Everything but W and its residuals is in the precision C was made in.
//
// C itself, P^2 numbers, is what takes longest to change. It may stay behind by some directions, which every use of it
// takes into account, C = base - sum sign F'F with F = inverse(L) V', and catches up when there are many of them.

import { ArgumentError } from "../../base/errors.ts";
import type { WorkOptions } from "../../base/progress.ts";
import type { Core, Precision } from "../../core/core.ts";
import { type Csr, csr, sparseTimes } from "../../core/csr.ts";
import { addDiagonal, blend, convert, fill, gemm, scale, syrk, transpose } from "../../core/dense.ts";
import { cholesky, FACTORED, solveTriangular } from "../../core/factor.ts";
import { keeping, type Matrix, matrix, type Scope, scoped } from "../../core/matrix.ts";
import { Pattern } from "../../core/pattern.ts";
import type { Sign } from "../../core/sums.ts";
import { type FeatureTransform, viewRanges } from "../../data/transform.ts";
import { type Change, type LabelledRows, repeated } from "./documents.ts";
import { addLabels, type WalkOptions } from "./leaveoneout.ts";
import { Points, type Subset } from "./points.ts";
import type { RidgeSolution } from "./ridge.ts";
import { featuresIn } from "./sparse.ts";
import type { FeatureBlock, Totals } from "./totals.ts";

/** C catches up when it is behind by more directions than this part of its own. */
const PENDING_SHARE = 8;

/** Directions F [n,P] that C is behind by. */
export interface PendingPoints {
  readonly factor: Matrix;
  readonly sign: Sign;
}

/** Directions that C is behind by at the start, and by how many directions it may be. */
export interface PendingOptions {
  readonly pending?: readonly PendingPoints[];
  readonly mostPending?: number;
}

/**
 * A solution that goes on learning. It takes the matrices over from the one it is made from (or from a file); the totals,
 * with A and B where they are kept, learn with it and stay yours to free.
 */
export class LearnedRidge implements RidgeSolution {
  readonly totals: Totals;
  /** C, but for what is pending. */
  readonly base: Matrix;
  #pending: PendingPoints[];
  readonly #mostPending: number;
  #weights: Matrix;
  #mean: Matrix;

  constructor(
    totals: Totals,
    { weights, mean, inverse, exactInverse }: Omit<RidgeSolution, "free">,
    { pending = [], mostPending }: PendingOptions = {},
  ) {
    if (exactInverse === undefined)
      throw new ArgumentError("solution", "found one without its exact inverse, expected one solved with keepExact");
    this.totals = totals;
    this.base = exactInverse;
    this.#pending = [...pending];
    this.#mostPending = mostPending ?? exactInverse.rows / PENDING_SHARE;
    this.#weights = weights;
    this.#mean = mean;
    // A rounded C would not learn.
    if (inverse !== exactInverse) inverse?.free();
  }

  /** C [P,P], both triangles, in the precision it was solved in; nothing is pending any more. */
  get exactInverse(): Matrix {
    for (const { factor, sign } of this.#pending.splice(0)) {
      syrk(factor, this.base, { transpose: true, alpha: -sign, beta: 1 });
      factor.free();
    }
    return this.base;
  }

  /** Directions that C is behind by. */
  get pending(): readonly PendingPoints[] {
    return this.#pending;
  }

  get weights(): Matrix {
    return this.#weights;
  }

  get mean(): Matrix {
    return this.#mean;
  }

  /** For variances and left-out scores, where it has the precision of the weights. */
  get inverse(): Matrix | undefined {
    return this.base.precision === this.#weights.precision ? this.exactInverse : undefined;
  }

  /** Makes room for new labels behind those there are; until a point has one its weights are zero. */
  growLabels(labels: number): void {
    const before = this.totals.labels;
    if (labels <= before) return;
    this.totals.growLabels(labels);
    const { core, rows, precision } = this.#weights;
    const weights = matrix(core, rows, labels, precision);
    scale(1, this.#weights, weights.block(0, 0, rows, before));
    this.#weights.free();
    this.#weights = weights;
    this.#putMean();
  }

  /** Learns points with their labels, or forgets points that were learned, with the labels they had. */
  async learn(rows: Csr, labels: Pattern, options: WalkOptions & { sign?: Sign } = {}): Promise<void> {
    const { sign = 1, ...walk } = options;
    const stage = sign === 1 ? "learning" : "forgetting";
    await featuresIn(rows).forBlocks(stage, (block) => this.#learnBlock(block, labels, sign), walk);
  }

  #learnBlock(block: FeatureBlock<Csr>, labels: Pattern, sign: Sign): void {
    scoped((scope) => {
      const { gain, factor } = this.#gain(block, sign, scope);
      const residuals = this.#residuals(block, labels, scope);
      this.#put(factor, sign);
      // The gain stands in the precision of C and is used in that of W.
      solveTriangular(gain, factor, { transpose: true });
      const rounded = convert(factor, scope.keep(this.#like(factor.rows, factor.columns)));
      gemm(rounded, residuals, this.#weights, { transposeA: true, alpha: sign, beta: 1 });
      this.#moveMean(block, labels, sign, scope);
    });
  }

  /** C is behind by these directions too, or catches up. */
  #put(factor: Matrix, sign: Sign): void {
    const copy = scale(1, factor, matrix(factor.core, factor.rows, factor.columns, factor.precision));
    this.#pending.push({ factor: copy, sign });
    const rows = this.#pending.reduce((sum, { factor: { rows } }) => sum + rows, 0);
    if (rows > this.#mostPending) void this.exactInverse;
  }

  /** The factor L of G in `gain` [n,n], and inverse(L) V' in `factor` [n,P]. */
  #gain(block: FeatureBlock<Csr>, sign: Sign, scope: Scope): { gain: Matrix; factor: Matrix } {
    const { core, precision, rows: features } = this.base;
    const count = block.to - block.from;
    const make = (m: number, n: number): Matrix => scope.keep(matrix(core, m, n, precision));
    const own = scope.keep(rowsOf(block, precision));
    const transposed = sparseTimes(own, this.base, make(count, features)); // V'
    for (const { factor, sign: past } of this.#pending) {
      const columns = transpose(factor, make(features, factor.rows));
      const shares = sparseTimes(own, columns, make(count, factor.rows));
      gemm(shares, factor, transposed, { alpha: -past, beta: 1 });
    }
    const v = transpose(transposed, make(features, count));
    const gain = scale(sign, sparseTimes(own, v, make(count, count)), make(count, count));
    addDiagonal(gain, fill(make(1, count), 1));
    if (cholesky(gain)[0] !== FACTORED) {
      throw new ArgumentError(
        "points",
        sign === 1
          ? "found points that cannot be learned in this precision, expected finite features of unit size"
          : "found points to forget that were never learned, expected points with the features they were learned with",
      );
    }
    return { gain, factor: solveTriangular(gain, transposed) };
  }

  /** Y - U'W [n,K] */
  #residuals({ from, to, f }: FeatureBlock<Csr>, labels: Pattern, scope: Scope): Matrix {
    const out = scope.keep(this.#like(to - from, labels.columns));
    scale(-1, sparseTimes(f, this.#weights, out, { from, to }), out);
    addLabels(out, labels, from);
    return out;
  }

  /** The totals take the block up, and W what their change means: - (C m)(mu - mu0)' - C (m - m0) mu0'. */
  #moveMean(block: FeatureBlock<Csr>, labels: Pattern, sign: Sign, scope: Scope): void {
    const { totals } = this;
    const { core, precision, rows: features } = this.base;
    const before = totals.mean();
    const sumsBefore = scale(1, totals.sums, scope.keep(matrix(core, 1, features, "f64")));
    totals.add(block, labels, sign);
    const after = totals.mean();
    const change = blend(1, totals.sums, -1, sumsBefore, sumsBefore);
    const subtract = (sums: Matrix, means: Float64Array): void => {
      const right = convert(sums, scope.keep(matrix(core, 1, features, precision))).reshape(features, 1);
      const direction = gemm(this.base, right, scope.keep(matrix(core, features, 1, precision)));
      for (const { factor, sign: past } of this.#pending) {
        const shares = gemm(factor, right, scope.keep(matrix(core, factor.rows, 1, precision)));
        gemm(factor, shares, direction, { transposeA: true, alpha: -past, beta: 1 });
      }
      const rounded = convert(direction, scope.keep(this.#like(features, 1)));
      const row = scope.keep(this.#like(1, means.length)).set(means);
      gemm(rounded, row, this.#weights, { alpha: -1, beta: 1 });
    };
    subtract(
      totals.sums,
      after.map((mu, k) => mu - before[k]),
    );
    subtract(change, before);
    this.#putMean();
  }

  #putMean(): void {
    const mean = this.totals.mean();
    if (mean.length !== this.#mean.columns) {
      this.#mean.free();
      this.#mean = this.#like(1, mean.length);
    }
    this.#mean.set(mean);
  }

  #like(rows: number, columns: number): Matrix {
    return matrix(this.#weights.core, rows, columns, this.#weights.precision);
  }

  free(): void {
    this.#weights.free();
    this.#mean.free();
    this.base.free();
    for (const { factor } of this.#pending) factor.free();
  }
}

/** The rows of a block as a matrix of their own. */
function rowsOf({ f: x, from, to }: FeatureBlock<Csr>, precision: Precision): Csr {
  const starts = x.start.view();
  const [begin, end] = [starts[from], starts[to]];
  const arrays = {
    rows: to - from,
    columns: x.columns,
    rowStart: starts.slice(from, to + 1).map((start) => start - begin),
    columnIndex: x.column.view().slice(begin, end),
    values: x.value.view().slice(begin, end),
  };
  return csr(x.core, arrays, precision);
}

/** The documents as points with labels, K of them, and with the views that the transform says; yours to free. */
export function placeDocuments(
  core: Core,
  documents: LabelledRows,
  labels: number,
  precision: Precision,
  transform?: FeatureTransform,
): Subset {
  return keeping((scope) => {
    const x = scope.keep(csr(core, documents.features, precision));
    return {
      points: scope.keep(new Points(x, documents.squares, transform && viewRanges(transform))),
      labels: scope.keep(new Pattern(core, labels, documents.labels)),
      free: () => scope.free(),
    };
  });
}

/** Forgets what goes out and learns what comes in; labels that are new are taken up. */
export async function learnChange(learned: LearnedRidge, change: Change, options: WorkOptions = {}): Promise<void> {
  const { core, precision } = learned.weights;
  learned.growLabels(change.after.labels.labels);
  // First the documents that come in: then what goes out never leaves less than was there.
  for (const [documents, sign] of [[change.in, 1] as const, [change.out, -1] as const]) {
    await scoped(async (scope) => {
      const placed = scope.keep(placeDocuments(core, repeated(documents), learned.totals.labels, precision));
      await learned.learn(placed.points.x, placed.labels, { ...options, sign });
    });
  }
}
