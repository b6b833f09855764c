import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReadOptions } from "../../../src/data/options.ts";
import { readDataset } from "../../../src/data/reader.ts";
import { TfidfVectoriser } from "../../../src/data/tfidf.ts";
import { gzip, mutated, neverCrashes, type PlainData, type PlainRow, plain, refusal } from "../support.ts";
import * as files from "./numpyfiles.ts";

const options = { file: "train.npz" } as const;

const X: PlainRow["features"][] = [
  [[1, 1.5]],
  [
    [0, -2],
    [2, 3],
  ],
];

async function read(bytes: Uint8Array, more: ReadOptions = {}): Promise<PlainData & { names?: unknown }> {
  const result = await readDataset(bytes, { ...options, ...more });
  const { labelNames, ids } = result.dataset;
  expect(result.format).toBe("numpy");
  return { ...plain(result), ...(labelNames && { names: labelNames }), ...(ids && { ids }) };
}

const rows = (...labels: number[][]): PlainRow[] =>
  labels.map((own, i) => ({ labels: own, features: X[i] as PlainRow["features"] }));

describe("numpy's files", () => {
  test("one array, with its labels beside it: a matrix, a list, a sparse matrix", async () => {
    const expected = { columns: 3, labels: 2, rows: rows([0], [0, 1]) };
    expect(await read(files.plain, { labelsFrom: files.sparseLabels })).toEqual(expected);
    expect(await read(files.fortran, { labelsFrom: files.sparseLabels })).toEqual(expected);
    expect(await read(files.sparse, { labelsFrom: files.sparseLabels })).toEqual(expected);
    expect(await read(await gzip(files.plain), { labelsFrom: files.list })).toEqual({
      ...expected,
      rows: rows([1], [0]),
    });
  });
  test("several arrays: by position, by name, with texts as labels, names and ids", async () => {
    expect(await read(files.pair)).toEqual({ columns: 3, labels: 2, rows: rows([0], [0, 1]) });
    expect(await read(files.named)).toEqual({
      columns: 3,
      labels: 2,
      rows: rows([0, 1], [1]),
      names: ["a", "b"],
      ids: ["7", "8"],
    });
    expect(await read(files.labelled)).toEqual({
      columns: 3,
      labels: 2,
      rows: rows([0], [0, 1]),
      names: ["red", "grün"],
    });
  });
  test("without labels, where none are asked for", async () => {
    expect(await read(files.sparse, { requireLabels: false })).toEqual({
      columns: 3,
      labels: 0,
      rows: rows([], []),
    });
  });
  test("of any matrix and type come back", async () => {
    const types: [code: string, size: number, write: (view: DataView, at: number, value: number) => void][] =
      [
        ["<f8", 8, (view, at, value) => view.setFloat64(at, value, true)],
        [">f4", 4, (view, at, value) => view.setFloat32(at, value)],
        ["|i1", 1, (view, at, value) => view.setInt8(at, value)],
        ["<i8", 8, (view, at, value) => view.setBigInt64(at, BigInt(value), true)],
        [">u2", 2, (view, at, value) => view.setUint16(at, value)],
      ];
    const matrix = fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }))
      .chain(([n, d]) =>
        fc.array(fc.array(fc.nat(100), { minLength: d, maxLength: d }), { minLength: n, maxLength: n }),
      );
    await fc.assert(
      fc.asyncProperty(
        matrix,
        fc.constantFrom(...types),
        fc.boolean(),
        async (table, [code, size, write], fortran) => {
          const [n, d] = [table.length, (table[0] as number[]).length];
          const header = `{'descr': '${code}', 'fortran_order': ${fortran ? "True" : "False"}, 'shape': (${n}, ${d}), }\n`;
          const bytes = new Uint8Array(10 + header.length + n * d * size);
          bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0]);
          bytes.set(new TextEncoder().encode(header), 10);
          const view = new DataView(bytes.buffer, 10 + header.length);
          for (const [i, row] of table.entries())
            for (const [j, value] of row.entries())
              write(view, (fortran ? j * n + i : i * d + j) * size, value);
          const found = await read(bytes, { requireLabels: false });
          const dense = found.rows.map(({ features }) => {
            const row = new Array<number>(d).fill(0);
            for (const [column, value] of features) row[column] = value;
            return row;
          });
          expect([found.columns, dense]).toEqual([d, table]);
        },
      ),
    );
  });
});

describe("what cannot be used is refused in one sentence:", () => {
  const { vectoriser } = TfidfVectoriser.fit(["a"], { minDocuments: 1 });
  // The list without its second element, an integer of 8 bytes.
  const shorter = String.fromCharCode(...files.list.subarray(0, -8)).replace("(2,)", "(1,)");
  const oneLabel = Uint8Array.from(shorter, (character) => character.charCodeAt(0));
  const cases: [name: string, bytes: Uint8Array, message: string, more?: ReadOptions][] = [
    [
      "no labels",
      files.plain,
      'found "array (2, 3)", expected labels: an array called labels or Y, or another file',
    ],
    ["no features", files.list, 'found "array (2)", expected features: a matrix called features or X'],
    ["pickled objects", files.objects, 'found elements of type "|O", expected numbers'],
    [
      "compressed columns",
      files.byColumns,
      'found a sparse matrix in format "csc", expected csr (matrix.tocsr())',
    ],
    [
      "other sizes",
      files.plain,
      "found 3 features, expected 4 features",
      { columns: 4, labelsFrom: files.list },
    ],
    [
      "fewer labels than features",
      files.plain,
      "found 2 rows of features and 1 of labels, expected as many of both",
      { labelsFrom: oneLabel },
    ],
    ["a text model", files.plain, "found features (format numpy), expected texts", { vectoriser }],
    ["another format", files.plain, "found a file of format numpy, expected format csv", { format: "csv" }],
    ["a cut array", files.plain.subarray(0, -1), "found 23 bytes of elements, expected 24 for shape (2, 3)"],
    ["a cut archive", files.named.subarray(0, -30), "found a zip archive without a directory"],
    [
      "labels for text",
      new TextEncoder().encode("1 2 2\n0 1:1\n"),
      "for format xc, expected format numpy",
      { labelsFrom: files.list },
    ],
  ];
  for (const [name, bytes, message, more] of cases) {
    test(name, async () => {
      expect(await refusal(bytes, { ...options, ...more })).toContain(message);
    });
  }
});

describe("damaged files", () => {
  test("give a data set or one sentence", async () => {
    const sources = [files.pair, files.named, files.sparse, files.labelled].map((bytes) =>
      String.fromCharCode(...bytes),
    );
    await fc.assert(
      fc.asyncProperty(mutated(fc.constantFrom(...sources), "binary"), (bytes) =>
        neverCrashes(bytes, { ...options, requireLabels: false }),
      ),
      { numRuns: 800 },
    );
  });
});
