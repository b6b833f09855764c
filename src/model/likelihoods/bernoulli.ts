// Bernoulli with a logistic link, the paper's: p(y | f) = sigmoid(y f), y = 1 or -1.

import { deterministicLog } from "../../data/elementary.ts";
import type { Likelihood } from "./likelihood.ts";

export const bernoulli: Likelihood = {
  /** log(p / (1 - p)) of the label's frequency, kept away from 0 and 1. */
  biasStart(count, points) {
    const p = (count + 0.5) / (points + 1);
    return deterministicLog(p / (1 - p));
  },
  /** E log(1 + exp(-y f)) */
  expectation: (backend, inputs, out) => backend.expectedLogLikelihood(inputs, out),
  listedExpectation: (backend, inputs, out) => backend.listedLogLikelihood(inputs, out),
  /** E sigmoid(f) */
  probability: (backend, mean, variance, out) => backend.probability(mean, variance, out),
};
