import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readDataset } from "../../../src/data/reader.ts";
import { inPieces, mutated, neverCrashes, plain, plainData, refusal } from "../support.ts";

const options = { file: "train.json", columns: 40, labelCount: 7 } as const;

describe("a JSON list", () => {
  test("gives what its records give as lines, however it is laid out", async () => {
    await fc.assert(
      fc.asyncProperty(
        plainData,
        fc.constantFrom(0, 2, "\t"),
        fc.integer({ min: 1, max: 50 }),
        async (data, indent, size) => {
          const note = 'brackets ]}[{ and "quotes\\" in a text';
          const records = data.rows.map((row, i) => ({ ...row, note, id: i }));
          const bytes = new TextEncoder().encode(`${JSON.stringify(records, null, indent)}\n`);
          const read = await readDataset(inPieces(bytes, size), options);
          expect(read.format).toBe("json");
          expect(plain(read)).toEqual(data);
          expect(read.dataset.ids).toEqual(records.map(({ id }) => String(id)));
        },
      ),
    );
  });
  test("knows the line of each record, and skips broken ones alone", async () => {
    const text =
      '[{"features": [[0, 1]]}, {"features": "x"},\n\n{"features":\n[[0, 2]]}, 7, {"features": [3,]}, {"features": [[0, 4]]}\n]\n';
    const { dataset, skipped } = await readDataset(text, { ...options, lenient: true, requireLabels: false });
    expect(Array.from(dataset.features.values)).toEqual([1, 2, 4]);
    expect(Array.from(dataset.lines ?? [])).toEqual([1, 3, 4]);
    expect(skipped.rows.map(({ line, reason, rowsBefore }) => [line, reason, rowsBefore])).toEqual([
      [1, "not features", 1],
      [4, "not an object", 2],
      [4, "not JSON", 2],
    ]);
  });
  test("is recognised without its name", async () => {
    const text = '[\n {"features": [1], "labels": [0]}\n]';
    expect((await readDataset(text)).format).toBe("json");
  });
  const broken: [text: string, message: string][] = [
    ['[{"features": [[0, 1]]}', 'train.json: found a list that does not end, expected a "]" at its end'],
    ['[{"features": [[0, 1]]}]\n{}', 'line 2: found something after the list, expected nothing after its "]"'],
    ['[{"features": [[0, 1]]},]', 'line 1: found "", expected a JSON object'],
    ["[]", "train.json: found no rows, expected at least one"],
  ];
  for (const [text, message] of broken) {
    test(`is refused: ${JSON.stringify(text)}`, async () => {
      expect(await refusal(text, { ...options, requireLabels: false })).toContain(message);
    });
  }
  test("that is damaged gives a data set or one sentence", async () => {
    const source = plainData.map(({ rows }) => JSON.stringify(rows, null, 1));
    await fc.assert(
      fc.asyncProperty(mutated(source), (bytes) => neverCrashes(bytes, options)),
      { numRuns: 600 },
    );
  });
});
