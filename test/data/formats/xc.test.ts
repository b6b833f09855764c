import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readDataset } from "../../../src/data/reader.ts";
import {
  asXc,
  dataWithEmptyRows,
  gzip,
  mutated,
  neverCrashes,
  plain,
  plainData,
  refusal,
  sparseLine,
} from "../support.ts";

const options = { file: "train.txt" } as const;

async function refusedRow(row: string): Promise<string> {
  return refusal(`2 5000 10\n0 1:1\n${row}\n`, options);
}

describe("XC text", () => {
  test("comes back as it was written", async () => {
    await fc.assert(
      fc.asyncProperty(dataWithEmptyRows, fc.boolean(), async (data, packed) => {
        const text = asXc(data);
        expect(plain(await readDataset(packed ? await gzip(text) : text, options))).toEqual(data);
      }),
    );
  });
  test("small example, with a row without labels, tabs, and no line end", async () => {
    const { dataset, format } = await readDataset("3 6 4\n1,3 0:1.5\t5:-2e-3\n 2:7\r\n0", options);
    expect(format).toBe("xc");
    expect(Array.from(dataset.features.rowStart)).toEqual([0, 2, 3, 3]);
    expect(Array.from(dataset.features.columnIndex)).toEqual([0, 5, 2]);
    expect(Array.from(dataset.features.values)).toEqual([1.5, Math.fround(-2e-3), 7]);
    expect(Array.from(dataset.labels.labelIndex)).toEqual([1, 3, 0]);
    expect([dataset.features.columns, dataset.labels.labels]).toEqual([6, 4]);
    expect(dataset.source).toEqual({ file: "train.txt", format: "xc" });
  });
  test("features that are not sorted are sorted; labels given twice count once", async () => {
    const { dataset } = await readDataset("1 9 9\n5,2,5 7:1 3:2 8:0\n", options);
    expect(Array.from(dataset.features.columnIndex)).toEqual([3, 7]);
    expect(Array.from(dataset.features.values)).toEqual([2, 1]);
    expect(Array.from(dataset.labels.labelIndex)).toEqual([2, 5]);
  });
  test("blank lines at the end are rows if the header counts them, and no rows beyond that", async () => {
    expect((await readDataset("1 2 2\n1 1:1\n\n \n\n", options)).dataset.features.rows).toBe(1);
    const { dataset, notes, emptyRows } = await readDataset("3 2 2\n1 1:1\n\n \n\n", options);
    expect(dataset.features.rows).toBe(3);
    expect(emptyRows).toBe(2);
    expect(notes).toEqual(["train.txt: 2 rows have no features (the first in line 3)"]);
  });
  test("a row with neither labels nor features is a row, and it is said", async () => {
    const { dataset, notes } = await readDataset("3 9 9\n1 1:1\n\n2 2:1\n", options);
    expect(Array.from(dataset.features.rowStart)).toEqual([0, 1, 1, 2]);
    expect(Array.from(dataset.labels.rowStart)).toEqual([0, 1, 1, 2]);
    expect(Array.from(dataset.lines ?? [])).toEqual([2, 3, 4]);
    expect(notes).toEqual(["train.txt: 1 row has no features (line 3)"]);
    expect(await refusal("2 9 9\n1 1:1\n\n2 2:1\n", options)).toContain("found 3 rows, expected the 2 rows");
  });
});

describe("a broken XC file is refused in one sentence:", () => {
  test("ids out of range or negative", async () => {
    const expected = "expected a number from 0 to 4999";
    expect(await refusedRow("1 5001:1")).toBe(`train.txt, line 3: found feature id 5001, ${expected}`);
    expect(await refusedRow("1 5000:1")).toBe(`train.txt, line 3: found feature id 5000, ${expected}`);
    expect(await refusedRow("1 -3:1")).toBe(`train.txt, line 3: found feature id -3, ${expected}`);
    expect(await refusedRow("1 99999999999999999999:1")).toContain(expected);
    expect(await refusedRow("10 3:1")).toBe("train.txt, line 3: found label id 10, expected a number from 0 to 9");
    expect(await refusedRow("-1,2 3:1")).toBe("train.txt, line 3: found label id -1, expected a number from 0 to 9");
  });
  test("what is not a finite number", async () => {
    for (const value of ["nan", "NaN", "inf", "-Infinity", "abc", "1.2.3"]) {
      expect(await refusedRow(`1 7:${value}`)).toBe(
        `train.txt, line 3: found value ${value} of feature 7, expected a finite number`,
      );
    }
    expect(await refusedRow("1 7:1e400")).toContain("found value 1e400 of feature 7, expected a finite number");
    expect(await refusedRow("1 7:1e39")).toContain("found value 1e39 of feature 7, expected at most 3.4e38");
    expect(await refusedRow("1 7:")).toContain('found value "" of feature 7');
  });
  test("what is not a feature or a label", async () => {
    expect(await refusedRow("1 7")).toBe("train.txt, line 3: found 7, expected a feature as id:value");
    expect(await refusedRow("1 x:2")).toBe('train.txt, line 3: found "x:2", expected a feature as id:value');
    expect(await refusedRow("1,,2 3:1")).toContain('found label "", expected label ids as whole numbers');
    expect(await refusedRow("sports 3:1")).toContain("found label sports, expected label ids as whole numbers");
    expect(await refusedRow("1.5 3:1")).toContain("found label 1.5");
    expect(await refusedRow("1, 3:1")).toContain('found label ""');
    expect(await refusedRow(`1 ${"y".repeat(500)}`)).toContain(`found "${"y".repeat(40)}..."`);
  });
  test("duplicate features", async () => {
    expect(await refusedRow("1 4:1 7:1 4:2")).toBe(
      "train.txt, line 3: found feature id 4 twice, expected each feature once in a row",
    );
  });
  test("wrong counts", async () => {
    expect(await refusal("3 9 9\n1 1:1\n2 2:1\n", options)).toBe(
      "train.txt: found 2 rows, expected the 3 rows of its header",
    );
    expect(await refusal("1 9 9\n1 1:1\n2 2:1\n", options)).toBe(
      "train.txt: found 2 rows, expected the 1 rows of its header",
    );
    expect(await refusal("1 9 9\n1 1:1\n", { ...options, columns: 8 })).toBe(
      "train.txt, line 1: found 9 features, expected 8 features",
    );
    expect(await refusal("1 9 9\n1 1:1\n", { ...options, labelCount: 7 })).toContain(
      "found 9 labels, expected 7 labels",
    );
    expect(await refusal("1 999999999999 9\n1 1:1\n", options)).toContain(
      "found 999999999999 features, expected at most",
    );
  });
  test("a missing or broken header", async () => {
    expect(await refusal("1,2 3:0.5 4:1\n2 1:1\n", options)).toBe(
      'train.txt, line 1: found "1,2 3:0.5 4:1", expected a header of three numbers, rows features labels (a file without one is format svmlight)',
    );
    expect(await refusal("3 4\n", options)).toContain('found "3 4", expected a header of three numbers');
    expect(await refusal("3 4 5 6\n", options)).toContain("expected a header");
    expect(await refusal("3 -4 5\n", options)).toContain("expected a header");
    expect(await refusal("3 4.5 5\n", { ...options, format: "xc" })).toContain("expected a header");
    expect(await refusal("hello\n", { ...options, format: "xc" })).toContain('found "hello", expected a header');
  });
  test("nothing in it, or no label at all", async () => {
    expect(await refusal("", options)).toBe("train.txt: found an empty file, expected rows of data");
    expect(await refusal("0 4 5\n", options)).toBe("train.txt: found no rows, expected at least one");
    expect(await refusal("2 4 5\n 1:1\n 2:1\n", options)).toBe(
      "train.txt: found no label in any of its 2 rows, expected at least one row with labels",
    );
    expect((await readDataset("1 4 5\n 1:1\n", { ...options, requireLabels: false })).dataset.labels.labels).toBe(5);
  });
  test("binary data", async () => {
    expect(await refusal("2 4 5\n1 1:1\n2 \0:1\n", options)).toBe(
      "train.txt, line 3: found binary data (a zero byte), expected UTF-8 text",
    );
    expect(await refusal((await gzip("1 4 5\n1 1:1\n")).subarray(0, 20), options)).toContain(
      "gzip data that is damaged",
    );
    expect(await refusal(Uint8Array.of(...new TextEncoder().encode("1 4 5\n1 1:"), 0xff, 10), options)).toContain(
      "line 2",
    );
  });
});

describe("damaged XC files", () => {
  test("give a data set or one sentence", async () => {
    await fc.assert(
      fc.asyncProperty(mutated(plainData.map(asXc)), (bytes) => neverCrashes(bytes, options)),
      { numRuns: 1500 },
    );
  });
  test("read leniently lose the broken rows and no others", async () => {
    const broken = fc.constantFrom("1 41:1", "9 1:1", "1 1:nan", "1 2:1 2:1", "x 1:1", "1 5");
    await fc.assert(
      fc.asyncProperty(plainData, fc.array(fc.tuple(fc.nat(), broken), { maxLength: 5 }), async (data, additions) => {
        const lines = data.rows.map(sparseLine);
        for (const [at, line] of additions) lines.splice(at % (lines.length + 1), 0, line);
        const text = `${lines.length} 40 7\n${lines.join("\n")}`;
        const result = await readDataset(text, { ...options, lenient: true });
        expect(plain(result)).toEqual(data);
        expect(result.skipped.total).toBe(additions.length);
        expect(result.notes.filter((note) => note.includes("header"))).toEqual([]);
      }),
    );
  });
});
