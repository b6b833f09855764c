// Rows that a training can work with: what is squared and multiplied of them stays in single precision.

import { ArgumentError } from "../core/errors.ts";
import type { SparseRows } from "../data/dataset.ts";
import type { FeatureTransform } from "../data/transform.ts";

/** Beyond it products of covariances leave single precision. */
const LONGEST_ROW = 1e9;

/** Refuses rows that are too long once they are weighted; ones that are scaled to unit length need only be finite. */
export function checkLengths(
  { rows, rowStart, columnIndex, values }: SparseRows,
  { columnWeights, normalise }: FeatureTransform,
): void {
  for (let i = 0; i < rows; i++) {
    let squares = 0;
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++) {
      const value = Math.fround((values[e] as number) * (columnWeights?.[columnIndex[e] as number] ?? 1));
      squares += value * value;
    }
    const length = Math.sqrt(squares);
    if (normalise ? Number.isFinite(length) : length <= LONGEST_ROW) continue;
    const remedy = normalise ? "smaller values" : "`normalise` the rows, or scale the features";
    const limit = normalise ? "one that is finite" : `at most ${LONGEST_ROW}`;
    throw new ArgumentError(
      "features",
      `found row ${i} of length ${length.toPrecision(3)}, expected ${limit}: ${remedy}`,
    );
  }
}
