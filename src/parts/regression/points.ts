// Points of a data set in the memory of a core: sparse rows, as the model sees them, with their squared lengths.

import { inTurns, type WorkOptions, yieldToHost } from "../../base/progress.ts";
import { onColumns, type SparseRows, usedColumns, withinColumns } from "../../base/sparse.ts";
import type { Core, Precision } from "../../core/core.ts";
import { type Csr, csr, rowSquares, scaleRows } from "../../core/csr.ts";
import { Postings, type SparseProductsOptions, sparseProducts } from "../../core/kernelrows.ts";
import { keeping, type Matrix, matrix, matrixFrom, Scope, scoped } from "../../core/matrix.ts";
import { Pattern } from "../../core/pattern.ts";
import { type FeatureTransform, unitSquares, viewRanges } from "../../data/transform.ts";
import type { LabelledRows } from "./documents.ts";

/** Columns from (inclusive) to (exclusive). */
export interface ColumnRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Sparse rows x with |x|^2. The rows stay yours to free. A text with words that the vocabulary does not have is longer
 * than its row: then its squared length is given, and what is missing is at right angles to every other point. Where rows have views
 * (ranges of columns, words first), each is points of its own.
 */
export class Points {
  readonly x: Csr;
  readonly squares: Matrix; // 1 x rows
  /** One for each view; of rows without views these points. */
  readonly views: readonly Points[];
  readonly ranges: readonly ColumnRange[] | undefined;
  readonly #own = new Scope();

  constructor(x: Csr, squares?: ArrayLike<number>, views?: readonly ColumnRange[]) {
    this.x = x;
    this.ranges = views;
    const { core, rows, precision } = x;
    this.squares = this.#own.keep(
      squares ? matrixFrom(core, 1, rows, squares, precision) : rowSquares(x, matrix(core, 1, rows, precision)),
    );
    this.views = views?.map((range, view) => this.#view(range, view === 0 ? squares : undefined)) ?? [this];
  }

  #view({ from, to }: ColumnRange, squares: ArrayLike<number> | undefined): Points {
    const { core, precision, rows, columns, start, column, value } = this.x;
    const all = { rows, columns, rowStart: start.toArray(), columnIndex: column.toArray(), values: value.toArray() };
    return this.#own.keep(new Points(this.#own.keep(csr(core, withinColumns(all, from, to), precision)), squares));
  }

  get rows(): number {
    return this.x.rows;
  }

  get viewSquares(): readonly Matrix[] {
    return this.views.map(({ squares }) => squares);
  }

  /** |x|^2 of a range of rows. */
  squaresOf(from: number, to: number): Matrix {
    return this.squares.block(0, from, 1, to - from);
  }

  free(): void {
    this.#own.free();
  }
}

/** Inner products of rows with these points. */
export interface InnerProducts {
  readonly points: Points;
  /** x z' of a view of points from to to with these points z, as a rule in the room. */
  products(points: Points, view: number, room: Matrix, range: SparseProductsOptions): Matrix;
  free(): void;
}

/** Points by column, view by view. They must outlive it. */
export class PointIndex implements InnerProducts {
  readonly #views: readonly Postings[];

  constructor(
    readonly points: Points,
    filled = true,
  ) {
    this.#views = points.views.map(({ x }) => new Postings(x, filled));
  }

  /** The same for many points, with turns for others; `room` frees it. */
  static async inTurns(points: Points, room: Scope, options: WorkOptions): Promise<PointIndex> {
    const index = room.keep(new PointIndex(points, false));
    for (const [view, postings] of index.#views.entries())
      await inTurns(postings.filling(points.views[view].x), options);
    return index;
  }

  products(points: Points, view: number, room: Matrix, range: SparseProductsOptions): Matrix {
    return sparseProducts(points.views[view].x, this.#views[view], room, range);
  }

  free(): void {
    for (const view of this.#views) view.free();
  }
}

/** Rows of K, or of X X', that are made together: 64 of 15,000 long texts take 50 ms. */
export const KERNEL_ROWS = 64;

/** X X' of each view of points, made once for kernels that are compared on them; yours to free. */
export async function keptProducts(points: Points, options: WorkOptions): Promise<InnerProducts> {
  const { rows } = points;
  return await keeping(async (room) => {
    const views = points.views.map(({ x }) => room.keep(matrix(x.core, rows, rows, x.precision)));
    await scoped(async (scope) => {
      const index = await PointIndex.inTurns(points, scope, options);
      for (let from = 0; from < rows; from += KERNEL_ROWS) {
        await yieldToHost(options, "kernel", (from / rows) ** 2);
        const to = Math.min(rows, from + KERNEL_ROWS);
        for (const [view, out] of views.entries())
          index.products(points, view, out.rowRange(from, to), { from, to, lower: true });
      }
    });
    const products: InnerProducts["products"] = (_, view, __, { from = 0, to = rows }) =>
      views[view].rowRange(from, to);
    return { points, products, free: () => room.free() };
  });
}

/** Each row divided by its length, in place; a row of zeros stays a row of zeros. */
export function toUnitRows(x: Csr): Csr {
  return scoped((scope) => {
    const factors = rowSquares(x, scope.keep(matrix(x.core, 1, x.rows, x.precision)));
    const inverses = Float64Array.from(factors.view(), (square) => (square > 0 ? 1 / Math.sqrt(square) : 0));
    return scaleRows(x, factors.set(inverses));
  });
}

/** Points with their labels; yours to free. */
export interface Subset {
  readonly points: Points;
  readonly labels: Pattern;
  free(): void;
}

/** `wanted` numbers of 0 ... points - 1, spread evenly; all where there are no more. */
export function spreadOver(points: number, wanted: number): number[] {
  const count = Math.min(points, wanted);
  return Array.from({ length: count }, (_, i) => Math.floor((i * points) / count));
}

/** A function that keeps the columns that some rows have, where these are few: an index of them takes room for each column. */
export const narrowing = (rows: SparseRows, { views }: FeatureTransform): Narrow | undefined =>
  views || rows.columns <= rows.columnIndex.length ? undefined : onColumns(usedColumns(rows));
type Narrow = (rows: SparseRows) => SparseRows;

/** Rows that are weighted and scaled in the core, with the views of the transform; `room` frees them. Squares are of whole rows. */
export function placeRows(
  core: Core,
  rows: SparseRows,
  transform: FeatureTransform | undefined,
  room: Scope,
  { narrow, precision = "f32" }: { narrow?: Narrow | undefined; precision?: Precision | undefined } = {},
): Points {
  const x = room.keep(csr(core, rows, precision));
  const whole = new Points(x, transform && unitSquares(rows, transform), transform && viewRanges(transform));
  room.keep(whole);
  return narrow ? room.keep(new Points(room.keep(csr(core, narrow(rows), precision)), whole.squares.toArray())) : whole;
}

/** Documents as points with labels, K of them; yours to free. */
export function placeDocuments(
  core: Core,
  documents: LabelledRows,
  labels: number,
  { transform, precision }: { transform?: FeatureTransform; precision?: Precision } = {},
): Subset {
  return keeping((scope) => ({
    points: placeRows(core, documents.features, transform, scope, { precision }),
    labels: scope.keep(new Pattern(core, labels, documents.labels)),
    free: () => scope.free(),
  }));
}

/**
 * A row in pieces, from rows of which the first is whole and each other is the same without some entries, no two without the same
 * one: first the entries that all have, then for each other row what it lacks, all as they are in the whole row. Beside them by view
 * how much longer the entries that a row has kept are in it than in the whole one.
 */
export function piecesOf(
  { rows, columns, rowStart, columnIndex, values }: SparseRows,
  ranges: readonly ColumnRange[] = [{ from: 0, to: columns }],
): { pieces: SparseRows; scales: readonly Float64Array[] } {
  const whole = columnIndex.subarray(0, rowStart[1]);
  const viewOf = Array.from(whole, (column) => ranges.findIndex(({ from, to }) => column >= from && column < to));
  const scales = ranges.map(() => new Float64Array(rows).fill(1));
  const lacking = new Int32Array(whole.length);
  for (let i = 1; i < rows; i++) {
    const [before, now] = [new Float64Array(ranges.length), new Float64Array(ranges.length)];
    for (let entry = 0, at = rowStart[i]; entry < whole.length; entry++)
      if (at === rowStart[i + 1] || columnIndex[at] !== whole[entry]) lacking[entry] = i;
      else {
        before[viewOf[entry]] += values[entry] * values[entry];
        now[viewOf[entry]] += values[at] * values[at];
        at++;
      }
    scales.forEach((scale, view) => {
      scale[i] = before[view] > 0 ? Math.sqrt(now[view] / before[view]) : 0;
    });
  }
  const piece = [...lacking.keys()].sort((a, b) => lacking[a] - lacking[b] || a - b);
  const starts = new Int32Array(rows + 1);
  for (const i of lacking) starts[i + 1]++;
  for (let i = 0; i < rows; i++) starts[i + 1] += starts[i];
  const pieces = {
    rows,
    columns,
    rowStart: starts,
    columnIndex: Int32Array.from(piece, (entry) => whole[entry]),
    values: Float32Array.from(piece, (entry) => values[entry]),
  };
  return { pieces, scales };
}
