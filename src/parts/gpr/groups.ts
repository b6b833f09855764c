// Duplicates are left out together: a copy that stays would give the label away. With C_GG the block of C of a group of equal points,
//
//     left out:  s_G = y_G - inverse(C_GG) a_G,   v_G = the diagonal of inverse(C_GG)
//
// which for one point is y_i - a_i / C_ii.

import { equalGroups } from "../../base/sparse.ts";
import type { Matrix } from "../../core/matrix.ts";
import type { PointRange } from "../regression/leaveoneout.ts";

/** Members of a group beyond it have no leave-one-out scores: C_GG would take too long to invert. */
const MOST_MEMBERS = 1000;
/** Numbers that columns of inverse(L) may take. */
const MOST_NUMBERS = 5e7;

interface Group {
  readonly members: readonly number[];
  /** inverse(C_GG) [g,g] */
  inverse: Float64Array;
}

/** Groups of equal points among the last `count`; points with an equal one before these, or with too many, have no scores. */
export class DuplicateGroups {
  readonly #first: number;
  readonly #points: number;
  readonly #groups: Group[] = [];
  /** Group and position in it of each member. */
  readonly #placeOf = new Map<number, { group: Group; at: number }>();
  readonly #excluded = new Set<number>();
  /** Columns of inverse(L) of members, where C is not at hand. */
  readonly #columns = new Map<number, Float64Array>();

  /** `firstEqual` has for each point the first one that is equal to it. */
  constructor(firstEqual: Int32Array, count: number) {
    this.#points = firstEqual.length;
    this.#first = firstEqual.length - count;
    let numbers = 0;
    for (const members of equalGroups(firstEqual.keys(), firstEqual)) {
      if (members.length === 1) continue;
      numbers += members.length * count;
      if (members[0] < this.#first || members.length > MOST_MEMBERS || numbers > MOST_NUMBERS) {
        for (const member of members) if (member >= this.#first) this.#excluded.add(member);
        continue;
      }
      const group = { members, inverse: new Float64Array(0) };
      this.#groups.push(group);
      for (const [at, member] of members.entries()) this.#placeOf.set(member, { group, at });
    }
  }

  /** From C [N,N]. */
  fromInverse(c: Matrix): void {
    for (const group of this.#groups) group.inverse = inverseOf(group.members, (i, j) => c.block(i, j, 1, 1).view()[0]);
  }

  /** Some columns of the inverse of L's last rows and columns, from `from` on, their first row in row `from`. */
  addColumns(columns: Matrix, from: number): void {
    const { rows, columns: width } = columns;
    for (let j = 0; j < width; j++) {
      if (!this.#placeOf.has(this.#first + from + j)) continue;
      const column = new Float64Array(from + rows);
      for (let i = 0; i < rows; i++) column[from + i] = columns.block(i, j, 1, 1).view()[0];
      this.#columns.set(this.#first + from + j, column);
    }
  }

  /** C_ij is the product of columns i and j, once all of them were added. */
  fromColumns(): void {
    for (const group of this.#groups)
      group.inverse = inverseOf(group.members, (i, j) => {
        const [a, b] = [this.#columns.get(i) as Float64Array, this.#columns.get(j) as Float64Array];
        let sum = 0;
        for (let k = Math.max(i, j) - this.#first; k < a.length; k++) sum += a[k] * b[k];
        return sum;
      });
    this.#columns.clear();
  }

  /** Points with leave-one-out scores. */
  get ranges(): PointRange[] {
    const ranges: PointRange[] = [];
    for (let from = this.#first; from < this.#points; ) {
      let to = from;
      while (to < this.#points && !this.#excluded.has(to)) to++;
      if (to > from) ranges.push({ from, to });
      from = to + 1;
    }
    return ranges;
  }

  /** The leave-one-out residual y - s [K] of a member and its variance; undefined for a point that stands alone. */
  leftOut(point: number, dual: Matrix): { residual: Float64Array; variance: number } | undefined {
    const place = this.#placeOf.get(point);
    if (!place) return undefined;
    const { group, at } = place;
    const { members, inverse } = group;
    const residual = new Float64Array(dual.columns);
    members.forEach((member, j) => {
      const own = dual.rowRange(member, member + 1).view();
      const factor = inverse[at * members.length + j];
      for (let k = 0; k < residual.length; k++) residual[k] += factor * own[k];
    });
    return { residual, variance: inverse[at * (members.length + 1)] };
  }
}

/** The inverse of a small symmetric positive definite matrix, by Cholesky. */
function inverseOf(members: readonly number[], element: (i: number, j: number) => number): Float64Array {
  const n = members.length;
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let sum = element(members[i], members[j]);
      for (let k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i === j ? Math.sqrt(Math.max(Number.MIN_VALUE, sum)) : sum / l[j * n + j];
    }
  const inverse = new Float64Array(n * n);
  const column = new Float64Array(n);
  for (let c = 0; c < n; c++) {
    for (let i = 0; i < n; i++) {
      let sum = i === c ? 1 : 0;
      for (let k = 0; k < i; k++) sum -= l[i * n + k] * column[k];
      column[i] = sum / l[i * n + i];
    }
    for (let i = n - 1; i >= 0; i--) {
      let sum = column[i];
      for (let k = i + 1; k < n; k++) sum -= l[k * n + i] * inverse[k * n + c];
      inverse[i * n + c] = sum / l[i * n + i];
    }
  }
  return inverse;
}
