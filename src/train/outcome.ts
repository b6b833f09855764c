// The model as a training has it now, in plain arrays.

import type { Backend, Tensor } from "../backend/backend.ts";
import { gemm } from "../core/dense.ts";
import { matrix, type RealArray, scoped } from "../core/matrix.ts";
import { labelFrequencies } from "../data/dataset.ts";
import type { BoundValue } from "../model/bound.ts";
import type { TrainedModel } from "../predict/model.ts";
import type { Prepared } from "./prepare.ts";
import type { Basis } from "./start.ts";
import type { Trainer } from "./trainer.ts";

/** `value` is the bound at the trainer's parameters. */
export async function modelOf(
  backend: Backend,
  trainer: Trainer,
  prepared: Prepared,
  { dataTerm, divergence }: BoundValue,
): Promise<TrainedModel> {
  const { shape, data, dropped, transform, options, basis } = prepared;
  const { inducing, mu, logSigma, phi, bias, hyper } = trainer.parameters;
  const sigma = backend.tensor(logSigma.rows, logSigma.columns);
  const floor = backend.tensor(1, 1, [shape.floor]);
  backend.map("exp", logSigma, sigma);
  backend.combine("add", sigma, floor, sigma);
  const tensors = [inducing, mu, sigma, phi, bias, hyper];
  const values = (await Promise.all(tensors.map((tensor) => backend.read(tensor)))) as [
    RealArray,
    RealArray,
    RealArray,
    RealArray,
    RealArray,
    RealArray,
  ];
  backend.free(sigma, floor);
  const model: TrainedModel = {
    kernel: shape.kernel,
    mean: shape.mean,
    features: shape.features,
    labels: shape.labels,
    factors: shape.factors,
    inducing: shape.inducing,
    groups: logSigma.rows,
    inducingInputs: basis ? inSubspace(basis, inducing, values[0]) : values[0],
    mu: values[1],
    sigma: values[2],
    phi: values[3],
    bias: values[4],
    hyper: values[5],
    transform,
    labelCounts: Int32Array.from(labelFrequencies(data.labels)),
    summary: {
      options: { ...options, basis: typeof options.basis === "string" ? options.basis : "given" },
      points: shape.points,
      droppedPoints: dropped,
      steps: trainer.step,
      epochs: (trainer.step * shape.batch) / shape.points,
      dataTerm,
      divergence,
      raisedFactorisations: trainer.raised,
    },
  };
  if (backend.name !== "wasm") model.summary.device = backend.name;
  if (data.labelNames) model.labelNames = data.labelNames;
  if (data.featureNames) model.featureNames = data.featureNames;
  if (data.vectoriser) model.vectoriser = data.vectoriser.toJSON();
  return model;
}

/** Z' = Xtilde' A' [D,M] */
function inSubspace(basis: Basis, { rows, columns }: Tensor, values: RealArray): RealArray {
  const { core, precision, rows: features } = basis.turned;
  return scoped((scope) => {
    const a = scope.keep(matrix(core, rows, columns, precision)).set(values);
    const z = scope.keep(matrix(core, features, rows, precision));
    return gemm(basis.turned, a, z, { transposeB: true }).toArray();
  });
}
