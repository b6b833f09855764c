// The closed form by plain double loops and Gaussian elimination: what the room src/closed must equal.

import type { CsrArrays } from "../../src/core/index.ts";
import { generator } from "./numbers.ts";

export type Rows = number[][];

/** The reference values of test/golden/closed-form.json. */
export interface ClosedCase {
  name: string;
  X: Rows;
  T: Rows;
  Y: Rows;
  lam: number;
  jitter: number;
  V: Rows;
  Z: Rows;
  mean: number[];
  exact: {
    K: Rows;
    dual: Rows;
    loo: Rows;
    looVariance: number[];
    testScore: Rows;
    testVariance: number[];
  };
  sparse: {
    features: Rows;
    gram: Rows;
    cross: Rows;
    weights: Rows;
    loo: Rows;
    leverage: number[];
    looVariance: number[];
    testScore: Rows;
    testVariance: number[];
    parts: { gram: Rows; cross: Rows; sum: number[]; labelCounts: number[]; points: number }[];
    stack: { vectors: Rows; g: number; weights: Rows; loo: Rows };
  };
}

/** Dense rows as sparse ones. */
export function sparseOf(rows: Rows, columns: number = rows[0]?.length ?? 0): CsrArrays {
  const rowStart = [0];
  const columnIndex: number[] = [];
  const values: number[] = [];
  for (const row of rows) {
    row.forEach((value, j) => {
      if (value === 0) return;
      columnIndex.push(j);
      values.push(value);
    });
    rowStart.push(columnIndex.length);
  }
  return { rows: rows.length, columns, rowStart, columnIndex, values };
}

/** Rows of 0 and 1 as lists of labels. */
export function listsOf(rows: Rows): { rowStart: Int32Array; labelIndex: Int32Array } {
  const { rowStart, columnIndex } = sparseOf(rows);
  return { rowStart: Int32Array.from(rowStart), labelIndex: Int32Array.from(columnIndex) };
}

export const transposed = (rows: Rows): Rows =>
  (rows[0] ?? []).map((_, j) => rows.map((row) => row[j] as number));

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

/** Greatest difference between rows of numbers. */
export function difference(a: Rows, b: Rows): number {
  let greatest = a.length === b.length ? 0 : Infinity;
  a.forEach((row, i) => {
    const other = b[i] ?? [];
    if (row.length !== other.length) greatest = Infinity;
    row.forEach((value, j) => {
      const d = Math.abs(value - (other[j] as number));
      greatest = Math.max(greatest, Number.isNaN(d) ? Infinity : d);
    });
  });
  return greatest;
}

/** An array of numbers as rows of that many columns. */
export const rowsOf = (values: ArrayLike<number>, columns: number): Rows =>
  Array.from({ length: columns === 0 ? 0 : values.length / columns }, (_, i) =>
    Array.from({ length: columns }, (_, j) => values[i * columns + j] as number),
  );

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
