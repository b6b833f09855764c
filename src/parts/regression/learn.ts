// Learning into a solution: new points change C and W in as many directions as there are points, without A and B and
// without a new factorisation. For points with features U' [n,P] and labels Y, learned (sign 1) or forgotten (-1),
//
//     V = C U      G = I + sign U'V = L L'      E = V inverse(G)      C <- C - sign E V'      t = C m <- t + sign E (1 - U't)
//     W <- W + sign E (Y - U'W - mu0') - t (mu - mu0)'
//
// where t in the second line is the new one, and mu0 is mu from before. It is what solving for all points at once gives.
// Everything but W and its residuals is in the precision C was made in.
//
// C itself, P^2 numbers, is what takes longest to change, to write and to read. It stays behind by some directions, which every
// use of it takes into account, C = base - sum sign F'F with F = inverse(L) V', and catches up when there are many of them.

import { ArgumentError } from "../../base/errors.ts";
import type { WorkOptions } from "../../base/progress.ts";
import type { SparseRows } from "../../base/sparse.ts";
import type { Precision } from "../../core/core.ts";
import { type Csr, csr, sparseTimes } from "../../core/csr.ts";
import { addDiagonal, combine, convert, fill, gemm, scale, transpose } from "../../core/dense.ts";
import { cholesky, FACTORED, solveTriangular } from "../../core/factor.ts";
import { type Matrix, matrix, matrixFrom, type RealArray, type Scope, scoped } from "../../core/matrix.ts";
import type { Pattern } from "../../core/pattern.ts";
import type { Sign } from "../../core/sums.ts";
import { type Change, repeated, selectLabelled } from "./documents.ts";
import { addLabels, allPoints, blocksOf, forEachBlock, rowsIn, type WalkOptions } from "./leaveoneout.ts";
import { type Directions, packedLess, packedTimes, packLower, precisionOf } from "./packed.ts";
import { placeDocuments } from "./points.ts";
import type { RidgeSolution } from "./ridge.ts";
import { BLOCK_ROWS } from "./sparse.ts";
import type { FeatureBlock, Totals } from "./totals.ts";

/** C catches up when it is behind by more directions than this part of its own. */
const PENDING_SHARE = 8;

type Block = FeatureBlock<Csr>;

/** The posterior beside W, which learning needs. */
export interface LearnedInverse {
  /** C [P (P + 1) / 2], but for what is pending. */
  readonly inverse: RealArray;
  /** t [P] */
  readonly direction: RealArray;
  /** Directions F that C is behind by. */
  readonly pending: readonly Directions[];
}

/**
 * A solution that goes on learning. It takes the matrices over from the one it is made from (or from a file); the totals,
 * with A and B where they are kept, learn with it and stay yours to free.
 */
export class LearnedRidge {
  readonly totals: Totals;
  readonly #mostPending: number;
  #known: LearnedInverse;
  #weights: Matrix;
  #mean: Matrix;

  constructor(
    totals: Totals,
    { weights, mean }: Pick<RidgeSolution, "weights" | "mean">,
    known: LearnedInverse,
    mostPending: number = totals.features / PENDING_SHARE,
  ) {
    this.totals = totals;
    this.#known = known;
    this.#mostPending = mostPending;
    this.#weights = weights;
    this.#mean = mean;
  }

  /** From a solution that was solved with keepExact. */
  static from(totals: Totals, solution: RidgeSolution, mostPending?: number): LearnedRidge {
    const { weights, mean, inverse, exactInverse: square } = solution;
    if (square === undefined)
      throw new ArgumentError("solution", "found one without its exact inverse, expected one solved with keepExact");
    const direction = scoped((scope) => {
      const sums = convert(totals.sums, scope.keep(matrix(square.core, 1, square.rows, square.precision)));
      return gemm(sums, square, scope.keep(matrix(square.core, 1, square.rows, square.precision))).toArray();
    });
    const known = { inverse: packLower(square), direction, pending: [] };
    square.free();
    if (inverse !== square) inverse?.free();
    return new LearnedRidge(totals, { weights, mean }, known, mostPending);
  }

  /** The posterior beside W as it is now; its arrays stay as they are. */
  get known(): LearnedInverse {
    return this.#known;
  }

  get weights(): Matrix {
    return this.#weights;
  }

  get mean(): Matrix {
    return this.#mean;
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
    const { sign = 1, ranges = allPoints(rows.rows), ...work } = options;
    await forEachBlock(ranges, BLOCK_ROWS, sign === 1 ? "learning" : "forgetting", work, (block) =>
      this.#learnBlock({ ...block, f: rows }, labels, sign),
    );
  }

  #learnBlock(block: Block, labels: Pattern, sign: Sign): void {
    scoped((scope) => {
      const { core, rows: features } = this.#weights;
      const count = block.to - block.from;
      const own = rowsOf(block);
      const u = scope.keep(csr(core, own, this.#precision));
      const { gain, factor } = this.#gain(own, u, sign, scope);
      const pending = [...this.#known.pending, { factors: factor.toArray(), sign }];
      solveTriangular(gain, factor, { transpose: true }); // E'
      const direction = this.#directionAfter(u, factor, sign, scope);
      // The gain stands in the precision of C and is used in that of W; below it t, below the residuals what the means move by.
      const rounded = scope.keep(this.#like(count + 1, features));
      convert(factor, rounded.rowRange(0, count));
      convert(direction, rounded.rowRange(count, count + 1));
      const residuals = this.#residuals(block, labels, sign, scope);
      gemm(rounded, residuals, this.#weights, { transposeA: true, alpha: sign, beta: 1 });
      this.#known = { ...this.#known, direction: direction.toArray(), pending };
      this.#catchUp();
    });
  }

  get #precision(): Precision {
    return precisionOf(this.#known.inverse);
  }

  /** C takes up what it is behind by where that is much. */
  #catchUp(): void {
    const { core, rows: features } = this.#weights;
    const { inverse, direction, pending } = this.#known;
    const behind = pending.reduce((sum, { factors }) => sum + factors.length / features, 0);
    if (behind > this.#mostPending)
      this.#known = { inverse: packedLess(core, inverse, features, pending), direction, pending: [] };
  }

  /** The factor L of G in `gain` [n,n], and inverse(L) V' in `factor` [n,P]. */
  #gain(own: SparseRows<RealArray>, u: Csr, sign: Sign, scope: Scope): { gain: Matrix; factor: Matrix } {
    const { core, rows: features } = this.#weights;
    const precision = this.#precision;
    const make = (m: number, n: number): Matrix => scope.keep(matrix(core, m, n, precision));
    const transposed = packedTimes(own, this.#known.inverse, make(own.rows, features)); // V'
    for (const { factors, sign: past } of this.#known.pending)
      scoped((inner) => {
        const factor = inner.keep(matrixFrom(core, factors.length / features, features, factors, precision));
        const columns = transpose(factor, inner.keep(matrix(core, features, factor.rows, precision)));
        const shares = sparseTimes(u, columns, inner.keep(matrix(core, own.rows, factor.rows, precision)));
        gemm(shares, factor, transposed, { alpha: -past, beta: 1 });
      });
    const v = transpose(transposed, make(features, own.rows));
    const gain = scale(sign, sparseTimes(u, v, make(own.rows, own.rows)), make(own.rows, own.rows));
    addDiagonal(gain, fill(make(1, own.rows), 1));
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

  /** t + sign E (1 - U't) [1,P] */
  #directionAfter(u: Csr, gains: Matrix, sign: Sign, scope: Scope): Matrix {
    const { core, rows: features } = this.#weights;
    const make = (m: number, n: number): Matrix => scope.keep(matrix(core, m, n, this.#precision));
    const direction = make(1, features).set(this.#known.direction);
    const rest = fill(make(u.rows, 1), -1);
    sparseTimes(u, direction.reshape(features, 1), rest, { accumulate: true });
    return gemm(rest, gains, direction, { transposeA: true, alpha: -sign, beta: 1 });
  }

  /** Y - U'W - mu0' [n,K], and below it - sign (mu - mu0)': the totals take the block up. */
  #residuals(block: Block, labels: Pattern, sign: Sign, scope: Scope): Matrix {
    const { from, to, f } = block;
    const out = scope.keep(this.#like(to - from + 1, labels.columns));
    const own = sparseTimes(f, this.#weights, out.rowRange(0, to - from), { from, to });
    scale(-1, combine("add", own, this.#mean, own), own);
    addLabels(own, labels, from);
    const before = this.totals.mean();
    this.totals.add(block, labels, sign);
    this.#putMean();
    out.rowRange(to - from, to - from + 1).set(this.totals.mean().map((mu, k) => -sign * (mu - before[k])));
    return out;
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
  }
}

/** The rows of a block, outside of the core. */
function rowsOf({ f: x, from, to }: Block): SparseRows<RealArray> {
  const starts = x.start.view();
  const [begin, end] = [starts[from], starts[to]];
  return {
    rows: to - from,
    columns: x.columns,
    rowStart: starts.slice(from, to + 1).map((start) => start - begin),
    columnIndex: x.column.view().slice(begin, end),
    values: x.value.view().slice(begin, end),
  };
}

/** Forgets what goes out and learns what comes in; labels that are new are taken up. */
export async function learnChange(
  learned: LearnedRidge,
  change: Change,
  options: WorkOptions = {},
  featuresOf: (rows: SparseRows) => SparseRows = (rows) => rows,
): Promise<void> {
  const { core, precision } = learned.weights;
  learned.growLabels(change.after.labels.labels);
  // First the documents that come in: then what goes out never leaves less than was there.
  for (const [documents, sign] of [[change.in, 1] as const, [change.out, -1] as const]) {
    const all = repeated(documents);
    for (const { from, to } of blocksOf(allPoints(all.ids.length), BLOCK_ROWS))
      await scoped(async (scope) => {
        const some = selectLabelled(all, rowsIn([{ from, to }]));
        const own = { ...some, features: featuresOf(some.features) };
        const placed = scope.keep(placeDocuments(core, own, learned.totals.labels, { precision }));
        await learned.learn(placed.points.x, placed.labels, { ...options, sign });
      });
  }
}
