// Rows whose features nobody wants: their labels are read as ever, their features are not; with broken rows left out all are read.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Dataset } from "../../src/data/dataset.ts";
import type { ReadOptions } from "../../src/data/options.ts";
import { readDataset } from "../../src/data/reader.ts";
import { wordsAlone } from "./support.ts";

interface Row {
  labels: number[];
  words: number[];
}

const row = fc.record({
  labels: fc.uniqueArray(fc.nat(4), { maxLength: 3 }),
  words: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 4 }),
});
const names = (numbers: number[], letter: string): string[] => numbers.map((each) => `${letter}${each}`);
const vocabulary = Array.from({ length: 10 }, (_, i) => `w${i}`).join(" ");

const sparse = (rows: Row[]): string =>
  rows.map(({ labels, words }) => `${labels.join(",")} ${words.map((w) => `${w}:1`).join(" ")}\n`).join("");

const FORMATS: Record<string, (rows: Row[]) => { text: string; options: ReadOptions }> = {
  xc: (rows) => ({ text: `${rows.length} 10 5\n${sparse(rows)}`, options: { format: "xc" } }),
  svmlight: (rows) => ({
    text: sparse(rows),
    options: { format: "svmlight", columns: 10, labelCount: 5 },
  }),
  jsonl: (rows) => ({
    text: rows
      .map(({ labels, words }) => JSON.stringify({ text: names(words, "w").join(" "), labels: names(labels, "l") }))
      .join("\n"),
    options: { format: "jsonl" },
  }),
  csv: (rows) => ({
    text: `text,labels\n${rows.map(({ labels, words }) => `${names(words, "w").join(" ")},${names(labels, "l").join("|")}`).join("\n")}\n`,
    options: { format: "csv" },
  }),
};

const { dataset: words } = await readDataset([{ text: vocabulary, labels: ["l"] }], {
  tfidf: wordsAlone,
});

const read = async (text: string, options: ReadOptions): Promise<Dataset> => {
  const fitted = options.format === "jsonl" || options.format === "csv";
  const known = fitted && words.vectoriser ? { vectoriser: words.vectoriser } : {};
  return (await readDataset(new TextEncoder().encode(text), { ...options, ...known })).dataset;
};

const entriesOf = ({ features: { rowStart, columnIndex, values } }: Dataset, i: number): [number, number][] =>
  Array.from({ length: rowStart[i + 1] - rowStart[i] }, (_, e) => {
    const at = rowStart[i] + e;
    return [columnIndex[at], values[at]];
  });

test.each(Object.keys(FORMATS))("%s: labels of all rows, features of the wanted ones", async (format) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 2, maxLength: 12 }).filter((rows) => rows.some((r) => r.labels.length > 0)),
      fc.nat(6),
      fc.nat(6),
      fc.boolean(),
      async (rows, from, more, lenient) => {
        const { text, options } = (FORMATS[format] as (typeof FORMATS)[string])(rows);
        const featuresOf = { from, to: from + more };
        const [all, some] = await Promise.all([read(text, options), read(text, { ...options, featuresOf, lenient })]);
        expect(some.labels).toEqual(all.labels);
        rows.forEach((_, i) => {
          const wanted = lenient || (i >= from && i < featuresOf.to);
          expect(entriesOf(some, i)).toEqual(wanted ? entriesOf(all, i) : []);
        });
      },
    ),
    { numRuns: 60 },
  );
});

test("rows that are not wanted are no empty rows", async () => {
  const text = new TextEncoder().encode("3 9 4\n0 1:1\n1 2:1\n2\n");
  const { notes } = await readDataset(text, { featuresOf: { from: 0, to: 1 } });
  expect(notes).toEqual([]);
});
