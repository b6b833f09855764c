// Covariances from inner products, and their gradients.

import { ArgumentError } from "../base/errors.ts";
import { type CovarianceTerms, stationaryNames, termsCode } from "../base/kernels.ts";
import { addresses, type Matrix } from "./matrix.ts";
import { areContiguous, compatible, hasShape, isVector } from "./shapes.ts";

/** k(x, z) = a x.z + v g(|x - z|^2 / l^2), of the terms that there are. */
export interface CovarianceInputs<T = Matrix> {
  terms: CovarianceTerms;
  /** x.z, and |x|^2 of the rows, |z|^2 of the columns */
  products: T;
  rowSquares: T;
  columnSquares: T;
  /** log a, log v, log l [1,3] */
  hyper: T;
}

/** Terms that there are and shapes that fit, on any device. */
export function covarianceSizes<T extends { rows: number; columns: number }>(
  inputs: CovarianceInputs<T>,
): Record<"kind" | "rows" | "columns", number> {
  const { terms, products, rowSquares, columnSquares, hyper } = inputs;
  const kind = termsCode(terms);
  const { rows, columns } = products;
  if (!(kind >= 1) || (terms.stationary !== undefined && !stationaryNames.includes(terms.stationary))) {
    const expected = `linear, or stationary: one of ${stationaryNames.join(", ")}`;
    throw new ArgumentError("terms", `found ${JSON.stringify(terms)}, expected ${expected}`);
  }
  isVector("rowSquares", rowSquares, rows);
  isVector("columnSquares", columnSquares, columns);
  isVector("hyper", hyper, 3);
  return { kind, rows, columns };
}

/** Checks the inputs, and gives the first arguments of both kernels. */
function checked({ terms, ...inputs }: CovarianceInputs, others: Record<string, Matrix>) {
  const { products, rowSquares, columnSquares, hyper } = inputs;
  compatible({ ...inputs, ...others });
  const { kind, rows, columns } = covarianceSizes({ terms, ...inputs });
  return [kind, rows, columns, ...products.strided, ...addresses(rowSquares, columnSquares, hyper)] as const;
}

/** out = covariances; out may not be the products. */
export function covariance(inputs: CovarianceInputs, out: Matrix): Matrix {
  const given = checked(inputs, { out });
  hasShape({ out }, inputs.products.rows, inputs.products.columns);
  out.kernels.covariance(...given, ...out.strided);
  return out;
}

/**
 * d, the gradient by the covariances, becomes the one by the inner products. stationaryPart gets what of it comes from
 * the stationary term (by |x|^2 and |z|^2 the gradients are -1/2 of its row and column sums), sums (rows x 3) each
 * row's share of the gradient by hyper.
 */
export function covarianceGradient(inputs: CovarianceInputs, d: Matrix, stationaryPart: Matrix, sums: Matrix): void {
  const { rows, columns } = inputs.products;
  const given = checked(inputs, { d, stationaryPart, sums });
  hasShape({ d, stationaryPart }, rows, columns);
  hasShape({ sums }, rows, 3);
  areContiguous({ sums });
  d.kernels.covarianceGradient(...given, ...d.strided, ...stationaryPart.strided, sums.address);
}
