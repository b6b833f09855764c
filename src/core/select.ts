// The k greatest of each row.

import { wholeNumber } from "./check.ts";
import { integers, type Matrix, matrix, type RealArray, scoped } from "./matrix.ts";
import { alike } from "./shapes.ts";

/** The greatest of each row, row after row. */
export interface TopK {
  /** Columns of the k greatest of each row, greatest first; of equals the smaller column first. */
  indices: Int32Array;
  values: RealArray;
}

/** The k greatest of each row, k at most the number of columns. NaN counts as the least. */
export function topK(scores: Matrix, k: number): TopK {
  alike({ scores });
  wholeNumber("k", k, 0, scores.columns);
  const { core, precision, rows, columns } = scores;
  return scoped((scope) => {
    const indices = scope.keep(integers(core, rows * k));
    const values = scope.keep(matrix(core, rows, k, precision));
    core.kernels[precision].topK(
      rows,
      columns,
      scores.address,
      scores.stride,
      k,
      indices.address,
      values.address,
    );
    return { indices: indices.toArray(), values: values.toArray() };
  });
}
