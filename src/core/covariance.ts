// Covariances from inner products, and their gradients.

import { ArgumentError } from "./errors.ts";
import type { Matrix } from "./matrix.ts";
import { alike, hasShape, isVector } from "./shapes.ts";

const KINDS = { linear: 1, se: 2, "linear+se": 3 } as const;

/** k(x, z) = a x.z (linear), v exp(-|x - z|^2 / 2 l^2) (se), or their sum. */
export interface CovarianceInputs {
  kernel: keyof typeof KINDS;
  /** x.z, and |x|^2 of the rows, |z|^2 of the columns */
  products: Matrix;
  rowSquares: Matrix;
  columnSquares: Matrix;
  /** log a, log v, log l */
  hyper: Matrix;
}

function check(
  { kernel, products, rowSquares, columnSquares, hyper }: CovarianceInputs,
  others: Record<string, Matrix>,
): number {
  const kind = KINDS[kernel];
  if (kind === undefined)
    throw new ArgumentError("kernel", `found ${String(kernel)}, expected ${Object.keys(KINDS).join(" or ")}`);
  alike({ products, rowSquares, columnSquares, hyper, ...others });
  isVector("rowSquares", rowSquares, products.rows);
  isVector("columnSquares", columnSquares, products.columns);
  isVector("hyper", hyper, 3);
  return kind;
}

/** out = covariances; out may not be the products. */
export function covariance(inputs: CovarianceInputs, out: Matrix): Matrix {
  const { products, rowSquares, columnSquares, hyper } = inputs;
  const kind = check(inputs, { out });
  hasShape("out", out, products.rows, products.columns);
  out.core.kernels[out.precision].covariance(
    kind,
    out.rows,
    out.columns,
    products.address,
    products.stride,
    rowSquares.address,
    columnSquares.address,
    hyper.address,
    out.address,
    out.stride,
  );
  return out;
}

/**
 * d, the gradient by the covariances, becomes the one by the inner products. squaredPart gets what of it comes from
 * the squared exponential (by |x|^2 and |z|^2 the gradients are -1/2 of its row and column sums), sums (rows x 3) each
 * row's share of the gradient by hyper.
 */
export function covarianceGradient(
  inputs: CovarianceInputs,
  d: Matrix,
  squaredPart: Matrix,
  sums: Matrix,
): void {
  const { products, rowSquares, columnSquares, hyper } = inputs;
  const kind = check(inputs, { d, squaredPart, sums });
  hasShape("d", d, products.rows, products.columns);
  hasShape("squaredPart", squaredPart, products.rows, products.columns);
  hasShape("sums", sums, products.rows, 3);
  d.core.kernels[d.precision].covarianceGradient(
    kind,
    d.rows,
    d.columns,
    products.address,
    products.stride,
    rowSquares.address,
    columnSquares.address,
    hyper.address,
    d.address,
    d.stride,
    squaredPart.address,
    squaredPart.stride,
    sums.address,
  );
}
