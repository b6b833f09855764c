// Models that learn, and what a deliberately slow solver says their scores must be.

import type { SparseRows } from "../../src/base/sparse.ts";
import { type Dataset, selectRows } from "../../src/data/dataset.ts";
import { type FeatureTransform, transformedRows } from "../../src/data/transform.ts";
import type { Model } from "../../src/model/model.ts";
import type { GprPart } from "../../src/parts/gpr/posterior.ts";
import type { LinearPart } from "../../src/parts/linear/posterior.ts";
import type { TrainOptions } from "../../src/parts/options.ts";
import type { LearningState } from "../../src/parts/regression/state.ts";
import { loadModel } from "../../src/predict/load.ts";
import { train } from "../../src/train/train.ts";
import { solve, times } from "../support/closed.ts";
import { type Rows, transposed } from "../support/lists.ts";
import { generator } from "../support/numbers.ts";
import { topicData } from "../support/problems.ts";

export interface Taught {
  model: Model;
  state: LearningState;
}

/** Points with ids "d0", "d1", ... and names of labels. */
export function namedData(sizes: { points: number; features: number; labels: number }, seed: number): Dataset {
  const data = topicData(sizes, seed);
  return {
    ...data,
    ids: Array.from({ length: sizes.points }, (_, i) => `d${i}`),
    labelNames: Array.from({ length: sizes.labels }, (_, k) => `label ${k}`),
  };
}

/** The numbers 0 ... n - 1 in an order of their own. */
export function shuffled(n: number, seed: number): number[] {
  const next = generator(seed);
  const keys = Array.from({ length: n }, () => next());
  return keys.map((_, i) => i).sort((a, b) => keys[a] - keys[b]);
}

export async function taught(data: Dataset, options: TrainOptions): Promise<Taught> {
  let state: LearningState | undefined;
  const model = await train(data, {
    threads: 1,
    ...options,
    onState: (made) => {
      state = made;
    },
  });
  return { model, state: state as LearningState };
}

/** A variational part beside a linear one, as small as can be. */
export const both: TrainOptions = {
  model: "linear+svgp",
  factors: 4,
  inducingPoints: 8,
  rank: 8,
  batch: 200,
  epochs: 2,
};

/** Scores [n,K] of the first part. */
export async function scoresOf(model: Model, features: SparseRows): Promise<Rows> {
  using loaded = await loadModel(model, { threads: 1 });
  const rows = await loaded.predict(features, { topK: model.schema.labels });
  return rows.map((row) => {
    const scores = new Array<number>(model.schema.labels).fill(Number.NaN);
    for (const { id, score } of row) scores[id as number] = score as number;
    return scores;
  });
}

/** Rows in full, as a model sees them. */
export function fullRows(features: SparseRows, transform: FeatureTransform): Rows {
  const { rows, columns, rowStart, columnIndex, values } = transformedRows(features, transform, 0, features.rows);
  return Array.from({ length: rows }, (_, i) => {
    const row = new Array<number>(columns).fill(0);
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) row[columnIndex[e]] = values[e];
    return row;
  });
}

/** What the scores must be after all these documents, with the model's vocabulary, kernel and noise. */
export function expectedScores(model: Model, data: Dataset, features: SparseRows): Rows {
  const part = model.parts[0] as LinearPart | GprPart;
  const { labels, transform } = model.schema;
  const { rows, rowStart, labelIndex } = data.labels;
  const has = Array.from({ length: rows }, (_, i) => {
    const row = new Array<number>(labels).fill(0);
    for (const label of labelIndex.subarray(rowStart[i], rowStart[i + 1])) row[label] = 1;
    return row;
  });
  const mean = Array.from({ length: labels }, (_, k) => has.reduce((n, row) => n + row[k], 0) / rows);
  const centred = has.map((row) => row.map((y, k) => y - mean[k]));
  const [x, z] = [fullRows(data.features, transform), fullRows(features, transform)];
  const withNoise = (square: Rows): Rows =>
    square.map((row, i) => row.map((value, j) => value + (i === j ? part.noise : 0)));
  const plus = (s: Rows): Rows => s.map((row) => row.map((value, k) => value + mean[k]));
  if (part.family === "linear") {
    const weights = solve(withNoise(times(transposed(x), x)), times(transposed(x), centred));
    return plus(times(z, weights));
  }
  const kernel = (a: number[], b: number[]): number =>
    Math.exp(-a.reduce((d, v, c) => d + (v - b[c]) ** 2, 0) / (2 * part.hyper[2] ** 2));
  const between = (a: Rows, b: Rows): Rows => a.map((p) => b.map((q) => kernel(p, q)));
  return plus(times(between(z, x), solve(withNoise(between(x, x)), centred)));
}

export const rowsFrom = (data: Dataset, places: readonly number[]): Dataset => selectRows(data, places);
