import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readDataset } from "../../../src/data/reader.ts";
import { mutated, neverCrashes, type PlainData, plain, plainData, refusal, sparseLine } from "../support.ts";

const options = { file: "train.svm" } as const;

function asSvmlight(data: PlainData): string {
  return data.rows.map((row) => `${sparseLine(row)} # a comment`).join("\n");
}

describe("svmlight", () => {
  test("comes back as it was written", async () => {
    await fc.assert(
      fc.asyncProperty(plainData, async (data) => {
        const read = await readDataset(asSvmlight(data), { ...options, columns: 40, labelCount: 7 });
        expect(plain(read)).toEqual(data);
      }),
    );
  });
  test("sizes are the largest ids", async () => {
    const { dataset, format } = await readDataset("# made by hand\n3,1 4:1 9:2\n2:1\n 5:1 # no label\n0\n", options);
    expect(format).toBe("svmlight");
    expect([dataset.features.rows, dataset.features.columns, dataset.labels.labels]).toEqual([4, 10, 4]);
    expect(Array.from(dataset.labels.rowStart)).toEqual([0, 2, 2, 2, 3]);
  });
  test("ids that begin at 1 leave an empty column before them", async () => {
    const { dataset } = await readDataset("1,3 1:1 4:2\n", options);
    expect(Array.from(dataset.features.columnIndex)).toEqual([1, 4]);
    expect(Array.from(dataset.labels.labelIndex)).toEqual([1, 3]);
    expect(await refusal("1 4:1\n", { ...options, columns: 3 })).toContain(
      "found feature id 4, expected a number from 0 to 2",
    );
    expect(await refusal("1 4:1 4:2\n", options)).toContain("found feature id 4 twice");
  });
  test("is refused in one sentence", async () => {
    expect(await refusal("1 2:1\n-1 2:1\n", options)).toBe(
      "train.svm, line 2: found label id -1, expected a number from 0 to 16777215",
    );
    expect(await refusal("1 2:1\n1 3:inf\n", options)).toContain("line 2: found value inf of feature 3");
    expect(await refusal("1 2:1\n1 3:1 999999999999:1\n", options)).toContain("found feature id 999999999999");
    expect(await refusal(" 2:1\n", options)).toContain("found no label in any of its 1 rows");
    expect(await refusal("# nothing\n", options)).toBe("train.svm: found no rows, expected at least one");
  });
  test("damaged files give a data set or one sentence", async () => {
    await fc.assert(
      fc.asyncProperty(mutated(plainData.map(asSvmlight)), (bytes) => neverCrashes(bytes, options)),
      { numRuns: 800 },
    );
  });
});
