// Between a state as plain data and what learns in the memory of a core.

import type { Core, Precision } from "../core/core.ts";
import { type Matrix, matrix, matrixFrom, Scope } from "../core/matrix.ts";
import type { Sign } from "../core/sums.ts";
import { LearnedRidge, type PendingPoints } from "./learn.ts";
import { packLower, unpackLower } from "./packed.ts";
import type { RidgeChoice } from "./ridge.ts";
import type { LearningState, StatePlan, StateSolution } from "./state.ts";
import { Statistics } from "./statistics.ts";
import { Totals } from "./totals.ts";

/** Totals (with A and B, where the state has them), and the solution that learns into them. */
export interface Restored {
  readonly totals: Totals;
  readonly learned?: LearnedRidge | undefined;
  free(): void;
}

/** The parts of a state that live in a core: totals, sums where `totals` is Statistics, solution where given. */
export function captureState(
  plan: StatePlan,
  totals: Totals,
  solution?: { learned: LearnedRidge; choice: RidgeChoice },
): Pick<LearningState, "plan" | "labels" | "totals" | "sums" | "solution"> {
  const copy = (m: Matrix): Float64Array => m.toArray() as Float64Array;
  return {
    plan,
    labels: totals.labels,
    totals: { points: totals.points, labelCounts: totals.labelCounts.slice(), sums: copy(totals.sums) },
    ...(totals instanceof Statistics && {
      sums: { gram: packLower(totals.gram) as Float64Array, cross: copy(totals.cross) },
    }),
    ...(solution && {
      solution: {
        choice: solution.choice,
        weights: solution.learned.weights.toArray(),
        inverse: packLower(solution.learned.base),
        ...pendingOf(solution.learned),
      },
    }),
  };
}

/** What C is behind by, as plain data. */
function pendingOf({ pending, base }: LearnedRidge): Pick<StateSolution, "pending"> {
  if (pending.length === 0) return {};
  const rows = pending.reduce((sum, { factor }) => sum + factor.rows, 0);
  const length = rows * base.columns;
  const factors = base.precision === "f32" ? new Float32Array(length) : new Float64Array(length);
  const signs = new Int32Array(rows);
  let row = 0;
  for (const { factor, sign } of pending) {
    factors.set(factor.toArray(), row * base.columns);
    signs.fill(sign, row, row + factor.rows);
    row += factor.rows;
  }
  return { pending: { factors, signs } };
}

/** The same in the memory of a core: neighbours of one sign together. */
function placePending(
  core: Core,
  { factors, signs }: NonNullable<StateSolution["pending"]>,
  features: number,
  precision: Precision,
): PendingPoints[] {
  const all: PendingPoints[] = [];
  for (let from = 0, to = 0; from < signs.length; from = to) {
    while (to < signs.length && signs[to] === signs[from]) to++;
    const part = factors.subarray(from * features, to * features);
    const factor = matrixFrom(core, to - from, features, part, precision);
    all.push({ factor, sign: signs[from] as Sign });
  }
  return all;
}

/** Totals and solution of a state in the memory of a core; the sums too where it has them. */
export function restoreState(core: Core, state: LearningState): Restored | undefined {
  const { plan, labels, totals: saved, sums, solution } = state;
  if (saved === undefined) return undefined;
  const { kernel, linear } = plan;
  const features = kernel + linear;
  const scope = new Scope();
  try {
    const totals = scope.keep(new (sums ? Statistics : Totals)(core, { kernel, linear, labels }));
    totals.points = saved.points;
    totals.labelCounts = saved.labelCounts.slice();
    totals.sums.set(saved.sums);
    if (totals instanceof Statistics && sums) {
      unpackLower(sums.gram, totals.gram);
      totals.cross.set(sums.cross);
    }
    if (solution === undefined) return { totals, free: () => scope.free() };
    const precisionOf = (data: Float32Array | Float64Array) => (data instanceof Float32Array ? "f32" : "f64");
    const precision = precisionOf(solution.weights);
    const square = scope.keep(matrix(core, features, features, precisionOf(solution.inverse)));
    const exactInverse = unpackLower(solution.inverse, square, "both");
    const weights = scope.keep(matrixFrom(core, features, labels, solution.weights, precision));
    const mean = scope.keep(matrixFrom(core, 1, labels, totals.mean(), precision));
    const pending = solution.pending
      ? placePending(core, solution.pending, features, exactInverse.precision)
      : [];
    const learned = scope.keep(new LearnedRidge(totals, { mean, weights, exactInverse }, { pending }));
    return { totals, learned, free: () => scope.free() };
  } catch (error) {
    scope.free();
    throw error;
  }
}
