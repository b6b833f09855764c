// The covariance k(x, z) = a x.z + v g(|x - z|^2 / l^2) of the closed form, from inner products and squared lengths.

import { finiteNumber } from "../core/check.ts";
import type { Core, Precision } from "../core/core.ts";
import { covariance } from "../core/covariance.ts";
import { addDiagonal, blend, diagonal } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { type Matrix, matrix, matrixFrom, type RealArray, scoped } from "../core/matrix.ts";
import { deterministicLog } from "../data/elementary.ts";
import { type KernelName, scalarKernel, termsOf } from "../model/kernels/index.ts";

/** Which covariance, with its values; on unit rows and with l = v = 1, "se" is exp(x.z - 1). */
export interface KernelChoice {
  name: KernelName;
  /** l */
  lengthScale?: number;
  /** v */
  variance?: number;
  /** a, the factor of x.z. */
  linearVariance?: number;
}

function positive(argument: string, value: number): number {
  if (finiteNumber(argument, value) > 0) return value;
  throw new ArgumentError(argument, `found ${value}, expected a number above 0`);
}

/** A covariance in the memory of a core. */
export class Kernel {
  readonly choice: Required<KernelChoice>;
  /** log a, log v, log l */
  readonly logs: readonly number[];
  readonly #hyper: Matrix;

  constructor(core: Core, precision: Precision, choice: KernelChoice) {
    const lengthScale = positive("lengthScale", choice.lengthScale ?? 1);
    const variance = positive("variance", choice.variance ?? 1);
    const linearVariance = positive("linearVariance", choice.linearVariance ?? 1);
    this.choice = { name: choice.name, lengthScale, variance, linearVariance };
    this.logs = [linearVariance, variance, lengthScale].map(deterministicLog);
    this.#hyper = matrixFrom(core, 1, 3, this.logs, precision);
  }

  /** out_ij = k(x_i, z_j) from x_i.z_j, |x_i|^2 and |z_j|^2. out may not be the products. */
  map(products: Matrix, rowSquares: Matrix, columnSquares: Matrix, out: Matrix): Matrix {
    const terms = termsOf(this.choice.name);
    return covariance({ terms, products, rowSquares, columnSquares, hyper: this.#hyper }, out);
  }

  /** k(x, x) from |x|^2. */
  self(squares: RealArray): Float64Array {
    const { name, variance, linearVariance, lengthScale } = this.choice;
    const { own } = scalarKernel(name, [linearVariance, variance, lengthScale]);
    return Float64Array.from(squares, own);
  }

  /** The diagonal of a covariance of points with themselves becomes k(x, x). */
  writeDiagonal(square: Matrix, squares: Matrix): Matrix {
    return scoped((scope) => {
      const { core, precision, rows } = square;
      const change = diagonal(square, scope.keep(matrix(core, 1, rows, precision)));
      const wanted = matrixFrom(core, 1, rows, this.self(squares.view()), precision);
      blend(1, scope.keep(wanted), -1, change, change);
      return addDiagonal(square, change);
    });
  }

  free(): void {
    this.#hyper.free();
  }
}
