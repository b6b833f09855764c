// Where to cut, chosen from the probabilities of points the model has not seen: one threshold for all labels and one for each,
// for the best F1. What a label's own predictions say is joined by a share of what those of all
// labels say, so that a label with few positives is cut where the others are.

import { sameSize } from "../base/check.ts";
import { deterministicLog } from "../base/math.ts";
import type { Thresholds } from "../base/prediction.ts";
import type { PairArrays } from "../core/calibrator.ts";
import { precisionRecall, ratio } from "../metrics/rows.ts";
import { logistic } from "./forward.ts";

/** Held-out predictions: pairs of a point and a label, and their probabilities. */
export interface Predictions extends Pick<PairArrays, "labelStart" | "signedWeight"> {
  probabilities: ArrayLike<number>;
}

/** Thresholds that are tried: this many, evenly by their logits, from about 0.0025 to 0.9975. */
const STEPS = 128;
const [LOWEST, HIGHEST] = [-6, 6];
/** How many positives of a label all others together count for. */
const OTHERS_COUNT = 10;

/** The thresholds that are tried, rising. */
const TRIED: readonly number[] = Array.from({ length: STEPS + 1 }, (_, i) =>
  logistic(LOWEST + ((HIGHEST - LOWEST) * i) / STEPS),
);

/** Place of the last threshold that a probability reaches, -1 for none. */
function reached(probability: number): number {
  if (!(probability >= TRIED[0])) return -1;
  if (probability >= TRIED[STEPS]) return STEPS;
  const logit = deterministicLog(probability / (1 - probability));
  let at = Math.max(0, Math.min(STEPS, Math.floor(((logit - LOWEST) / (HIGHEST - LOWEST)) * STEPS)));
  // The logarithm may round to the other side of a threshold.
  while (at > 0 && probability < TRIED[at]) at--;
  while (at < STEPS && probability >= TRIED[at + 1]) at++;
  return at;
}

/** Weights of what would be kept, kept rightly and expected to be kept rightly, at each threshold; and of all that is there. */
class Counts {
  readonly kept = new Float64Array(STEPS + 1);
  readonly right = new Float64Array(STEPS + 1);
  readonly expected = new Float64Array(STEPS + 1);
  positives = 0;
  expectedPositives = 0;

  /** Adds predictions with a weight each, above 0 where the label is present. */
  add(probabilities: ArrayLike<number>, signedWeight: ArrayLike<number>, from: number, to: number): this {
    for (let e = from; e < to; e++) {
      const signed = signedWeight[e];
      const expected = Math.abs(signed) * probabilities[e];
      if (signed > 0) this.positives += signed;
      this.expectedPositives += expected;
      const at = reached(probabilities[e]);
      if (at < 0) continue;
      this.kept[at] += Math.abs(signed);
      this.expected[at] += expected;
      if (signed > 0) this.right[at] += signed;
    }
    return this;
  }

  /** A probability that reaches a threshold reaches all below it. */
  cumulate(): this {
    for (const counts of [this.kept, this.right, this.expected])
      for (let at = STEPS - 1; at >= 0; at--) counts[at] += counts[at + 1];
    return this;
  }
}

/** The threshold tried with the greatest value of `score`; of equals the lowest. */
function bestOf(score: (at: number) => number): number {
  let best = 0;
  for (let at = 1; at <= STEPS; at++) if (score(at) > score(best)) best = at;
  return TRIED[best];
}

const f1 = (right: number, kept: number, positives: number): number => ratio(2 * right, kept + positives);

export function chooseThresholds({
  labelStart,
  signedWeight,
  probabilities,
}: Predictions): Omit<Thresholds, "guarantees"> {
  const labels = labelStart.length - 1;
  // Behind those of the labels there may be pairs of labels that no point has.
  const pairs = signedWeight.length;
  sameSize("probabilities", "elements", probabilities.length, pairs);
  const all = new Counts().add(probabilities, signedWeight, 0, pairs).cumulate();
  const overall = bestOf((i) => f1(all.right[i], all.kept[i], all.positives));
  const [best, macroF1] = [new Float32Array(labels), new Float32Array(labels)];
  const share = ratio(OTHERS_COUNT, all.positives);
  for (let k = 0; k < labels; k++) {
    const own = new Counts().add(probabilities, signedWeight, labelStart[k], labelStart[k + 1]).cumulate();
    const withOthers = (counts: "kept" | "right", i: number): number => own[counts][i] + share * all[counts][i];
    const positives = own.positives + share * all.positives;
    best[k] = bestOf((i) => f1(withOthers("right", i), withOthers("kept", i), positives));
    // Expected from the probabilities alone: true labels of a rare label are so few that the best threshold for them is chance.
    macroF1[k] = bestOf((i) => f1(own.expected[i], own.kept[i], own.expectedPositives));
  }
  const chosen = TRIED.indexOf(overall);
  return {
    f1: { overall, labels: best },
    macroF1,
    expected: precisionRecall(all.right[chosen], all.kept[chosen], all.positives),
  };
}
