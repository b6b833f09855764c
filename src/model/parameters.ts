// What is learned. Positive parameters are kept as logarithms, so that no step can make them negative.

import type { Backend, Tensor } from "../backend/backend.ts";
import { inducingForms } from "./inducing.ts";
import { means } from "./means/index.ts";
import { groupsOf } from "./posteriors/index.ts";
import type { ModelShape } from "./shape.ts";

/** The parameters, or anything that has one tensor for each of them: gradients, moments. */
export interface Parameters {
  /** A [M,R], or Z' [D,M] where Z is free */
  inducingInputs: Tensor;
  /** mu [M,P], or [D,P] where the mean goes through the features */
  mu: Tensor;
  /** log(sigma - floor) [G,M] */
  logSigma: Tensor;
  /** Phi [K,P] */
  phi: Tensor;
  /** b [1,K] */
  bias: Tensor;
  /** log a, log v, log l of the kernel [1,3] */
  hyper: Tensor;
}

export const parameterNames = ["inducingInputs", "mu", "logSigma", "phi", "bias", "hyper"] as const;
export type ParameterName = (typeof parameterNames)[number];

/** Rows and columns of each parameter. */
export function parameterSizes(shape: ModelShape): Record<ParameterName, [number, number]> {
  const { labels, factors, inducingPoints } = shape;
  return {
    inducingInputs: inducingForms[shape.inducing].size(shape),
    mu: [means[shape.mean].rows(shape), factors],
    logSigma: [groupsOf(shape), inducingPoints],
    phi: [labels, factors],
    bias: [1, labels],
    hyper: [1, 3],
  };
}

/** A tensor of zeros for each parameter; that of `without` has no elements. */
export function allocateParameters(backend: Backend, shape: ModelShape, without?: ParameterName): Parameters {
  const sizes = parameterSizes(shape);
  const make = (name: ParameterName): Tensor =>
    name === without ? backend.tensor(0, 0) : backend.tensor(...sizes[name]);
  return {
    inducingInputs: make("inducingInputs"),
    mu: make("mu"),
    logSigma: make("logSigma"),
    phi: make("phi"),
    bias: make("bias"),
    hyper: make("hyper"),
  };
}

export function freeParameters(backend: Backend, parameters: Parameters): void {
  for (const name of parameterNames) backend.free(parameters[name]);
}

/** sigma = floor + exp(logSigma); the floor is a tensor [1,1]. */
export function plainSigma(backend: Backend, logSigma: Tensor, floor: Tensor, out: Tensor): void {
  backend.map("exp", logSigma, out);
  backend.combine("add", out, floor, out);
}
