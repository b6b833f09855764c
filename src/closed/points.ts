// Points of a data set in the memory of a core: sparse rows, as the model sees them, with their squared lengths.

import { type Csr, rowSquares, scaleRows } from "../core/csr.ts";
import { type Matrix, matrix, matrixFrom, scoped } from "../core/matrix.ts";

/**
 * Sparse rows x with |x|^2. The rows stay yours to free. A text with words that the vocabulary does not have is longer
 * than its row: then its squared length is given, and what is missing is at right angles to every other point.
 */
export class Points {
  readonly x: Csr;
  readonly squares: Matrix; // 1 x rows

  constructor(x: Csr, squares?: ArrayLike<number>) {
    this.x = x;
    const { core, rows, precision } = x;
    this.squares = squares
      ? matrixFrom(core, 1, rows, squares, precision)
      : rowSquares(x, matrix(core, 1, rows, precision));
  }

  get rows(): number {
    return this.x.rows;
  }

  /** |x|^2 of a range of rows. */
  squaresOf(from: number, to: number): Matrix {
    return this.squares.block(0, from, 1, to - from);
  }

  free(): void {
    this.squares.free();
  }
}

/** Each row divided by its length, in place; a row of zeros stays a row of zeros. */
export function toUnitRows(x: Csr): Csr {
  return scoped((scope) => {
    const factors = rowSquares(x, scope.keep(matrix(x.core, 1, x.rows, x.precision)));
    inverseLengths(factors);
    return scaleRows(x, factors);
  });
}

/** Squared lengths become 1 / length, zeros stay zeros. */
export function inverseLengths(squares: Matrix): Matrix {
  const values = squares.view();
  for (let i = 0; i < values.length; i++) {
    const square = values[i] as number;
    values[i] = square > 0 ? 1 / Math.sqrt(square) : 0;
  }
  return squares;
}
