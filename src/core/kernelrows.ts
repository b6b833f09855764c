// Inner products between sparse rows: X Z' through an inverted index over Z. From them and the squared lengths come
// kernel rows (covariance.ts).

import { sameSize } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { transpose } from "../base/sparse.ts";
import type { Core, Precision } from "./core.ts";
import { type Csr, type RowRange, rowRange, valuesOf } from "./csr.ts";
import { addresses, type Integers, integers, type Matrix, matrix, matrixFrom, Scope } from "./matrix.ts";
import { compatible, hasShape } from "./shapes.ts";

/** Elements in one vector of the core. */
const LANES: Record<Precision, number> = { f32: 4, f64: 2 };

/** Sparse rows z by column: for each column the rows that have it, in their order, and what they have there. */
export class Postings {
  readonly core: Core;
  readonly precision: Precision;
  /** How many rows z there are, and in how many columns. */
  readonly rows: number;
  readonly columns: number;
  readonly start: Integers; // [columns + 1]
  readonly row: Integers; // [entries]
  readonly value: Matrix; // 1 x entries
  /** Columns with so many entries that they are kept in full, one a row; fullNumber has their row, or -1. */
  readonly fullNumber: Integers; // [columns]
  readonly full: Matrix; // full columns x rows

  readonly #scope = new Scope();

  constructor(z: Csr) {
    valuesOf("z", z);
    const { core, precision, rows, columns } = z;
    this.core = core;
    this.precision = precision;
    this.rows = rows;
    this.columns = columns;
    try {
      const { rowStart: start, columnIndex: row, values: value } = transpose(z.toArrays());
      const numbers = new Int32Array(columns).fill(-1);
      let count = 0;
      for (let c = 0; c < columns; c++) {
        const length = start[c + 1] - start[c];
        if (length * LANES[precision] > rows) numbers[c] = count++;
      }
      this.start = this.#scope.keep(integers(core, start));
      this.row = this.#scope.keep(integers(core, row));
      this.value = this.#scope.keep(matrixFrom(core, 1, value.length, value, precision));
      this.fullNumber = this.#scope.keep(integers(core, numbers));
      this.full = this.#scope.keep(matrix(core, count, rows, precision));
      const elements = this.full.view();
      for (let c = 0; c < columns; c++) {
        const number = numbers[c];
        if (number < 0) continue;
        for (let p = start[c]; p < start[c + 1]; p++) elements[number * rows + row[p]] = value[p];
      }
    } catch (error) {
      this.free();
      throw error;
    }
  }

  free(): void {
    this.#scope.free();
  }

  [Symbol.dispose](): void {
    this.free();
  }
}

/** Options of products of sparse rows with sparse rows. */
export interface SparseProductsOptions extends RowRange {
  /** Only z_0 ... z_i for row x_i: half of X X'. The rest of out is left as it was. */
  lower?: boolean;
}

/** out_ij = x_i . z_j for a range of rows of X. */
export function sparseProducts(x: Csr, z: Postings, out: Matrix, options: SparseProductsOptions = {}): Matrix {
  const { from, to } = rowRange(x.rows, options);
  if (!(z instanceof Postings)) throw new ArgumentError("z", "found something else, expected Postings");
  compatible({ x: valuesOf("x", x), z: z.value, out });
  sameSize("z", "columns", z.columns, x.columns);
  hasShape({ out }, to - from, z.rows);
  const { lower = false } = options;
  const postings = [z.rows, ...addresses(z.start, z.row, z.value, z.fullNumber), ...z.full.strided] as const;
  x.kernels.sparseProducts(from, to - from, ...x.entries(), ...postings, lower, ...out.strided);
  return out;
}
