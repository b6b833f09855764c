// Real data sets and the official propensities, where they lie beside the repository.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { openBytes } from "../../src/data/bytes.ts";
import { type LabelSets, labelFrequencies, rowsWithLabels } from "../../src/data/dataset.ts";
import { readDataset } from "../../src/data/reader.ts";
import { openInput } from "../../src/io/files.ts";
import { inversePropensities } from "../../src/metrics/propensity.ts";
import { rankingMetrics } from "../../src/metrics/ranking.ts";
import { setsOf } from "../metrics/support.ts";

const folder = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const present = existsSync(folder);
/** Nothing is registered where there are none, so that nothing counts as skipped. */
const withFolder: (name: string, body: () => void) => void = present ? describe : () => {};
if (!present) test(`there are no data sets in ${folder} to read`, () => expect(present).toBe(false));

async function linesOf(name: string): Promise<string[]> {
  const { chunks } = await openBytes((await openInput(folder + name)).stream, { file: name });
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text.trimEnd().split("\n");
}

withFolder("data sets", () => {
  const sets: readonly [name: string, shape: number[], withoutLabels: number][] = [
    ["bibtex/train", [4880, 1836, 159], 0],
    ["bibtex/test", [2515, 1836, 159], 0],
    ["delicious/train", [12920, 500, 983], 13],
    ["delicious/test", [3185, 500, 983], 1],
    ["eurlex-half/train", [8225, 5000, 3993], 0],
    ["rcv1-subset/test", [13212, 47236, 101], 0],
  ];
  for (const [name, shape, withoutLabels] of sets) {
    test(name, async () => {
      const { stream } = await openInput(`${folder}${name}.txt.gz`);
      const { dataset, format } = await readDataset(stream, { file: `${name}.txt.gz` });
      const { features, labels } = dataset;
      expect(format).toBe("xc");
      expect([features.rows, features.columns, labels.labels]).toEqual(shape);
      expect(features.rows - rowsWithLabels(labels).length).toBe(withoutLabels);
    });
  }
});

withFolder("EUR-Lex", () => {
  /** Rows `label:1 label:1 ...` after a header of two numbers. */
  async function labelSets(name: string): Promise<LabelSets> {
    const [header = "", ...rows] = await linesOf(`eurlex-labels/${name}_X_Y.txt.gz`);
    const ids = rows.map((row) =>
      row
        .split(" ")
        .filter(Boolean)
        .map((item) => Number.parseInt(item, 10)),
    );
    expect(header).toBe(`${rows.length} 3993`);
    return setsOf(ids, 3993);
  }

  test("inverse propensities are the official ones", async () => {
    const official = (await linesOf("eurlex-labels/inv_prop.txt.gz")).map(Number);
    const train = await labelSets("trn");
    const weights = inversePropensities(labelFrequencies(train), train.rows);
    expect(official.length).toBe(3993);
    const fiveDigits = Array.from(weights, (weight) => Number(weight.toPrecision(5))); // as the file has them
    expect(fiveDigits).toEqual(official);
  });
  test("the true labels, rarest first, rank perfectly; the commonest labels do not", async () => {
    const train = await labelSets("trn");
    const truth = await labelSets("tst");
    const { rows, rowStart, labelIndex } = truth;
    const counts = labelFrequencies(train);
    const inversePropensity = inversePropensities(counts, train.rows);
    const rarest = (row: number): number[] =>
      Array.from(labelIndex.subarray(rowStart[row], rowStart[row + 1])).sort(
        (a, b) => (counts[a] as number) - (counts[b] as number),
      );
    const best = Array.from({ length: rows }, (_, row) =>
      [...rarest(row), -1, -1, -1, -1, -1].slice(0, 5),
    ).flat();
    const perfect = rankingMetrics(best, 5, truth, { inversePropensity }).metrics;
    for (const name of ["P@1", "nDCG@5", "PSP@1", "PSP@5", "PSnDCG@5"])
      expect(perfect[name]).toBeCloseTo(100, 8);
    const common = Array.from(counts.keys())
      .sort((a, b) => (counts[b] as number) - (counts[a] as number))
      .slice(0, 5);
    const same = Array.from({ length: rows }, () => common).flat();
    const { metrics } = rankingMetrics(same, 5, truth, { inversePropensity });
    expect(metrics["P@1"]).toBeLessThan(20);
    expect(metrics["PSP@5"]).toBeLessThan(metrics["P@5"] as number);
  });
});
