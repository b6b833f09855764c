// Where to cut, chosen from the probabilities of points the model has not seen: one threshold for all labels and one for each,
// for the best F1 or for a wanted precision. What a label's own predictions say is joined by a share of what those of all
// labels say, so that a label with few positives is cut where the others are.

import type { PairArrays } from "../core/calibrator.ts";
import { sameSize } from "../core/check.ts";
import { deterministicLog } from "../data/elementary.ts";
import type { Thresholds } from "../metrics/cut.ts";
import { precisionRecall } from "../metrics/decisions.ts";
import { addAt, ratio } from "../metrics/rows.ts";
import { logistic } from "./forward.ts";

/** Held-out predictions: pairs of a point and a label, and their probabilities. */
export interface Predictions extends Pick<PairArrays, "labelStart" | "signedWeight"> {
  probabilities: ArrayLike<number>;
}

/** Precisions to choose thresholds for. */
const PRECISIONS: readonly number[] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
/** Thresholds that are tried: this many, evenly by their logits, from about 0.0025 to 0.9975. */
const STEPS = 128;
const [LOWEST, HIGHEST] = [-6, 6];
/** How many positives of a label, or predictions of it, all others together count for. */
const OTHERS_COUNT = 10;

/** The thresholds that are tried, rising. */
const TRIED: readonly number[] = Array.from({ length: STEPS + 1 }, (_, i) =>
  logistic(LOWEST + ((HIGHEST - LOWEST) * i) / STEPS),
);

/** Place of the last threshold that a probability reaches, -1 for none. */
function reached(probability: number): number {
  if (!(probability >= (TRIED[0] as number))) return -1;
  if (probability >= (TRIED[STEPS] as number)) return STEPS;
  const logit = deterministicLog(probability / (1 - probability));
  let at = Math.max(0, Math.min(STEPS, Math.floor(((logit - LOWEST) / (HIGHEST - LOWEST)) * STEPS)));
  // The logarithm may round to the other side of a threshold.
  while (at > 0 && probability < (TRIED[at] as number)) at--;
  while (at < STEPS && probability >= (TRIED[at + 1] as number)) at++;
  return at;
}

/** Weights of what would be kept, and kept rightly, at each threshold; and of all that is there. */
class Counts {
  readonly kept = new Float64Array(STEPS + 1);
  readonly right = new Float64Array(STEPS + 1);
  positives = 0;

  /** Adds predictions with a weight each, above 0 where the label is present. */
  add(probabilities: ArrayLike<number>, signedWeight: ArrayLike<number>, from: number, to: number): this {
    for (let e = from; e < to; e++) {
      const signed = signedWeight[e] as number;
      if (signed > 0) this.positives += signed;
      const at = reached(probabilities[e] as number);
      if (at < 0) continue;
      addAt(this.kept, at, Math.abs(signed));
      if (signed > 0) addAt(this.right, at, signed);
    }
    return this;
  }

  /** What reaches a threshold reaches all below it. */
  cumulate(): this {
    for (const counts of [this.kept, this.right])
      for (let at = STEPS - 1; at >= 0; at--) addAt(counts, at, counts[at + 1] as number);
    return this;
  }
}

/** The threshold tried with the greatest value of `score`; of equals the lowest. */
function bestOf(score: (at: number) => number): number {
  let best = 0;
  for (let at = 1; at <= STEPS; at++) if (score(at) > score(best)) best = at;
  return TRIED[best] as number;
}

/** The lowest threshold tried whose precision is as wanted, or 1. */
function lowestWith(precision: number, of: (at: number) => number): number {
  for (let at = 0; at <= STEPS; at++) if (of(at) >= precision) return TRIED[at] as number;
  return 1;
}

const f1 = (right: number, kept: number, positives: number): number => ratio(2 * right, kept + positives);

/** Chooses thresholds from held-out predictions. */
export function chooseThresholds({ labelStart, signedWeight, probabilities }: Predictions): Thresholds {
  const labels = labelStart.length - 1;
  const pairs = labelStart[labels] as number;
  sameSize("probabilities", "elements", probabilities.length, pairs);
  const all = new Counts().add(probabilities, signedWeight, 0, pairs).cumulate();
  const at = (counts: Float64Array, i: number): number => counts[i] as number;
  const precisionOfAll = (i: number): number =>
    at(all.kept, i) > 0 ? at(all.right, i) / at(all.kept, i) : 0;
  const overall = bestOf((i) => f1(at(all.right, i), at(all.kept, i), all.positives));
  const best = new Float32Array(labels);
  const aims = PRECISIONS.map((precision) => ({ precision, labels: new Float32Array(labels) }));
  const share = ratio(OTHERS_COUNT, all.positives);
  for (let k = 0; k < labels; k++) {
    const own = new Counts()
      .add(probabilities, signedWeight, labelStart[k] as number, labelStart[k + 1] as number)
      .cumulate();
    const withOthers = (counts: "kept" | "right", i: number): number =>
      at(own[counts], i) + share * at(all[counts], i);
    const positives = own.positives + share * all.positives;
    best[k] = bestOf((i) => f1(withOthers("right", i), withOthers("kept", i), positives));
    const precision = (i: number): number =>
      (at(own.right, i) + OTHERS_COUNT * precisionOfAll(i)) / (at(own.kept, i) + OTHERS_COUNT);
    for (const aim of aims) aim.labels[k] = lowestWith(aim.precision, precision);
  }
  const chosen = TRIED.indexOf(overall);
  return {
    f1: { overall, labels: best },
    expected: precisionRecall(at(all.right, chosen), at(all.kept, chosen), all.positives),
    precisions: aims.map((aim) => ({
      precision: aim.precision,
      cut: { overall: lowestWith(aim.precision, precisionOfAll), labels: aim.labels },
    })),
  };
}
