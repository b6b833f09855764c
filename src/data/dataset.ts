// A data set, which every reader returns and training takes: sparse rows of features, and for each row a set of labels.

import { ArgumentError, DataError } from "../base/errors.ts";
import { hashInteger } from "../base/hash.ts";
import {
  type LabelSets,
  renumber,
  type SparseRows,
  sameIds,
  selectFeatures,
  selectLabels,
  usedColumns,
} from "../base/sparse.ts";
import type { TfidfVectoriser } from "./tfidf.ts";

/** Where a data set comes from. */
export interface DatasetSource {
  readonly file: string;
  readonly format: string;
}

/** Keys or columns of a file, by name. */
export interface DataKeys {
  readonly text?: readonly string[];
  readonly labels?: readonly string[];
  readonly oneHot?: readonly string[];
  readonly id?: string;
  /** Keys of the front matter of notes that hold the labels. */
  readonly notes?: readonly string[];
}

/** Points with their features and labels. */
export interface Dataset {
  readonly features: SparseRows;
  readonly labels: LabelSets;
  /** Name of each label id, when the file has names. */
  readonly labelNames?: readonly string[];
  /** Name of each column, when the file has names. */
  readonly featureNames?: readonly string[];
  /** The vectoriser that made the features, when the file has texts. */
  readonly vectoriser?: TfidfVectoriser;
  /** Id of each column as the file has it, rising, where only columns that occur (or that a model has) were kept. */
  readonly columnIds?: Int32Array;
  /** Id of each row, when the file has ids; "" for a row without one. */
  readonly ids?: readonly string[];
  /** Line of the file where each row begins, from 1. */
  readonly lines?: Int32Array;
  /** The content of the keys or columns to keep, of each row. */
  readonly kept?: readonly (readonly string[])[];
  /** Part of the words (or features) of each row that the model has, where the data were read for one. */
  readonly coverage?: Float32Array;
  /** 1 for each row of which nothing says which labels it has, not even that it has none; absent where there is no such row. */
  readonly unlabelled?: Uint8Array;
  readonly source?: DatasetSource;
  /** The keys or columns that were asked for by name, now or for the model that the data are read for. */
  readonly keys?: DataKeys;
}

/** The chosen rows, in the order given, with their ids and lines; names and vectoriser are kept. All rows in order are no copy. */
export function selectRows(dataset: Dataset, rows: ArrayLike<number>): Dataset {
  const { features, labels, ids, lines, kept, coverage, unlabelled } = dataset;
  let same = rows.length === features.rows;
  for (let i = 0; same && i < rows.length; i++) same = rows[i] === i;
  if (same) return dataset;
  return {
    ...dataset,
    features: selectFeatures(features, rows),
    labels: selectLabels(labels, rows),
    ...(ids && { ids: Array.from(rows, (row) => ids[row]) }),
    ...(lines && { lines: Int32Array.from(rows, (row) => lines[row]) }),
    ...(coverage && { coverage: Float32Array.from(rows, (row) => coverage[row]) }),
    ...(kept && { kept: Array.from(rows, (row) => kept[row]) }),
    ...(unlabelled && { unlabelled: Uint8Array.from(rows, (row) => unlabelled[row]) }),
  };
}

/** The rows of which it is known which labels they have; an empty set is known too. */
export function labelledPart(dataset: Dataset): Dataset {
  const { unlabelled, features } = dataset;
  if (!unlabelled) return dataset;
  const rows = Array.from({ length: features.rows }, (_, row) => row);
  return selectRows(
    dataset,
    rows.filter((row) => unlabelled[row] === 0),
  );
}

/** Numbers of the rows on either side of a split. */
export interface RowSplit {
  readonly kept: Int32Array; // rising
  readonly held: Int32Array; // rising
}

/** Holds out exactly round(fraction rows) rows, chosen by the seed. */
export function splitRows(rows: number, fraction: number, seed = 0): RowSplit {
  if (!(fraction >= 0 && fraction <= 1))
    throw new ArgumentError("fraction", `found ${fraction}, expected a number from 0 to 1`);
  const count = Math.floor(fraction * rows + 0.5);
  const hashes = Uint32Array.from({ length: rows }, (_, row) => hashInteger(row, seed));
  const order = Int32Array.from({ length: rows }, (_, row) => row);
  order.sort((a, b) => hashes[a] - hashes[b] || a - b);
  return { kept: order.slice(count).sort(), held: order.slice(0, count).sort() };
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
    features: renumber(features, used),
    columnIds: before ? used.map((column) => before[column]) : used,
    ...(featureNames && { featureNames: Array.from(used, (column) => featureNames[column]) }),
  };
}

/** So few of its columns occur that working on those alone pays, and ids tell them apart (not names or words). */
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
  return { ...dataset, features: renumber(features, columnIds, before), columnIds };
}

/** A data set with its labels numbered as these names are; others come after them. */
export function labelsByName(dataset: Dataset, names: readonly string[]): Dataset {
  const { labels, labelNames } = dataset;
  const numbers = new Map(names.map((name, i) => [name, i]));
  const numberOf = (label: number): number => {
    const name = labelNames?.[label] ?? String(label);
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, numbers.size);
    return numbers.size - 1;
  };
  const labelIndex = new Int32Array(labels.labelIndex.length);
  for (let row = 0; row < labels.rows; row++) {
    const [from, to] = [labels.rowStart[row], labels.rowStart[row + 1]];
    labelIndex.set(labels.labelIndex.subarray(from, to).map(numberOf).sort(), from);
  }
  return {
    ...dataset,
    labels: { ...labels, labels: numbers.size, labelIndex },
    labelNames: [...numbers.keys()],
  };
}

/** Refuses a data set that is not one, with what was found and what was expected. */
export function checkDataset(dataset: Dataset): void {
  const { features, labels, labelNames, featureNames, columnIds, ids, lines, unlabelled } = dataset;
  const { file = "the data set" } = dataset.source ?? {};
  const demand: Demand = (right, found, expected) => {
    if (!right) throw new DataError({ file, line: 0, found, expected });
  };
  const { columnIndex, values } = features;
  checkRows(features.rows, features.rowStart, columnIndex, features.columns, "feature", demand);
  demand(
    columnIndex.length === values.length,
    `${columnIndex.length} columns with ${values.length} values`,
    "as many of one as of the other",
  );
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  demand(wrong < 0, `value ${values[wrong]} of feature ${columnIndex[wrong]}`, "a finite number");
  checkRows(labels.rows, labels.rowStart, labels.labelIndex, labels.labels, "label", demand);
  demand(
    features.rows === labels.rows,
    `${features.rows} rows of features and ${labels.rows} rows of labels`,
    "as many of one as of the other",
  );
  const sizes: [what: string, length: number | undefined, of: string, expected: number][] = [
    ["ids", ids?.length, "rows", features.rows],
    ["lines", lines?.length, "rows", features.rows],
    ["marks for unlabelled rows", unlabelled?.length, "rows", features.rows],
    ["ids of features", columnIds?.length, "columns", features.columns],
    ["names of features", featureNames?.length, "columns", features.columns],
  ];
  for (const [what, length, of, expected] of sizes)
    demand(length === undefined || length === expected, `${length} ${what} of ${expected} ${of}`, "one each");
  const fall = columnIds?.findIndex((id, i) => i > 0 && id <= columnIds[i - 1]) ?? -1;
  demand(fall < 0, `feature id ${columnIds?.[fall]} after ${columnIds?.[fall - 1]}`, "ids that rise");
  demand(
    (labelNames?.length ?? 0) <= labels.labels,
    `${labelNames?.length} names of ${labels.labels} labels`,
    "at most one each",
  );
}

type Demand = (right: boolean, found: string, expected: string) => void;

/** Compressed rows: starts that do not fall, ids that rise within a row and lie below `size`. */
function checkRows(
  rows: number,
  rowStart: Int32Array,
  index: Int32Array,
  size: number,
  what: "feature" | "label",
  demand: Demand,
): void {
  demand(Number.isInteger(rows) && rows >= 0, `${rows} rows`, "a whole number");
  demand(rowStart.length === rows + 1, `${rowStart.length} row starts`, `${rows + 1} for ${rows} rows`);
  demand(rowStart[0] === 0, `a first row that starts at ${rowStart[0]}`, "0");
  const last = rowStart[rows];
  demand(last === index.length, `rows that end at ${last}`, `${index.length}, the number of entries`);
  for (let row = 0; row < rows; row++) {
    const [from, to] = [rowStart[row], rowStart[row + 1]];
    if (from > to) demand(false, `row ${row} from ${from} to ${to}`, "row starts that do not fall");
    let before = -1;
    for (let i = from; i < to; i++) {
      const id = index[i];
      if (!(id > before && id < size)) {
        const expected = `ids from 0 to ${size - 1} that rise within a row`;
        demand(false, `${what} ${id} after ${before} in row ${row}`, expected);
      }
      before = id;
    }
  }
}
