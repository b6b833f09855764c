// The training data where the backend works: on WASM the core's own matrices, elsewhere copies that go up once.

import type { Backend, Tensor } from "../backend/backend.ts";
import type { Matrix } from "../core/matrix.ts";
import type { Prepared } from "./prepare.ts";
import { ownLabels } from "./share.ts";
import type { TrainingData } from "./trainer.ts";

export function uploadData(backend: Backend, prepared: Prepared): TrainingData {
  const { x, squares, basis, gram, projected, data, share } = prepared;
  const own = backend.onCore;
  const up = (matrix: Matrix): Tensor =>
    own ? matrix : backend.tensor(matrix.rows, matrix.columns, matrix.toArray());
  const rows = own
    ? x
    : backend.sparse(x.rows, x.columns, x.start.toArray(), x.column.toArray(), x.value.toArray());
  return {
    x: rows,
    squares: up(squares),
    labels: share ? ownLabels(data.labels, share) : data.labels,
    ...(share ? { share } : {}),
    // The basis is looked at in a step only where the projections are not kept.
    ...(basis && !projected ? { basis: up(basis.transposed) } : {}),
    ...(gram ? { basisGram: up(gram) } : {}),
    ...(projected ? { projected: up(projected) } : {}),
  };
}

/** Frees what was uploaded; the core's own matrices stay. */
export function freeData(backend: Backend, data: TrainingData): void {
  if (backend.onCore) return;
  const { x, squares, basis, basisGram, projected } = data;
  backend.free(x, squares);
  for (const tensor of [basis, basisGram, projected]) if (tensor) backend.free(tensor);
}
