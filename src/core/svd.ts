// The leading singular values and right vectors of a sparse matrix: eigenvectors of X'X (subspace.ts). X B for all
// rows never exists unless left vectors are asked for.

import { wholeNumber } from "./check.ts";
import { type Csr, gram, gramTimes, rowSquares, sparseTimes } from "./csr.ts";
import { combine, gemm } from "./dense.ts";
import { type Matrix, matrix, matrixFrom, Scope, sumOf } from "./matrix.ts";
import { byParts, type WorkOptions } from "./progress.ts";
import { leadingEigenvectors, type SubspaceOptions } from "./subspace.ts";

/** How many singular values, and how exact. */
export interface SvdOptions extends SubspaceOptions {
  /** Left vectors too: a matrix with a row for each row of X. */
  left?: boolean;
}

/** A truncated singular value decomposition. */
export interface Svd {
  /** Greatest first. */
  singularValues: Float64Array;
  /** columns x rank: right singular vectors as columns, orthonormal. Yours to free, like `left`. */
  right: Matrix;
  /** rows x rank, where asked for. */
  left?: Matrix;
  /** |X - X V V'|_F / |X|_F. */
  residual: number;
  iterations: number;
}

/** A dense X'X is formed where its products are cheaper than two sparse ones (measured: a sparse term costs 7 dense ones). */
const DENSE_TERMS = 13;
const MOST_DENSE_BYTES = 2 ** 29;

/** Leading singular triplets of X, by default to a change of 1 % in what is left over. */
export async function truncatedSvd(x: Csr, options: SvdOptions): Promise<Svd> {
  const { left: wantLeft = false, ...search } = options;
  const rank = wholeNumber("rank", options.rank, 1, Math.min(x.rows, x.columns));
  const { core, precision, columns: size } = x;
  const scope = new Scope();
  try {
    const trace = squaredNorm(x, scope);
    const apply = await gramOperator(x, scope, options);
    const found = await leadingEigenvectors({ core, precision, size, trace, apply }, search);
    const right = found.vectors;
    const singularValues = found.values.map((value) => Math.sqrt(Math.max(0, value)));
    const captured = sumOf(singularValues.map((value) => value * value));
    const residual = trace > 0 ? Math.sqrt(Math.max(0, trace - captured) / trace) : 0;
    const result: Svd = { singularValues, right, residual, iterations: found.iterations };
    if (wantLeft) {
      const inverses = singularValues.map((value) => (value > 0 ? 1 / value : 0));
      const left = sparseTimes(x, right, matrix(core, x.rows, rank, precision));
      const factors = scope.keep(matrixFrom(core, 1, rank, inverses, precision));
      result.left = combine("multiply", left, factors, left);
    }
    return result;
  } finally {
    scope.free();
  }
}

/** Y = X'X Q, through a dense X'X where that is cheaper. */
async function gramOperator(
  x: Csr,
  scope: Scope,
  work: WorkOptions,
): Promise<(q: Matrix, y: Matrix) => Promise<void>> {
  const { core, precision, columns, rows, nonzeros } = x;
  const perRow = nonzeros / Math.max(1, rows);
  const bytes = columns * columns * (precision === "f32" ? 4 : 8);
  if (columns * columns > DENSE_TERMS * nonzeros || bytes > MOST_DENSE_BYTES)
    return (q, y) =>
      byParts(work, rows, 4 * perRow * q.columns, (from, to) =>
        gramTimes(x, q, y, { from, to, accumulate: from > 0 }),
      );
  const square = scope.keep(matrix(core, columns, columns, precision));
  await byParts(work, rows, 2 * perRow * perRow, (from, to) =>
    gram(x, square, { from, to, accumulate: from > 0 }),
  );
  return (q, y) =>
    byParts(work, columns, 2 * columns * q.columns, (from, to) =>
      gemm(square.rowRange(from, to), q, y.rowRange(from, to)),
    );
}

/** |X|_F^2 */
function squaredNorm(x: Csr, scope: Scope): number {
  return sumOf(rowSquares(x, scope.keep(matrix(x.core, 1, x.rows, x.precision))).view());
}
