// What every reader returns and training takes: sparse rows of features, and for each row a set of labels.

import { hashInteger, hashText } from "./hash.ts";
import type { TfidfVectoriser } from "./tfidf.ts";

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

/** Where a data set comes from. */
export interface DatasetSource {
  readonly file: string;
  readonly format: string;
}

/** Points with their features and labels. */
export interface Dataset {
  readonly features: SparseRows;
  readonly labels: LabelSets;
  /** Name of each label id, when the file has names. */
  readonly labelNames?: readonly string[];
  /** Name of each column, when the file has names. */
  readonly featureNames?: readonly string[];
  /** What made the features, when the file has texts. */
  readonly vectoriser?: TfidfVectoriser;
  /** Id of each column as the file has it, rising, where only columns that occur (or that a model has) were kept. */
  readonly columnIds?: Int32Array;
  /** Id of each row, when the file has ids; "" for a row without one. */
  readonly ids?: readonly string[];
  /** Line of the file where each row begins, from 1. */
  readonly lines?: Int32Array;
  readonly source?: DatasetSource;
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

/** The chosen rows, in the order given, with their ids and lines; names and vectoriser are kept. */
export function selectRows(dataset: Dataset, rows: ArrayLike<number>): Dataset {
  const { ids, lines } = dataset;
  return {
    ...dataset,
    features: selectFeatures(dataset.features, rows),
    labels: selectLabels(dataset.labels, rows),
    ...(ids && { ids: Array.from(rows, (row) => ids[row] as string) }),
    ...(lines && { lines: Int32Array.from(rows, (row) => lines[row] as number) }),
  };
}

/** Rows that have at least one label. */
export function rowsWithLabels(labels: LabelSets): Int32Array {
  const rows: number[] = [];
  for (let row = 0; row < labels.rows; row++) {
    if (labels.rowStart[row] !== labels.rowStart[row + 1]) rows.push(row);
  }
  return Int32Array.from(rows);
}

/** Numbers of the rows on either side of a split. */
export interface RowSplit {
  readonly kept: Int32Array; // rising
  readonly held: Int32Array; // rising
}

function checkFraction(fraction: number): number {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw new RangeError(`found a fraction of ${fraction}, expected a number from 0 to 1`);
  }
  return fraction;
}

function partition(rows: number, isHeld: (row: number) => boolean): RowSplit {
  const kept: number[] = [];
  const held: number[] = [];
  for (let row = 0; row < rows; row++) (isHeld(row) ? held : kept).push(row);
  return { kept: Int32Array.from(kept), held: Int32Array.from(held) };
}

/** Holds out exactly round(fraction rows) rows, chosen by the seed. */
export function splitRows(rows: number, fraction: number, seed = 0): RowSplit {
  const count = Math.floor(checkFraction(fraction) * rows + 0.5);
  const hashes = Uint32Array.from({ length: rows }, (_, row) => hashInteger(row, seed));
  const order = Uint32Array.from({ length: rows }, (_, row) => row);
  order.sort((a, b) => (hashes[a] as number) - (hashes[b] as number) || a - b);
  const chosen = new Uint8Array(rows);
  for (let i = 0; i < count; i++) chosen[order[i] as number] = 1;
  return partition(rows, (row) => chosen[row] === 1);
}

/** Holds out each row by a hash of its key alone: a row stays on its side when others come and go. */
export function splitByKey(keys: readonly string[], fraction: number, seed = 0): RowSplit {
  const limit = checkFraction(fraction) * 2 ** 32;
  return partition(keys.length, (row) => hashText(keys[row] as string, seed) < limit);
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
