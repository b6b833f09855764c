// What every reader returns and training takes: sparse rows of features, and for each row a set of labels.

import { hashInteger, hashText } from "./hash.ts";
import { type LabelSets, type SparseRows, selectFeatures, selectLabels } from "./rows.ts";
import type { TfidfVectoriser } from "./tfidf.ts";

export {
  documentFrequencies,
  type LabelSets,
  labelFrequencies,
  rowsWithLabels,
  type SparseRows,
  selectFeatures,
  selectLabels,
} from "./rows.ts";

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
  /** Of each row what stood under the keys or columns to keep. */
  readonly kept?: readonly (readonly string[])[];
  /** Part of the words (or features) of each row that the model has, where the data were read for one. */
  readonly known?: Float32Array;
  /** Of each row the words as written, by their stems; where they were asked for and terms are not just these. */
  readonly written?: readonly (ReadonlyMap<string, string> | undefined)[];
  readonly source?: DatasetSource;
}

/** The chosen rows, in the order given, with their ids and lines; names and vectoriser are kept. */
export function selectRows(dataset: Dataset, rows: ArrayLike<number>): Dataset {
  const { ids, lines, kept, known, written } = dataset;
  return {
    ...dataset,
    features: selectFeatures(dataset.features, rows),
    labels: selectLabels(dataset.labels, rows),
    ...(ids && { ids: Array.from(rows, (row) => ids[row] as string) }),
    ...(lines && { lines: Int32Array.from(rows, (row) => lines[row] as number) }),
    ...(known && { known: Float32Array.from(rows, (row) => known[row] as number) }),
    ...(written && { written: Array.from(rows, (row) => written[row]) }),
    ...(kept && { kept: Array.from(rows, (row) => kept[row] as readonly string[]) }),
  };
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
