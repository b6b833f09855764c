// What the likelihood `auto`, the default, stands for: the best that data of these sizes can have for a bearable time and
// memory, by the rule that bench/DEFAULTS.md has the measurements of.

import type { Dataset } from "../data/dataset.ts";
import { canBeExact } from "./exact.ts";
import { inducingCount } from "./inducing.ts";
import { linearColumns, linearCost } from "./linear.ts";
import { type LikelihoodChoice, type TrainOptions, trainOptions } from "./options.ts";

/** What the linear closed form may cost: operations (some five minutes on two cores), and bytes of a core's four gigabytes. */
const MOST_OPERATIONS = 1.2e13;
const MOST_BYTES = 3.2e9;

export interface ChosenLikelihood {
  /** The options that `auto` stands for. */
  options: { likelihood: Exclude<LikelihoodChoice, "auto">; calibration?: boolean };
  reason: string;
}

/**
 * What a Gaussian likelihood goes through: a kernel of all points, a kernel of some of them, or the features. Texts and other wide rows
 * lose by the second, unless a curved kernel was asked for.
 */
export type ClosedForm = "exact" | "inducing" | "linear";

export function closedForm(
  { kernel }: Pick<TrainOptions, "kernel">,
  { features, labels }: Pick<Dataset, "features" | "labels">,
  dense: boolean,
): ClosedForm {
  if (canBeExact(features.rows, labels.labels)) return "exact";
  return dense || (kernel !== undefined && kernel !== "linear") ? "inducing" : "linear";
}

/** Of shorter rows the linear closed form has nothing to add to the latent functions (WordNet). */
const FEWEST_ENTRIES = 40;

/** Options that are about any likelihood; all others are about latent functions, which are learned step by step. */
const OF_ANY = ["likelihood", "calibration", "kernel", "idf", "normalise", "seed"];

/**
 * The exact form while there are few enough points; then both likelihoods, while rows are long enough for the linear closed
 * form (a weight for every frequent feature and label) and it is affordable; then the Bernoulli one alone, made honest all
 * the same. Who asks for something that only the Bernoulli one has gets that.
 */
export function chosenLikelihood(
  options: TrainOptions,
  { features, labels }: Pick<Dataset, "features" | "labels">,
  dense = false,
): ChosenLikelihood | undefined {
  const { likelihood = "auto", calibration = true } = options;
  if (likelihood !== "auto") return undefined;
  const bernoulli = (why: string): ChosenLikelihood => ({
    options: { likelihood: "bernoulli", calibration },
    reason: `likelihood bernoulli: ${why}`,
  });
  if (!calibration) return bernoulli("only its scores are probabilities without calibration");
  const points = features.rows;
  if (dense || canBeExact(points, labels.labels)) {
    const own = Object.entries(options).find(([name, value]) => isLatent(name) && value !== undefined);
    if (own) return bernoulli(`${own[0]} is about latent functions, which only it has`);
    return {
      options: { likelihood: "gaussian" },
      reason: `likelihood gaussian: ${whyKernel(points, labels.labels)}`,
    };
  }
  const each = features.values.length / points;
  if (each < FEWEST_ENTRIES)
    return bernoulli(`rows have ${each.toFixed(0)} entries, too few for the linear closed form to add to it`);
  const columns = linearColumns(features).length;
  const sizes = { points, columns, labels: labels.labels, entries: features.values.length };
  const { operations, bytes } = linearCost(sizes);
  if (operations <= MOST_OPERATIONS && bytes <= MOST_BYTES) {
    const reason = `likelihoods gaussian (linear) and bernoulli together: ${points} points are too many for the exact form`;
    return { options: { likelihood: "both" }, reason };
  }
  const would = `${(bytes / 1e9).toFixed(1)} GB and ${operations.toExponential(1)} operations`;
  return bernoulli(
    `the linear closed form of ${columns} features and ${labels.labels} labels would take ${would}`,
  );
}

const whyKernel = (points: number, labels: number): string =>
  canBeExact(points, labels)
    ? `${points} points are few enough for the exact form`
    : `${points} points are too many for the exact form, and their features are dense: ${inducingCount(points, labels)} points carry the mean for all`;

const isLatent = (name: string): boolean => Object.hasOwn(trainOptions, name) && !OF_ANY.includes(name);
