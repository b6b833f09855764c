// What the page's workers compute, without a browser around them: what is typed.

import { describe, expect, test } from "vitest";
import { typedReader } from "../../site/worker/typed.ts";
import { isMarked } from "../../src/base/text.ts";
import { type Dataset, readDataset } from "../../src/data/index.ts";
import { train } from "../../src/train/train.ts";

const TEXTS = [
  ["a wild cat of the mountains", "animal"],
  ["a small wild bird", "animal"],
  ["a tall tree of the mountains", "plant"],
  ["a small tree with red flowers", "plant"],
  ["a large wild dog", "animal"],
  ["red flowers of a small plant", "plant"],
];

const jsonl = (rows: object[]): string => rows.map((row) => JSON.stringify(row)).join("\n");
const read = async (text: string): Promise<Dataset> => (await readDataset(text)).dataset;
const texts = (): Promise<Dataset> => read(jsonl(TEXTS.map(([text, label]) => ({ text, labels: [label] }))));

const SMALL = { threads: 1, epochs: 40, factors: 4 };

describe("what is typed", () => {
  test("words that the model has never seen are named once", async () => {
    const model = await train(await texts(), { ...SMALL, model: "svgp" });
    const reader = typedReader(model.schema);
    const text = "A wild zebra, a ZEBRA of the savannah";
    const { features, unknown } = reader.read(text);
    // Runs of characters are shown as the word they come from.
    expect(features.texts).toEqual([text]);
    expect(unknown).toEqual(["zebra", "savannah"]);
    expect(features.rows).toBe(1);
    const words = Array.from(features.columnIndex, (column) => model.schema.vectoriser?.terms[column] as string);
    expect(words.filter((word) => !isMarked(word))).toEqual(["a", "of", "the", "wild"]);
  });

  test("features by name: pairs parted by commas, a lone name counts 1", async () => {
    const rows = [
      { features: { "leg count": 4, wings: 1 }, labels: ["a"] },
      { features: { wings: 2, size: 3 }, labels: ["b"] },
    ];
    const model = await train(await read(jsonl(rows)), SMALL);
    const reader = typedReader(model.schema);
    expect(reader.input).toBe("names");
    expect(reader.example).toBe(`${model.schema.featureNames?.map((name) => `${name}:1`).join(", ")}`);
    const { features, unknown } = reader.read("leg count: 4, wings,tail:2\nsize:x");
    expect(Array.from(features.columnIndex, (column) => model.schema.featureNames?.[column])).toEqual([
      "leg count",
      "wings",
    ]);
    expect([...features.values]).toEqual([4, 1]);
    expect(unknown).toEqual(["tail:2", "size:x"]);
  });

  test("features by number: rising, the last of equal ones counts, others are named", async () => {
    const model = await train(await read("2 5 2\n0 0:1 2:1\n1 1:1 4:2\n"), SMALL);
    const reader = typedReader(model.schema);
    expect(reader.input).toBe("numbers");
    const { features, unknown } = reader.read("4:2 0:1 4:3 5:1 -1:2 1.5:1 2:0 :3");
    expect([...features.columnIndex]).toEqual([0, 4]);
    expect([...features.values]).toEqual([1, 3]);
    expect(unknown).toEqual(["5:1", "-1:2", "1.5:1", ":3"]);
  });
});
