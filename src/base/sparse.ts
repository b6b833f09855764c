// Sparse rows of features and sets of labels: the one type, and the few operations on it. Ids of columns may go up to 2^28 though a
// few thousand are used (hashed features do so): nothing here is as large as the largest id.

import { ArgumentError } from "./errors.ts";
import { hashInteger } from "./hash.ts";

type Reals = Float32Array | Float64Array;

/** A sparse matrix X [rows, columns] in compressed rows; columns rise strictly within a row. */
export interface SparseRows<Values extends Reals = Float32Array> {
  readonly rows: number; // N
  readonly columns: number; // D
  readonly rowStart: Int32Array; // [rows + 1]
  readonly columnIndex: Int32Array; // [entries]
  readonly values: Values; // [entries], finite and not zero
  /** The texts that the rows were made of, where they were and somebody kept them. */
  readonly texts?: readonly string[] | undefined; // [rows]
}

/** The positive labels of each row; ids rise strictly within a row. */
export interface LabelSets {
  readonly rows: number; // N
  readonly labels: number; // K
  readonly rowStart: Int32Array; // [rows + 1]
  readonly labelIndex: Int32Array; // [entries]
}

const sameKind = <A extends Int32Array | Reals>(array: A, length: number): A =>
  new (array.constructor as new (length: number) => A)(length);

/** Starts of the chosen rows laid one after another. */
function selectedStarts(rowStart: Int32Array, rows: ArrayLike<number>): Int32Array {
  const starts = new Int32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const length = rowStart[row + 1] - rowStart[row];
    if (!(length >= 0))
      throw new ArgumentError("rows", `found row ${row}, expected a number from 0 to ${rowStart.length - 2}`);
    starts[i + 1] = starts[i] + length;
  }
  return starts;
}

/** The entries of the chosen rows, where `starts` has them. */
function selectedEntries<A extends Int32Array | Reals>(
  from: A,
  rowStart: Int32Array,
  rows: ArrayLike<number>,
  starts: Int32Array,
): A {
  const to = sameKind(from, starts[rows.length]);
  for (let i = 0; i < rows.length; i++) to.set(from.subarray(rowStart[rows[i]], rowStart[rows[i] + 1]), starts[i]);
  return to;
}

/** The chosen rows of the features, in the order given. */
export function selectFeatures<V extends Reals>(
  { columns, rowStart, columnIndex, values, texts }: SparseRows<V>,
  rows: ArrayLike<number>,
): SparseRows<V> {
  const starts = selectedStarts(rowStart, rows);
  return {
    rows: rows.length,
    columns,
    rowStart: starts,
    columnIndex: selectedEntries(columnIndex, rowStart, rows, starts),
    values: selectedEntries(values, rowStart, rows, starts),
    ...(texts && { texts: Array.from(rows, (row) => texts[row]) }),
  };
}

/** The chosen rows of the labels, in the order given. */
export function selectLabels({ labels, rowStart, labelIndex }: LabelSets, rows: ArrayLike<number>): LabelSets {
  const starts = selectedStarts(rowStart, rows);
  const chosen = selectedEntries(labelIndex, rowStart, rows, starts);
  return { rows: rows.length, labels, rowStart: starts, labelIndex: chosen };
}

/** Only the labels from (inclusive) to (exclusive), numbered from 0. */
export function labelsWithin(
  { rowStart, labelIndex }: Pick<LabelSets, "rowStart" | "labelIndex">,
  from: number,
  to: number,
): LabelSets {
  const starts = new Int32Array(rowStart.length);
  const kept: number[] = [];
  for (let i = 0; i + 1 < rowStart.length; i++) {
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
      const label = labelIndex[e];
      if (label >= from && label < to) kept.push(label - from);
    }
    starts[i + 1] = kept.length;
  }
  return { rows: rowStart.length - 1, labels: to - from, rowStart: starts, labelIndex: Int32Array.from(kept) };
}

/** A copy of `count` rows from row `first` on. */
export function sliceRows<V extends Reals>(
  { columns, rowStart, columnIndex, values, texts }: SparseRows<V>,
  first: number,
  count: number,
): SparseRows<V> {
  const [begin, end] = [rowStart[first], rowStart[first + count]];
  return {
    rows: count,
    columns,
    rowStart: rowStart.slice(first, first + count + 1).map((start) => start - begin),
    columnIndex: columnIndex.slice(begin, end),
    values: values.slice(begin, end) as V,
    ...(texts && { texts: texts.slice(first, first + count) }),
  };
}

/** sum_j w_j x_j^2 of each row [rows]; without weights |x|^2. */
export function squaredNorms(
  { rows, rowStart, columnIndex, values }: SparseRows<Reals>,
  weights?: ArrayLike<number>,
): Float64Array {
  const norms = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    let sum = 0;
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++)
      sum += (weights ? weights[columnIndex[e]] : 1) * values[e] * values[e];
    norms[i] = sum;
  }
  return norms;
}

/** x . y of a row and a dense vector [columns]. */
export function dot(
  { rowStart, columnIndex, values }: SparseRows<Reals>,
  row: number,
  dense: ArrayLike<number>,
): number {
  let sum = 0;
  for (let e = rowStart[row]; e < rowStart[row + 1]; e++) sum += values[e] * dense[columnIndex[e]];
  return sum;
}

/** A row with its zeros [columns]. */
export function denseRow({ columns, rowStart, columnIndex, values }: SparseRows<Reals>, row: number): Float64Array {
  const dense = new Float64Array(columns);
  for (let e = rowStart[row]; e < rowStart[row + 1]; e++) dense[columnIndex[e]] = values[e];
  return dense;
}

/** X' [columns, rows]. */
export function transpose<V extends Reals>(features: SparseRows<V>): SparseRows<V> {
  const { rows, columns, rowStart, columnIndex, values } = features;
  const starts = new Int32Array(columns + 1);
  for (let e = 0; e < columnIndex.length; e++) starts[columnIndex[e] + 1]++;
  for (let j = 0; j < columns; j++) starts[j + 1] += starts[j];
  const next = starts.slice();
  const [rowIndex, sorted] = [sameKind(columnIndex, values.length), sameKind(values, values.length)];
  for (let i = 0; i < rows; i++)
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
      const at = next[columnIndex[e]]++;
      rowIndex[at] = i;
      sorted[at] = values[e];
    }
  return { rows: columns, columns: rows, rowStart: starts, columnIndex: rowIndex, values: sorted };
}

/**
 * Multiplies the entries [begin, end) of a row by the weights of their columns and, where it is to be of unit length, divides it by
 * its length: in place and in single precision, whatever holds the values.
 */
export function weighRow(
  columnIndex: ArrayLike<number>,
  values: Reals,
  begin: number,
  end: number,
  columnWeights: ArrayLike<number> | undefined,
  unit: boolean,
): void {
  const { fround } = Math;
  let squares = 0;
  for (let e = begin; e < end; e++) {
    const value = values[e] * (columnWeights?.[columnIndex[e]] ?? 1);
    values[e] = fround(value);
    squares += value * value;
  }
  const factor = unit && squares > 0 ? 1 / Math.sqrt(squares) : 1;
  for (let e = begin; e < end; e++) values[e] = fround(values[e] * factor);
}

/** A vector of a document as a view of its row: a range of columns, behind those of its words. */
export interface View {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** It is made of unit length. */
  readonly unit: boolean;
}

/** How rows are weighted and scaled: words to unit length with `normalise`, each view as it says itself. */
export interface RowScaling {
  readonly columnWeights?: ArrayLike<number> | undefined;
  readonly normalise: boolean;
  readonly views?: readonly View[] | undefined;
}

/** Weighs and scales the entries [begin, end) of a row, view by view. */
export function scaleRow(
  columnIndex: ArrayLike<number>,
  values: Reals,
  begin: number,
  end: number,
  { columnWeights, normalise, views = [] }: RowScaling,
): void {
  let [from, unit] = [begin, normalise];
  for (const next of [...views, undefined]) {
    let to = next ? from : end;
    while (to < end && columnIndex[to] < (next as View).from) to++;
    weighRow(columnIndex, values, from, to, columnWeights, unit);
    [from, unit] = [to, next?.unit ?? false];
  }
}

/** Only the entries in the columns from (inclusive) to (exclusive), which keep their numbers. */
export function withinColumns<V extends Reals>(rows: SparseRows<V>, from: number, to: number): SparseRows<V> {
  return renumbered(rows, rows.columns, (column) => (column >= from && column < to ? column : -1));
}

/** Rows that have at least one label. */
export function rowsWithLabels(labels: LabelSets): Int32Array {
  const rows: number[] = [];
  for (let row = 0; row < labels.rows; row++) {
    if (labels.rowStart[row] !== labels.rowStart[row + 1]) rows.push(row);
  }
  return Int32Array.from(rows);
}

/** Refuses rows that have not exactly one label. */
export function checkSingle({ rows, rowStart }: Pick<LabelSets, "rows" | "rowStart">): void {
  const row = rowStart.findIndex((start, i) => i < rows && rowStart[i + 1] - start !== 1);
  if (row < 0) return;
  const count = rowStart[row + 1] - rowStart[row];
  throw new ArgumentError("exclusive", `found row ${row} with ${count} labels, expected exactly one in every row`);
}

function occurrences(indices: Int32Array, size: number): Int32Array {
  const counts = new Int32Array(size);
  for (let i = 0; i < indices.length; i++) counts[indices[i]]++;
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

/** Where a number is among rising ones, or -1. */
export function placeOf(wanted: number, rising: Int32Array): number {
  let [low, high] = [0, rising.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return rising[low] === wanted ? low : -1;
}

/** The columns that occur, rising. Ids may be huge, and chosen so that they collide in a Set: they are sorted. */
export function usedColumns(features: SparseRows): Int32Array {
  const { columns, columnIndex } = features;
  if (columns > columnIndex.length)
    return columnIndex
      .slice()
      .sort()
      .filter((column, i, all) => i === 0 || column !== all[i - 1]);
  const counts = documentFrequencies(features);
  return Int32Array.from(counts.keys()).filter((column) => counts[column] > 0);
}

/** Rows of features, numbered by their own ids, in the columns that `columnIds` names. */
export function mapFeatures(features: SparseRows, columnIds: Int32Array): SparseRows {
  return renumber(features, columnIds);
}

/** A function that keeps some columns of rows alone, numbered by their places among them (which rise). */
export const onColumns =
  (columns: Int32Array): ((features: SparseRows) => SparseRows) =>
  (features) =>
    features.columns === columns.length ? features : renumber(features, columns);

export function sameIds(a: Int32Array, b: Int32Array): boolean {
  return a === b || (a.length === b.length && a.every((id, i) => id === b[i]));
}

/** Columns under the places of their ids among rising ones (`own` says which theirs are, if not their numbers); others are left out. */
export const renumber = (features: SparseRows, ids: Int32Array, own?: Int32Array): SparseRows =>
  renumbered(features, ids.length, (column) => placeOf(own ? own[column] : column, ids));

/** Columns under other numbers; those whose number is -1 are left out. */
function renumbered<V extends Reals>(
  { rows, rowStart, columnIndex, values, texts }: SparseRows<V>,
  columns: number,
  numberOf: (column: number) => number,
): SparseRows<V> {
  const numbers = columnIndex.map(numberOf);
  const kept = numbers.reduce((count, number) => (number < 0 ? count : count + 1), 0);
  if (kept === numbers.length) return { rows, columns, rowStart, columnIndex: numbers, values, texts };
  const starts = new Int32Array(rows + 1);
  const [keptColumns, keptValues] = [new Int32Array(kept), sameKind(values, kept)];
  let at = 0;
  for (let row = 0; row < rows; row++) {
    for (let i = rowStart[row]; i < rowStart[row + 1]; i++) {
      if (numbers[i] < 0) continue;
      keptColumns[at] = numbers[i];
      keptValues[at++] = values[i];
    }
    starts[row + 1] = at;
  }
  return { rows, columns, rowStart: starts, columnIndex: keptColumns, values: keptValues, texts };
}

/**
 * The first row that is equal to each [rows], where some are: with the same columns (the same words, however often) and, of the columns
 * from `valuesFrom` on (vectors, measurements), the same values too. Rows without entries are equal to none.
 */
export function firstEqualRows(features: SparseRows, valuesFrom: number): Int32Array | undefined {
  const { rows, rowStart, columnIndex, values } = features;
  const first = Int32Array.from({ length: rows }, (_, i) => i);
  const isEqual = (a: number, b: number): boolean => {
    const [from, other, length] = [rowStart[a], rowStart[b], rowStart[a + 1] - rowStart[a]];
    if (rowStart[b + 1] - other !== length) return false;
    for (let e = 0; e < length; e++) {
      if (columnIndex[from + e] !== columnIndex[other + e]) return false;
      if (columnIndex[from + e] >= valuesFrom && values[from + e] !== values[other + e]) return false;
    }
    return true;
  };
  const buckets = new Map<number, number[]>();
  let found = false;
  for (let i = 0; i < rows; i++) {
    if (rowStart[i] === rowStart[i + 1]) continue;
    let hash = 0;
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) hash = hashInteger(columnIndex[e], hash);
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++)
      if (columnIndex[e] >= valuesFrom) hash = hashInteger(values[e] * 2 ** 20, hash);
    const bucket = buckets.get(hash);
    const same = bucket?.find((other) => isEqual(other, i));
    if (same !== undefined) {
      first[i] = same;
      found = true;
    } else if (bucket) bucket.push(i);
    else buckets.set(hash, [i]);
  }
  return found ? first : undefined;
}

/** Rows in groups of equal ones, in the order in which they come; `firstEqual` is that of firstEqualRows. */
export function equalGroups(rows: Iterable<number>, firstEqual: Int32Array | undefined): number[][] {
  const groups = new Map<number, number[]>();
  for (const row of rows) {
    const first = firstEqual?.[row] ?? row;
    const group = groups.get(first);
    if (group) group.push(row);
    else groups.set(first, [row]);
  }
  return [...groups.values()];
}
