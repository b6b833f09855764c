// Symmetric matrices as the numbers of their lower triangle, row by row: half the file.

import { sameSize } from "../core/check.ts";
import type { Matrix, RealArray } from "../core/matrix.ts";
import { isSquare } from "../core/shapes.ts";

/** Numbers in a lower triangle of n rows. */
export const packedLength = (n: number): number => (n * (n + 1)) / 2;

/** The lower triangle of a matrix. */
export function packLower(m: Matrix): RealArray {
  const n = isSquare("m", m);
  const out = m.precision === "f32" ? new Float32Array(packedLength(n)) : new Float64Array(packedLength(n));
  for (let i = 0; i < n; i++) out.set(m.block(i, 0, 1, i + 1).view(), packedLength(i));
  return out;
}

/** Puts numbers into the lower triangle of a matrix, and with `both` into the upper one too. */
export function unpackLower(packed: RealArray, m: Matrix, part: "lower" | "both" = "lower"): Matrix {
  const n = isSquare("m", m);
  sameSize("packed", "numbers", packed.length, packedLength(n));
  for (let i = 0; i < n; i++)
    m.block(i, 0, 1, i + 1)
      .view()
      .set(packed.subarray(packedLength(i), packedLength(i + 1)));
  if (part === "both") m.core.kernels[m.precision].mirrorLower(n, m.address, m.stride);
  return m;
}
