// A part that is a ridge regression and goes on learning: documents change its solution, and the part is made of that.

import type { SparseRows } from "../../base/sparse.ts";
import type { Core } from "../../core/core.ts";
import type { RealArray } from "../../core/matrix.ts";
import type { PartLearner } from "../part.ts";
import { type Change, LearningError } from "./documents.ts";
import { type LearnedRidge, learnChange } from "./learn.ts";
import { captureState, type LearningState, type Restored, restoreState } from "./state.ts";

/** A solution that learns, with its totals. */
export type LearnedSums = Restored & { readonly learned: LearnedRidge };

/** The part's own share in this. */
export interface RidgePart<P> {
  readonly noise: number;
  /** Rows as the documents of the state have them. */
  rows(features: SparseRows): SparseRows;
  /** Features of such rows; they themselves if not given. */
  featuresOf?(rows: SparseRows): SparseRows;
  /** The part after a change. */
  changed(part: P, learned: LearnedRidge, change: Change): P;
}

/** Learning into the solution: as many directions of C and W change as documents come and go. */
export function ridgeLearner<P>(
  start: P,
  { noise, rows, featuresOf, changed }: RidgePart<P>,
  { totals, learned, free }: LearnedSums,
): PartLearner<P> {
  let part = start;
  let broken = false;
  return {
    keepsAll: false,
    rows,
    async learn(change, _, work) {
      if (broken) throw new LearningError("found a solution that failed in the middle of learning, expected a new one");
      broken = true;
      await learnChange(learned, change, work, featuresOf);
      broken = false;
      part = changed(part, learned, change);
      return { part };
    },
    capture: (plan, whole) => captureState(plan, totals, whole ? { learned, choice: { noise } } : undefined),
    free,
  };
}

/** The solution of a state, with the weights of its model. */
export function restoredSums(core: Core, state: LearningState, weights: RealArray): LearnedSums {
  const restored = restoreState(core, state, weights);
  if (restored?.learned === undefined)
    throw new LearningError("found a state without a solution, expected one that was written with a model");
  return { ...restored, learned: restored.learned };
}
