// Eigenvalues and eigenvectors of a symmetric matrix, in double precision.

import { wholeNumber } from "./check.ts";
import { ArgumentError } from "./errors.ts";
import { type Matrix, matrix, scoped } from "./matrix.ts";
import { alike, allFinite, isSquare } from "./shapes.ts";

/** Eigenvalues and eigenvectors of a symmetric matrix. */
export interface Eigen {
  /** All of them, greatest first. */
  values: Float64Array;
  /** wanted x n: eigenvectors of the greatest values as rows, orthonormal. Yours to free. */
  vectors: Matrix;
}

/** A = V' diag(values) V from the lower triangle of A, which is used up; vectors of the `wanted` greatest values only. */
export function eigenSymmetric(a: Matrix, wanted: number = a.rows): Eigen {
  alike({ a });
  const n = isSquare("a", a);
  if (a.precision !== "f64") throw new ArgumentError("a", `found ${a.precision}, expected f64`);
  wholeNumber("wanted", wanted, 0, n);
  allFinite("a", a, "lower");
  const { core } = a;
  const { kernels } = core;
  const vectors = matrix(core, wanted, n, "f64");
  const status = scoped((scope) => {
    const values = scope.keep(matrix(core, 1, n, "f64"));
    const work = scope.keep(matrix(core, 1, Math.ceil(kernels.eigenWorkBytes(n) / 8), "f64"));
    const failed = kernels.eigenSymmetric(
      n,
      a.address,
      a.stride,
      values.address,
      vectors.address,
      n,
      wanted,
      work.address,
    );
    return failed === 0 ? (values.toArray() as Float64Array) : failed;
  });
  if (typeof status !== "number") return { values: status, vectors };
  vectors.free();
  throw new ArgumentError("a", `found a matrix whose eigenvalues did not converge (code ${status})`);
}
