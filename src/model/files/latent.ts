// The part of a model file that holds latent functions and labels.

import { isLinear } from "../kernels/index.ts";
import { means } from "../means/index.ts";
import type { LatentModel, ModelCommon, StepSummary } from "../model.ts";
import { kernelNames, likelihoodNames, meanNames, posteriorNames } from "../names.ts";
import { groupsOf, posteriors } from "../posteriors/index.ts";
import { latentFault } from "../reach.ts";
import type { FilePart, FileParts } from "./parts.ts";
import { realTensor } from "./parts.ts";

export function latentToPart(model: LatentModel): FilePart {
  const { features: d, labels: k, factors: p, inducingPoints: m } = model;
  return {
    tensors: new Map([
      ["inducingInputs", realTensor(model.inducingInputs, [d, m])],
      ["mu", realTensor(model.mu, [means[model.mean].rows(model), p])],
      ["sigma", realTensor(model.sigma, [groupsOf(model), m])],
      ["phi", realTensor(model.phi, [k, p])],
      ["bias", realTensor(model.bias, [k])],
      ["hyper", realTensor(model.hyper, [3])],
    ]),
    metadata: { kernel: model.kernel, posterior: model.posterior, mean: model.mean },
  };
}

export function latentFromParts(
  parts: FileParts,
  common: Omit<ModelCommon, "summary">,
  summary: StepSummary,
): LatentModel {
  const kernel = parts.name("kernel", kernelNames);
  const mean = parts.name("mean", meanNames);
  const { features: d, labels: k } = common;
  const [rows, m] = parts.shape("inducingInputs", 2) as [number, number];
  const [, p] = parts.shape("phi", 2) as [number, number];
  const [groups] = parts.shape("sigma", 2) as [number, number];
  if (mean === "features" && !isLinear(kernel))
    parts.refuse(`mean features with kernel ${kernel}`, "mean inducing, or kernel linear");
  if (p < 1 || m < 1) parts.refuse(`${p} factors and ${m} inducing inputs`, "at least one of each");
  if (rows !== d) parts.refuse(`tensor inducingInputs of ${rows} rows`, `${d}, one for each feature`);
  // Files of version 1 do not name the posterior: the rows of sigma tell.
  const guess = posteriorNames.find((name) => posteriors[name].groups(p) === groups);
  const posterior = parts.name("posterior", posteriorNames, guess);
  if (posteriors[posterior].groups(p) !== groups)
    parts.refuse(
      `${groups} rows of sigma`,
      `${posteriors[posterior].groups(p)}, as the posterior ${posterior} has`,
    );
  const reals = (name: string, shape: number[]) => parts.reals(name, shape, "phi");
  const model: LatentModel = {
    ...common,
    likelihood: likelihoodNames[0],
    kernel,
    posterior,
    mean,
    factors: p,
    inducingPoints: m,
    inducingInputs: reals("inducingInputs", [d, m]),
    mu: reals("mu", [means[mean].rows({ features: d, inducingPoints: m }), p]),
    sigma: reals("sigma", [groups, m]),
    phi: reals("phi", [k, p]),
    bias: reals("bias", [k]),
    hyper: reals("hyper", [3]),
    summary,
  };
  const fault = latentFault(model);
  return fault ? parts.refuse(fault.found, fault.expected) : model;
}
