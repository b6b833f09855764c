// What is learned. Positive parameters are kept as logarithms, so that no step can make them negative.

import type { Backend, Tensor } from "../backend/backend.ts";
import { groupsOf, type ModelShape } from "./shape.ts";

/** The parameters, or anything that has one tensor for each of them: gradients, moments. */
export interface Parameters {
  /** A [M,R], or Z' [D,M] where Z is free */
  inducing: Tensor;
  /** mu [M,P], or [D,P] where the mean goes through the features */
  mu: Tensor;
  /** log(sigma - floor) [groups,M] */
  logSigma: Tensor;
  /** Phi [K,P] */
  phi: Tensor;
  /** b [1,K] */
  bias: Tensor;
  /** log a, log v, log l of the kernel [1,3] */
  hyper: Tensor;
}

export const parameterNames = ["inducing", "mu", "logSigma", "phi", "bias", "hyper"] as const;
export type ParameterName = (typeof parameterNames)[number];

/** Rows and columns of each parameter. */
export function parameterSizes(shape: ModelShape): Record<ParameterName, [number, number]> {
  const { features, labels, factors, inducing, rank } = shape;
  return {
    inducing: shape.inducingInputs === "subspace" ? [inducing, rank] : [features, inducing],
    mu: [shape.mean === "features" ? features : inducing, factors],
    logSigma: [groupsOf(shape), inducing],
    phi: [labels, factors],
    bias: [1, labels],
    hyper: [1, 3],
  };
}

/** A tensor of zeros for each parameter. */
export function allocateParameters(backend: Backend, shape: ModelShape): Parameters {
  const sizes = parameterSizes(shape);
  const make = (name: ParameterName): Tensor => backend.tensor(...sizes[name]);
  return {
    inducing: make("inducing"),
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
