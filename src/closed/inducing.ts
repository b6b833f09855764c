// The features of the sparse form that come from inducing inputs Z, whitened so that their inner products are the
// covariance that Z carries:
//
//     Kzz + jitter I = L L'        phi(x) = inverse(L) k(Z, x)        phi(x).phi(x') = k(x,Z) inverse(Kzz + jitter I) k(Z,x')
//
// L and its inverse are made in double precision and the inverse is rounded to the precision of the points. Any
// fixed matrix in place of inverse(L) spans the same functions, so that this rounding only turns the features a
// little; leaving them unwhitened in single precision does not give a positive definite A.

import { sameSize } from "../core/check.ts";
import type { Precision } from "../core/core.ts";
import { type Csr, csr, sparseTimes } from "../core/csr.ts";
import { addDiagonal, combine, convert, fill, gemm, rowSums, transpose } from "../core/dense.ts";
import { factorInPlace, lowerInverseColumns } from "../core/inverse.ts";
import { Postings, sparseProducts } from "../core/kernelrows.ts";
import { type Matrix, matrix, Scope, scoped } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { Kernel, type KernelChoice } from "./kernel.ts";
import { inverseLengths, type Points } from "./points.ts";

/** Added to the diagonal of Kzz, for k(x, x) about 1. */
export const JITTER = 1e-4;

/** Columns of inverse(L) that are applied together. */
const COLUMNS_AT_ONCE = 512;

/** Inducing inputs Z: sparse points [M,D], dense ones [M,D] (centroids), or dense ones [M,R] in a subspace V' [D,R]. */
export type InducingInputs =
  | { readonly points: Points }
  | { readonly inputs: Matrix; readonly basis?: Matrix | undefined };

/** Where the products x.z, |x|^2 and |z|^2 come from. */
interface ProductSource {
  readonly count: number;
  readonly squares: Matrix; // 1 x M
  /** out = products of the rows with Z; returns the squared lengths of what was multiplied. */
  products(points: Points, from: number, to: number, out: Matrix): Matrix;
  free(): void;
}

/** z among the rows x themselves: products through an inverted index. */
class SparseSource implements ProductSource {
  readonly #index: Postings;
  readonly squares: Matrix;
  constructor({ x, squares }: Points) {
    this.#index = new Postings(x);
    this.squares = squares;
  }
  get count(): number {
    return this.#index.rows;
  }
  products(points: Points, from: number, to: number, out: Matrix): Matrix {
    sparseProducts(points.x, this.#index, out, { from, to });
    return points.squaresOf(from, to);
  }
  free(): void {
    this.#index.free();
  }
}

/** z dense, in the space of the features. */
class DenseSource implements ProductSource {
  readonly #transposed: Matrix; // Z' [D,M]
  readonly squares: Matrix;

  constructor(inputs: Matrix) {
    const { core, precision, rows, columns } = inputs;
    this.#transposed = transpose(inputs, matrix(core, columns, rows, precision));
    this.squares = rowSums(inputs, matrix(core, 1, rows, precision), inputs);
  }
  get count(): number {
    return this.#transposed.columns;
  }
  products(points: Points, from: number, to: number, out: Matrix): Matrix {
    sparseTimes(points.x, this.#transposed, out, { from, to });
    return points.squaresOf(from, to);
  }
  free(): void {
    this.#transposed.free();
    this.squares.free();
  }
}

/** z in a subspace: u = unit(V x), then u.z. */
class SubspaceSource implements ProductSource {
  readonly #basis: Matrix;
  readonly #inputs: Matrix;
  readonly squares: Matrix;
  #work: { u: Matrix; squares: Matrix } | undefined;

  constructor(basis: Matrix, inputs: Matrix) {
    this.#basis = basis;
    this.#inputs = inputs;
    this.squares = rowSums(inputs, matrix(inputs.core, 1, inputs.rows, inputs.precision), inputs);
  }
  get count(): number {
    return this.#inputs.rows;
  }
  products(points: Points, from: number, to: number, out: Matrix): Matrix {
    const { u, squares } = this.#room(to - from);
    sparseTimes(points.x, this.#basis, u, { from, to });
    unitRows(u, squares);
    gemm(u, this.#inputs, out, { transposeB: true });
    return rowSums(u, squares, u);
  }
  #room(rows: number): { u: Matrix; squares: Matrix } {
    if (this.#work === undefined || this.#work.u.rows < rows) {
      this.#freeWork();
      const { core, precision } = this.#inputs;
      this.#work = {
        u: matrix(core, rows, this.#basis.columns, precision),
        squares: matrix(core, 1, rows, precision),
      };
    }
    return { u: this.#work.u.rowRange(0, rows), squares: this.#work.squares.block(0, 0, 1, rows) };
  }
  #freeWork(): void {
    this.#work?.u.free();
    this.#work?.squares.free();
  }
  free(): void {
    this.#freeWork();
    this.squares.free();
  }
}

/** Dense rows divided by their lengths; a row of zeros stays one. `squares` is used up. */
function unitRows(rows: Matrix, squares: Matrix): void {
  inverseLengths(rowSums(rows, squares, rows));
  combine("multiply", rows, squares.reshape(rows.rows, 1), rows);
}

/** phi(x) for blocks of points. Made by inducingFeatures; the inducing inputs stay yours to free, after it. */
export class InducingFeatures {
  readonly kernel: Kernel;
  /** inverse(L) [M,M], lower triangular. */
  readonly whitening: Matrix;
  readonly inputs: InducingInputs;
  readonly #source: ProductSource;

  constructor(kernel: Kernel, inputs: InducingInputs, whitening: Matrix) {
    this.kernel = kernel;
    this.inputs = inputs;
    this.#source = sourceOf(inputs);
    this.whitening = whitening;
  }

  /** M */
  get count(): number {
    return this.#source.count;
  }

  /** out = phi of points from to to, one a row; `work` has the same shape. */
  block(points: Points, from: number, to: number, out: Matrix, work: Matrix): Matrix {
    const squares = this.#source.products(points, from, to, out);
    this.kernel.map(out, squares, this.#source.squares, work);
    // phi = inverse(L) k: column j needs the k of the first j inducing inputs.
    const { count, whitening } = this;
    for (let j = 0; j < count; j += COLUMNS_AT_ONCE) {
      const end = Math.min(count, j + COLUMNS_AT_ONCE);
      const left = work.block(0, 0, to - from, end);
      gemm(left, whitening.block(j, 0, end - j, end), out.block(0, j, to - from, end - j), {
        transposeB: true,
      });
    }
    return out;
  }

  free(): void {
    this.#source.free();
    this.whitening.free();
    this.kernel.free();
  }
}

/** Factors Kzz in double precision and makes the features that Z gives. */
export async function inducingFeatures(
  inducing: InducingInputs,
  choice: KernelChoice,
  options: WorkOptions & { jitter?: number } = {},
): Promise<InducingFeatures> {
  const { core, precision } = "points" in inducing ? inducing.points.x : inducing.inputs;
  const scope = new Scope();
  try {
    const kzz = scope.keep(covarianceOfInputs(inducing, choice));
    const count = kzz.rows;
    addDiagonal(kzz, fill(scope.keep(matrix(core, 1, count, "f64")), options.jitter ?? JITTER));
    await factorInPlace(kzz, options);
    const whitening = await inverseOfLower(kzz, precision, options);
    return new InducingFeatures(new Kernel(core, precision, choice), inducing, whitening);
  } finally {
    scope.free();
  }
}

function sourceOf(inducing: InducingInputs): ProductSource {
  if ("points" in inducing) return new SparseSource(inducing.points);
  const { basis, inputs } = inducing;
  return basis ? new SubspaceSource(basis, inputs) : new DenseSource(inputs);
}

/** Kzz in double precision. */
function covarianceOfInputs(inducing: InducingInputs, choice: KernelChoice): Matrix {
  return scoped((scope) => {
    if ("points" in inducing) {
      const { x, squares } = inducing.points;
      const z = scope.keep(inDouble(x));
      const index = scope.keep(new Postings(z));
      const products = sparseProducts(z, index, scope.keep(matrix(z.core, z.rows, z.rows, "f64")));
      return covarianceFrom(products, convert(squares, scope.keep(matrix(z.core, 1, z.rows, "f64"))), choice);
    }
    const { core, rows, columns } = inducing.inputs;
    if (inducing.basis) sameSize("basis", "columns", inducing.basis.columns, columns);
    const z = convert(inducing.inputs, scope.keep(matrix(core, rows, columns, "f64")));
    const products = gemm(z, z, scope.keep(matrix(core, rows, rows, "f64")), { transposeB: true });
    return covarianceFrom(products, rowSums(z, scope.keep(matrix(core, 1, rows, "f64")), z), choice);
  });
}

function covarianceFrom(products: Matrix, squares: Matrix, choice: KernelChoice): Matrix {
  const kernel = new Kernel(products.core, "f64", choice);
  const out = matrix(products.core, products.rows, products.columns, "f64");
  kernel.map(products, squares, squares, out);
  kernel.writeDiagonal(out, squares);
  kernel.free();
  return out;
}

function inDouble(x: Csr): Csr {
  const arrays = {
    rows: x.rows,
    columns: x.columns,
    rowStart: x.start.toArray(),
    columnIndex: x.column.toArray(),
    values: x.value.toArray(),
  };
  return csr(x.core, arrays, "f64");
}

/** inverse(L) in the given precision. */
async function inverseOfLower(l: Matrix, precision: Precision, options: WorkOptions): Promise<Matrix> {
  const out = matrix(l.core, l.rows, l.rows, precision);
  try {
    const put = (columns: Matrix, from: number): void =>
      void convert(columns, out.block(from, from, columns.rows, columns.columns));
    await lowerInverseColumns(l, put, options);
    return out;
  } catch (error) {
    out.free();
    throw error;
  }
}
