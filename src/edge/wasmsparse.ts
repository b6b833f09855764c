// Sparse matrices in the memory of a module: several times as fast, the same bits.

import type { RowMatrix } from "./matrix.ts";
import { Room } from "./room.ts";
import { SHORT_COLUMNS, type SparseMatrix } from "./sparse.ts";

/** What assembly/edge/sparse.ts exports; sizes count elements, addresses bytes. */
interface SparseKernels {
  addSparse(
    count: number,
    rows: number,
    factors: number,
    starts: number,
    scale: number,
    columns: number,
    values: number,
    into: number,
  ): void;
  addDense(
    count: number,
    rows: number,
    factors: number,
    width: number,
    scale: number,
    values: number,
    into: number,
  ): void;
}

/** Elements of a row that are worked on together where zeros are stored too. */
const LANES = 8;
/** A number takes three bytes with its column: where more than so many of the elements are there, zeros take less. */
const DENSE = 1 / 3;

/** The same matrix in the module's memory, where it has a kernel for it. */
export function wasmSparse(matrix: SparseMatrix, module: WebAssembly.Module): RowMatrix {
  const { rows, columns, bytes, starts } = matrix;
  const { values, scale } = bytes;
  if (!(values instanceof Int8Array) || !scale || columns > SHORT_COLUMNS) return matrix;
  const room = new Room<SparseKernels>(module);
  const { kernels } = room;
  const width = Math.ceil(columns / LANES) * LANES;
  const dense = values.length > DENSE * rows * width;
  const [rowsAt, factorsAt] = [room.reserve(4 * rows), room.reserve(8 * rows)] as const;
  const [scaleAt, intoAt] = [room.reserve(4 * rows), room.reserve(8 * width)] as const;
  const valuesAt = room.reserve(dense ? rows * width : values.length);
  const [startsAt, columnsAt] = dense
    ? [0, 0]
    : ([room.reserve(4 * (rows + 1)), room.reserve(2 * values.length)] as const);
  const buffer = room.grown();
  new Float32Array(buffer, scaleAt, rows).set(scale);
  if (dense) fill(matrix, values, new Int8Array(buffer, valuesAt, rows * width), width);
  else {
    new Int8Array(buffer, valuesAt, values.length).set(values);
    new Int32Array(buffer, startsAt, rows + 1).set(starts);
    matrix.columnsInto(new Uint16Array(buffer, columnsAt, values.length));
  }
  const [held, times] = [new Int32Array(buffer, rowsAt, rows), new Float64Array(buffer, factorsAt, rows)];
  const sums = new Float64Array(buffer, intoAt, columns);
  return {
    rows,
    columns,
    add(which, factors, count, into) {
      for (let e = 0; e < count; e++) {
        held[e] = which[e] as number;
        times[e] = factors[e] as number;
      }
      sums.set(into);
      if (dense) kernels.addDense(count, rowsAt, factorsAt, width, scaleAt, valuesAt, intoAt);
      else kernels.addSparse(count, rowsAt, factorsAt, startsAt, scaleAt, columnsAt, valuesAt, intoAt);
      into.set(sums);
    },
  };
}

/** Numbers with their zeros, in rows of `width`. */
function fill(
  { rows, starts, columnsInto }: SparseMatrix,
  values: Int8Array,
  out: Int8Array,
  width: number,
): void {
  const columns = columnsInto(new Uint16Array(values.length));
  for (let row = 0; row < rows; row++)
    for (let i = starts[row] as number; i < (starts[row + 1] as number); i++)
      out[row * width + (columns[i] as number)] = values[i] as number;
}
