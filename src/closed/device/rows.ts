// Products of sparse rows with sparse rows on a device. The rows z stay there; a block of rows x is spread out into
// X' [D, block], and each z is multiplied with it. Both triangles of X X' are made: there are no views of columns.

import type { Backend, IndexTensor, SparseTensor, Tensor } from "../../backend/backend.ts";
import { type Csr, type RowRange, rowRange } from "../../core/csr.ts";
import { type DeviceParts, type Tensors, withTensors } from "./parts.ts";

/** Rows x that are spread out together, and numbers that they may then have. */
const BLOCK_ROWS = 256;
const MOST_SPREAD = 2 ** 24;
/** A pattern has up to three numbers for an entry, and one for a row or column. */
const LISTS = 4;

/** Sparse rows on a device, and their numbers. */
export interface DeviceRows {
  readonly rows: SparseTensor;
  readonly all: IndexTensor;
}

/** Copies of rows `from` to `to`, outside the core. */
function entriesOf({ rows, start, column, value }: Csr, range: RowRange) {
  const { from, to } = rowRange(rows, range);
  const starts = start.view().subarray(from, to + 1);
  const [first, end] = [starts[0] as number, starts[to - from] as number];
  return {
    count: to - from,
    rowStart: Int32Array.from(starts, (at) => at - first),
    columnIndex: Int32Array.from(column.view().subarray(first, end)),
    values: value.view().slice(first, end),
  };
}

/** Copies rows `from` to `to` to the device. */
export function uploadRows(backend: Backend, x: Csr, tensors: Tensors, range: RowRange = {}): DeviceRows {
  const { count, rowStart, columnIndex, values } = entriesOf(x, range);
  const rows = tensors.keep(backend.sparse(count, x.columns, rowStart, columnIndex, values));
  const all = tensors.keep(backend.indices(count));
  backend.writeIndices(
    all,
    Int32Array.from({ length: count }, (_, i) => i),
  );
  return { rows, all };
}

/** X' [D, to - from], dense. A pattern is listed by its columns: only those that there are cost something. */
function spreadOut(backend: Backend, x: Csr, tensors: Tensors, range: RowRange): Tensor {
  const { count, rowStart, columnIndex, values } = entriesOf(x, range);
  const pattern = tensors.keep(backend.pattern(x.columns, { rowStart, labelIndex: columnIndex }));
  const identity = tensors.keep(backend.tensor(count, count));
  backend.addDiagonal(identity, tensors.keep(backend.tensor(1, count, new Float32Array(count).fill(1))));
  const spread = tensors.keep(backend.tensor(x.columns, count));
  const entries = tensors.keep(backend.tensor(1, values.length, values));
  backend.patternTransposeTimes(pattern, entries, identity, spread);
  return spread;
}

/** Numbers in the largest tensor that copied rows take. */
export function numbersOfRows({ rows, start }: Csr, range: RowRange = {}): number {
  const { from, to } = rowRange(rows, range);
  const starts = start.view();
  return (starts[to] as number) - (starts[from] as number) + to - from + 1;
}

/** Products with rows z. */
export class RowProducts {
  readonly #backend: Backend;
  readonly #z: DeviceRows;
  /** Rows x for which products are made together. */
  readonly blockRows: number;

  constructor({ backend, largest }: DeviceParts, z: Csr, tensors: Tensors) {
    this.#backend = backend;
    this.#z = uploadRows(backend, z, tensors);
    const spread = Math.min(MOST_SPREAD, largest / 4 / LISTS);
    this.blockRows = Math.max(1, Math.min(BLOCK_ROWS, Math.floor(spread / Math.max(z.columns, z.rows))));
  }

  /** Numbers in the largest tensor that it needs at least. */
  static numbers(z: Csr): number {
    return Math.max(numbersOfRows(z), LISTS * z.columns);
  }

  /** out [to - from, M] = x_i . z_j for at most `blockRows` rows x. */
  write(x: Csr, from: number, to: number, out: Tensor): void {
    const backend = this.#backend;
    const count = to - from;
    withTensors(backend, (tensors) => {
      const spread = spreadOut(backend, x, tensors, { from, to });
      const products = tensors.keep(backend.tensor(this.#z.rows.rows, count)); // Z X'
      backend.sparseTimes(this.#z.rows, this.#z.all, spread, products);
      backend.transpose(products, out);
    });
    backend.flush?.();
  }
}
