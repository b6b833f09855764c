// Training in closed form: the weights solve the equations they should, the file gives the same answers, any number of
// threads the same bytes; and the two likelihoods in one model.

import { describe, expect, test } from "vitest";
import { selectRows } from "../../src/data/dataset.ts";
import { train } from "../../src/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { type ClosedModel, type ExactPart, isClosed, type TrainedModel } from "../../src/model/model.ts";
import { loadModel } from "../../src/predict/load.ts";
import { topicData } from "../support/problems.ts";

const all = topicData({ points: 210, features: 40, labels: 8 }, 5);
const places = Array.from({ length: 210 }, (_, i) => i);
const data = selectRows(all, places.slice(0, 150));
const more = selectRows(all, places.slice(150));

const trained = async (threads = 1): Promise<ClosedModel> =>
  (await train(data, { likelihood: "gaussian", threads })) as ClosedModel;

async function answers(model: TrainedModel): Promise<unknown> {
  using loaded = await loadModel(model, { threads: 1 });
  return await loaded.predict(more.features, { topK: 8 });
}

/** The rows of a sparse matrix in full. */
function fullRows({ rows, columns, rowStart, columnIndex, values }: ExactPart["rows"]): number[][] {
  return Array.from({ length: rows }, (_, i) => {
    const row = new Array<number>(columns).fill(0);
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++)
      row[columnIndex[e] as number] = values[e] as number;
    return row;
  });
}

describe("the gaussian likelihood", () => {
  test("has weights that solve (K + lam I) a = Y - mu, for 0/1 labels with the counts of the data", async () => {
    const model = await trained();
    const { dual, noise, hyper, rows } = model.closed as ExactPart;
    const x = fullRows(rows);
    const k = model.labels;
    const counts = new Array<number>(k).fill(0);
    for (let i = 0; i < x.length; i++) {
      for (let label = 0; label < k; label++) {
        let sum = noise * (dual[i * k + label] as number) + (model.labelMean[label] as number);
        for (let j = 0; j < x.length; j++) {
          const distance = (x[i] as number[]).reduce((d, v, c) => d + (v - (x[j]?.[c] as number)) ** 2, 0);
          sum += Math.exp(-distance / (2 * hyper[2] ** 2)) * (dual[j * k + label] as number);
        }
        expect(Math.min(Math.abs(sum), Math.abs(sum - 1))).toBeLessThan(2e-3);
        if (sum > 0.5) counts[label] = (counts[label] as number) + 1;
      }
    }
    expect(counts).toEqual([...model.labelCounts]);
  });

  test("gives the same bytes for any number of threads, and the same answers from its file", async () => {
    const model = await trained();
    const bytes = modelToBytes(model);
    for (const threads of [2, 3]) expect(modelToBytes(await trained(threads))).toEqual(bytes);
    expect(await answers(modelFromBytes(bytes))).toEqual(await answers(model));
  });

  test("ranks better than the labels' frequencies do, and says what left-out points showed", async () => {
    const model = await trained();
    using loaded = await loadModel(model, { threads: 1 });
    const { ranking } = await loaded.evaluate(more);
    const first = [...model.labelCounts].indexOf(Math.max(...model.labelCounts));
    const { rowStart, labelIndex, rows } = more.labels;
    const hits = Array.from({ length: rows }, (_, i) =>
      labelIndex.subarray(rowStart[i], rowStart[i + 1]).includes(first),
    ).filter(Boolean).length;
    expect(ranking.metrics["P@1"] as number).toBeGreaterThan((100 * hits) / rows + 10);
    expect(model.summary.leftOut?.["P@1"]).toBeGreaterThan(0);
    expect(model.summary.leftOut?.logLoss).toBeGreaterThan(0);
  });

  test("gives probabilities in order, between 0 and 1, for empty rows too", async () => {
    const model = await trained();
    using loaded = await loadModel(model, { threads: 1 });
    const empty = {
      rows: 1,
      columns: 40,
      rowStart: Int32Array.of(0, 0),
      columnIndex: new Int32Array(0),
      values: new Float32Array(0),
    };
    for (const features of [more.features, empty]) {
      for (const found of await loaded.predict(features, { topK: 8 })) {
        const said = found.map(({ probability }) => probability);
        expect(said).toEqual([...said].sort((a, b) => b - a));
        expect(said.every((p) => p >= 0 && p <= 1)).toBe(true);
      }
    }
  });
});

describe("both likelihoods in one model", () => {
  const large = topicData({ points: 2300, features: 60, labels: 10 }, 7);
  const small = { factors: 4, inducingPoints: 8, rank: 8, batch: 200, epochs: 2, threads: 1 } as const;

  test("train on the same points, and come back from their file", async () => {
    const model = await train(large, { ...small, likelihood: "both" });
    if (!isClosed(model)) throw new Error("found a model without a closed form, expected one");
    expect(model.closed.form).toBe("linear");
    expect(model.latent?.summary.points).toBe(model.summary.points);
    expect(model.summary.points).toBeLessThan(large.features.rows);
    expect(model.calibrator.scores).toEqual(["gaussian", "utility"]);
    expect(await answersOf(modelFromBytes(modelToBytes(model)))).toEqual(await answersOf(model));
  });

  test("a calibrated bernoulli model is its own with honest probabilities", async () => {
    const model = await train(large, { ...small, likelihood: "bernoulli", calibration: true });
    expect(model.calibrator?.scores).toEqual(["utility"]);
    expect(model.summary.leftOut?.logLoss).toBeGreaterThan(0);
    expect(await answersOf(modelFromBytes(modelToBytes(model)))).toEqual(await answersOf(model));
  });

  async function answersOf(model: TrainedModel): Promise<unknown> {
    using loaded = await loadModel(model, { threads: 1 });
    return await loaded.predict(large.features, { topK: 3 });
  }
});

describe("auto", () => {
  test("says what it chose and why", async () => {
    const notes: string[] = [];
    const model = await train(data, {
      likelihood: "auto",
      threads: 1,
      onProgress: (progress) => {
        if (progress.stage === "note") notes.push(progress.text);
      },
    });
    expect(model.likelihood).toBe("gaussian");
    expect(notes.join("\n")).toMatch(/likelihood gaussian: 150 points are few enough for the exact form/);
  });
});
