// A label that was predicted, and which labels are asked for: the same words in the library, at the edge and over HTTP.

import { ArgumentError } from "../core/errors.ts";
import type { LabelLists } from "./allowed.ts";
import { type ThresholdChoice, thresholdWords } from "./cut.ts";

/** A word (or feature) of an input, and what it brings to the score of a label: above 0 it speaks for it. */
export interface Reason {
  word: string;
  share: number;
}

/** A label that was predicted. */
export interface Prediction {
  /** Its name or, where labels have none, its number. */
  label: string;
  probability: number;
  /** Standard deviation of the score, of calibrated models that of the probability; where the model has one. */
  sd?: number;
  /** What the probability is made from: the mean utility, or the score of the Gaussian likelihood. */
  score?: number;
  /** Its number among the labels of the training data. */
  id?: number;
  /** Why, where asked for: the words that speak most for the label, and most against it. */
  reasons?: Reason[];
}

/** The labels of an input, most probable first. */
export interface Predictions extends Array<Prediction> {
  /**
   * Part of the words of the text (or of the features) that the model knows, from 0 to 1. At 0 the labels say nothing of
   * the input: they are those that are frequent.
   */
  readonly known: number;
}

/** The labels with what is known of their input; a list that is compared or gone through is one of labels alone. */
export const withKnown = (labels: Prediction[], known: number): Predictions =>
  Object.defineProperty(labels, "known", { value: known }) as Predictions;

/** Which labels to give for an input. */
export interface PredictOptions extends LabelLists, ThresholdChoice {
  /** Most labels for an input (default 5; with a threshold all that reach it). */
  topK?: number;
  /** false leaves standard deviations out; with an exact model that takes a fraction of the time. */
  sd?: boolean;
  /** Give for each label so many words that speak for it, and as many that speak against it. */
  explain?: number;
}

const KNOWN = ["topK", "sd", "explain", "threshold", "precision", "allow", "deny"];

/** Refuses options that cannot be, and names that are none. */
export function checkPredictOptions(options: PredictOptions): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new ArgumentError("options", `found ${String(options)}, expected an object`);
  for (const name of Object.keys(options))
    if (!KNOWN.includes(name))
      throw new ArgumentError("options", `found ${JSON.stringify(name)}, expected ${KNOWN.join(", ")}`);
  const { topK, explain, threshold, precision } = options;
  for (const [name, count] of Object.entries({ topK, explain }))
    if (count !== undefined && (!Number.isInteger(count) || count < 1))
      throw new ArgumentError(name, `found ${count}, expected a whole number of at least 1`);
  if (options.sd !== undefined && typeof options.sd !== "boolean")
    throw new ArgumentError("sd", `found ${String(options.sd)}, expected true or false`);
  const words: readonly unknown[] = thresholdWords;
  if (threshold !== undefined && !words.includes(threshold) && !isNumber(threshold))
    throw new ArgumentError("threshold", `found ${threshold}, expected a number, ${words.join(" or ")}`);
  if (precision !== undefined && !isNumber(precision))
    throw new ArgumentError("precision", `found ${precision}, expected a number`);
}

const isNumber = (value: unknown): boolean => typeof value === "number" && !Number.isNaN(value);
