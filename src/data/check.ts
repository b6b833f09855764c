// Whether a data set is one: readers make no others, but a data set may come from anywhere.

import type { Dataset, LabelSets, SparseRows } from "./dataset.ts";
import { DataError } from "./errors.ts";

/** Refuses a data set that is not one, with what was found and what was expected. */
export function checkDataset(dataset: Dataset): void {
  const { features, labels, labelNames, featureNames, columnIds, ids, lines } = dataset;
  const demand = demands(dataset.source?.file ?? "the data set");
  checkFeatures(features, demand);
  checkLabels(labels, demand);
  demand(
    features.rows === labels.rows,
    `${features.rows} rows of features and ${labels.rows} rows of labels`,
    "as many of one as of the other",
  );
  const sizes: [what: string, length: number | undefined, of: string, expected: number][] = [
    ["ids", ids?.length, "rows", features.rows],
    ["lines", lines?.length, "rows", features.rows],
    ["ids of features", columnIds?.length, "columns", features.columns],
    ["names of features", featureNames?.length, "columns", features.columns],
  ];
  for (const [what, length, of, expected] of sizes) {
    demand(length === undefined || length === expected, `${length} ${what} of ${expected} ${of}`, "one each");
  }
  const fall = columnIds?.findIndex((id, i) => i > 0 && id <= (columnIds[i - 1] as number)) ?? -1;
  demand(fall < 0, `feature id ${columnIds?.[fall]} after ${columnIds?.[fall - 1]}`, "ids that rise");
  demand(
    (labelNames?.length ?? 0) <= labels.labels,
    `${labelNames?.length} names of ${labels.labels} labels`,
    "at most one each",
  );
}

type Demand = (right: boolean, found: string, expected: string) => void;

function demands(file: string): Demand {
  return (right, found, expected) => {
    if (!right) throw new DataError({ file, line: 0, found, expected });
  };
}

export function checkFeatures(features: SparseRows, demand: Demand = demands("the features")): void {
  const { columns, rowStart, columnIndex, values } = features;
  checkRows(features.rows, rowStart, columnIndex, columns, "feature", demand);
  demand(
    columnIndex.length === values.length,
    `${columnIndex.length} columns with ${values.length} values`,
    "as many of one as of the other",
  );
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  demand(wrong < 0, `value ${values[wrong]} of feature ${columnIndex[wrong]}`, "a finite number");
}

function checkLabels({ rows, labels, rowStart, labelIndex }: LabelSets, demand: Demand): void {
  checkRows(rows, rowStart, labelIndex, labels, "label", demand);
}

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
  const last = rowStart[rows] as number;
  demand(last === index.length, `rows that end at ${last}`, `${index.length}, the number of entries`);
  for (let row = 0; row < rows; row++) {
    const [from, to] = [rowStart[row] as number, rowStart[row + 1] as number];
    if (from > to) demand(false, `row ${row} from ${from} to ${to}`, "row starts that do not fall");
    let before = -1;
    for (let i = from; i < to; i++) {
      const id = index[i] as number;
      if (!(id > before && id < size)) {
        const expected = `ids from 0 to ${size - 1} that rise within a row`;
        demand(false, `${what} ${id} after ${before} in row ${row}`, expected);
      }
      before = id;
    }
  }
}
