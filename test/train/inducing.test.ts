// Some points that carry the mean for all: what comes out as they become all points, and what is left of it as they become
// few.

import { describe, expect, test } from "vitest";
import { closedOn } from "../../src/closed/device/closed.ts";
import { createCore } from "../../src/core/core.ts";
import { type Dataset, selectRows } from "../../src/data/dataset.ts";
import { readDataset, train } from "../../src/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { ClosedModel, KernelPart, ModelFrame } from "../../src/model/model.ts";
import { loadModel } from "../../src/predict/load.ts";
import { chosenLikelihood, closedForm } from "../../src/train/choose.ts";
import { mostExact, trainExact } from "../../src/train/exact.ts";
import { inducingCost, inducingCount, trainInducing } from "../../src/train/inducing.ts";
import { completeOptions } from "../../src/train/options.ts";
import { frameFor, summaryFor } from "../../src/train/train.ts";
import { type ClosedKind, closedKinds } from "../support/closeddevices.ts";
import { randomNumbers } from "../support/numbers.ts";
import { topicData } from "../support/problems.ts";

const all = topicData({ points: 420, features: 40, labels: 8 }, 5);
const places = Array.from({ length: 420 }, (_, i) => i);
const data = selectRows(all, places.slice(0, 300));
const more = selectRows(all, places.slice(300));
const choice = { noise: 0.2, kernel: { name: "se", lengthScale: 0.7 } } as const;
const full = completeOptions(
  { likelihood: "gaussian" },
  { points: 300, features: 40, labels: 8, dense: false },
);
const frame: ModelFrame = frameFor(data, full, 300);

async function fitted(count: number, threads = 1, kind?: ClosedKind): Promise<ClosedModel> {
  const core = await createCore({ threads });
  const opened = await kind?.open(core);
  try {
    const notes: string[] = [];
    const device = opened && closedOn(opened, (text) => notes.push(text));
    const work = { count, device };
    const { figures, ...fit } = await trainInducing(core, data, frame, [choice], 1, work, () => {});
    expect(notes).toEqual([]);
    const { points: _, ...common } = frame;
    const summary = { ...summaryFor(full, 300, 0), leftOut: figures };
    return { ...common, likelihood: "gaussian", ...fit, summary };
  } finally {
    opened?.dispose();
    core.dispose();
  }
}

const answersOf = async (model: ClosedModel, rows: Dataset = more): Promise<number[]> => {
  using loaded = await loadModel(model, { threads: 1 });
  const answers = await loaded.predict(rows.features, { topK: 8 });
  return answers.flatMap((labels) =>
    [...labels].sort((a, b) => (a.label < b.label ? -1 : 1)).map(({ probability }) => probability),
  );
};

const farthest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, i) => Math.abs(value - (b[i] as number))));

describe("inducing points", () => {
  test("that are all points give the probabilities of the exact form", async () => {
    const core = await createCore({ threads: 1 });
    const { figures, order: _, ...exact } = await trainExact(core, data, frame, [choice], 1, {}, () => {});
    core.dispose();
    const model = await fitted(300);
    const [own, other] = [model.closed as KernelPart, exact.closed as KernelPart];
    expect(own.form).toBe("inducing");
    expect(own.rows).toEqual(other.rows);
    const [answers, expected] = [
      await answersOf(model),
      await answersOf({ ...model, ...exact, summary: model.summary }),
    ];
    // They differ by the jitter of Kzz.
    expect(farthest(answers, expected)).toBeLessThan(5e-3);
    expect(model.summary.leftOut?.logLoss).toBeCloseTo(figures.logLoss as number, 2);
  });

  for (const kind of closedKinds.filter(({ precision }) => precision === "f32")) {
    test(`on ${kind.name} give the core's probabilities`, async () => {
      const answers = await answersOf(await fitted(100, 1, kind));
      expect(farthest(answers, await answersOf(await fitted(100)))).toBeLessThan(1e-4);
    });
  }

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
    const { dual, rows, hyper, noise } = model.closed as KernelPart;
    const { transformedRows } = await import("../../src/data/transform.ts");
    const points = transformedRows(data.features, frame.transform, 0, 300);
    const dense = (from: typeof points): number[][] =>
      Array.from({ length: from.rows }, (_, i) => {
        const row = new Array<number>(from.columns).fill(0);
        for (let e = from.rowStart[i] as number; e < (from.rowStart[i + 1] as number); e++)
          row[from.columnIndex[e] as number] = from.values[e] as number;
        return row;
      });
    const covariance = (a: number[], b: number[]): number =>
      Math.exp(-a.reduce((d, v, c) => d + (v - (b[c] as number)) ** 2, 0) / (2 * hyper[2] ** 2));
    const [z, x] = [dense(rows), dense(points)];
    const kzx = z.map((one) => x.map((other) => covariance(one, other)));
    const kzz = z.map((one, i) => z.map((other, j) => covariance(one, other) + (i === j ? 1e-4 : 0)));
    const { rowStart, labelIndex } = data.labels;
    const y = x.map((_, i) =>
      Array.from({ length: 8 }, (_, k) =>
        labelIndex.subarray(rowStart[i], rowStart[i + 1]).includes(k)
          ? 1 - (model.labelMean[k] as number)
          : -(model.labelMean[k] as number),
      ),
    );
    for (let k = 0; k < 8; k++) {
      const a = z.map((_, j) => dual[j * 8 + k] as number);
      const scores = x.map((_, i) => a.reduce((sum, value, j) => sum + value * (kzx[j]?.[i] as number), 0));
      kzz.forEach((own, j) => {
        const left =
          noise * own.reduce((sum, value, i) => sum + value * (a[i] as number), 0) +
          scores.reduce((sum, score, i) => sum + score * (kzx[j]?.[i] as number), 0);
        const right = y.reduce((sum, row, i) => sum + (row[k] as number) * (kzx[j]?.[i] as number), 0);
        expect(Math.abs(left - right)).toBeLessThan(2e-3);
      });
    }
  });

  test("give the same bytes for any number of threads, and the same answers from their file", async () => {
    const model = await fitted(50);
    const bytes = modelToBytes(model);
    expect(modelToBytes(await fitted(50, 2))).toEqual(bytes);
    const read = modelFromBytes(bytes) as ClosedModel;
    expect(read.closed.form).toBe("inducing");
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

  test("more points than the exact form takes, where features are dense or a curved kernel was asked for", () => {
    expect(closedForm({}, few, true)).toBe("exact");
    expect(closedForm({ kernel: "se" }, few, false)).toBe("exact");
    expect(closedForm({}, many, true)).toBe("inducing");
    expect(closedForm({ kernel: "linear" }, many, true)).toBe("inducing");
    expect(closedForm({ kernel: "rbf" }, many, false)).toBe("inducing");
    expect(closedForm({ kernel: "linear" }, many, false)).toBe("linear");
    expect(closedForm({}, many, false)).toBe("linear");
  });

  test("auto takes them for dense features and says so", () => {
    const chosen = chosenLikelihood({}, many, true);
    expect(chosen?.options.likelihood).toBe("gaussian");
    expect(chosen?.reason).toMatch(
      /too many for the exact form, .+ dense: \d{4} points carry the mean for all$/,
    );
    expect(chosenLikelihood({}, many, false)?.options.likelihood).not.toBe("gaussian");
  });

  test("they cannot go on learning, which is said before any work", async () => {
    const points = mostExact(1) + 1;
    const numbers = randomNumbers(points, 3);
    const { dataset } = await readDataset(
      Array.from(numbers, (x, i) => ({ id: `${i}`, features: [x, 1 - x], labels: ["a"] })),
    );
    await expect(train(dataset, { onState: async () => {}, threads: 1 })).rejects.toThrow(
      /kernel: found \d+ points, too many for each to be kept, .+ cannot go on learning, expected linear or fewer points/,
    );
  });
});
