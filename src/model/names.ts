// Every name that a form of the model goes by, in options, on the command line and in files.

export { type KernelName, kernelNames } from "./kernels/index.ts";

/** Inducing inputs: in the span of a basis, or free. */
export const inducingNames = ["subspace", "free"] as const;
export type InducingName = (typeof inducingNames)[number];

/** Sigma of the posterior: one for all latent functions, or one for each. */
export const posteriorNames = ["shared", "perFactor"] as const;
export type PosteriorName = (typeof posteriorNames)[number];

/** What the mean of the latent functions goes through: the inducing inputs, or (linear kernel) the features. */
export const meanNames = ["inducing", "features"] as const;
export type MeanName = (typeof meanNames)[number];

/** Likelihoods that are learned step by step. */
export const likelihoodNames = ["bernoulli"] as const;
export type LikelihoodName = (typeof likelihoodNames)[number];

/** Likelihoods that a model may have: those, the Gaussian in closed form, or it and the first of them together. */
export type ModelLikelihood = LikelihoodName | "gaussian" | "both";
export const modelLikelihoods: readonly ModelLikelihood[] = [...likelihoodNames, "gaussian", "both"];
