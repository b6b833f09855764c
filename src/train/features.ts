// What is done to features before the model sees them: inverse document frequencies, unit rows. Saved with the model.

import { documentFrequencies, type SparseRows } from "../data/dataset.ts";
import { deterministicLog } from "../data/elementary.ts";

export interface FeatureTransform {
  /** Factor of each column, or undefined where none is applied. */
  columnWeights?: Float32Array;
  normalise: boolean;
}

/** Chooses the transform for training features. */
export function fitTransform(
  features: SparseRows,
  idf: boolean | "auto",
  normalise: boolean,
): FeatureTransform {
  const binary = features.values.every((value) => value === 1);
  if (idf === false || (idf === "auto" && !binary)) return { normalise };
  const frequencies = documentFrequencies(features);
  const columnWeights = Float32Array.from(
    frequencies,
    (count) => deterministicLog((1 + features.rows) / (1 + count)) + 1,
  );
  return { columnWeights, normalise };
}

/** New features with the transform applied. */
export function applyTransform(
  features: SparseRows,
  { columnWeights, normalise }: FeatureTransform,
): SparseRows {
  const { rows, rowStart, columnIndex } = features;
  const values = new Float32Array(features.values.length);
  for (let i = 0; i < rows; i++) {
    const begin = rowStart[i] as number;
    const end = rowStart[i + 1] as number;
    let squares = 0;
    for (let e = begin; e < end; e++) {
      const value = (features.values[e] as number) * (columnWeights?.[columnIndex[e] as number] ?? 1);
      values[e] = value;
      squares += value * value;
    }
    const factor = normalise && squares > 0 ? 1 / Math.sqrt(squares) : 1;
    for (let e = begin; e < end; e++) values[e] = (values[e] as number) * factor;
  }
  return { ...features, values };
}
