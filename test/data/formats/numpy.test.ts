// Vectors of texts as numpy saves them, and what is no such file.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { numpyMatrix } from "../../../src/data/formats/numpy.ts";
import { readDataset } from "../../../src/data/reader.ts";
import { gzip, refusal } from "../support.ts";
import * as files from "./numpyfiles.ts";

const { npy } = files;

const texts = [
  { text: "red wine", labels: ["a"] },
  { text: "white wine", labels: ["b"] },
];

/** The columns behind those of the words. */
async function vectorsIn(bytes: Uint8Array): Promise<number[][]> {
  const { features, vectoriser } = (await readDataset(texts, { vectorsFrom: async () => bytes })).dataset;
  const words = vectoriser?.terms.length ?? 0;
  return texts.map((_, row) => {
    const found = new Array<number>(features.columns - words).fill(0);
    for (let e = features.rowStart[row]; e < features.rowStart[row + 1]; e++)
      if (features.columnIndex[e] >= words) found[features.columnIndex[e] - words] = features.values[e];
    return found;
  });
}

describe("numpy's matrices", () => {
  test("are vectors of texts, by rows and by columns, plain and gzip", async () => {
    const expected = [
      [0, 1.5, 0],
      [-2, 0, 3],
    ];
    for (const bytes of [files.plain, files.fortran, await gzip(files.plain)])
      expect(await vectorsIn(bytes)).toEqual(expected);
  });
  test("are told by their first bytes: what is none is not read to its end", async () => {
    let pieces = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(1000));
        if (++pieces > 100) controller.close();
      },
    });
    await expect(readDataset(texts, { vectorsFrom: async () => endless })).rejects.toThrow(
      "the vectors: found something else, expected an array saved by numpy",
    );
    expect(pieces).toBeLessThan(10);
  });
  test("of any size and type come back", () => {
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
    fc.assert(
      fc.property(matrix, fc.constantFrom(...types), fc.boolean(), (table, [code, size, write], fortran) => {
        const [n, d] = [table.length, table[0].length];
        const elements = new Uint8Array(n * d * size);
        const view = new DataView(elements.buffer);
        for (const [i, row] of table.entries())
          for (const [j, value] of row.entries()) write(view, (fortran ? j * n + i : i * d + j) * size, value);
        const found = numpyMatrix(npy(code, `(${n}, ${d})`, elements, fortran ? "True" : "False"), "m");
        expect([found.rows, found.columns]).toEqual([n, d]);
        expect(table.map((row, i) => row.map((_, j) => found.at(i, j)))).toEqual(table);
      }),
    );
  });
});

describe("what cannot be used is refused in one sentence:", () => {
  const infinite = npy("<f8", "(2, 1)", new Uint8Array(Float64Array.of(1, Number.POSITIVE_INFINITY).buffer));
  const huge = npy("<f8", "(2, 1)", new Uint8Array(Float64Array.of(1, 1e300).buffer));
  const cases: [name: string, bytes: Uint8Array, message: string][] = [
    ["one number a row", files.list, "expected a matrix of numbers"],
    ["pickled objects", files.objects, "expected a matrix of numbers"],
    ["a cut array", files.plain.subarray(0, -1), "found 23 bytes of elements, expected 24 for 2 x 3"],
    ["a cut header", files.plain.subarray(0, 40), "found an array that is cut short"],
    ["text", new TextEncoder().encode("1 2 3\n"), "found something else, expected an array saved by numpy"],
    ["rows of nothing", npy("<f4", "(2000000000, 0)"), "found a matrix of 2000000000 rows without columns"],
    ["more than it has", npy("<f4", "(2, 1099511627776)"), "found 0 bytes of elements, expected 8796093022208"],
    ["no numbers", npy("|S0", "(2, 3)"), "expected a matrix of numbers"],
    ["Infinity", infinite, "found value Infinity of a vector, expected a finite number"],
    ["a number beyond single precision", huge, "found value 1e+300 of a vector, expected at most 3.4e38"],
    ["fewer rows", npy("<f4", "(1, 1)", new Uint8Array(4)), "found more rows than the 1 vectors"],
    ["more rows", npy("<f4", "(3, 1)", new Uint8Array(12)), "found 2 rows and 3 vectors, expected as many of one"],
  ];
  for (const [name, bytes, message] of cases) {
    test(name, async () => {
      await expect(readDataset(texts, { vectorsFrom: async () => bytes })).rejects.toThrow(message);
    });
  }
  test("zeros that take little room as gzip, unless that is allowed", async () => {
    const packed = await gzip(npy("<f4", "(2, 8500000)", new Uint8Array(68e6)));
    const reading = (maxUnpacked?: number): Promise<unknown> =>
      readDataset(texts, { vectorsFrom: async () => packed, ...(maxUnpacked && { maxUnpacked }) });
    await expect(reading()).rejects.toThrow(
      /found more than 67108864 unpacked bytes in \d+, expected at most 67108864/,
    );
    await reading(2 ** 27);
  });
  test("an array or an archive where rows are expected", async () => {
    expect(await refusal(files.plain, { file: "X.npy" })).toMatch(/^X.npy: found a numpy array, expected rows with/);
    const archive = Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0, 0);
    expect(await refusal(archive, { file: "X.npz" })).toMatch(
      /^X.npz, line 1: found a zip archive \(an Excel workbook/,
    );
  });
});
