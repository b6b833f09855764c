// What `--likelihood auto` stands for: the best that data of these sizes can have for a bearable time and memory.

import type { Dataset } from "../data/dataset.ts";
import { canBeExact } from "./exact.ts";
import { linearColumns, linearCost } from "./linear.ts";
import type { LikelihoodChoice, TrainOptions } from "./options.ts";

/** What the linear closed form may cost: operations (some five minutes on two cores), and bytes of a core's four gigabytes. */
const MOST_OPERATIONS = 1.2e13;
const MOST_BYTES = 3.2e9;

export interface ChosenLikelihood {
  /** The options that `auto` stands for. */
  options: { likelihood: Exclude<LikelihoodChoice, "auto">; calibration?: boolean };
  reason: string;
}

/**
 * The exact form while there are few enough points; then both likelihoods, while the linear closed form (a weight for every
 * frequent feature and label) is affordable; then the Bernoulli one alone, made honest all the same.
 */
export function chosenLikelihood(
  { likelihood, calibration = true }: TrainOptions,
  { features, labels }: Pick<Dataset, "features" | "labels">,
): ChosenLikelihood | undefined {
  if (likelihood !== "auto") return undefined;
  const points = features.rows;
  if (canBeExact(points, labels.labels)) {
    const reason = `likelihood gaussian: ${points} points are few enough for the exact form`;
    return { options: { likelihood: "gaussian" }, reason };
  }
  const columns = linearColumns(features).length;
  const sizes = { points, columns, labels: labels.labels, entries: features.values.length };
  const { operations, bytes } = linearCost(sizes);
  if (operations <= MOST_OPERATIONS && bytes <= MOST_BYTES) {
    const reason = `likelihoods gaussian (linear) and bernoulli together: ${points} points are too many for the exact form`;
    return { options: { likelihood: "both" }, reason };
  }
  const would = `${(bytes / 1e9).toFixed(1)} GB and ${operations.toExponential(1)} operations`;
  const reason = `likelihood bernoulli: the linear closed form of ${columns} features and ${labels.labels} labels would take ${would}`;
  return { options: { likelihood: "bernoulli", calibration }, reason };
}
