// What the kernels must equal: plain double loops, in double precision.

export type Numbers = ArrayLike<number>;

/** Element (i, j) of a row-major matrix with that many columns. */
export const at = (x: Numbers, columns: number, i: number, j: number): number => x[i * columns + j];

/** m x n from a rule for each element. */
export function fill(m: number, n: number, rule: (i: number, j: number) => number): Float64Array {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) out[i * n + j] = rule(i, j);
  return out;
}

export const transposed = (m: number, n: number, x: Numbers): Float64Array => fill(n, m, (i, j) => at(x, n, j, i));

/** A B, m x k times k x n. */
export function product(m: number, n: number, k: number, a: Numbers, b: Numbers): Float64Array {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let p = 0; p < k; p++) {
      const factor = at(a, k, i, p);
      if (factor === 0) continue;
      for (let j = 0; j < n; j++) out[i * n + j] += factor * at(b, n, p, j);
    }
  }
  return out;
}

/** Greatest sum of absolute values in a column. */
export function oneNorm(m: number, n: number, x: Numbers): number {
  let norm = 0;
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let i = 0; i < m; i++) sum += Math.abs(at(x, n, i, j));
    norm = Math.max(norm, sum);
  }
  return norm;
}

/** Greatest difference between two arrays. NaN counts as infinite. */
export function worst(a: Numbers, b: Numbers): number {
  let difference = a.length === b.length ? 0 : Number.POSITIVE_INFINITY;
  for (let i = 0; i < a.length; i++) {
    const d = Math.abs(a[i] - b[i]);
    difference = Math.max(difference, Number.isNaN(d) ? Number.POSITIVE_INFINITY : d);
  }
  return difference;
}

/** A sparse matrix in full; repeated entries are added up. */
export function dense(x: {
  rows: number;
  columns: number;
  rowStart: Numbers;
  columnIndex: Numbers;
  values: Numbers;
}): Float64Array {
  const out = new Float64Array(x.rows * x.columns);
  for (let i = 0; i < x.rows; i++) {
    for (let e = x.rowStart[i]; e < x.rowStart[i + 1]; e++) {
      out[i * x.columns + x.columnIndex[e]] += x.values[e];
    }
  }
  return out;
}
