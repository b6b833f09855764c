// Some points that carry the mean for all: what comes out as they become all points, and what is left of it as they become
// few.

import { describe, expect, test } from "vitest";
import { type Core, createCore } from "../../../src/core/core.ts";
import { type Dataset, selectRows } from "../../../src/data/dataset.ts";
import { transformedRows } from "../../../src/data/transform.ts";
import { modelFromBytes, modelToBytes } from "../../../src/model/file.ts";
import type { Model } from "../../../src/model/model.ts";
import { fitDocuments, type GprPart } from "../../../src/parts/gpr/posterior.ts";
import type { Part } from "../../../src/parts/index.ts";
import { completeOptions } from "../../../src/parts/options.ts";
import type { Fit } from "../../../src/parts/part.ts";
import { mostExact } from "../../../src/parts/regression/cost.ts";
import { placeDocuments } from "../../../src/parts/regression/points.ts";
import { schemaFor } from "../../../src/parts/schema.ts";
import { fitInducing, inducingCost, inducingCount, type SgprPart } from "../../../src/parts/sgpr/fit.ts";
import { loadModel } from "../../../src/predict/load.ts";
import { calibrateByLoo } from "../../../src/train/calibrate.ts";
import { chosenParts } from "../../../src/train/choose.ts";
import { topicData } from "../../support/problems.ts";

const all = topicData({ points: 420, features: 40, labels: 8 }, 5);
const places = Array.from({ length: 420 }, (_, i) => i);
const data = selectRows(all, places.slice(0, 300));
const more = selectRows(all, places.slice(300));
const choice = { noise: 0.2, kernel: { name: "se", lengthScale: 0.7 } } as const;
const full = completeOptions({ model: "sgpr" }, { points: 300, features: 40, labels: 8, defaultKernel: "se" });
const schema = schemaFor(data, full);
const documents = {
  features: transformedRows(data.features, schema.transform, 0, 300),
  labels: data.labels,
};

/** A calibrated model of a fit, which it frees. */
async function modelOf(core: Core, fit: Fit<Part>): Promise<Model> {
  const { figures, ...rest } = await calibrateByLoo({ core, schema, work: {} }, fit);
  fit.free?.();
  return { schema, ...rest, summary: { options: { ...full }, droppedPoints: 0, leftOut: figures } };
}

const partOf = ({ parts: [part] }: Model): SgprPart => {
  expect(part.family).toBe("sgpr");
  return part as SgprPart;
};

async function fitted(count: number, threads = 1): Promise<Model> {
  const core = await createCore({ threads });
  try {
    const placed = placeDocuments(core, documents, schema.labels);
    const fit = await fitInducing(core, { documents, schema, choice, placed }, count, {});
    return await modelOf(core, fit);
  } finally {
    core.dispose();
  }
}

const answersOf = async (model: Model, rows: Dataset = more): Promise<number[]> => {
  using loaded = await loadModel(model, { threads: 1 });
  const answers = await loaded.predict(rows.features, { topK: 8 });
  return answers.flatMap((labels) =>
    [...labels].sort((a, b) => (a.label < b.label ? -1 : 1)).map(({ probability }) => probability),
  );
};

const farthest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i])));

describe("inducing points", () => {
  test("that are all points give the probabilities of the exact form", async () => {
    const core = await createCore({ threads: 1 });
    const exact = await modelOf(core, await fitDocuments(core, documents, schema, choice, {}));
    core.dispose();
    const model = await fitted(300);
    expect(partOf(model).rows).toEqual((exact.parts[0] as GprPart).rows);
    const [answers, expected] = [await answersOf(model), await answersOf(exact)];
    // They differ by the jitter of Kzz.
    expect(farthest(answers, expected)).toBeLessThan(5e-3);
    expect(model.summary.leftOut?.logLoss).toBeCloseTo(exact.summary.leftOut?.logLoss as number, 2);
  });

  test("are worse the fewer they are", async () => {
    const losses: number[] = [];
    for (const count of [1, 10, 150]) {
      using loaded = await loadModel(await fitted(count), { threads: 1 });
      const { calibration } = await loaded.evaluate(more, { calibration: true });
      losses.push(calibration?.logLoss as number);
    }
    const [one, few, many] = losses as [number, number, number];
    expect(few).toBeLessThan(one);
    expect(many).toBeLessThan(few);
  });

  test("solve the equations of the sparse form: (lam Kzz + Kzx Kxz) a = Kzx (Y - mu)", async () => {
    const model = await fitted(20);
    const { dual, rows, hyper, noise, mean } = partOf(model);
    const points = documents.features;
    const dense = (from: typeof points): number[][] =>
      Array.from({ length: from.rows }, (_, i) => {
        const row = new Array<number>(from.columns).fill(0);
        for (let e = from.rowStart[i]; e < from.rowStart[i + 1]; e++) row[from.columnIndex[e]] = from.values[e];
        return row;
      });
    const covariance = (a: number[], b: number[]): number =>
      Math.exp(-a.reduce((d, v, c) => d + (v - b[c]) ** 2, 0) / (2 * hyper[2] ** 2));
    const [z, x] = [dense(rows), dense(points)];
    const kzx = z.map((one) => x.map((other) => covariance(one, other)));
    const kzz = z.map((one, i) => z.map((other, j) => covariance(one, other) + (i === j ? 1e-4 : 0)));
    const { rowStart, labelIndex } = data.labels;
    const y = x.map((_, i) =>
      Array.from({ length: 8 }, (_, k) =>
        labelIndex.subarray(rowStart[i], rowStart[i + 1]).includes(k) ? 1 - mean[k] : -mean[k],
      ),
    );
    for (let k = 0; k < 8; k++) {
      const a = z.map((_, j) => dual[j * 8 + k]);
      const scores = x.map((_, i) => a.reduce((sum, value, j) => sum + value * kzx[j]?.[i], 0));
      kzz.forEach((own, j) => {
        const left =
          noise * own.reduce((sum, value, i) => sum + value * a[i], 0) +
          scores.reduce((sum, score, i) => sum + score * kzx[j]?.[i], 0);
        const right = y.reduce((sum, row, i) => sum + row[k] * kzx[j]?.[i], 0);
        expect(Math.abs(left - right)).toBeLessThan(2e-3);
      });
    }
  });

  test("give the same bytes for any number of threads, and the same answers from their file", async () => {
    const model = await fitted(50);
    const bytes = modelToBytes(model);
    expect(modelToBytes(await fitted(50, 2))).toEqual(bytes);
    const read = modelFromBytes(bytes);
    expect(partOf(read)).toEqual(partOf(model));
    expect(await answersOf(read)).toEqual(await answersOf(model));
  });

  test("are as many as time and memory allow", () => {
    for (const [points, labels] of [
      [30_000, 100],
      [45_000, 4000],
      [300_000, 1000],
      [1_200_000, 13_330],
    ] as const) {
      const { operations, bytes } = inducingCost(points, labels);
      expect(operations).toBeLessThanOrEqual(6e12);
      expect(bytes).toBeLessThanOrEqual(3.2e9);
      expect(inducingCount(points, labels)).toBeGreaterThan(1000);
    }
    expect(inducingCount(30_000, 100)).toBeGreaterThan(7000);
  });
});

/** Sizes of a data set whose rows nobody reads. */
const sized = (points: number, labels: number): Pick<Dataset, "features" | "labels"> => {
  const rowStart = { length: points + 1 } as Int32Array;
  const values = { length: 50 * points } as Float32Array;
  return {
    features: { rows: points, columns: 50, rowStart, columnIndex: new Int32Array(0), values },
    labels: { rows: points, labels, rowStart, labelIndex: new Int32Array(0) },
  };
};

describe("who takes them", () => {
  const many = sized(mostExact(100) + 1, 100);
  const few = sized(mostExact(100), 100);

  test("more points than exact GP regression takes, where features are dense", () => {
    for (const kernel of [undefined, "linear", "se"] as const) {
      expect(chosenParts({ kernel }, few, true).names).toEqual(["gpr"]);
      expect(chosenParts({ kernel }, few, false).names).toEqual(["gpr"]);
      expect(chosenParts({ kernel }, many, true).names).toEqual(["sgpr"]);
      expect(chosenParts({ kernel }, many, false).names).not.toContain("sgpr");
    }
    expect(chosenParts({}, many, true).reason).toMatch(
      /^Model: sparse GP regression \(SGPR\) \([\d,]+ rows are too many for exact GP regression\)$/,
    );
  });
});
