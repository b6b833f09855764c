import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashInteger, hashText } from "../../src/base/hash.ts";
import { documentFrequencies, labelFrequencies, rowsWithLabels } from "../../src/base/sparse.ts";
import { LabelSetsBuilder, SparseRowsBuilder } from "../../src/data/builders.ts";
import { type Dataset, selectRows, splitRows } from "../../src/data/dataset.ts";

const SEED_1 = [1, 3, 9, 13, 17];
const HASH_12345 = 2679938182;
const HASH_TEXT = 1632791907;

function example(): Dataset {
  const features = new SparseRowsBuilder();
  const labels = new LabelSetsBuilder();
  const rows: [[number, number][], number[]][] = [
    [
      [
        [0, 1],
        [3, 2],
      ],
      [1],
    ],
    [[], [0, 2]],
    [[[2, 5]], []],
    [
      [
        [1, 7],
        [2, 8],
        [3, 9],
      ],
      [1, 2],
    ],
  ];
  for (const [entries, ids] of rows) {
    for (const [column, value] of entries) features.add(column, value);
    for (const id of ids) labels.add(id);
    features.endRow();
    labels.endRow();
  }
  return { features: features.build(5), labels: labels.build(4), labelNames: ["a", "b", "c", "d"] };
}

describe("builders", () => {
  test("sort a row that is not sorted, and leave out zeros", () => {
    const builder = new SparseRowsBuilder();
    builder.add(9, 1);
    builder.add(2, 0);
    builder.add(4, -3);
    expect(builder.pending).toBe(3);
    expect(builder.endRow()).toBe(-1);
    const rows = builder.build();
    expect(Array.from(rows.columnIndex)).toEqual([4, 9]);
    expect(Array.from(rows.values)).toEqual([-3, 1]);
    expect(rows.columns).toBe(10);
  });
  test("name a column that comes twice, also when one value is zero", () => {
    const builder = new SparseRowsBuilder();
    builder.add(5, 1);
    builder.add(3, 1);
    builder.add(5, 0);
    expect(builder.endRow()).toBe(5);
    builder.abandonRow();
    expect(builder.build(8)).toEqual({
      rows: 0,
      columns: 8,
      rowStart: Int32Array.of(0),
      columnIndex: new Int32Array(0),
      values: new Float32Array(0),
    });
  });
  test("take labels as a set", () => {
    const builder = new LabelSetsBuilder();
    for (const label of [4, 1, 4, 4, 0]) builder.add(label);
    builder.endRow();
    builder.add(3);
    builder.abandonRow();
    builder.endRow();
    const sets = builder.build();
    expect(Array.from(sets.labelIndex)).toEqual([0, 1, 4]);
    expect(Array.from(sets.rowStart)).toEqual([0, 3, 3]);
    expect(sets.labels).toBe(5);
  });
  test("hold more entries than they started with room for", () => {
    const builder = new SparseRowsBuilder();
    for (let i = 0; i < 5000; i++) builder.add(i, i + 1);
    builder.endRow();
    const { columnIndex, values } = builder.build();
    expect(columnIndex.every((column, i) => column === i)).toBe(true);
    expect(values.every((value, i) => value === i + 1)).toBe(true);
  });
});

describe("rows", () => {
  test("are selected in the order asked for", () => {
    const { features, labels, labelNames } = selectRows(example(), [3, 0, 3]);
    expect(Array.from(features.rowStart)).toEqual([0, 3, 5, 8]);
    expect(Array.from(features.columnIndex)).toEqual([1, 2, 3, 0, 3, 1, 2, 3]);
    expect(Array.from(features.values)).toEqual([7, 8, 9, 1, 2, 7, 8, 9]);
    expect(Array.from(labels.labelIndex)).toEqual([1, 2, 1, 1, 2]);
    expect(features.columns).toBe(5);
    expect(labelNames).toEqual(["a", "b", "c", "d"]);
    expect(() => selectRows(example(), [4])).toThrow("found row 4, expected a number from 0 to 3");
  });
  test("that have labels, and frequencies", () => {
    expect(Array.from(rowsWithLabels(example().labels))).toEqual([0, 1, 3]);
    expect(Array.from(labelFrequencies(example().labels))).toEqual([1, 2, 2, 0]);
    expect(Array.from(documentFrequencies(example().features))).toEqual([1, 1, 2, 2, 0]);
  });
});

describe("splits", () => {
  test("hold out exactly the fraction, each row on one side", () => {
    fc.assert(
      fc.property(fc.nat(300), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (rows, fraction, seed) => {
        const { kept, held } = splitRows(rows, fraction, seed);
        expect(held.length).toBe(Math.floor(fraction * rows + 0.5));
        const all = [...kept, ...held].sort((a, b) => a - b);
        expect(all).toEqual(Array.from({ length: rows }, (_, row) => row));
      }),
    );
  });
  test("are the same on every run and differ by seed", () => {
    expect(Array.from(splitRows(20, 0.25, 1).held)).toEqual(SEED_1);
    expect(Array.from(splitRows(20, 0.25, 2).held)).not.toEqual(SEED_1);
    expect(hashInteger(12345)).toBe(HASH_12345);
    expect(hashText("entity, n. 1")).toBe(HASH_TEXT);
    expect(() => splitRows(10, 1.5)).toThrow("fraction: found 1.5, expected a number from 0 to 1");
  });
});
