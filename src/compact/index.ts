// Makes a compact model of a trained one: what predicting needs in one small file, for mlgpf/edge.

import { withLabelCuts } from "../base/prediction.ts";
import { writeSafetensors } from "../base/safetensors.ts";
import { calibratorToFile, thresholdsToFile } from "../calibrate/file.ts";
import { COMPACT_FORMAT, COMPACT_VERSION, type CompactAbout } from "../edge/format.ts";
import { readCompact } from "../edge/read.ts";
import type { Model } from "../model/model.ts";
import type { CompactOptions } from "../parts/compact.ts";
import { familyOf } from "../parts/index.ts";
import type { ModelSchema } from "../parts/part.ts";
import { type ChosenSize, smallestSize } from "./choose.ts";
import { countBytes, nameBytes, vocabularyBytes } from "./names.ts";
import { completeCompactOptions } from "./options.ts";
import { CompactWriter } from "./writer.ts";

export type { CompactOptions, NumberType, VarianceForm } from "../parts/compact.ts";

/**
 * The bytes of a compact model, ready for load() of mlgpf/edge or for a file.
 *
 * @param model Any trained model.
 * @param given How large it may be, and in which numbers.
 * @throws {ArgumentError} An option that cannot be, with its name.
 * @example
 * ```ts
 * await writeFile("tagger.bin", await compactModel(model));
 * ```
 */
export async function compactModel(model: Model, given: CompactOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
  const chosen = given.size === undefined ? await chooseSize(model, given) : undefined;
  return await writeCompact(model, chosen ? { ...given, size: chosen.size } : given);
}

/** The smallest size at which a compact model loses next to nothing; undefined where no size is to be chosen. */
export async function chooseSize(
  model: Model,
  given: CompactOptions,
  onTry: (size: number) => void = () => {},
): Promise<ChosenSize | undefined> {
  const { type, allLabels } = completeCompactOptions(model, given);
  if (!type.startsWith("int") || !allLabels) return undefined;
  return await smallestSize(model, (trial, size) => writeCompact(trial, { ...given, size }), onTry);
}

async function writeCompact(model: Model, given: CompactOptions): Promise<Uint8Array<ArrayBuffer>> {
  const { schema } = model;
  const { labelNames, transform } = schema;
  const options = completeCompactOptions(model, given);
  const labels = keptLabels(schema, options.allLabels);
  const columns = model.parts.map((part) => familyOf(part).columns?.(part)).find((found) => found);
  const writer = new CompactWriter({ labels, options, columns });
  writer.bytes("names", nameBytes(labels.map((label) => labelNames?.[label] ?? String(label))));
  writeVocabulary(writer, schema);
  const calibration = writeCalibration(writer, model);
  if (transform.columnWeights) writer.vector("columnWeights", transform.columnWeights);
  if (schema.columnIds) writer.integers("columnIds", schema.columnIds);
  const parts: CompactAbout["parts"] = [];
  // The first part comes last, in the room that the others leave.
  for (const part of [...model.parts].reverse()) {
    const { family } = part;
    parts.unshift({ family, ...(await familyOf(part).compact(part, schema, writer.section(family))) });
  }
  const about: CompactAbout = {
    features: schema.features,
    labels: labels.length,
    points: model.calibrator && schema.points,
    normalise: transform.normalise,
    unit: transform.unitNorm || undefined,
    text: textRules(schema),
    views: transform.views,
    embedder: schema.vectoriser?.embedder,
    bits: writer.bits,
    parts,
  };
  const metadata = {
    format: COMPACT_FORMAT,
    version: COMPACT_VERSION,
    about: JSON.stringify(about),
    ...(schema.keys && { keys: JSON.stringify(schema.keys) }),
    ...calibration,
  };
  const bytes = writeSafetensors({ tensors: writer.tensors, metadata });
  await readCompact(bytes, "the compact model"); // nothing is given out that load() would refuse
  return bytes;
}

/** Labels that training has seen; all of them where it has seen none. */
export function keptLabels({ labels, labelCounts }: ModelSchema, all: boolean): number[] {
  const every = Array.from({ length: labels }, (_, label) => label);
  const seen = every.filter((label) => labelCounts[label] > 0);
  return all || seen.length === 0 ? every : seen;
}

/** The calibrator and the thresholds for the labels that are kept; returns what the metadata says of them. */
function writeCalibration(writer: CompactWriter, { calibrator, thresholds, schema }: Model): Record<string, string> {
  if (!calibrator) return {};
  const { labels } = writer;
  const kept = (all: Float32Array): Float32Array => Float32Array.from(labels, (label) => all[label]);
  const labelOffsets = Float64Array.from(labels, (label) => calibrator.labelOffsets[label] ?? 0);
  const files = [
    calibratorToFile({ ...calibrator, labelOffsets }),
    ...(thresholds ? [thresholdsToFile(withLabelCuts(thresholds, kept))] : []),
  ];
  for (const { tensors } of files) for (const [name, tensor] of tensors) writer.tensor(name, tensor);
  writer.integers(
    "labelCounts",
    Int32Array.from(labels, (label) => schema.labelCounts[label]),
  );
  return Object.assign({}, ...files.map(({ metadata }) => metadata));
}

function writeVocabulary(writer: CompactWriter, { vectoriser, featureNames }: ModelSchema): void {
  const names = vectoriser?.terms ?? featureNames;
  if (names === undefined) return;
  const { bytes, order } = vocabularyBytes(names);
  writer.bytes("vocabulary", bytes);
  if (order) writer.integers("order", order);
  if (vectoriser) writer.bytes("frequency", countBytes(vectoriser.documentFrequency));
}

/** Rules of the vectoriser for a text. */
function textRules({ vectoriser }: ModelSchema): CompactAbout["text"] {
  if (!vectoriser) return undefined;
  const { options, documents } = vectoriser;
  const { wordNgrams = 1, sublinear = true, idf = true, normalise = true, stem } = options;
  return {
    wordNgrams,
    charNgrams: options.charNgrams || undefined,
    sublinear,
    idf,
    normalise,
    leadWords: options.leadWords || undefined,
    charWeight: options.charWeight || undefined,
    oovInNorm: options.oovInNorm || undefined,
    stem,
    documents,
  };
}
