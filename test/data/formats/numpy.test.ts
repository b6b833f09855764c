import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReadOptions } from "../../../src/data/options.ts";
import { readDataset } from "../../../src/data/reader.ts";
import { TfidfVectoriser } from "../../../src/data/tfidf.ts";
import { gzip, mutated, neverCrashes, type PlainData, type PlainRow, plain, refusal } from "../support.ts";
import * as files from "./numpyfiles.ts";
import { crc32, deflated, type Entry, npy, stored, zip } from "./zipfiles.ts";

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
    const types: [code: string, size: number, write: (view: DataView, at: number, value: number) => void][] = [
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
      fc.asyncProperty(matrix, fc.constantFrom(...types), fc.boolean(), async (table, [code, size, write], fortran) => {
        const [n, d] = [table.length, table[0].length];
        const header = `{'descr': '${code}', 'fortran_order': ${fortran ? "True" : "False"}, 'shape': (${n}, ${d}), }\n`;
        const bytes = new Uint8Array(10 + header.length + n * d * size);
        bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0]);
        bytes.set(new TextEncoder().encode(header), 10);
        const view = new DataView(bytes.buffer, 10 + header.length);
        for (const [i, row] of table.entries())
          for (const [j, value] of row.entries()) write(view, (fortran ? j * n + i : i * d + j) * size, value);
        const found = await read(bytes, { requireLabels: false });
        const dense = found.rows.map(({ features }) => {
          const row = new Array<number>(d).fill(0);
          for (const [column, value] of features) row[column] = value;
          return row;
        });
        expect([found.columns, dense]).toEqual([d, table]);
      }),
    );
  });
});

describe("what cannot be used is refused in one sentence:", () => {
  const { vectoriser } = TfidfVectoriser.fit(["a"], { minDocuments: 1 });
  // The list without its second element, an integer of 8 bytes.
  const shorter = String.fromCharCode(...files.list.subarray(0, -8)).replace("(2,)", "(1,)");
  const oneLabel = Uint8Array.from(shorter, (character) => character.charCodeAt(0));
  const cases: [name: string, bytes: Uint8Array, message: string, more?: ReadOptions][] = [
    ["no labels", files.plain, 'found "array (2, 3)", expected labels: an array called labels or Y, or another file'],
    ["no features", files.list, 'found "array (2)", expected features: a matrix called features or X'],
    ["pickled objects", files.objects, 'found elements of type "|O", expected numbers'],
    ["compressed columns", files.byColumns, 'found a sparse matrix in format "csc", expected csr (matrix.tocsr())'],
    ["other sizes", files.plain, "found 3 features, expected 4 features", { columns: 4, labelsFrom: files.list }],
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

describe("files that would take more than they are", () => {
  const zeros = npy("<f8", "(1, 8500000)", new Uint8Array(68e6));
  const crc = crc32(zeros);
  const named = (name: string, packed: Uint8Array, at?: number): Entry => ({
    ...{ name, packed, size: zeros.length, crc, method: 8, at },
  });

  test("by rows of nothing", async () => {
    const nothing = zip([
      stored("features.npy", npy("<f4", "(2000000000, 0)")),
      stored("labels.npy", npy("|S0", "(2000000000,)")),
    ]);
    expect(nothing.length).toBeLessThan(500);
    expect(await refusal(nothing, options)).toContain("found an array of shape (2000000000, 0), expected one with");
    const empty = npy("|S0", "(2000000000,)");
    expect(await refusal(files.plain, { ...options, labelsFrom: empty })).toContain('found elements of type "|S0"');
  });
  test("by sparse matrices whose arrays have no elements where some are looked for", async () => {
    const sparse = (shape: Uint8Array, format: Uint8Array): Uint8Array =>
      zip([
        stored("indptr.npy", npy("<i4", "(0,)")),
        stored("indices.npy", npy("<i4", "(0,)")),
        stored("data.npy", npy("<f4", "(0,)")),
        stored("shape.npy", shape),
        stored("format.npy", format),
      ]);
    const loose = { ...options, requireLabels: false };
    const csr = npy("|S3", "(1,)", new TextEncoder().encode("csr"));
    const minusOne = npy("<i4", "(2,)", Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0));
    for (const shape of [npy("<i4", "(0,)"), npy("<i4", "(1,)", new Uint8Array(4)), minusOne])
      expect(await refusal(sparse(shape, csr), loose)).toContain("found parts of a sparse matrix that do not fit");
    expect(await refusal(sparse(minusOne, npy("|S3", "(0,)")), loose)).toContain("found a sparse matrix in format");
  });
  test("by zeros that take little room, unless that is allowed", async () => {
    const packed = await deflated(zeros);
    const archive = zip([named("features.npy", packed)]);
    const said = await refusal(archive, { ...options, requireLabels: false });
    expect(said).toBe(
      `train.npz: found ${zeros.length} bytes in a zip archive of ${archive.length}, ` +
        "expected at most 67108864 bytes (option maxUnpacked allows more)",
    );
    const wide = { ...options, requireLabels: false, maxUnpacked: 2 ** 27 };
    expect((await readDataset(archive, wide)).dataset.features.columns).toBe(8_500_000);
    // The same in gzip instead.
    expect(await refusal(await gzip(zeros), { ...options, requireLabels: false })).toMatch(
      /found more than 67108864 unpacked bytes in \d+, expected at most 67108864/,
    );
    // What nobody asks for is not unpacked, however large and wherever it is.
    const others = Array.from({ length: 50 }, (_, i) => named(`other${i}.npy`, packed, 0));
    const small = stored("features.npy", npy("<f4", "(1, 1)", Uint8Array.of(0, 0, 128, 63)));
    const read = await readDataset(zip([named("a.npy", packed), ...others, small]), wide);
    expect(Array.from(read.dataset.features.values)).toEqual([1]);
  });
  test("by files that lie in one another, or go by one name", async () => {
    const array = npy("<f4", "(1, 1)", Uint8Array.of(0, 0, 128, 63));
    const labels = { ...stored("labels.npy", array), at: 0 };
    const loose = { ...options, requireLabels: false };
    expect(await refusal(zip([stored("features.npy", array), labels]), loose)).toBe(
      "train.npz: found a zip archive whose entries overlap, expected a whole zip archive",
    );
    const twice = zip([stored("features.npy", array), stored("features.npy", array)]);
    expect(await refusal(twice, loose)).toContain("found a zip archive with two files of one name");
  });
  test("or that are not what was written: any changed bit of an array is found", async () => {
    const array = npy("<f4", "(1, 2)", Uint8Array.of(0, 0, 128, 63, 0, 0, 0, 64));
    const archive = zip([stored("features.npy", array)]);
    const loose = { ...options, requireLabels: false };
    expect((await readDataset(archive, loose)).dataset.features.columns).toBe(2);
    const start = archive.length - array.length - 22 - 46 - "features.npy".length;
    for (let at = start; at < start + array.length; at++) {
      const damaged = archive.slice();
      damaged[at] ^= 1 << (at % 8);
      expect(await refusal(damaged, loose)).toContain("found a zip archive that is damaged");
    }
  });
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
