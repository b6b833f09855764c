// Columns that occur. Ids may go up to 2^28 though a few thousand are used (hashed features do so): work is done on the
// columns that occur, numbered anew in the same order, and what they were is kept. Nothing here is as large as the largest
// id.

import type { Dataset, SparseRows } from "./dataset.ts";
import { hashInteger } from "./hash.ts";

/** Random, so that nobody can write a file whose ids all collide; it decides nothing that is seen. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** Numbers for ids, in a table whose size goes by how many there are. */
export class IdIndex {
  #table: Int32Array; // position in #ids plus 1, or 0
  #ids: Int32Array;
  #size = 0;

  /** Ids that are known from the start are numbered by their place. */
  constructor(ids: ArrayLike<number> = []) {
    let length = 1024;
    while (length < 2 * ids.length) length *= 2;
    this.#table = new Int32Array(length);
    this.#ids = new Int32Array(length / 2);
    for (let i = 0; i < ids.length; i++) this.add(ids[i] as number);
  }

  /** The ids in the order they came. */
  ids(): Int32Array {
    return this.#ids.subarray(0, this.#size);
  }

  /** The number of an id, or -1. */
  find(id: number): number {
    return (this.#table[this.#place(id)] as number) - 1;
  }

  add(id: number): void {
    const place = this.#place(id);
    if (this.#table[place] !== 0) return;
    this.#ids[this.#size++] = id;
    this.#table[place] = this.#size;
    if (this.#size === this.#ids.length) this.#widen();
  }

  /** Where the id is, or would go. */
  #place(id: number): number {
    const last = this.#table.length - 1;
    let place = hashInteger(id, SEED) & last;
    for (;;) {
      const number = this.#table[place] as number;
      if (number === 0 || this.#ids[number - 1] === id) return place;
      place = (place + 1) & last;
    }
  }

  #widen(): void {
    const ids = this.#ids;
    this.#ids = new Int32Array(2 * ids.length);
    this.#ids.set(ids);
    this.#table = new Int32Array(4 * ids.length);
    for (let i = 0; i < ids.length; i++) this.#table[this.#place(ids[i] as number)] = i + 1;
  }
}

/** The columns that occur, rising. */
export function usedColumns({ columnIndex }: SparseRows): Int32Array {
  const index = new IdIndex();
  for (let i = 0; i < columnIndex.length; i++) index.add(columnIndex[i] as number);
  return index.ids().slice().sort();
}

/**
 * The data set on the columns that occur alone, which `columnIds` then names by their ids as they were; the same data
 * set where all occur. What made the features or named them stays as it is.
 */
export function compactColumns(dataset: Dataset): Dataset {
  const { features, columnIds: before, featureNames } = dataset;
  const used = usedColumns(features);
  if (used.length === features.columns) return dataset;
  return {
    ...dataset,
    features: renumber(features, new IdIndex(used), used.length),
    columnIds: before ? used.map((column) => before[column] as number) : used,
    ...(featureNames && { featureNames: Array.from(used, (column) => featureNames[column] as string) }),
  };
}

/** Whether so few of its columns occur that working on those alone pays, and ids tell them apart (not names or words). */
export function isScattered({ features, featureNames, vectoriser }: Dataset): boolean {
  if (featureNames || vectoriser || features.columns <= 1024) return false;
  return 2 * usedColumns(features).length < features.columns;
}

/**
 * A data set in the columns of another (of a model): `columnIds` says which ids those are. Ids that are not among them
 * are left out. Without `columnIds` the data set as it is.
 */
export function mapColumns(dataset: Dataset, columnIds: Int32Array | undefined): Dataset {
  const { features, columnIds: before } = dataset;
  if (columnIds === undefined) return dataset;
  if (before && sameIds(before, columnIds)) return dataset;
  const index = new IdIndex(columnIds);
  return { ...dataset, features: renumber(features, index, columnIds.length, before), columnIds };
}

/** Rows of features, numbered by their own ids, in the columns that `columnIds` names. */
export function mapFeatures(features: SparseRows, columnIds: Int32Array): SparseRows {
  return renumber(features, new IdIndex(columnIds), columnIds.length);
}

function sameIds(a: Int32Array, b: Int32Array): boolean {
  return a === b || (a.length === b.length && a.every((id, i) => id === b[i]));
}

/** Columns by the numbers of their ids (`ids` says which they are, if not their own); what has none is left out. */
function renumber(features: SparseRows, index: IdIndex, columns: number, ids?: Int32Array): SparseRows {
  const { rows, rowStart, columnIndex, values } = features;
  const numbers = new Int32Array(columnIndex.length);
  let kept = 0;
  for (let i = 0; i < columnIndex.length; i++) {
    const column = columnIndex[i] as number;
    const number = index.find(ids ? (ids[column] as number) : column);
    numbers[i] = number;
    if (number >= 0) kept++;
  }
  if (kept === numbers.length) return { rows, columns, rowStart, columnIndex: numbers, values };
  const starts = new Int32Array(rows + 1);
  const keptColumns = new Int32Array(kept);
  const keptValues = new Float32Array(kept);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    for (let i = rowStart[row] as number; i < (rowStart[row + 1] as number); i++) {
      if ((numbers[i] as number) < 0) continue;
      keptColumns[at] = numbers[i] as number;
      keptValues[at++] = values[i] as number;
    }
    starts[row + 1] = at;
  }
  return { rows, columns, rowStart: starts, columnIndex: keptColumns, values: keptValues };
}

/** Where a number stands among rising ones, or -1. */
export function placeAmong(rising: Int32Array, wanted: number): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rising[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return rising[low] === wanted ? low : -1;
}

/** Finds columns of the rows among rising ones: by a table where the rows have as many entries, else one by one; a file may say any width. */
function placesIn(columns: Int32Array, rows: SparseRows): (column: number) => number {
  if (rows.columns > rows.columnIndex.length) return (column) => placeAmong(columns, column);
  const table = new Int32Array(rows.columns).fill(-1);
  columns.forEach((column, i) => {
    table[column] = i;
  });
  return (column) => table[column] as number;
}

/** The rows with only these columns, numbered by their places among them. */
export function keptColumns(rows: SparseRows, columns: Int32Array): SparseRows {
  if (columns.length === rows.columns) return rows;
  const place = placesIn(columns, rows);
  const rowStart = new Int32Array(rows.rows + 1);
  const columnIndex = new Int32Array(rows.columnIndex.length);
  const values = new Float32Array(columnIndex.length);
  let entries = 0;
  for (let i = 0; i < rows.rows; i++) {
    for (let e = rows.rowStart[i] as number; e < (rows.rowStart[i + 1] as number); e++) {
      const at = place(rows.columnIndex[e] as number);
      if (at < 0) continue;
      columnIndex[entries] = at;
      values[entries++] = rows.values[e] as number;
    }
    rowStart[i + 1] = entries;
  }
  return {
    rows: rows.rows,
    columns: columns.length,
    rowStart,
    columnIndex: columnIndex.subarray(0, entries),
    values: values.subarray(0, entries),
  };
}
