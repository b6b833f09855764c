// Training in closed form: the weights solve the equations they should, the file gives the same answers, any number of
// threads the same bytes; and a linear and a variational part in one model.

import { describe, expect, test } from "vitest";
import { selectRows } from "../../src/data/dataset.ts";
import { train } from "../../src/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import type { GprPart } from "../../src/parts/gpr/posterior.ts";
import { loadModel } from "../../src/predict/load.ts";
import { topicData } from "../support/problems.ts";

const all = topicData({ points: 210, features: 40, labels: 8 }, 5);
const places = Array.from({ length: 210 }, (_, i) => i);
const data = selectRows(all, places.slice(0, 150));
const more = selectRows(all, places.slice(150));

const trained = (threads = 1): Promise<Model> => train(data, { model: "gpr", threads });

async function answers(model: Model): Promise<unknown> {
  using loaded = await loadModel(model, { threads: 1 });
  return await loaded.predict(more.features, { topK: 8 });
}

/** The rows of a sparse matrix in full. */
function fullRows({ rows, columns, rowStart, columnIndex, values }: GprPart["rows"]): number[][] {
  return Array.from({ length: rows }, (_, i) => {
    const row = new Array<number>(columns).fill(0);
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) row[columnIndex[e]] = values[e];
    return row;
  });
}

describe("exact GP regression", () => {
  test("has weights that solve (K + lam I) a = Y - mu, for 0/1 labels with the counts of the data", async () => {
    const model = await trained();
    const { dual, noise, hyper, rows, mean } = model.parts[0] as GprPart;
    const x = fullRows(rows);
    const k = model.schema.labels;
    const counts = new Array<number>(k).fill(0);
    for (let i = 0; i < x.length; i++) {
      for (let label = 0; label < k; label++) {
        let sum = noise * dual[i * k + label] + mean[label];
        for (let j = 0; j < x.length; j++) {
          const distance = x[i].reduce((d, v, c) => d + (v - x[j]?.[c]) ** 2, 0);
          sum += Math.exp(-distance / (2 * hyper[2] ** 2)) * dual[j * k + label];
        }
        expect(Math.min(Math.abs(sum), Math.abs(sum - 1))).toBeLessThan(2e-3);
        if (sum > 0.5) counts[label] = counts[label] + 1;
      }
    }
    expect(counts).toEqual([...model.schema.labelCounts]);
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
    const first = [...model.schema.labelCounts].indexOf(Math.max(...model.schema.labelCounts));
    const { rowStart, labelIndex, rows } = more.labels;
    const hits = Array.from({ length: rows }, (_, i) =>
      labelIndex.subarray(rowStart[i], rowStart[i + 1]).includes(first),
    ).filter(Boolean).length;
    expect(ranking.metrics["P@1"]).toBeGreaterThan((100 * hits) / rows + 10);
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

describe("two parts in one model", () => {
  const large = topicData({ points: 2300, features: 60, labels: 10 }, 7);
  const small = { factors: 4, inducingPoints: 8, rank: 8, batch: 200, epochs: 2, threads: 1 } as const;

  test("train on the same points, and come back from their file", async () => {
    const model = await train(large, { ...small, model: "linear+svgp" });
    expect(model.parts.map(({ family }) => family)).toEqual(["linear", "svgp"]);
    expect(model.schema.points).toBeLessThan(large.features.rows);
    expect(model.calibrator?.scores).toEqual(["gaussian", "utility"]);
    expect(await answersOf(modelFromBytes(modelToBytes(model)))).toEqual(await answersOf(model));
  });

  test("a variational part alone is calibrated too", async () => {
    const model = await train(large, { ...small, model: "svgp", calibration: true });
    expect(model.calibrator?.scores).toEqual(["utility"]);
    expect(model.summary.leftOut?.logLoss).toBeGreaterThan(0);
    expect(await answersOf(modelFromBytes(modelToBytes(model)))).toEqual(await answersOf(model));
  });

  async function answersOf(model: Model): Promise<unknown> {
    using loaded = await loadModel(model, { threads: 1 });
    return await loaded.predict(large.features, { topK: 3 });
  }
});

describe("auto", () => {
  test("says what it chose and why", async () => {
    const notes: string[] = [];
    const model = await train(data, {
      model: "auto",
      threads: 1,
      onProgress: (progress) => {
        if (progress.stage === "note") notes.push(progress.text);
      },
    });
    expect(model.parts[0].family).toBe("gpr");
    expect(notes).toContain("Model: exact GP regression (150 rows are few enough)");
  });
});
