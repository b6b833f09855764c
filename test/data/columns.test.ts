import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mapFeatures, type SparseRows, usedColumns } from "../../src/base/sparse.ts";
import { checkDataset, compactColumns, type Dataset, mapColumns } from "../../src/data/dataset.ts";
import { readDataset } from "../../src/data/reader.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { type PlainRow, plain, refusal, sparseLine, wordsAlone } from "./support.ts";

const MOST = 2 ** 28;
const id = fc.oneof(fc.nat(20), fc.nat(MOST - 1), fc.constantFrom(2 ** 17 - 1, 2 ** 20, MOST - 1));
const row = fc.uniqueArray(id, { maxLength: 6 }).map(
  (ids): PlainRow => ({
    labels: [0],
    features: ids.sort((a, b) => a - b).map((column, i): [number, number] => [column, i + 1]),
  }),
);
const rows = fc.array(row, { minLength: 1, maxLength: 8 });

async function datasetOf(each: PlainRow[]): Promise<Dataset> {
  const text = each.map(sparseLine).join("\n");
  return (await readDataset(`${text}\n`, { format: "svmlight" })).dataset;
}

/** Each row as [id as it was, value]. */
function entries(features: SparseRows, ids?: Int32Array): [number, number][][] {
  return Array.from({ length: features.rows }, (_, i) => {
    const own: [number, number][] = [];
    for (let e = features.rowStart[i]; e < features.rowStart[i + 1]; e++) {
      const column = features.columnIndex[e];
      expect(column).toBeLessThan(features.columns);
      own.push([ids ? ids[column] : column, features.values[e]]);
    }
    return own;
  });
}

describe("columns that occur", () => {
  test("keep rows as they were, under new numbers", async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (each) => {
        const dataset = await datasetOf(each);
        const small = compactColumns(dataset);
        checkDataset(small);
        const used = [...new Set(each.flatMap(({ features }) => features.map(([column]) => column)))];
        expect(Array.from(usedColumns(dataset.features))).toEqual(used.sort((a, b) => a - b));
        expect(small.features.columns).toBe(used.length);
        expect(entries(small.features, small.columnIds)).toEqual(each.map(({ features }) => features));
        expect(compactColumns(small)).toBe(small);
      }),
    );
  });
  test("of a model take new data: what it does not have is left out, read or mapped", async () => {
    await fc.assert(
      fc.asyncProperty(rows, rows, async (training, test) => {
        const { features, columnIds = usedColumns(features) } = compactColumns(await datasetOf(training));
        const known = new Set(columnIds);
        const expected = test.map(({ features: own }) => own.filter(([column]) => known.has(column)));
        const dataset = await datasetOf(test);
        const mapped = mapColumns(dataset, columnIds);
        checkDataset(mapped);
        expect(entries(mapped.features, columnIds)).toEqual(expected);
        expect(mapColumns(compactColumns(dataset), columnIds).features).toEqual(mapped.features);
        expect(mapFeatures(dataset.features, columnIds)).toEqual(mapped.features);
        expect(mapColumns(mapped, columnIds.slice())).toBe(mapped);
        const text = test.map(sparseLine).join("\n");
        const read = await readDataset(`${text}\n`, { format: "svmlight", columnIds });
        expect(read.dataset.features).toEqual(mapped.features);
        const entriesOf = (lists: unknown[][]): number => lists.reduce((sum, list) => sum + list.length, 0);
        const all = entriesOf(test.map(({ features: own }) => own));
        expect(read.unknownFeatures).toBe(all - entriesOf(expected));
      }),
    );
  });
  test("by name keep their names", async () => {
    const text = '{"features":{"a":1,"b":0},"labels":["x"]}\n{"features":{"c":1},"labels":["x"]}\n';
    const { dataset } = await readDataset(text);
    const small = compactColumns(dataset);
    expect([small.featureNames, Array.from(small.columnIds ?? [])]).toEqual([
      ["a", "c"],
      [0, 2],
    ]);
    const options = {
      featureNames: small.featureNames as string[],
      columnIds: small.columnIds as Int32Array,
    };
    const again = await readDataset(text, options);
    expect(again.dataset.features).toEqual(small.features);
    expect(again.dataset.columnIds).toEqual(small.columnIds);
  });
  test("of a vocabulary", async () => {
    const { vectoriser } = TfidfVectoriser.fit(["alpha beta gamma"], { ...wordsAlone, normalise: false });
    const read = await readDataset('{"text":"gamma beta"}\n', {
      vectoriser,
      columnIds: Int32Array.of(0, 2),
      requireLabels: false,
    });
    expect(plain(read)).toEqual({ columns: 2, labels: 0, rows: [{ labels: [], features: [[1, 1]] }] });
  });
  test("a duplicate is named by its id", async () => {
    const options = { file: "f", format: "svmlight", columnIds: Int32Array.of(5, 900) } as const;
    expect(await refusal("0 900:1 5:1 900:2\n", options)).toContain("found feature id 900 twice");
  });
});

test("a header that no model can have is refused before anything is made of it", async () => {
  expect(await refusal("1 268435456 67108864\n0 1:1\n", { file: "f" })).toBe(
    "f, line 1: found 67108864 labels, expected at most 16777216",
  );
  expect(await refusal("1 268435457 5\n0 1:1\n", { file: "f" })).toBe(
    "f, line 1: found 268435457 features, expected at most 268435456",
  );
});
