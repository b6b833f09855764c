// Predictions as callers see them: labels, thresholds, allow and deny lists. The same in the library, at the edge and on the server.

import { ArgumentError } from "./errors.ts";
import { deterministicExp, deterministicLog } from "./math.ts";

/** A word (or feature) of an input, and what it brings to the score of a label: above 0 it speaks for it. */
export interface Reason {
  word: string;
  share: number;
  /** The word is a name of the label that stands in the text; the share is what that adds to its log-odds. */
  stands?: boolean;
}

/** A label that was predicted. */
export interface Prediction {
  /** Its name or, where labels have none, its number. */
  label: string;
  probability: number;
  /** Standard deviation of the score, of calibrated models that of the probability; where the model has one. */
  sd?: number;
  /** Score that the probability is made from: the mean utility, or the score of the Gaussian likelihood. */
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
  /** Expected share of these labels that are right: the mean of their probabilities. Calibrated models have it. */
  readonly expectedPrecision?: number;
  /** Expected share of the input's true labels that are among these, checked on documents the model had not seen. */
  readonly expectedRecall?: number;
  /** The best labels that no training document has, where these were asked for; those above may be among them. */
  readonly unseen?: readonly Prediction[];
  /** True where most probably none of the model's labels fits: the probabilities of the best add up to less than 1/2. */
  readonly noneFits?: true;
}

/** Properties of a list of labels that are not in it. */
export type Expected = Pick<Predictions, "expectedPrecision" | "expectedRecall" | "noneFits">;

/** The labels with what is said of all of them; a list that is compared or gone through is one of labels alone. */
export function withAbout(labels: Prediction[], known: number, expected?: Expected): Predictions {
  for (const [name, value] of Object.entries({ known, ...expected })) Object.defineProperty(labels, name, { value });
  return labels as Predictions;
}

/** Labels of an input whose probabilities are added up for its expected recall. */
export const EXPECTED_DEPTH = 20;

/** Expected precision and recall of the labels kept; `top` adds up the probabilities of the best labels of their input. */
export function expectedOf(
  labels: readonly { readonly probability: number }[],
  top: number,
  { guarantees }: Pick<Thresholds, "guarantees">,
): Expected & { expectedRecall: number } {
  const kept = labels.reduce((sum, { probability }) => sum + probability, 0);
  const none = top < 0.5 ? { noneFits: true as const } : {};
  if (kept === 0) return { expectedRecall: 0, ...none };
  const { rest, intercept, slope } = guarantees.expectedRecall;
  const missed = Math.max(0, top - kept) + rest;
  const odds = deterministicExp(intercept + slope * deterministicLog(kept / missed));
  return { expectedPrecision: kept / labels.length, expectedRecall: 1 - 1 / (1 + odds), ...none };
}

/** Which labels to give for an input. */
export interface PredictOptions extends LabelLists, ThresholdChoice {
  /** Most labels for an input (default 5; with a threshold all that reach it). */
  topK?: number;
  /** false leaves standard deviations out; with an exact model that takes a fraction of the time. */
  sd?: boolean;
  /** Also give so many of the best labels that no training document has, as a list of their own: `unseen` of the answer. */
  unseen?: number;
  /** Give for each label so many words (true: 3) that speak for it, and as many that speak against it. */
  explain?: number | boolean;
}

/** How many words are asked for to explain a label. */
export const wordsToExplain = (explain: PredictOptions["explain"]): number | undefined =>
  typeof explain === "boolean" ? (explain ? 3 : undefined) : explain;

export const predictOptions: readonly (keyof PredictOptions)[] = [
  "topK",
  "sd",
  "unseen",
  "explain",
  "threshold",
  "precision",
  "recall",
  "confidence",
  "for",
  "allow",
  "deny",
];

/** Refuses options that cannot be, and names that are none. */
export function checkPredictOptions(options: PredictOptions): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new ArgumentError("options", `found ${String(options)}, expected an object`);
  for (const name of Object.keys(options))
    if (!(predictOptions as readonly string[]).includes(name))
      throw new ArgumentError("options", `found ${JSON.stringify(name)}, expected ${predictOptions.join(", ")}`);
  const { topK, unseen, explain, threshold, precision, recall, confidence } = options;
  for (const [name, count] of Object.entries({ topK, unseen, explain: wordsToExplain(explain) }))
    if (count !== undefined && (!Number.isInteger(count) || count < 1))
      throw new ArgumentError(name, `found ${count}, expected a whole number of at least 1`);
  if (options.sd !== undefined && typeof options.sd !== "boolean")
    throw new ArgumentError("sd", `found ${String(options.sd)}, expected true or false`);
  if (options.for !== undefined && !aims.includes(options.for))
    throw new ArgumentError("for", `found ${options.for}, expected ${aims.join(", ")}`);
  const words: readonly unknown[] = thresholdWords;
  if (threshold !== undefined && !words.includes(threshold) && !isNumber(threshold))
    throw new ArgumentError("threshold", `found ${threshold}, expected a number, ${words.join(" or ")}`);
  for (const [name, target] of Object.entries({ precision, recall, confidence }))
    if (target !== undefined && !isNumber(target)) throw new ArgumentError(name, `found ${target}, expected a number`);
}

const isNumber = (value: unknown): boolean => typeof value === "number" && !Number.isNaN(value);

/** Thresholds for one aim. */
export interface Cut {
  readonly overall: number;
  /** A threshold for each label. */
  readonly labels: Float32Array; // [K]
}

/** A threshold that keeps a promise for new documents. */
export interface Guarantee {
  /** The recall, on average, or the precision. */
  readonly target: number;
  /** Share of trainings in which the precision holds. */
  readonly confidence?: number;
  readonly threshold: number;
}

/** Promises that a model can make, rising by target; what its documents are too few for is absent. */
export interface Guarantees {
  /** Documents held out for it prove a guarantee; leave-one-out measures it. */
  readonly evidence: "held-out" | "leave-one-out";
  /** How many documents. */
  readonly rows: number;
  readonly recall: readonly Guarantee[];
  readonly precision: readonly Guarantee[];
  /** Expected recall: logistic(intercept + slope log(kept / (missed + rest))). */
  readonly expectedRecall: { readonly rest: number; readonly intercept: number; readonly slope: number };
}

/** Where a model cuts. */
export interface Thresholds {
  /** For the best F1: of all predictions together, and of each label. */
  readonly f1: Cut;
  /** A threshold for each label, for the best mean F1 over labels, by what the probabilities expect. */
  readonly macroF1: Float32Array; // [K]
  /** Figures of the overall threshold of F1 on the points it was chosen from. */
  readonly expected: Readonly<Record<"precision" | "recall" | "f1", number>>;
  readonly guarantees: Guarantees;
}

/** The same thresholds with others for the labels. */
export const withLabelCuts = (
  { f1, macroF1, ...rest }: Thresholds,
  change: (cuts: Float32Array) => Float32Array,
): Thresholds => ({ ...rest, f1: { ...f1, labels: change(f1.labels) }, macroF1: change(macroF1) });

export const thresholdWords = ["best", "label"] as const;
/** Aims that decide which labels are kept. */
export const aims = ["macro-f1"] as const;

/** Which labels are probable enough. */
export interface ThresholdChoice {
  /**
   * Only labels at least this probable. "best": as probable as gives the best F1, by points that the model had not seen in
   * its training; "label": the same with a threshold for each label.
   */
  readonly threshold?: number | (typeof thresholdWords)[number];
  /** Keep labels of which this share is right (such as 0.9), guaranteed with a confidence. */
  readonly precision?: number;
  /** With `precision`: the share of trainings in which it holds (default 0.95: one of twenty misses). */
  readonly confidence?: number;
  /** Keep labels that contain, on average, this share of the true ones (such as 0.9). */
  readonly recall?: number;
  /** "macro-f1": a threshold for each label that gives the best mean F1 over labels; rare labels come sooner, and are wrong more often. */
  readonly for?: (typeof aims)[number];
}

/** A threshold for all labels, or one for each. */
export type Threshold = number | Float32Array;

/** The threshold that is meant, for a model with these of its own or with none. */
export function chosenThreshold(choice: ThresholdChoice, own: Thresholds | undefined): Threshold | undefined {
  const { threshold, precision, recall, confidence } = choice;
  const given = Object.entries({ for: choice.for, precision, recall, threshold }).filter(
    ([, value]) => value !== undefined,
  );
  const [[name, value] = ["threshold", undefined], other] = given;
  if (other) throw new ArgumentError(name, `found ${value} beside ${other.join(" ")}, expected one of the two`);
  if (confidence !== undefined && precision === undefined)
    throw new ArgumentError("confidence", `found ${confidence} without precision, expected both`);
  if (value === undefined || threshold === value) {
    if (typeof value !== "string") return value;
    if (own) return value === "label" ? own.f1.labels : own.f1.overall;
  }
  if (own) return choice.for ? own.macroF1 : promised(choice, own.guarantees)?.threshold;
  const expected = name === "threshold" ? "a number" : "a threshold";
  const why = "this model has no thresholds of its own, as calibrated models have";
  throw new ArgumentError(name, `found ${value}, expected ${expected}: ${why}`);
}

/** Share of trainings in which a precision holds, where none is given. */
export const CONFIDENCE = 0.95;

/** The least guarantee that is as high as the one that is asked for; undefined where none is. */
export function promised(
  { precision, recall, confidence = CONFIDENCE }: ThresholdChoice,
  guarantees: Guarantees,
): Guarantee | undefined {
  const target = recall ?? precision;
  if (target === undefined) return undefined;
  const name = recall === undefined ? "precision" : "recall";
  const sure = guarantees[name].filter((each) => (each.confidence ?? 1) >= confidence);
  const found = sure.find((each) => each.target >= target && target > 0);
  if (found) return found;
  const [most] = [...(sure.length > 0 ? sure : guarantees[name])].sort(
    (a, b) => b.target - a.target || (b.confidence ?? 1) - (a.confidence ?? 1),
  );
  const lower = sure.length > 0 ? "" : ` with confidence ${most?.confidence}`;
  const asked = recall === undefined ? `${target} with confidence ${confidence}` : target;
  const can = most ? `at most ${most.target}${lower}` : `a threshold: they guarantee no ${name}`;
  throw new ArgumentError(name, `found ${asked}, which ${guarantees.rows} rows cannot guarantee, expected ${can}`);
}

/** A label is probable enough. */
export const reaches = (threshold: Threshold, label: number, probability: number): boolean =>
  probability >= (typeof threshold === "number" ? threshold : (threshold[label] ?? 1));

/** No label below this is probable enough. */
export const leastOf = (threshold: Threshold): number =>
  typeof threshold === "number" ? threshold : threshold.reduce((least, own) => Math.min(least, own), 1);

/**
 * Lists of labels by name. A name that the model does not know is passed over: lists are often longer than models. A list
 * that is given again is not read again.
 */
export interface LabelLists {
  /** Only these labels. */
  readonly allow?: readonly string[] | undefined;
  /** None of these labels. */
  readonly deny?: readonly string[] | undefined;
}

/** 1 for each label that may come and 0 for the others; undefined where all may. */
export function allowedLabels(names: ArrayLike<string | number>, { allow, deny }: LabelLists): Uint8Array | undefined {
  if (allow === undefined && deny === undefined) return undefined;
  const [allowed, denied] = [setOf("allow", allow), setOf("deny", deny)];
  return Uint8Array.from(names, (name) => {
    const label = String(name);
    return (allowed?.has(label) ?? true) && !denied?.has(label) ? 1 : 0;
  });
}

function setOf(argument: string, list: readonly string[] | undefined): Set<string> | undefined {
  if (list !== undefined && !Array.isArray(list))
    throw new ArgumentError(argument, `found ${typeof list}, expected a list of labels`);
  return list && new Set(list);
}
