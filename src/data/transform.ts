// The transform of features before the model sees them: inverse document frequencies and unit rows; columns of like size where
// the features are dense. Saved with the model.

import { deterministicLog } from "../base/math.ts";
import {
  documentFrequencies,
  type SparseRows,
  scaleRow,
  sliceRows,
  squaredNorms,
  type View,
  withinColumns,
} from "../base/sparse.ts";
import type { RowEntries } from "./builders.ts";
import type { Dataset } from "./dataset.ts";
import type { RowFault } from "./options.ts";

export interface FeatureTransform {
  /** Factor of each column, or undefined where none is applied. */
  columnWeights?: Float32Array;
  normalise: boolean;
  /**
   * Rows are texts of length 1 without the words that the vocabulary does not have: where points are compared by their
   * distance they count as of length 1, what is missing being at right angles to all others.
   */
  unitNorm?: boolean;
  /** Vectors of the documents, behind the columns of the words. */
  views?: readonly View[];
}

/** The columns of the words and of each vector, where documents have vectors. */
export const viewRanges = ({ views }: FeatureTransform): readonly { from: number; to: number }[] | undefined =>
  views && [{ from: 0, to: views[0].from }, ...views];

/**
 * The features are measurements rather than words: at least half of them are not zero, and not all are one. The
 * length of such a row says something, and the scale of a column does not.
 */
export function isDense({ rows, columns, values }: SparseRows): boolean {
  return 2 * values.length >= rows * columns && values.some((value) => value !== 1);
}

/** The first column whose values two rows must have in common to be equal: measurements and vectors, not words. */
export const comparedFrom = ({ features, vectoriser }: Pick<Dataset, "features" | "vectoriser">): number =>
  vectoriser?.terms.length ?? (isDense(features) ? 0 : features.columns);

/** The note where features are dense and rows keep their lengths. */
export const denseNote = (byDistance: boolean): string =>
  `the features are dense: each is divided by its ${byDistance ? "standard deviation" : "root mean square"}, and rows keep their lengths`;

/** Least variance of a column beside its mean square: the distances of points very far from 0 would drown in rounding. */
const LEAST_SPREAD = 1e-5;
/** Below it a column is the same in all rows. */
const NO_SPREAD = 1e-12;

/** Sums over the rows of what a column's values come to; values that are not there are 0. */
function columnSums({ columns, columnIndex, values }: SparseRows, of: (value: number) => number): Float64Array {
  const sums = new Float64Array(columns);
  for (let e = 0; e < values.length; e++) sums[columnIndex[e]] += of(values[e]);
  return sums;
}

/**
 * 1 / (size of the column, times sqrt D): columns are of like size. Their size is the root mean square, which makes rows of
 * length 1 in the mean square, or their standard deviation, where points are compared by their distance alone.
 */
function evenWeights(features: SparseRows, byDistance: boolean, columns: number = features.columns): Float32Array {
  const { rows } = features;
  const squares = columnSums(features, (value) => value * value);
  const means = columnSums(features, (value) => value / rows);
  return Float32Array.from(squares, (sum, column) => {
    const mean = means[column];
    const variance = sum / rows - mean * mean;
    const square = sum / rows;
    // A column that never changes says nothing: it is left at its own size.
    const changes = byDistance && variance > NO_SPREAD * square;
    const spread = changes ? Math.max(variance, LEAST_SPREAD * square) : square;
    return sum > 0 ? Math.sqrt(1 / (spread * columns)) : 1;
  });
}

/**
 * Chooses the transform for training features. Rows that are `scaled` already, some of them to less than 1, stay as they
 * are unless their columns are weighted. Dense features whose rows are not scaled are scaled by columns; `byDistance`:
 * for a kernel without a linear term.
 */
export function fitTransform(
  features: SparseRows,
  idf: boolean | "auto",
  normalise: boolean,
  scaled = false,
  byDistance = false,
): FeatureTransform {
  if (!normalise && !scaled && idf !== true && isDense(features))
    return { normalise, columnWeights: evenWeights(features, byDistance) };
  const binary = features.values.every((value) => value === 1);
  if (idf === false || (idf === "auto" && (scaled || !binary)))
    return normalise && scaled ? { normalise: false, unitNorm: true } : { normalise };
  const frequencies = documentFrequencies(features);
  const columnWeights = Float32Array.from(
    frequencies,
    (count) => deterministicLog((1 + features.rows) / (1 + count)) + 1,
  );
  return { columnWeights, normalise };
}

/** A vector of fewer numbers is measurements, whose length says something; a longer one is an embedding, whose direction counts. */
const LEAST_EMBEDDING = 32;

/** The transform of the words, and of each vector: of unit length, or of columns of like size. */
export function withViews(
  transform: FeatureTransform,
  features: SparseRows,
  ranges: readonly { name: string; from: number; to: number }[],
): FeatureTransform {
  const views = ranges.map((range) => ({ ...range, unit: range.to - range.from >= LEAST_EMBEDDING }));
  const measured = views.filter(({ unit }) => !unit);
  if (measured.length === 0 && !transform.columnWeights) return { ...transform, views };
  const columnWeights = new Float32Array(features.columns).fill(1);
  columnWeights.set(transform.columnWeights?.subarray(0, views[0].from) ?? []);
  for (const { from, to } of measured) {
    const weights = evenWeights(withinColumns(features, from, to), true, to - from);
    columnWeights.set(weights.subarray(from, to), from);
  }
  return { ...transform, columnWeights, views };
}

/** |x|^2 of the words of rows that the transform gave, where it is not that of their entries. */
export function unitSquares(features: SparseRows, { unitNorm, views }: FeatureTransform): Float32Array | undefined {
  if (!unitNorm) return undefined;
  const words = views ? withinColumns(features, 0, views[0].from) : features;
  return Float32Array.from(squaredNorms(words), (square) => Math.max(1, square));
}

export function wholeSquares(features: SparseRows, transform: FeatureTransform): ArrayLike<number> {
  const words = unitSquares(features, transform);
  if (!words || !transform.views) return words ?? squaredNorms(features);
  const vectors = squaredNorms(withinColumns(features, transform.views[0].from, features.columns));
  return vectors.map((square, i) => square + words[i]);
}

/** Applies the transform to the values in place; single precision, whatever holds them. */
export function transformInPlace(
  rows: Record<"rowStart" | "columnIndex", ArrayLike<number>> & { values: Float32Array | Float64Array },
  transform: FeatureTransform,
): void {
  const { rowStart, columnIndex, values } = rows;
  for (let i = 0; i + 1 < rowStart.length; i++) scaleRow(columnIndex, values, rowStart[i], rowStart[i + 1], transform);
}

/** A check of rows as they are read: those that are longer than `most` once they are transformed are refused. */
export function refuseLongRows(
  most: number,
  { columnWeights, normalise }: FeatureTransform,
): (row: RowEntries) => RowFault | undefined {
  return ({ columnIndex, values }) => {
    let squares = 0;
    for (let e = 0; e < values.length; e++) {
      const value = Math.fround(values[e] * (columnWeights?.[columnIndex[e]] ?? 1));
      squares += value * value;
    }
    if (normalise ? Number.isFinite(squares) : squares <= most * most) return undefined;
    const expected = normalise ? "smaller values" : `a row of length ${most} at most`;
    return { found: "values too large for the model to compute with", expected };
  };
}

/** Copies of some rows, one after another, with the transform applied. */
export function transformedRows(
  features: SparseRows,
  transform: FeatureTransform,
  first: number,
  count: number,
): SparseRows {
  const rows = sliceRows(features, first, count);
  transformInPlace(rows, transform);
  return rows;
}
