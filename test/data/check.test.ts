import { describe, expect, test } from "vitest";
import { DataError } from "../../src/base/errors.ts";
import { checkDataset, type Dataset } from "../../src/data/dataset.ts";

const right: Dataset = {
  features: {
    rows: 2,
    columns: 4,
    rowStart: Int32Array.of(0, 2, 3),
    columnIndex: Int32Array.of(0, 3, 1),
    values: Float32Array.of(1, 2, 3),
  },
  labels: { rows: 2, labels: 3, rowStart: Int32Array.of(0, 0, 2), labelIndex: Int32Array.of(0, 2) },
  labelNames: ["a", "b"],
  ids: ["x", ""],
  lines: Int32Array.of(2, 3),
};

describe("a data set", () => {
  test("that is one", () => {
    expect(() => checkDataset(right)).not.toThrow();
  });
  const { features, labels } = right;
  const wrong: [name: string, dataset: Dataset, message: string][] = [
    [
      "rows",
      { ...right, labels: { ...labels, rows: 1, rowStart: Int32Array.of(0, 2) } },
      "the data set: found 2 rows of features and 1 rows of labels, expected as many of one as of the other",
    ],
    ["starts", { ...right, features: { ...features, rows: 3 } }, "found 3 row starts, expected 4 for 3 rows"],
    [
      "the first start",
      { ...right, features: { ...features, rowStart: Int32Array.of(1, 2, 3) } },
      "found a first row that starts at 1, expected 0",
    ],
    [
      "the end",
      { ...right, features: { ...features, rowStart: Int32Array.of(0, 2, 4) } },
      "found rows that end at 4, expected 3, the number of entries",
    ],
    [
      "inner starts",
      { ...right, features: { ...features, rowStart: Int32Array.of(0, 5, 3) } },
      "expected ids from 0 to 3 that rise within a row",
    ],
    [
      "falling starts",
      { ...right, labels: { ...labels, rows: 3, rowStart: Int32Array.of(0, 1, 0, 2) } },
      "found row 1 from 1 to 0, expected row starts that do not fall",
    ],
    [
      "order",
      { ...right, features: { ...features, columnIndex: Int32Array.of(3, 0, 1) } },
      "found feature 0 after 3 in row 0",
    ],
    [
      "size",
      { ...right, labels: { ...labels, labels: 2 } },
      "found label 2 after 0 in row 1, expected ids from 0 to 1 that rise within a row",
    ],
    [
      "values",
      { ...right, features: { ...features, values: Float32Array.of(1, Number.NaN, 3) } },
      "found value NaN of feature 3, expected a finite number",
    ],
    ["ids", { ...right, ids: ["x"] }, "found 1 ids of 2 rows, expected one each"],
    ["names", { ...right, labelNames: ["a", "b", "c", "d"] }, "found 4 names of 3 labels"],
    ["feature names", { ...right, featureNames: ["a"] }, "found 1 names of features of 4 columns"],
  ];
  for (const [name, dataset, message] of wrong) {
    test(`with wrong ${name}`, () => {
      expect(() => checkDataset(dataset)).toThrow(DataError);
      expect(() => checkDataset(dataset)).toThrow(message);
    });
  }
});
