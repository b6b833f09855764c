// The closed form by plain double loops and Gaussian elimination: what the room src/closed must equal.

import { Points, toUnitRows } from "../../src/closed/points.ts";
import { type Core, csr, Pattern, type Precision, type Scope } from "../../src/core/index.ts";
import { listsOf, type Rows, sparseOf } from "../../src/model/rows.ts";
import { generator } from "./numbers.ts";

export const times = (a: Rows, b: Rows): Rows =>
  a.map((row) =>
    (b[0] ?? []).map((_, j) =>
      row.reduce((sum, value, i) => sum + value * ((b[i] as number[])[j] as number), 0),
    ),
  );

/** X of A X = B by elimination with row exchanges. */
export function solve(a: Rows, b: Rows): Rows {
  const n = a.length;
  const work = a.map((row, i) => [...row, ...(b[i] as number[])]);
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k; i < n; i++)
      if (Math.abs((work[i] as number[])[k] as number) > Math.abs((work[best] as number[])[k] as number))
        best = i;
    [work[k], work[best]] = [work[best] as number[], work[k] as number[]];
    const pivot = work[k] as number[];
    for (let i = 0; i < n; i++) {
      const row = work[i] as number[];
      if (i === k) continue;
      const factor = (row[k] as number) / (pivot[k] as number);
      for (let j = k; j < row.length; j++) (row[j] as number) -= factor * (pivot[j] as number);
    }
  }
  return work.map((row, i) => row.slice(n).map((value) => value / (row[i] as number)));
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
    const x = scope.keep(csr(core, sparseOf(X, (X[0] as number[]).length), precision));
    this.points = scope.keep(new Points(toUnitRows(x)));
    this.labels = scope.keep(new Pattern(core, (Y[0] as number[]).length, listsOf(Y)));
  }
}
