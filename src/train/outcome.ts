// The model as a training has it now: on the device to measure it, and in plain arrays at the end.

import type { Backend, Tensor } from "../backend/backend.ts";
import { gemm } from "../core/dense.ts";
import { type Matrix, matrix, type RealArray } from "../core/matrix.ts";
import { labelFrequencies } from "../data/dataset.ts";
import type { BoundValue } from "../model/bound.ts";
import type { LatentModel, ModelFrame } from "../model/model.ts";
import type { ModelNumbers } from "../model/numbers.ts";
import { plainSigma } from "../model/parameters.ts";
import type { Prepared } from "./prepare.ts";
import { gatheredTensors } from "./share.ts";
import type { Trainer } from "./trainer.ts";

function frameOf({ shape, data, transform }: Prepared): ModelFrame {
  return {
    features: shape.features,
    labels: shape.labels,
    points: shape.points,
    transform,
    labelCounts: Int32Array.from(labelFrequencies(data.labels)),
    ...(data.labelNames ? { labelNames: data.labelNames } : {}),
    ...(data.columnIds ? { columnIds: data.columnIds } : {}),
  };
}

/** The trainer's own tensors, where they are; only Z' and sigma are made for it, and Phi and b where ranks share the labels. */
export async function liveNumbers(
  backend: Backend,
  trainer: Trainer,
  prepared: Prepared,
): Promise<ModelNumbers> {
  const { inducingInputs, mu, logSigma, hyper } = trainer.parameters;
  const made: Tensor[] = [];
  const keep = (tensor: Tensor): Tensor => {
    made.push(tensor);
    return tensor;
  };
  const sigma = keep(backend.tensor(logSigma.rows, logSigma.columns));
  plainSigma(backend, logSigma, keep(backend.tensor(1, 1, [prepared.shape.floor])), sigma);
  const { phi, bias } = prepared.share
    ? await gatheredTensors(backend, trainer.parameters, prepared.share)
    : trainer.parameters;
  if (prepared.share) made.push(phi, bias);
  const inSubspace =
    prepared.basis && (await subspaceInputs(backend, inducingInputs, prepared.basis.transposed));
  return {
    frame: frameOf(prepared),
    shape: prepared.shape,
    tensors: { inducingInputs: inSubspace ? keep(inSubspace) : inducingInputs, mu, sigma, phi, bias, hyper },
    // What runs away is found by the bound.
    reach: Number.POSITIVE_INFINITY,
    free: () => backend.free(...made),
  };
}

/** Z' = Xtilde' A' [D,M] */
async function subspaceInputs(backend: Backend, a: Tensor, basis: Matrix): Promise<Tensor> {
  const { core, precision, rows: features } = basis;
  const own = matrix(core, a.rows, a.columns, precision).set(await backend.read(a));
  const z = gemm(basis, own, matrix(core, features, a.rows, precision), { transposeB: true });
  own.free();
  if (backend.onCore) return z;
  const uploaded = backend.tensor(z.rows, z.columns, z.toArray());
  z.free();
  return uploaded;
}

/** `value` is the bound at the trainer's parameters. */
export async function modelOf(
  backend: Backend,
  trainer: Trainer,
  prepared: Prepared,
  { dataTerm, divergence }: BoundValue,
): Promise<LatentModel> {
  const { shape, data, dropped, options } = prepared;
  const numbers = await liveNumbers(backend, trainer, prepared);
  const { points, ...frame } = numbers.frame;
  const read = async <Name extends keyof ModelNumbers["tensors"]>(name: Name): Promise<[Name, RealArray]> => [
    name,
    await backend.read(numbers.tensors[name]),
  ];
  const names = ["inducingInputs", "mu", "sigma", "phi", "bias", "hyper"] as const;
  const arrays = Object.fromEntries(await Promise.all(names.map(read))) as Record<
    (typeof names)[number],
    RealArray
  >;
  numbers.free();
  return {
    likelihood: shape.likelihood,
    kernel: shape.kernel,
    posterior: shape.posterior,
    mean: shape.mean,
    factors: shape.factors,
    inducingPoints: shape.inducingPoints,
    ...frame,
    ...arrays,
    ...(data.featureNames ? { featureNames: data.featureNames } : {}),
    ...(data.vectoriser ? { vectoriser: data.vectoriser.toJSON() } : {}),
    summary: {
      options: { ...options, basis: typeof options.basis === "string" ? options.basis : "given" },
      points,
      droppedPoints: dropped,
      steps: trainer.step,
      epochs: (trainer.step * shape.batch) / shape.points,
      dataTerm,
      divergence,
      raisedFactorisations: trainer.raised,
      ...(backend.onCore ? {} : { device: backend.name }),
      ...(prepared.core.relaxed && { relaxed: true }),
    },
  };
}
