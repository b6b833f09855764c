// A trained model as one safetensors file: tensors by name, those of a part behind the name of its family; the rest as JSON in the
// metadata.

import { readSafetensors, type Tensor, type TensorFile, writeSafetensors } from "../base/safetensors.ts";
import { checkIntact, integerTensor, realTensor, TensorReader, viewsFrom, withChecksum } from "../base/tensors.ts";
import { calibratorFromFile, calibratorToFile, thresholdsFromFile, thresholdsToFile } from "../calibrate/file.ts";
import type { DataKeys } from "../data/dataset.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { type FamilyName, families, familyNames, familyOf, scoreNames } from "../parts/index.ts";
import { maxNorm } from "../parts/overflow.ts";
import type { ModelSchema } from "../parts/part.ts";
import type { TrainingSummary } from "../parts/run.ts";
import { type Model, withUnseen } from "./model.ts";

export const MODEL_FORMAT = "mlgpf-model";
export const MODEL_VERSION = "4";

/** The bytes of a model's file (safetensors). */
export function modelToBytes(model: Model): Uint8Array<ArrayBuffer> {
  return writeSafetensors(modelToTensors(model));
}

/** Tensors and metadata of a model's file: the arrays are those of the model. */
export function modelToTensors({ schema, parts, calibrator, thresholds, summary }: Model): TensorFile {
  const { transform, labelCounts, columnIds, labelNames, featureNames, vectoriser, keys } = schema;
  const tensors = new Map<string, Tensor>([["labelCounts", integerTensor(labelCounts)]]);
  if (columnIds) tensors.set("columnIds", integerTensor(columnIds));
  if (transform.columnWeights) tensors.set("columnWeights", realTensor(transform.columnWeights));
  const metadata: Record<string, string> = {
    format: MODEL_FORMAT,
    version: MODEL_VERSION,
    parts: JSON.stringify(parts.map(({ family }) => family)),
    schema: JSON.stringify({
      features: schema.features,
      points: schema.points,
      normalise: transform.normalise,
      unitNorm: transform.unitNorm ?? false,
      views: transform.views,
      exclusive: schema.exclusive,
    }),
    summary: JSON.stringify(summary),
  };
  for (const part of parts) {
    const { tensors: own, about } = familyOf(part).toFile(part, schema);
    metadata[part.family] = JSON.stringify(about);
    for (const [name, tensor] of Object.entries(own)) tensors.set(`${part.family}.${name}`, tensor);
  }
  const calibration = [calibrator && calibratorToFile(calibrator), thresholds && thresholdsToFile(thresholds)];
  for (const part of calibration) {
    for (const [name, tensor] of part?.tensors ?? []) tensors.set(name, tensor);
    Object.assign(metadata, part?.metadata);
  }
  for (const [name, value] of Object.entries({ labelNames, featureNames, vectoriser, keys }))
    if (value) metadata[name] = JSON.stringify(value);
  return withChecksum({ tensors, metadata });
}

/** Reads a model's file, and refuses what is not one; `file` is its name for the error. */
export function modelFromBytes(bytes: Uint8Array, file = "the model"): Model {
  return modelFromTensors(readSafetensors(bytes, file), file);
}

/** Checks that a safetensors file holds a whole model and gives it back. */
export function modelFromTensors(tensorFile: TensorFile, file = "the model"): Model {
  const reader = new TensorReader(tensorFile, file);
  if (reader.metadata.format === "mlgpf-compact")
    reader.refuse("a compact model", "the one it was made from: a compact model is for mlgpf serve and mlgpf/edge");
  reader.checkFormat(MODEL_FORMAT, MODEL_VERSION, "a model made by mlgpf");
  const schema = schemaFrom(reader);
  const parts = partNames(reader).map((name) =>
    families[name].fromFile(reader.section(name), reader.object(name), schema),
  );
  if (!(maxNorm(parts.map((part) => familyOf(part).bounds(part, schema))) > 0))
    reader.refuse("numbers too large to compute with", "ones that keep every score of a unit row in single precision");
  const scores = scoreNames(parts);
  const calibrator = reader.metadata.calibrator ? calibratorFromFile(reader, schema.labels, scores) : undefined;
  if (!calibrator && !(parts.length === 1 && familyOf(parts[0]).predictor))
    reader.refuse("no calibrator", "one, as scores that are no probabilities need");
  const thresholds = reader.metadata.thresholds && thresholdsFromFile(reader, schema.labels);
  const summary = reader.object("summary") as unknown as TrainingSummary;
  checkIntact(reader); // last: what is wrong in particular says more
  return withUnseen({
    schema,
    parts,
    ...(calibrator && { calibrator }),
    ...(thresholds && { thresholds }),
    summary,
  });
}

function partNames(reader: TensorReader): FamilyName[] {
  const names = reader.json("parts");
  const known = (name: unknown): boolean => familyNames.some((family) => family === name);
  const right = Array.isArray(names) && names.length > 0 && new Set(names).size === names.length;
  if (!right || !names.every(known))
    return reader.refuse("metadata parts", `different names among ${familyNames.join(", ")}`);
  if (families[names[0] as FamilyName].follow)
    reader.refuse(`the part ${names[0]} first`, "it behind the part whose scores it takes");
  return names;
}

/** Keys or columns of the training data, in the file of a model or of a compact one. */
export function keysFrom(reader: TensorReader): Pick<ModelSchema, "keys"> {
  if (reader.metadata.keys === undefined) return {};
  const { id = "", text = [], labels = [], oneHot = [], notes = [] } = reader.object("keys");
  const isName = (name: unknown): boolean => typeof name === "string";
  const right = [text, labels, oneHot, notes].every((list) => Array.isArray(list) && list.every(isName));
  if (!right || !isName(id)) reader.refuse("metadata keys", "lists of names");
  return { keys: reader.object("keys") as DataKeys };
}

function schemaFrom(reader: TensorReader): ModelSchema {
  const { metadata, file } = reader;
  const about = reader.object("schema");
  const features = reader.integer(about, "features", 1);
  const [labels] = reader.shape("labelCounts", 1);
  const unitNorm = reader.flag(about, "unitNorm");
  const views = viewsFrom(reader, about, features);
  const schema: ModelSchema = {
    features,
    labels,
    points: reader.integer(about, "points", 1),
    transform: { normalise: reader.flag(about, "normalise"), ...(unitNorm && { unitNorm }), ...(views && { views }) },
    labelCounts: reader.integers("labelCounts", labels, 2 ** 31),
    ...keysFrom(reader),
  };
  if (about.exclusive === true) schema.exclusive = true;
  if (reader.has("columnWeights")) schema.transform.columnWeights = reader.singles("columnWeights", [features]);
  if (reader.has("columnIds")) schema.columnIds = reader.rising("columnIds", features, 2 ** 31);
  if (metadata.labelNames !== undefined) schema.labelNames = reader.texts("labelNames", labels);
  if (metadata.featureNames !== undefined) schema.featureNames = reader.texts("featureNames", features);
  if (metadata.vectoriser !== undefined) {
    const vectoriser = TfidfVectoriser.fromJSON(reader.json("vectoriser"), file);
    schema.vectoriser = vectoriser.toJSON();
    const { columns, views: own } = vectoriser;
    if (columns !== features) reader.refuse(`a vocabulary of ${columns} terms`, `${features}, one for each feature`);
    const shapes = (of: readonly object[] = []): string =>
      of.map((view) => JSON.stringify({ ...view, unit: 0 })).join();
    if (shapes(own) !== shapes(schema.transform.views)) reader.refuse("other vectors than its texts have", "the same");
  }
  return schema;
}
