// A trained model as one safetensors file: tensors by name, everything else as JSON in the metadata.

import { TfidfVectoriser } from "../data/tfidf.ts";
import type { ModelKernel, TrainedModel, TrainingSummary } from "../predict/model.ts";
import { FormatError } from "./errors.ts";
import { readSafetensors, type Tensor, type TensorFile, writeSafetensors } from "./safetensors.ts";

export const MODEL_FORMAT = "mlgpf-model";
export const MODEL_VERSION = "1";
/** Logarithms beyond it have no exponential in single precision. */
const MOST_HYPER = 80;

type Real = Float32Array | Float64Array;

const real = (data: Real, shape: number[]): Tensor =>
  data instanceof Float32Array ? { dtype: "F32", shape, data } : { dtype: "F64", shape, data };

/** The bytes of a model's file (safetensors). */
export function modelToBytes(model: TrainedModel): Uint8Array<ArrayBuffer> {
  const { features: d, labels: k, factors: p, inducing: m, groups, transform } = model;
  const tensors = new Map<string, Tensor>([
    ["inducingInputs", real(model.inducingInputs, [d, m])],
    ["mu", real(model.mu, [model.mean === "features" ? d : m, p])],
    ["sigma", real(model.sigma, [groups, m])],
    ["phi", real(model.phi, [k, p])],
    ["bias", real(model.bias, [k])],
    ["hyper", real(model.hyper, [3])],
    ["labelCounts", { dtype: "I32", shape: [k], data: model.labelCounts }],
  ]);
  if (transform.columnWeights) tensors.set("columnWeights", real(transform.columnWeights, [d]));
  const metadata: Record<string, string> = {
    format: MODEL_FORMAT,
    version: MODEL_VERSION,
    kernel: model.kernel,
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
  if (metadata.version !== MODEL_VERSION)
    refuse(`model version ${metadata.version}`, `version ${MODEL_VERSION}`);
  const kernel = metadata.kernel as ModelKernel;
  if (!["linear", "se", "linear+se"].includes(kernel))
    refuse(`kernel ${JSON.stringify(kernel)}`, "linear, se or linear+se");

  const mean = metadata.mean as TrainedModel["mean"];
  if (!["inducing", "features"].includes(mean))
    refuse(`mean ${JSON.stringify(mean)}`, "inducing or features");
  const shapeOf = (name: string, dimensions: number): number[] => {
    const shape = tensors.get(name)?.shape;
    if (shape?.length !== dimensions)
      refuse(`tensor ${name} of shape ${JSON.stringify(shape)}`, `${dimensions} dimensions`);
    return shape as number[];
  };
  const [d, m] = shapeOf("inducingInputs", 2) as [number, number];
  const [k, p] = shapeOf("phi", 2) as [number, number];
  const [groups] = shapeOf("sigma", 2) as [number, number];
  if (groups !== 1 && groups !== p) refuse(`${groups} rows of sigma`, `1 or ${p}`);

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
    kernel,
    mean,
    features: d,
    labels: k,
    factors: p,
    inducing: m,
    groups: groups as number,
    inducingInputs: reals("inducingInputs", [d, m]),
    mu: reals("mu", [mean === "features" ? d : m, p]),
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
