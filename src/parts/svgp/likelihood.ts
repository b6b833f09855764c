// Likelihoods of the labels by name, given that a utility f is N(mean, variance). A new one is its entry here, its name in shape.ts,
// and the operations of the backend that compute its expectations.

import type { Backend } from "../../backend/backend.ts";
import { deterministicLog } from "../../base/math.ts";
import type { LikelihoodName } from "./shape.ts";

/** The arguments of an operation of the backend, with the backend before them. */
type Operation<Name extends "expectedLogLikelihood" | "listedLogLikelihood" | "probability"> = (
  backend: Backend,
  ...args: Parameters<Backend[Name]>
) => void;

export interface Likelihood {
  /** b at the start, for a label that `count` of so many points have. */
  biasStart(count: number, points: number): number;
  /** E -log p(y | f) of every label of every point, with its derivatives. */
  expectation: Operation<"expectedLogLikelihood">;
  /** The same of listed labels. */
  listedExpectation: Operation<"listedLogLikelihood">;
  /** out = p(y = 1); out may be the mean. */
  probability: Operation<"probability">;
}

/** Bernoulli with a logistic link, the paper's: p(y | f) = sigmoid(y f), y = 1 or -1. */
const bernoulli: Likelihood = {
  // log(p / (1 - p)) of the label's frequency, kept away from 0 and 1
  biasStart(count, points) {
    const p = (count + 0.5) / (points + 1);
    return deterministicLog(p / (1 - p));
  },
  // E log(1 + exp(-y f))
  expectation: (backend, inputs, out) => backend.expectedLogLikelihood(inputs, out),
  listedExpectation: (backend, inputs, out) => backend.listedLogLikelihood(inputs, out),
  // E sigmoid(f)
  probability: (backend, mean, variance, out) => backend.probability(mean, variance, out),
};

export const likelihoods: Record<LikelihoodName, Likelihood> = { bernoulli };
