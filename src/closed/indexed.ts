// Points to take inner products with, by the columns that they have. A file may say any number of columns: where there are more
// than entries only those with an entry are indexed, so that room goes by what is there.

import type { Core } from "../core/core.ts";
import { csr } from "../core/csr.ts";
import { Postings, sparseProducts } from "../core/kernelrows.ts";
import { type Matrix, Scope, scoped } from "../core/matrix.ts";
import { keptColumns } from "../data/columns.ts";
import type { SparseRows } from "../data/dataset.ts";
import { type FeatureTransform, wholeSquares } from "../data/transform.ts";
import { Points } from "./points.ts";

/** Rows that are weighted and scaled, in the core, and as they came. */
export class PlacedRows {
  readonly given: SparseRows;
  readonly points: Points;
  readonly #scope = new Scope();

  constructor(core: Core, rows: SparseRows, transform: FeatureTransform) {
    this.given = rows;
    const x = this.#scope.keep(csr(core, rows, "f32"));
    this.points = this.#scope.keep(new Points(x, wholeSquares(rows, transform)));
  }

  get rows(): number {
    return this.points.rows;
  }

  /** |x|^2 [1,n] */
  get squares(): Matrix {
    return this.points.squares;
  }

  free(): void {
    this.#scope.free();
  }
}

export class IndexedPoints {
  /** In the columns that are indexed; their squares are whole. */
  readonly points: Points;
  readonly index: Postings;
  readonly #used: Int32Array | undefined;
  readonly #scope = new Scope();

  /** The rows stay yours to free, after it. */
  constructor(core: Core, placed: PlacedRows) {
    const { columns, columnIndex } = placed.given;
    this.#used = columns > columnIndex.length ? Int32Array.from(new Set(columnIndex)).sort() : undefined;
    try {
      this.points = this.#used ? this.#narrowed(core, placed, this.#used) : placed.points;
      this.index = this.#scope.keep(new Postings(this.points.x));
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** out [n,m] = x z' of rows x with these points z. */
  products({ given, points }: PlacedRows, out: Matrix): Matrix {
    const used = this.#used;
    const whole = { from: 0, to: given.rows };
    if (used === undefined) return sparseProducts(points.x, this.index, out, whole);
    return scoped((scope) => {
      const x = scope.keep(csr(out.core, keptColumns(given, used), "f32"));
      return sparseProducts(x, this.index, out, whole);
    });
  }

  #narrowed(core: Core, { given, squares }: PlacedRows, used: Int32Array): Points {
    const x = this.#scope.keep(csr(core, keptColumns(given, used), "f32"));
    return this.#scope.keep(new Points(x, squares.toArray()));
  }

  free(): void {
    this.#scope.free();
  }
}
