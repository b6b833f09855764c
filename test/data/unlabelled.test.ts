// A row of which no label is true is a row; a row of which nothing is said is none, unless somebody says so.

import { describe, expect, test } from "vitest";
import { selectRows } from "../../src/data/dataset.ts";
import type { ReadOptions } from "../../src/data/options.ts";
import { readBatches, readDataset } from "../../src/data/reader.ts";
import { fitTransform, refuseLongRows } from "../../src/data/transform.ts";
import { plain, refusal, wordsAlone } from "./support.ts";

const file = "f.jsonl";
const LINES = [
  '{"features":[1,2],"labels":["a"]}',
  '{"features":[3,4],"labels":[]}',
  '{"features":[5,6]}',
  '{"features":[7,8],"labels":null}',
  '{"features":[9,0],"labels":""}',
].join("\n");

async function labelsOf(source: string, options: ReadOptions = {}): Promise<[number[][], number, number[]]> {
  const read = await readDataset(source, { file, tfidf: wordsAlone, ...options });
  const labels = plain(read).rows.map((row) => row.labels);
  return [labels, read.unlabelled, Array.from(read.dataset.unlabelled ?? [])];
}

describe("rows without labels", () => {
  test("are points where the labels are there and empty, and left out and counted where they are not", async () => {
    expect(await labelsOf(LINES)).toEqual([[[0], [], []], 2, []]);
    const { notes } = await readDataset(LINES, { file });
    expect(notes).toEqual(["f.jsonl: 2 rows without labels were left out (the first in line 3)"]);
  });
  test("are points without labels where that is asked for, and marked where nothing is said", async () => {
    const all = [[0], [], [], [], []];
    expect(await labelsOf(LINES, { unlabelled: "empty" })).toEqual([all, 0, []]);
    expect(await labelsOf(LINES, { requireLabels: false, unlabelled: "empty" })).toEqual([all, 0, []]);
    expect(await labelsOf(LINES, { requireLabels: false })).toEqual([all, 0, [0, 0, 1, 1, 0]]);
    expect(await labelsOf(LINES, { requireLabels: false, unlabelled: "skip" })).toEqual([[[0], [], []], 2, []]);
    const { dataset } = await readDataset(LINES, { file, requireLabels: false });
    expect(selectRows(dataset, [3, 0]).unlabelled).toEqual(Uint8Array.of(1, 0));
    expect(selectRows(dataset, [0, 1, 2, 3, 4])).toBe(dataset);
    let marks: number[] = [];
    for await (const batch of readBatches(LINES, { file })) {
      marks = [...marks, ...(batch.unlabelled ?? new Uint8Array(batch.features.rows))];
    }
    expect(marks).toEqual([0, 0, 1, 1, 0]);
  });
  test("in CSV: an empty cell and columns of zeros are labels, a missing column is none", async () => {
    const csv = { file: "f.csv" };
    expect(await labelsOf("x,labels\n1,a\n2,\n", csv)).toEqual([[[0], []], 0, []]);
    expect(await labelsOf("x,is_a\n1,1\n2,0\n", { ...csv, oneHot: "is_*" })).toEqual([[[0], []], 0, []]);
    expect(await labelsOf("x\n1\n2\n", { ...csv, requireLabels: false })).toEqual([[[], []], 0, [1, 1]]);
  });
  test("in formats that have a place for them in every row there are none", async () => {
    expect(await labelsOf("3 2 1\n0 1:1\n 0:2\n\n", { file: "f.xc" })).toEqual([[[0], [], []], 0, []]);
    expect(await labelsOf("0 1:1\n0:2\n", { format: "svmlight" })).toEqual([[[0], []], 0, []]);
    expect(await labelsOf("red\t<http://a>\nwine\t\n", { format: "annif" })).toEqual([[[0], []], 0, []]);
  });
  test("do not teach the vocabulary where they are left out", async () => {
    const rows = [{ text: "red wine", labels: ["a"] }, { text: "blue sea" }];
    const { dataset } = await readDataset(rows, { tfidf: wordsAlone });
    expect(dataset.vectoriser?.terms).toEqual(["red", "wine"]);
  });
  test("are all there are: the key that was looked for is named", async () => {
    expect(await refusal('{"features":[1],"tags":["a"]}\n{"features":[1]}', { file })).toBe(
      'f.jsonl, line 1: found keys "features, tags", expected "labels" with a list of labels (option labels names another key)',
    );
  });
});

describe("rows that a model cannot take", () => {
  const rows = ["0 0:1 1:2", "0 0:3e20", "0 1:-1e30 0:1", "0 1:1"].map((row) => `${row}\n`).join("");
  const options: ReadOptions = {
    ...{ file: "f.svm", format: "svmlight", columns: 2 },
    refuseRow: refuseLongRows(1e6, { normalise: false, columnWeights: Float32Array.of(1e-20, 1) }),
  };
  test("are refused with file and line, or left out one by one", async () => {
    expect(await refusal(rows, options)).toBe(
      "f.svm, line 3: found values too large for the model to compute with, expected a row of length 1000000 at most",
    );
    const { dataset, skipped } = await readDataset(rows, { ...options, lenient: true });
    expect(Array.from(dataset.lines ?? [])).toEqual([1, 2, 4]);
    expect(skipped.byReason).toEqual({ "too large for the model": 1 });
  });
  test("are few where rows are scaled to unit length", async () => {
    const { dataset } = await readDataset(rows, { file: "f.svm", format: "svmlight" });
    const { normalise } = fitTransform(dataset.features, false, true);
    const read = await readDataset(rows, { ...options, refuseRow: refuseLongRows(1e6, { normalise }) });
    expect(read.dataset.features.rows).toBe(4);
  });
  test("are rows of all columns with another number of them", async () => {
    const list = '{"features":[1,2],"labels":[0]}\n{"features":[1,2,3],"labels":[0]}\n';
    expect(await refusal(list, { file })).toBe("f.jsonl, line 2: found 3 values, expected 2, one for each feature");
    expect(await refusal(list, { file, columns: 3 })).toContain("line 1: found 2 values, expected 3");
    const { dataset } = await readDataset(list, { file, lenient: true });
    expect(dataset.features.rows).toBe(1);
  });
});
