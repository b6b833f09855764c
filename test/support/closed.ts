// The closed form by plain double loops and Gaussian elimination: what src/parts/regression must equal.

import { scalarKernel } from "../../src/base/kernels.ts";
import { type Core, csr, Pattern, type Precision, type Scope } from "../../src/core/index.ts";
import type { ExactForm } from "../../src/parts/gpr/exact.ts";
import { Points, toUnitRows } from "../../src/parts/regression/points.ts";
import { listsOf, type Rows, rowsOf, sparseOf, transposed } from "./lists.ts";
import { generator } from "./numbers.ts";

export const times = (a: Rows, b: Rows): Rows =>
  a.map((row) => (b[0] ?? []).map((_, j) => row.reduce((sum, value, i) => sum + value * b[i][j], 0)));

/** X of A X = B by elimination with row exchanges. */
export function solve(a: Rows, b: Rows): Rows {
  const n = a.length;
  const work = a.map((row, i) => [...row, ...b[i]]);
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k; i < n; i++) if (Math.abs(work[i][k]) > Math.abs(work[best][k])) best = i;
    [work[k], work[best]] = [work[best], work[k]];
    const pivot = work[k];
    for (let i = 0; i < n; i++) {
      const row = work[i];
      if (i === k) continue;
      const factor = row[k] / pivot[k];
      for (let j = k; j < row.length; j++) row[j] -= factor * pivot[j];
    }
  }
  return work.map((row, i) => row.slice(n).map((value) => value / row[i]));
}

export const unit = (row: number[]): number[] => {
  const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
  return row.map((value) => (length > 0 ? value / length : 0));
};

export type ProblemSizes = Record<"points" | "features" | "labels" | "rank" | "inducing", number>;

/** A small problem: rows with some zeros (one of them all zeros), labels of different frequencies. */
export function randomProblem(
  seed: number,
  { points = 14, features = 7, labels = 4, rank = 3, inducing = 4 }: Partial<ProblemSizes> = {},
): Record<"X" | "Y" | "V" | "Z", Rows> {
  const next = generator(seed);
  const number = (): number => Math.fround(2 * next() - 1);
  const X = Array.from({ length: points }, (_, i) =>
    Array.from({ length: features }, () => (i === 3 || next() < 0.4 ? 0 : number())),
  );
  const Y = X.map(() => Array.from({ length: labels }, (_, k) => (next() < 0.6 / (k + 1) ? 1 : 0)));
  const V = Array.from({ length: rank }, () => Array.from({ length: features }, number));
  const Z = Array.from({ length: inducing }, () => unit(Array.from({ length: rank }, number)));
  return { X, Y, V, Z };
}

/** Rows and labels in the memory of a core. */
export class Placed {
  readonly points: Points;
  readonly labels: Pattern;
  constructor(core: Core, precision: Precision, X: Rows, Y: Rows, scope: Scope) {
    const x = scope.keep(csr(core, sparseOf(X, X[0].length), precision));
    this.points = scope.keep(new Points(toUnitRows(x)));
    this.labels = scope.keep(new Pattern(core, Y[0].length, listsOf(Y)));
  }
}

/** The rows as they are in the core, in full. */
export function denseRows({ x }: Points): Rows {
  const [starts, columns, values] = [x.start.view(), x.column.view(), x.value.view()];
  return Array.from({ length: x.rows }, (_, i) => {
    const row = new Array<number>(x.columns).fill(0);
    for (let e = starts[i]; e < starts[i + 1]; e++) row[columns[e]] = values[e];
    return row;
  });
}

/** Scores k(x,X) a + mu of new points, and their variances lam + k(x,x) - k(x,X) C k(X,x). */
export function exactAt(
  { kernel, noise, dual, mean, labels }: ExactForm,
  training: Points,
  points: Points,
): { scores: Rows; variances: number[] } {
  const { name, linearVariance = 1, variance = 1, lengthScale = 1 } = kernel.choice;
  const { covariance } = scalarKernel(name, [linearVariance, variance, lengthScale]);
  const between = (a: Points, b: Points): Rows =>
    times(denseRows(a), transposed(denseRows(b))).map((row, i) =>
      row.map((product, j) => covariance(product, a.squares.view()[i], b.squares.view()[j])),
    );
  const k = between(points, training);
  const mu = mean.toArray();
  const own = between(points, points);
  const square = between(training, training).map((row, i) => row.map((value, j) => value + (i === j ? noise : 0)));
  const explained = times(k, solve(square, transposed(k)));
  return {
    scores: times(k, rowsOf(dual.toArray(), labels)).map((row) => row.map((score, j) => score + mu[j])),
    variances: own.map((row, i) => noise + row[i] - explained[i][i]),
  };
}
