// Inner products between sparse rows: X Z' through an inverted index over Z. From them and the squared lengths come
// kernel rows (covariance.ts).

import { sameSize } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { atOnce } from "../base/progress.ts";
import type { Core, Precision } from "./core.ts";
import { type Csr, type RowRange, rowRange, valuesOf } from "./csr.ts";
import { addresses, type Integers, integers, type Matrix, matrix, Scope } from "./matrix.ts";
import { compatible, hasShape } from "./shapes.ts";

/** Elements in one vector of the core. */
const LANES: Record<Precision, number> = { f32: 4, f64: 2 };

/** Rows that are put in between two pauses. */
const ROWS_AT_ONCE = 64;

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

  /** Unless `filled`, filling() has yet to put the rows in. */
  constructor(z: Csr, filled = true) {
    valuesOf("z", z);
    const { core, precision, rows, columns } = z;
    this.core = core;
    this.precision = precision;
    this.rows = rows;
    this.columns = columns;
    const start = new Int32Array(columns + 1);
    const entries = z.column.view();
    for (let e = 0; e < entries.length; e++) start[entries[e] + 1]++;
    const numbers = new Int32Array(columns).fill(-1);
    let count = 0;
    for (let c = 0; c < columns; c++) {
      if (start[c + 1] * LANES[precision] > rows) numbers[c] = count++;
      start[c + 1] += start[c];
    }
    try {
      this.start = this.#scope.keep(integers(core, start));
      this.row = this.#scope.keep(integers(core, start[columns]));
      this.value = this.#scope.keep(matrix(core, 1, start[columns], precision));
      this.fullNumber = this.#scope.keep(integers(core, numbers));
      this.full = this.#scope.keep(matrix(core, count, rows, precision));
      if (filled) atOnce(this.filling(z));
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** Puts the rows in. */
  *filling(z: Csr): Generator<void, void> {
    const next = this.start.toArray();
    for (let from = 0; from < this.rows; from += ROWS_AT_ONCE) {
      this.#fill(z, from, Math.min(this.rows, from + ROWS_AT_ONCE), next);
      yield;
    }
  }

  #fill(z: Csr, from: number, to: number, next: Int32Array): void {
    const [starts, columns, values] = [z.start.view(), z.column.view(), z.value.view()];
    const [row, value, numbers, full] = [this.row.view(), this.value.view(), this.fullNumber.view(), this.full.view()];
    for (let i = from; i < to; i++)
      for (let e = starts[i]; e < starts[i + 1]; e++) {
        const column = columns[e];
        const at = next[column]++;
        row[at] = i;
        value[at] = values[e];
        if (numbers[column] >= 0) full[numbers[column] * this.rows + i] = values[e];
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
