// Makes a compact model of a trained one: what predicting needs in one small file, for mlgpf/edge.

import { calibratorToPart, thresholdsToPart } from "../calibrate/file.ts";
import { COMPACT_FORMAT, type CompactAbout } from "../edge/format.ts";
import { readCompact } from "../edge/read.ts";
import { writeSafetensors } from "../io/safetensors.ts";
import type { Cut, Thresholds } from "../metrics/cut.ts";
import { isClosed, type ModelCommon, type TrainedModel } from "../model/model.ts";
import { addClosed } from "./closed.ts";
import { addLatent, type LatentAbout } from "./latent.ts";
import { countBytes, nameBytes, vocabularyBytes } from "./names.ts";
import { type CompactOptions, completeCompactOptions } from "./options.ts";
import { Parcel } from "./parcel.ts";

export type { CompactOptions, NumberType, VarianceForm } from "./options.ts";

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
export async function compactModel(
  model: TrainedModel,
  given: CompactOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const options = completeCompactOptions(model, given);
  const parcel = new Parcel();
  const labels = keptLabels(model, options.allLabels);
  const { labelNames, transform } = model;
  parcel.bytes("names", nameBytes(labels.map((label) => labelNames?.[label] ?? String(label))));
  addVocabulary(parcel, model);
  const calibrator = addCalibrator(parcel, model, labels);
  if (transform.columnWeights) parcel.reals("columnWeights", transform.columnWeights);
  if (model.columnIds) parcel.integers("columnIds", model.columnIds);
  const latent = isClosed(model) ? model.latent : model;
  const ofLatent = latent && (await addLatent(parcel, latent, labels, options, frequentOf(model)));
  // Last, in the room that the others leave.
  const closed = isClosed(model) ? await addClosed(parcel, model, labels, options) : undefined;
  const { kernel, rows, factors, groups, inducing, rank, hyper } = ofLatent ?? withoutLatent(model);
  const about: CompactAbout = {
    kernel,
    features: model.features,
    rows,
    labels: labels.length,
    factors,
    groups,
    inducing,
    rank,
    hyper,
    normalise: transform.normalise,
    bits: parcel.bits,
    variance: options.variance,
    ...textRules(model),
    ...(closed && { closed }),
    ...(model.calibrator && { points: model.summary.points }),
  };
  const ofCalibration = model.thresholds ? 3 : model.calibrator ? 2 : 1;
  const version = String(Math.max(model.vectoriser?.version ?? 1, ofCalibration));
  const metadata = { format: COMPACT_FORMAT, version, about: JSON.stringify(about), ...calibrator };
  const bytes = writeSafetensors({ tensors: parcel.tensors, metadata });
  readCompact(bytes, "the compact model"); // nothing is given out that load() would refuse
  return bytes;
}

/** Elements of the latent functions' weights beyond which there would be no room beside them. */
const MANY_ELEMENTS = 5e6;

/** Where room is short, the features of a linear posterior are enough for the latent functions beside it. */
function frequentOf(model: TrainedModel): Int32Array | undefined {
  if (!isClosed(model) || !model.latent || model.closed.form !== "linear") return undefined;
  return model.features * model.latent.factors > MANY_ELEMENTS ? model.closed.columns : undefined;
}

/** What a file says of latent functions that it has not. */
function withoutLatent({ features }: ModelCommon): LatentAbout {
  return { kernel: "linear", rows: features, factors: 0, groups: 1, inducing: 0, rank: 0, hyper: [1, 1, 1] };
}

/** Labels that training has seen; all of them where it has seen none. */
export function keptLabels({ labels, labelCounts }: ModelCommon, all: boolean): number[] {
  const every = Array.from({ length: labels }, (_, label) => label);
  const seen = every.filter((label) => (labelCounts[label] as number) > 0);
  return all || seen.length === 0 ? every : seen;
}

/** The calibrator and the thresholds for these labels; returns what the metadata says of them. */
function addCalibrator(
  parcel: Parcel,
  { calibrator, thresholds, labelCounts }: ModelCommon,
  labels: number[],
): Record<string, string> {
  if (!calibrator) return {};
  const { labelOffsets, labelSlopes } = calibrator;
  const chosen = (of: Float64Array): Float64Array => Float64Array.from(labels, (label) => of[label] ?? 0);
  const own = calibratorToPart({
    ...calibrator,
    labelOffsets: chosen(labelOffsets),
    ...(labelSlopes && { labelSlopes: chosen(labelSlopes) }),
  });
  const cuts = thresholds && thresholdsToPart(cutAt(thresholds, labels));
  for (const [name, tensor] of [...own.tensors, ...(cuts?.tensors ?? [])]) parcel.tensors.set(name, tensor);
  parcel.integers(
    "labelCounts",
    Int32Array.from(labels, (label) => labelCounts[label] as number),
  );
  return { ...own.metadata, ...cuts?.metadata };
}

/** The thresholds of these labels. */
function cutAt({ f1, expected, precisions }: Thresholds, labels: number[]): Thresholds {
  const of = ({ overall, labels: all }: Cut): Cut => ({
    overall,
    labels: Float32Array.from(labels, (label) => all[label] as number),
  });
  return {
    f1: of(f1),
    expected,
    precisions: precisions.map(({ precision, cut }) => ({ precision, cut: of(cut) })),
  };
}

function addVocabulary(parcel: Parcel, { vectoriser, featureNames }: ModelCommon): void {
  const names = vectoriser?.terms ?? featureNames;
  if (names === undefined) return;
  const { bytes, order } = vocabularyBytes(names);
  parcel.bytes("vocabulary", bytes);
  if (order) parcel.integers("order", order);
  if (vectoriser) parcel.bytes("frequency", countBytes(vectoriser.documentFrequency));
}

/** What the vectoriser does to a text. */
function textRules({ vectoriser }: ModelCommon): Pick<CompactAbout, "text"> {
  if (!vectoriser) return {};
  const { options, documents } = vectoriser;
  const { wordNgrams = 1, charNgrams, sublinear = true, idf = true, normalise = true } = options;
  const { opening, charWeight, countUnknown, stem } = options;
  return {
    text: {
      ...{ wordNgrams, ...(charNgrams && { charNgrams }), sublinear, idf, normalise, documents },
      ...(opening && { opening }),
      ...(charWeight && { charWeight }),
      ...(countUnknown && { countUnknown }),
      ...(stem !== undefined && { stem }),
    },
  };
}
