// Small problems to test with: parameters and points for the bound, data sets for a training.

import type { Dataset } from "../../src/data/dataset.ts";
import type { SelfcheckCase } from "./boundcheck.ts";
import { generator, randomNumbers } from "./numbers.ts";

export interface ProblemSizes {
  points: number; // B
  features: number; // D
  labels: number; // K
  factors: number; // P
  inducing: number; // M
  rank: number; // R
}

export const smallSizes: ProblemSizes = {
  points: 5,
  features: 6,
  labels: 6,
  factors: 2,
  inducing: 4,
  rank: 3,
};

export type ProblemForm = Pick<SelfcheckCase, "kernel" | "inducing" | "posterior">;

/** rows x columns numbers in [-1, 1). */
export function randomRows(rows: number, columns: number, seed: number): number[][] {
  const numbers = randomNumbers(rows * columns, seed);
  return Array.from({ length: rows }, (_, i) => Array.from(numbers.slice(i * columns, (i + 1) * columns)));
}

/** A problem of one of the model's forms, without answers. Point i lacks label i and two others. */
export function randomProblem(
  { kernel, inducing, posterior }: ProblemForm,
  seed: number,
  { points, features, labels, factors, inducing: m, rank }: ProblemSizes = smallSizes,
): SelfcheckCase {
  const positive = (row: number[]): number[] => row.map((value) => 1.2 + 0.8 * value);
  const z =
    inducing === "subspace"
      ? { A: randomRows(m, rank, seed + 3) }
      : { Z: randomRows(m, features, seed + 3).map((row) => row.map((value) => 0.7 * value)) };
  const [linear, variance, length] = positive(randomRows(1, 3, seed + 8)[0]) as [number, number, number];
  return {
    name: `${kernel}-${inducing}-${posterior}`,
    kernel,
    inducing,
    posterior,
    N: 3 * points,
    X: randomRows(points, features, seed + 1),
    basis: inducing === "subspace" ? randomRows(rank, features, seed + 2) : null,
    labels: Array.from({ length: points }, (_, i) =>
      Array.from({ length: labels }, (_, k) => k).filter((k) => (k + i) % labels >= 3),
    ),
    sampledNegatives: null,
    parameters: {
      ...z,
      mu: randomRows(m, factors, seed + 4),
      sigma: randomRows(m, posterior === "shared" ? 1 : factors, seed + 5).map(positive),
      Phi: randomRows(labels, factors, seed + 6),
      b: randomRows(1, labels, seed + 7)[0],
      ...(kernel === "se" ? {} : { linearVariance: linear }),
      ...(kernel === "linear" ? {} : { seVariance: variance, lengthscale: length }),
    },
    expected: { gradient: {} },
  };
}

export interface TopicSizes {
  points: number;
  features: number;
  labels: number;
  /** Every so many-th point has no label; 0 for none. */
  unlabelledEvery?: number;
}

/** Words that go with labels: a label has words of its own, a point has one to three labels, their words and noise. */
export function topicData({ points, features, labels, unlabelledEvery = 0 }: TopicSizes, seed: number): Dataset {
  const next = generator(seed);
  const below = (n: number): number => Math.floor(next() * n);
  const words = Array.from({ length: labels }, () => Array.from({ length: 5 }, () => below(features)));
  const rowStart = [0];
  const columnIndex: number[] = [];
  const values: number[] = [];
  const labelStart = [0];
  const labelIndex: number[] = [];
  for (let i = 0; i < points; i++) {
    // The smaller of two draws: some labels are frequent, others rare.
    const own = new Set(Array.from({ length: 1 + below(3) }, () => Math.min(below(labels), below(labels))));
    const counts = new Map<number, number>();
    const add = (word: number): void => void counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const label of own) for (let w = 0; w < 4; w++) add(words[label]?.[below(5)]);
    for (let w = 0; w < 3; w++) add(below(features));
    for (const word of [...counts.keys()].sort((a, b) => a - b)) {
      columnIndex.push(word);
      values.push(counts.get(word) as number);
    }
    rowStart.push(columnIndex.length);
    const lacks = unlabelledEvery > 0 && i % unlabelledEvery === 0;
    if (!lacks) labelIndex.push(...[...own].sort((a, b) => a - b));
    labelStart.push(labelIndex.length);
  }
  return {
    features: {
      rows: points,
      columns: features,
      rowStart: Int32Array.from(rowStart),
      columnIndex: Int32Array.from(columnIndex),
      values: Float32Array.from(values),
    },
    labels: {
      rows: points,
      labels,
      rowStart: Int32Array.from(labelStart),
      labelIndex: Int32Array.from(labelIndex),
    },
  };
}
