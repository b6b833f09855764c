// Models that learn, and what a deliberately slow solver says their scores must be.

import type { LearningState } from "../../src/closed/state.ts";
import { type Dataset, type SparseRows, selectRows } from "../../src/data/dataset.ts";
import { type FeatureTransform, transformedRows } from "../../src/data/transform.ts";
import type { ClosedModel, TrainedModel } from "../../src/model/model.ts";
import { type Rows, transposed } from "../../src/model/rows.ts";
import { loadModel } from "../../src/predict/load.ts";
import type { TrainOptions } from "../../src/train/options.ts";
import { train } from "../../src/train/train.ts";
import { solve, times } from "../support/closed.ts";
import { generator } from "../support/numbers.ts";
import { topicData } from "../support/problems.ts";

export interface Taught {
  model: ClosedModel;
  state: LearningState;
}

/** Points with ids "d0", "d1", ... and names of labels. */
export function namedData(
  sizes: { points: number; features: number; labels: number },
  seed: number,
): Dataset {
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
  return keys.map((_, i) => i).sort((a, b) => (keys[a] as number) - (keys[b] as number));
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
  return { model: model as ClosedModel, state: state as LearningState };
}

/** A model of latent functions beside a linear one, as small as can be. */
export const both: TrainOptions = {
  likelihood: "both",
  factors: 4,
  inducingPoints: 8,
  rank: 8,
  batch: 200,
  epochs: 2,
};

/** Scores [n,K] of the closed form. */
export async function scoresOf(model: TrainedModel, features: SparseRows): Promise<Rows> {
  using loaded = await loadModel(model, { threads: 1 });
  const rows = await loaded.predict(features, { topK: model.labels });
  return rows.map((row) => {
    const scores = new Array<number>(model.labels).fill(Number.NaN);
    for (const { id, score } of row) scores[id as number] = score as number;
    return scores;
  });
}

/** Rows in full, as a model sees them. */
export function fullRows(features: SparseRows, transform: FeatureTransform): Rows {
  const { rows, columns, rowStart, columnIndex, values } = transformedRows(
    features,
    transform,
    0,
    features.rows,
  );
  return Array.from({ length: rows }, (_, i) => {
    const row = new Array<number>(columns).fill(0);
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++)
      row[columnIndex[e] as number] = values[e] as number;
    return row;
  });
}

/** What the scores must be after all these documents, with the model's vocabulary, kernel and noise. */
export function expectedScores(model: ClosedModel, data: Dataset, features: SparseRows): Rows {
  const { closed } = model;
  const { rows, rowStart, labelIndex } = data.labels;
  const has = Array.from({ length: rows }, (_, i) => {
    const row = new Array<number>(model.labels).fill(0);
    for (const label of labelIndex.subarray(rowStart[i], rowStart[i + 1])) row[label] = 1;
    return row;
  });
  const mean = Array.from(
    { length: model.labels },
    (_, k) => has.reduce((n, row) => n + (row[k] as number), 0) / rows,
  );
  const centred = has.map((row) => row.map((y, k) => y - (mean[k] as number)));
  const [x, z] = [fullRows(data.features, model.transform), fullRows(features, model.transform)];
  const withNoise = (square: Rows): Rows =>
    square.map((row, i) => row.map((value, j) => value + (i === j ? closed.noise : 0)));
  const plus = (s: Rows): Rows => s.map((row) => row.map((value, k) => value + (mean[k] as number)));
  if (closed.form === "linear") {
    const weights = solve(withNoise(times(transposed(x), x)), times(transposed(x), centred));
    return plus(times(z, weights));
  }
  const kernel = (a: number[], b: number[]): number =>
    Math.exp(-a.reduce((d, v, c) => d + (v - (b[c] as number)) ** 2, 0) / (2 * closed.hyper[2] ** 2));
  const between = (a: Rows, b: Rows): Rows => a.map((p) => b.map((q) => kernel(p, q)));
  return plus(times(between(z, x), solve(withNoise(between(x, x)), centred)));
}

export const rowsFrom = (data: Dataset, places: readonly number[]): Dataset => selectRows(data, places);
