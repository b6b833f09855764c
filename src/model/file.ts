// A trained model as one safetensors file: tensors by name, everything else as JSON in the metadata.

import {
  calibratorFromPart,
  calibratorToPart,
  thresholdsFromPart,
  thresholdsToPart,
} from "../calibrate/file.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { shownJson } from "../io/errors.ts";
import { readSafetensors, type TensorFile, writeSafetensors } from "../io/safetensors.ts";
import { closedFromParts, closedToPart } from "./files/closed.ts";
import { latentFromParts, latentToPart } from "./files/latent.ts";
import { FileParts, realTensor, wholeTensor } from "./files/parts.ts";
import {
  isClosed,
  type ModelCommon,
  type StepSummary,
  type TrainedModel,
  type TrainingSummary,
} from "./model.ts";
import { modelLikelihoods } from "./names.ts";

export const MODEL_FORMAT = "mlgpf-model";
export const MODEL_VERSION = "2";
/** Versions that can be read: 1 is that of mlgpf 0.1. */
const READABLE = ["1", MODEL_VERSION];

/** The bytes of a model's file (safetensors). */
export function modelToBytes(model: TrainedModel): Uint8Array<ArrayBuffer> {
  return writeSafetensors(modelToTensors(model));
}

/** What a model's file holds: the arrays are those of the model. */
export function modelToTensors(model: TrainedModel): TensorFile {
  const { transform, labelCounts, calibrator, thresholds } = model;
  const own = isClosed(model) ? [closedToPart(model)] : [latentToPart(model)];
  if (isClosed(model) && model.latent) own.push(latentToPart(model.latent));
  if (calibrator) own.push(calibratorToPart(calibrator));
  if (thresholds) own.push(thresholdsToPart(thresholds));
  const tensors = new Map(own.flatMap((part) => [...part.tensors]));
  tensors.set("labelCounts", wholeTensor(labelCounts));
  if (model.columnIds) tensors.set("columnIds", wholeTensor(model.columnIds));
  if (transform.columnWeights)
    tensors.set("columnWeights", realTensor(transform.columnWeights, [model.features]));
  const metadata: Record<string, string> = {
    format: MODEL_FORMAT,
    version: MODEL_VERSION,
    likelihood: model.likelihood,
    features: String(model.features),
    ...Object.assign({}, ...own.map((part) => part.metadata)),
    normalise: transform.whole ? "whole" : String(transform.normalise),
    summary: JSON.stringify(model.summary),
  };
  if (isClosed(model) && model.latent) metadata.latentSummary = JSON.stringify(model.latent.summary);
  if (model.labelNames) metadata.labelNames = JSON.stringify(model.labelNames);
  if (model.featureNames) metadata.featureNames = JSON.stringify(model.featureNames);
  if (model.vectoriser) metadata.vectoriser = JSON.stringify(model.vectoriser);
  return { tensors, metadata };
}

/** Reads a model's file, and refuses what is not one; `file` is its name for the error. */
export function modelFromBytes(bytes: Uint8Array, file = "the model"): TrainedModel {
  return modelFromTensors(readSafetensors(bytes, file), file);
}

/** Checks that a safetensors file holds a whole model and gives it back. */
export function modelFromTensors(tensorFile: TensorFile, file = "the model"): TrainedModel {
  const parts = new FileParts(tensorFile, file);
  const { metadata } = parts;
  if (metadata.format === "mlgpf-compact")
    parts.refuse(
      "a compact model",
      "the one it was made from: a compact model is for mlgpf serve and mlgpf/edge",
    );
  if (metadata.format !== MODEL_FORMAT)
    parts.refuse(`format ${shownJson(metadata.format)}`, "a model made by mlgpf");
  if (!READABLE.includes(metadata.version as string))
    parts.refuse(`model version ${metadata.version}`, `version ${READABLE.join(" or ")}`);
  const likelihood = parts.name("likelihood", modelLikelihoods, "bernoulli");
  const common = commonOf(parts);
  if (likelihood === "bernoulli")
    return latentFromParts(parts, common, summaryOf<StepSummary>(parts, "summary"));
  const { calibrator } = common;
  if (calibrator === undefined) return parts.refuse("no calibrator", "one, as every Gaussian model has");
  const summary = summaryOf(parts, "summary");
  const closed = { ...common, likelihood, summary, calibrator };
  const { calibrator: _, thresholds: __, ...uncalibrated } = common;
  return {
    ...closed,
    ...closedFromParts(parts, closed),
    ...(likelihood === "both"
      ? { latent: latentFromParts(parts, uncalibrated, summaryOf<StepSummary>(parts, "latentSummary")) }
      : {}),
  };
}

function summaryOf<Summary extends TrainingSummary>(parts: FileParts, name: string): Summary {
  const found = parts.json(name) as Summary | null;
  return found !== null && Number.isSafeInteger(found.points) && found.points > 0
    ? found
    : parts.refuse("a summary without the number of training points", "a training summary");
}

/** What every model has. */
function commonOf(parts: FileParts): Omit<ModelCommon, "summary"> {
  const { tensors, metadata, file } = parts;
  const k = tensors.get("labelCounts")?.shape[0] ?? parts.refuse("no right labelCounts", "whole numbers");
  // Files of version 1 do not say how many features there are: the inducing inputs tell.
  const d = metadata.features === undefined ? parts.shape("inducingInputs", 2)[0] : Number(metadata.features);
  if (!Number.isSafeInteger(d) || (d as number) < 1)
    parts.refuse(`${metadata.features} features`, "a whole number of at least 1");
  const features = d as number;
  const common: Omit<ModelCommon, "summary"> = {
    features,
    labels: k,
    transform: {
      normalise: metadata.normalise === "true",
      ...(metadata.normalise === "whole" && { whole: true }),
    },
    labelCounts: parts.wholes("labelCounts", k, 2 ** 31),
  };
  if (tensors.has("columnWeights"))
    common.transform.columnWeights = Float32Array.from(parts.reals("columnWeights", [features]));
  if (tensors.has("columnIds")) common.columnIds = parts.rising("columnIds", features, 2 ** 31);
  const calibrator = calibratorFromPart(parts, k, file);
  if (calibrator) common.calibrator = calibrator;
  const thresholds = thresholdsFromPart(parts, k, file);
  if (thresholds) common.thresholds = thresholds;
  if (metadata.labelNames !== undefined) common.labelNames = parts.texts("labelNames", k);
  if (metadata.featureNames !== undefined) common.featureNames = parts.texts("featureNames", features);
  if (metadata.vectoriser !== undefined) {
    common.vectoriser = TfidfVectoriser.fromJSON(parts.json("vectoriser"), file).toJSON();
    const { terms } = common.vectoriser;
    if (terms.length !== features)
      parts.refuse(`a vocabulary of ${terms.length} terms`, `${features}, one for each feature`);
  }
  return common;
}
