// Sparse rows of features and sets of labels: what they are, choosing some of them, and counting.

/** A sparse matrix X [rows, columns] in compressed rows; columns rise strictly within a row. */
export interface SparseRows {
  readonly rows: number; // N
  readonly columns: number; // D
  readonly rowStart: Int32Array; // [rows + 1]
  readonly columnIndex: Int32Array; // [entries]
  readonly values: Float32Array; // [entries], finite and not zero
}

/** The positive labels of each row; ids rise strictly within a row. */
export interface LabelSets {
  readonly rows: number; // N
  readonly labels: number; // K
  readonly rowStart: Int32Array; // [rows + 1]
  readonly labelIndex: Int32Array; // [entries]
}

/** Starts of the chosen rows laid one after another. */
function selectedStarts(rowStart: Int32Array, rows: ArrayLike<number>): Int32Array {
  const starts = new Int32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    const length = (rowStart[row + 1] as number) - (rowStart[row] as number);
    if (!(length >= 0))
      throw new RangeError(`found row ${row}, expected a number from 0 to ${rowStart.length - 2}`);
    starts[i + 1] = (starts[i] as number) + length;
  }
  return starts;
}

/** Copies the entries of the chosen rows to where `starts` has them. */
function copyEntries<A extends Int32Array | Float32Array>(
  from: A,
  to: A,
  rowStart: Int32Array,
  rows: ArrayLike<number>,
  starts: Int32Array,
): A {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    to.set(from.subarray(rowStart[row], rowStart[row + 1]), starts[i] as number);
  }
  return to;
}

/** The chosen rows of the features, in the order given. */
export function selectFeatures(features: SparseRows, rows: ArrayLike<number>): SparseRows {
  const { rowStart, columnIndex, values } = features;
  const starts = selectedStarts(rowStart, rows);
  const entries = starts[rows.length] as number;
  return {
    rows: rows.length,
    columns: features.columns,
    rowStart: starts,
    columnIndex: copyEntries(columnIndex, new Int32Array(entries), rowStart, rows, starts),
    values: copyEntries(values, new Float32Array(entries), rowStart, rows, starts),
  };
}

/** The chosen rows of the labels, in the order given. */
export function selectLabels(labels: LabelSets, rows: ArrayLike<number>): LabelSets {
  const starts = selectedStarts(labels.rowStart, rows);
  const into = new Int32Array(starts[rows.length] as number);
  const labelIndex = copyEntries(labels.labelIndex, into, labels.rowStart, rows, starts);
  return { rows: rows.length, labels: labels.labels, rowStart: starts, labelIndex };
}

/** Rows that have at least one label. */
export function rowsWithLabels(labels: LabelSets): Int32Array {
  const rows: number[] = [];
  for (let row = 0; row < labels.rows; row++) {
    if (labels.rowStart[row] !== labels.rowStart[row + 1]) rows.push(row);
  }
  return Int32Array.from(rows);
}

function occurrences(indices: Int32Array, size: number): Int32Array {
  const counts = new Int32Array(size);
  for (let i = 0; i < indices.length; i++) {
    const index = indices[i] as number;
    counts[index] = (counts[index] as number) + 1;
  }
  return counts;
}

/** Number of rows that have each label [K]: N_l. */
export function labelFrequencies(labels: LabelSets): Int32Array {
  return occurrences(labels.labelIndex, labels.labels);
}

/** Number of rows in which each column is not zero [D]. */
export function documentFrequencies(features: SparseRows): Int32Array {
  return occurrences(features.columnIndex, features.columns);
}
