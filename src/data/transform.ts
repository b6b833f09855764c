// What is done to features before the model sees them: inverse document frequencies and unit rows; columns of like size where
// the features are dense. Saved with the model.

import { documentFrequencies, type SparseRows } from "./dataset.ts";
import { deterministicLog } from "./elementary.ts";

export interface FeatureTransform {
  /** Factor of each column, or undefined where none is applied. */
  columnWeights?: Float32Array;
  normalise: boolean;
  /**
   * Rows are texts of length 1 without the words that the vocabulary does not have: where points are compared by their
   * distance they count as of length 1, what is missing being at right angles to all others.
   */
  whole?: boolean;
}

/**
 * Whether the features are measurements rather than words: at least half of them are not zero, and not all are one. The
 * length of such a row says something, and the scale of a column does not.
 */
export function isDense({ rows, columns, values }: SparseRows): boolean {
  return 2 * values.length >= rows * columns && values.some((value) => value !== 1);
}

/** What is said where features are dense and rows keep their lengths. */
export const denseNote = (byDistance: boolean): string =>
  `the features are dense: each is divided by its ${byDistance ? "standard deviation" : "root mean square"}, and rows keep their lengths`;

/** Least variance of a column beside its mean square: the distances of points very far from 0 would drown in rounding. */
const LEAST_SPREAD = 1e-5;
/** Below it a column is the same in all rows. */
const NO_SPREAD = 1e-12;

/** Sums over the rows of what a column's values come to; values that are not there are 0. */
function columnSums(
  { columns, columnIndex, values }: SparseRows,
  of: (value: number, column: number) => number,
): Float64Array {
  const sums = new Float64Array(columns);
  for (let e = 0; e < values.length; e++) {
    const column = columnIndex[e] as number;
    sums[column] = (sums[column] as number) + of(values[e] as number, column);
  }
  return sums;
}

/**
 * 1 / (size of the column, times sqrt D): columns are of like size. Their size is the root mean square, which makes rows of
 * length 1 in the mean square, or their standard deviation, where points are compared by their distance alone.
 */
function evenWeights(features: SparseRows, byDistance: boolean): Float32Array {
  const { rows, columns } = features;
  const squares = columnSums(features, (value) => value * value);
  const means = columnSums(features, (value) => value / rows);
  return Float32Array.from(squares, (sum, column) => {
    const mean = means[column] as number;
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
    return normalise && scaled ? { normalise: false, whole: true } : { normalise };
  const frequencies = documentFrequencies(features);
  const columnWeights = Float32Array.from(
    frequencies,
    (count) => deterministicLog((1 + features.rows) / (1 + count)) + 1,
  );
  return { columnWeights, normalise };
}

/** |x|^2 of rows that the transform gave, where it is not that of their entries. */
export function wholeSquares(
  { rowStart, values, rows }: SparseRows,
  { whole }: FeatureTransform,
): Float32Array | undefined {
  if (!whole) return undefined;
  return Float32Array.from({ length: rows }, (_, i) => {
    const own = values.subarray(rowStart[i], rowStart[i + 1]);
    return Math.max(
      1,
      own.reduce((sum, value) => sum + value * value, 0),
    );
  });
}

/** Rows as a core or a device takes them: entries of row i from rowStart[i] to rowStart[i + 1]. */
export interface RowEntries {
  readonly rowStart: ArrayLike<number>;
  readonly columnIndex: ArrayLike<number>;
  readonly values: Float32Array | Float64Array;
}

/** Applies the transform to the values in place; single precision, whatever holds them. */
export function transformInPlace(
  { rowStart, columnIndex, values }: RowEntries,
  { columnWeights, normalise }: FeatureTransform,
): void {
  const { fround } = Math;
  for (let i = 0; i + 1 < rowStart.length; i++) {
    const begin = rowStart[i] as number;
    const end = rowStart[i + 1] as number;
    let squares = 0;
    for (let e = begin; e < end; e++) {
      const value = (values[e] as number) * (columnWeights?.[columnIndex[e] as number] ?? 1);
      values[e] = fround(value);
      squares += value * value;
    }
    const factor = normalise && squares > 0 ? 1 / Math.sqrt(squares) : 1;
    for (let e = begin; e < end; e++) values[e] = fround((values[e] as number) * factor);
  }
}

/** Copies of some rows, one after another. */
export function slicedRows(
  { rowStart, columnIndex, values, columns }: SparseRows,
  first: number,
  count: number,
): SparseRows {
  const [begin, end] = [rowStart[first] as number, rowStart[first + count] as number];
  return {
    rows: count,
    columns,
    rowStart: rowStart.slice(first, first + count + 1).map((start) => start - begin),
    columnIndex: columnIndex.slice(begin, end),
    values: values.slice(begin, end),
  };
}

/** The same with the transform applied. */
export function transformedRows(
  features: SparseRows,
  transform: FeatureTransform,
  first: number,
  count: number,
): SparseRows {
  const rows = slicedRows(features, first, count);
  transformInPlace(rows, transform);
  return rows;
}
