// Covariances from inner products, and their gradients.

import { ArgumentError } from "./errors.ts";
import type { Matrix } from "./matrix.ts";
import { alike, hasShape, isContiguous, isVector } from "./shapes.ts";
import { type CovarianceTerms, stationaryNames, termsCode } from "./stationary.ts";

/** k(x, z) = a x.z + v g(|x - z|^2 / l^2), of the terms that there are. */
export interface CovarianceInputs {
  terms: CovarianceTerms;
  /** x.z, and |x|^2 of the rows, |z|^2 of the columns */
  products: Matrix;
  rowSquares: Matrix;
  columnSquares: Matrix;
  /** log a, log v, log l */
  hyper: Matrix;
}

function check(
  { terms, products, rowSquares, columnSquares, hyper }: CovarianceInputs,
  others: Record<string, Matrix>,
): number {
  const kind = termsCode(terms);
  if (!(kind >= 1) || (terms.stationary !== undefined && !stationaryNames.includes(terms.stationary))) {
    throw new ArgumentError(
      "terms",
      `found ${JSON.stringify(terms)}, expected linear, or stationary: one of ${stationaryNames.join(", ")}`,
    );
  }
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
 * d, the gradient by the covariances, becomes the one by the inner products. stationaryPart gets what of it comes from
 * the stationary term (by |x|^2 and |z|^2 the gradients are -1/2 of its row and column sums), sums (rows x 3) each
 * row's share of the gradient by hyper.
 */
export function covarianceGradient(
  inputs: CovarianceInputs,
  d: Matrix,
  stationaryPart: Matrix,
  sums: Matrix,
): void {
  const { products, rowSquares, columnSquares, hyper } = inputs;
  const kind = check(inputs, { d, stationaryPart, sums });
  hasShape("d", d, products.rows, products.columns);
  hasShape("stationaryPart", stationaryPart, products.rows, products.columns);
  hasShape("sums", sums, products.rows, 3);
  isContiguous("sums", sums);
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
    stationaryPart.address,
    stationaryPart.stride,
    sums.address,
  );
}
