// Where to cut: at a number, or where a model chose to, from the probabilities of points it had not seen.

import { ArgumentError } from "../core/errors.ts";

/** Thresholds for one aim. */
export interface Cut {
  readonly overall: number;
  /** Of each label. */
  readonly labels: Float32Array; // [K]
}

/** Where a model cuts. */
export interface Thresholds {
  /** For the best F1: of all predictions together, and of each label. */
  readonly f1: Cut;
  /** What the overall threshold of F1 gave on the points it was chosen from. */
  readonly expected: Readonly<Record<"precision" | "recall" | "f1", number>>;
  /** For precisions that rise; 1 where no threshold gives one. */
  readonly precisions: readonly { readonly precision: number; readonly cut: Cut }[];
}

export const thresholdWords = ["best", "label"] as const;

/** Which labels are probable enough. */
export interface ThresholdChoice {
  /**
   * Only labels at least this probable. "best": as probable as gives the best F1, by points that the model had not seen in
   * its training; "label": the same with a threshold for each label.
   */
  readonly threshold?: number | (typeof thresholdWords)[number];
  /** That threshold of the model which gives this precision (such as 0.9), instead of the best F1. */
  readonly precision?: number;
}

/** A threshold for all labels, or one for each. */
export type Threshold = number | Float32Array;

/** The threshold that is meant, for a model with these of its own or with none. */
export function chosenThreshold(choice: ThresholdChoice, own: Thresholds | undefined): Threshold | undefined {
  if (own === undefined) return plainThreshold(choice);
  const { threshold, precision } = choice;
  if (typeof threshold === "number" && precision !== undefined)
    throw new ArgumentError(
      "precision",
      `found ${precision} beside the threshold ${threshold}, expected one of the two`,
    );
  if (threshold === undefined && precision === undefined) return undefined;
  if (typeof threshold === "number") return threshold;
  const cut = precision === undefined ? own.f1 : cutFor(own, precision);
  return threshold === "label" ? cut.labels : cut.overall;
}

/** The threshold that is meant, for a model that has none of its own. */
export function plainThreshold({ threshold, precision }: ThresholdChoice): number | undefined {
  const why = "this model has no thresholds of its own, as calibrated models have";
  if (precision !== undefined)
    throw new ArgumentError("precision", `found ${precision}, expected a threshold: ${why}`);
  if (typeof threshold !== "string") return threshold;
  throw new ArgumentError("threshold", `found ${threshold}, expected a number: ${why}`);
}

/** The thresholds for a precision: of those chosen, for the least that is as high. */
export function cutFor({ precisions }: Thresholds, precision: number): Cut {
  const found = precisions.find((aim) => aim.precision >= precision);
  if (found && precision > 0) return found.cut;
  const most = precisions.at(-1)?.precision ?? 0;
  throw new ArgumentError("precision", `found ${precision}, expected a number above 0 and up to ${most}`);
}

/** Whether a label is probable enough. */
export const reaches = (threshold: Threshold, label: number, probability: number): boolean =>
  probability >= (typeof threshold === "number" ? threshold : (threshold[label] ?? 1));

/** No label below this is probable enough. */
export const leastOf = (threshold: Threshold): number =>
  typeof threshold === "number" ? threshold : threshold.reduce((least, own) => Math.min(least, own), 1);
