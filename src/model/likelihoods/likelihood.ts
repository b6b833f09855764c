// What a likelihood of the labels can do, given that a utility f is N(mean, variance).

import type {
  Backend,
  LikelihoodInputs,
  LikelihoodOutputs,
  ListedLikelihoodInputs,
  ListedLikelihoodOutputs,
  Tensor,
} from "../../backend/backend.ts";

export interface Likelihood {
  /** b at the start, for a label that `count` of so many points have. */
  biasStart(count: number, points: number): number;
  /** E -log p(y | f) of every label of every point, with its derivatives. */
  expectation(backend: Backend, inputs: LikelihoodInputs, out: LikelihoodOutputs): void;
  /** The same of listed labels. */
  listedExpectation(backend: Backend, inputs: ListedLikelihoodInputs, out: ListedLikelihoodOutputs): void;
  /** out = p(y = 1); out may be the mean. */
  probability(backend: Backend, mean: Tensor, variance: Tensor, out: Tensor): void;
}
