// What is kept of each row beside its text: as it is, for rows of every kind that have keys or columns.

import { describe, expect, test } from "vitest";
import { selectRows } from "../../src/data/dataset.ts";
import { readBatches, readDataset } from "../../src/data/reader.ts";
import { wordsAlone } from "./support.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("what is kept of a row", () => {
  test("of JSON is its text, or JSON where it is none", async () => {
    const rows = [
      { text: "a cat", labels: ["x"], title: "One", meta: { year: 7 } },
      { text: "a dog", labels: ["x"], meta: { year: null } },
    ];
    const text = rows.map((row) => JSON.stringify(row)).join("\n");
    const keep = ["title", "meta", "meta.year", "text"];
    const { dataset } = await readDataset(bytes(text), { format: "jsonl", keep, tfidf: wordsAlone });
    expect(dataset.kept).toEqual([
      ["One", '{"year":7}', "7", "a cat"],
      ["", '{"year":null}', "", "a dog"],
    ]);
    expect(selectRows(dataset, [1]).kept).toEqual([["", '{"year":null}', "", "a dog"]]);
    expect((await readDataset(bytes(text), { format: "jsonl" })).dataset.kept).toBeUndefined();
  });

  test("of CSV is its cell, and no feature unless the model has it", async () => {
    const csv = 'note,size,labels\n"a, b",1,x\n\nc,2,y\n';
    const { dataset } = await readDataset(bytes(csv), { format: "csv", keep: ["Note"] });
    expect(dataset.kept).toEqual([["a, b"], ["c"]]);
    expect(dataset.featureNames).toEqual(["size"]);
    const known = { format: "csv", keep: ["size"], featureNames: ["size"] } as const;
    const again = (await readDataset(bytes("size,labels\n3,x\n"), known)).dataset;
    expect([again.kept, Array.from(again.features.values)]).toEqual([[["3"]], [3]]);
    await expect(readDataset(bytes(csv), { format: "csv", keep: ["title"] })).rejects.toThrow('a column "title"');
  });

  test("goes with its batch, and rows that were left out have none", async () => {
    const lines = ["a,x,1", "b,x,one", "c,x,2"].join("\n");
    const options = { format: "csv", keep: ["note"], lenient: true } as const;
    const batches = readBatches(bytes(`note,labels,size\n${lines}\n`), options);
    const kept: string[] = [];
    for await (const batch of batches) kept.push(...(batch.kept ?? []).flat());
    expect(kept).toEqual(["a", "c"]);
  });
});
