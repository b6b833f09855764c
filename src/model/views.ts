// Room made for a full batch, used by a smaller one: views of a tensor's first elements.

import type { Backend, Tensor } from "../backend/backend.ts";

/** The first rows x columns elements as a matrix of that shape. */
export function firstPart(backend: Backend, tensor: Tensor, rows: number, columns: number): Tensor {
  if (tensor.rows === rows && tensor.columns === columns) return tensor;
  const list = backend.reshape(tensor, tensor.rows * tensor.columns, 1);
  return backend.reshape(backend.rowRange(list, 0, rows * columns), rows, columns);
}

/** Row i of a matrix, or element i of a list [1,n], as a view. */
export function rowOf(backend: Backend, tensor: Tensor, i: number): Tensor {
  return backend.rowRange(tensor.rows === 1 ? backend.reshape(tensor, tensor.columns, 1) : tensor, i, i + 1);
}
