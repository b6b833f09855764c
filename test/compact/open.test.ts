// A compact model in place of a full one: the same names and vocabulary, and the answers of the tagger.

import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { openCompact } from "../../src/compact/open.ts";
import { evaluateCompact } from "../../src/compact/report.ts";
import { labelsByName } from "../../src/data/dataset.ts";
import { readDataset } from "../../src/data/reader.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { load } from "../../src/edge/index.ts";
import { evaluatePredictor } from "../../src/predict/evaluate.ts";
import { predictRows } from "../../src/predict/load.ts";
import { train } from "../../src/train/train.ts";
import { sampleTexts, textModel } from "../edge/support.ts";
import { topicData } from "../support/problems.ts";

const small = { factors: 4, inducingPoints: 6, rank: 6, epochs: 20, batch: 40, threads: 1 } as const;

describe("an open compact model", () => {
  test("has the vocabulary and the names of the model it was made from", async () => {
    const model = textModel({ features: 300, labels: 40 });
    const open = await openCompact(await compactModel(model, { allLabels: true }));
    expect(open.schema.vectoriser?.terms).toEqual(model.schema.vectoriser?.terms);
    expect(open.schema.vectoriser?.documentFrequency).toEqual(
      Array.from(model.schema.vectoriser?.documentFrequency ?? []),
    );
    expect(open.schema.vectoriser?.documents).toBe(model.schema.vectoriser?.documents);
    expect(open.schema.labelNames.length).toBe(40);
  });

  test.each(["linear", "se"] as const)("gives the answers of the tagger, kernel %s", async (kernel) => {
    const model = textModel({ kernel, features: 300, labels: 40 });
    const texts = [...sampleTexts(model, 20, 5), "", "xyzzy"];
    const bytes = await compactModel(model);
    const [open, tagger] = [await openCompact(bytes), await load(bytes)];
    const features = TfidfVectoriser.fromJSON(open.schema.vectoriser).transform(texts);
    const rows = await predictRows(open.predictor, features, { topK: 6 });
    for (const [i, text] of texts.entries()) {
      const expected = tagger.predict(text, { topK: 6 });
      expect(rows[i]?.map(({ label }) => label)).toEqual(expected.map(({ label }) => label));
      rows[i]?.forEach(({ probability, sd }, place) => {
        expect(probability).toBeCloseTo(expected[place]?.probability as number, 5);
        expect(sd).toBeCloseTo(expected[place]?.sd as number, 5);
      });
    }
  });

  test("is measured by its own labels, which the data may know by other numbers", async () => {
    const near = topicData({ points: 200, features: 40, labels: 12 }, 3);
    // Label 4 never occurs in training: the compact model leaves it out, and numbers the others anew.
    const seen = {
      ...near.labels,
      labelIndex: near.labels.labelIndex.map((label) => (label === 4 ? 5 : label)),
    };
    const training = labelsByName({ ...near, labels: withoutTwice(seen) }, names(12));
    const { labelNames: _, ...unnamed } = training;
    const model = await train(unnamed, { ...small, model: "svgp", calibration: false });
    const open = await openCompact(await compactModel(model, { type: "f32" }));
    expect(open.schema.labels).toBe(11);
    const expected = await evaluateCompact(model, { type: "f32" }, near);
    const found = await evaluatePredictor(open.predictor, labelsByName(near, open.schema.labelNames), {
      calibration: true,
    });
    for (const name of ["P@1", "P@3", "P@5"] as const)
      expect(found.ranking.metrics[name], name).toBeCloseTo(expected[name], 9);
    expect(found.calibration?.top5.ece).toBeCloseTo(expected.ece, 9);
    expect(found.ranking.metrics).not.toHaveProperty("PSP@1");
  });
});

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));

/** Label sets in which none is listed twice. */
function withoutTwice(labels: ReturnType<typeof topicData>["labels"]): typeof labels {
  const sets = Array.from({ length: labels.rows }, (_, row) =>
    [...new Set(labels.labelIndex.subarray(labels.rowStart[row], labels.rowStart[row + 1]))].sort((a, b) => a - b),
  );
  const rowStart = new Int32Array(labels.rows + 1);
  sets.forEach((set, row) => {
    rowStart[row + 1] = rowStart[row] + set.length;
  });
  return { ...labels, rowStart, labelIndex: Int32Array.from(sets.flat()) };
}

test("labels by name keep their sets", async () => {
  const { dataset } = await readDataset([
    { text: "one two", labels: ["b", "new", "a"] },
    { text: "one two", labels: ["c"] },
  ]);
  const { labels, labelNames } = labelsByName(dataset, ["a", "b", "c"]);
  expect(labelNames).toEqual(["a", "b", "c", "new"]);
  expect([labels.labels, Array.from(labels.labelIndex), Array.from(labels.rowStart)]).toEqual([
    4,
    [0, 1, 3, 2],
    [0, 3, 4],
  ]);
});
