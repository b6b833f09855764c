// A trained model as one safetensors file: tensors by name, everything else as JSON in the metadata.

import { TfidfVectoriser } from "../data/tfidf.ts";
import { FormatError } from "../io/errors.ts";
import { readSafetensors, type Tensor, type TensorFile, writeSafetensors } from "../io/safetensors.ts";
import { means } from "./means/index.ts";
import type { TrainedModel, TrainingSummary } from "./model.ts";
import { kernelNames, likelihoodNames, meanNames, type PosteriorName, posteriorNames } from "./names.ts";
import { groupsOf, posteriors } from "./posteriors/index.ts";

export const MODEL_FORMAT = "mlgpf-model";
export const MODEL_VERSION = "2";
/** Versions that can be read: 1 is that of mlgpf 0.1. */
const READABLE = ["1", MODEL_VERSION];
/** Logarithms beyond it have no exponential in single precision. */
const MOST_HYPER = 80;

type Real = Float32Array | Float64Array;

const real = (data: Real, shape: number[]): Tensor =>
  data instanceof Float32Array ? { dtype: "F32", shape, data } : { dtype: "F64", shape, data };

/** The bytes of a model's file (safetensors). */
export function modelToBytes(model: TrainedModel): Uint8Array<ArrayBuffer> {
  const { features: d, labels: k, factors: p, inducingPoints: m, transform } = model;
  const tensors = new Map<string, Tensor>([
    ["inducingInputs", real(model.inducingInputs, [d, m])],
    ["mu", real(model.mu, [means[model.mean].rows(model), p])],
    ["sigma", real(model.sigma, [groupsOf(model), m])],
    ["phi", real(model.phi, [k, p])],
    ["bias", real(model.bias, [k])],
    ["hyper", real(model.hyper, [3])],
    ["labelCounts", { dtype: "I32", shape: [k], data: model.labelCounts }],
  ]);
  if (transform.columnWeights) tensors.set("columnWeights", real(transform.columnWeights, [d]));
  const metadata: Record<string, string> = {
    format: MODEL_FORMAT,
    version: MODEL_VERSION,
    likelihood: model.likelihood,
    kernel: model.kernel,
    posterior: model.posterior,
    mean: model.mean,
    normalise: String(transform.normalise),
    summary: JSON.stringify(model.summary),
  };
  if (model.labelNames) metadata.labelNames = JSON.stringify(model.labelNames);
  if (model.featureNames) metadata.featureNames = JSON.stringify(model.featureNames);
  if (model.vectoriser) metadata.vectoriser = JSON.stringify(model.vectoriser);
  return writeSafetensors({ tensors, metadata });
}

/** Reads a model's file, and refuses what is not one; `file` is its name for the error. */
export function modelFromBytes(bytes: Uint8Array, file = "the model"): TrainedModel {
  return modelFromTensors(readSafetensors(bytes, file), file);
}

/** Checks that a safetensors file holds a whole model and gives it back. */
export function modelFromTensors({ tensors, metadata }: TensorFile, file = "the model"): TrainedModel {
  const refuse = (found: string, expected: string): never => {
    throw new FormatError(file, found, expected);
  };
  if (metadata.format === "mlgpf-compact")
    refuse("a compact model", "the one it was made from: a compact model is for mlgpf serve and mlgpf/edge");
  if (metadata.format !== MODEL_FORMAT)
    refuse(`format ${JSON.stringify(metadata.format)}`, `a model made by mlgpf`);
  if (!READABLE.includes(metadata.version as string))
    refuse(`model version ${metadata.version}`, `version ${READABLE.join(" or ")}`);
  const named = <Name extends string>(what: string, names: readonly Name[], standard?: Name): Name => {
    const value = metadata[what] ?? standard;
    return (
      names.find((name) => name === value) ?? refuse(`${what} ${JSON.stringify(value)}`, names.join(" or "))
    );
  };
  const kernel = named("kernel", kernelNames);
  const mean = named("mean", meanNames);
  const shapeOf = (name: string, dimensions: number): number[] => {
    const shape = tensors.get(name)?.shape;
    if (shape?.length !== dimensions)
      refuse(`tensor ${name} of shape ${JSON.stringify(shape)}`, `${dimensions} dimensions`);
    return shape as number[];
  };
  const [d, m] = shapeOf("inducingInputs", 2) as [number, number];
  const [k, p] = shapeOf("phi", 2) as [number, number];
  const [groups] = shapeOf("sigma", 2) as [number, number];
  // Files of version 1 do not name the posterior: the rows of sigma tell.
  const guess = posteriorNames.find((name) => posteriors[name].groups(p) === groups);
  const posterior: PosteriorName = named("posterior", posteriorNames, guess);
  if (posteriors[posterior].groups(p) !== groups)
    refuse(
      `${groups} rows of sigma`,
      `${posteriors[posterior].groups(p)}, as the posterior ${posterior} has`,
    );

  /** A tensor of floating point numbers of that shape, all of them finite. */
  const reals = (name: string, shape: number[]): Real => {
    const tensor = tensors.get(name);
    if (JSON.stringify(tensor?.shape) !== JSON.stringify(shape)) {
      refuse(`tensor ${name} of shape ${JSON.stringify(tensor?.shape)}`, JSON.stringify(shape));
    }
    if (tensor?.dtype !== "F32" && tensor?.dtype !== "F64")
      return refuse(`tensor ${name} of type ${tensor?.dtype}`, "F32 or F64");
    if (name !== "columnWeights" && tensor.dtype !== tensors.get("phi")?.dtype)
      refuse(`tensor ${name} of type ${tensor.dtype}`, `${tensors.get("phi")?.dtype} as that of phi`);
    if (!tensor.data.every(Number.isFinite))
      refuse(`a number in ${name} that is not finite`, "finite numbers");
    return tensor.data;
  };
  const counts = tensors.get("labelCounts");
  if (counts?.dtype !== "I32" || counts.data.length !== k || counts.data.some((count) => count < 0))
    return refuse("no right labelCounts", `${k} whole numbers`);
  const json = (name: string): unknown => {
    try {
      return JSON.parse(metadata[name] as string);
    } catch {
      return refuse(`metadata ${name} that is not JSON`, "JSON");
    }
  };
  const names = (name: string, count: number): string[] => {
    const list = json(name);
    const good =
      Array.isArray(list) && list.length === count && list.every((item) => typeof item === "string");
    return good ? (list as string[]) : refuse(`metadata ${name}`, `${count} names`);
  };
  const summary = (): TrainingSummary => {
    const found = json("summary") as TrainingSummary | null;
    return found !== null && Number.isSafeInteger(found.points) && found.points > 0
      ? found
      : refuse("a summary without the number of training points", "a training summary");
  };
  const model: TrainedModel = {
    likelihood: named("likelihood", likelihoodNames, "bernoulli"),
    kernel,
    posterior,
    mean,
    features: d,
    labels: k,
    factors: p,
    inducingPoints: m,
    inducingInputs: reals("inducingInputs", [d, m]),
    mu: reals("mu", [means[mean].rows({ features: d, inducingPoints: m }), p]),
    sigma: reals("sigma", [groups, m]),
    phi: reals("phi", [k, p]),
    bias: reals("bias", [k]),
    hyper: reals("hyper", [3]),
    transform: { normalise: metadata.normalise === "true" },
    labelCounts: counts.data,
    summary: summary(),
  };
  if (model.sigma.some((value) => !(value > 0))) refuse("a sigma that is not above 0", "positive numbers");
  if (model.hyper.some((value) => Math.abs(value) > MOST_HYPER))
    refuse(`hyper-parameters ${model.hyper.join(", ")}`, `logarithms from -${MOST_HYPER} to ${MOST_HYPER}`);
  if (tensors.has("columnWeights"))
    model.transform.columnWeights = Float32Array.from(reals("columnWeights", [d]));
  if (metadata.labelNames !== undefined) model.labelNames = names("labelNames", k);
  if (metadata.featureNames !== undefined) model.featureNames = names("featureNames", d);
  if (metadata.vectoriser !== undefined) {
    model.vectoriser = TfidfVectoriser.fromJSON(json("vectoriser"), file).toJSON();
    const { terms } = model.vectoriser;
    if (terms.length !== d) refuse(`a vocabulary of ${terms.length} terms`, `${d}, one for each feature`);
  }
  return model;
}
