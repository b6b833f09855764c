// Makes a compact model of a trained one: what predicting needs in one small file, for mlgpf/edge.

import { calibratorToPart } from "../calibrate/file.ts";
import { ArgumentError } from "../core/errors.ts";
import { COMPACT_FORMAT, type CompactAbout } from "../edge/format.ts";
import { rowMatrix } from "../edge/matrix.ts";
import { readCompact } from "../edge/read.ts";
import { type Tensor, writeSafetensors } from "../io/safetensors.ts";
import { plainHyper } from "../model/kernels/index.ts";
import { isClosed, type LatentModel, type TrainedModel } from "../model/model.ts";
import { type Collapsed, collapse } from "./collapse.ts";
import { countBytes, nameBytes, vocabularyBytes } from "./names.ts";
import { storeMatrix } from "./numbers.ts";
import {
  type CompactOptions,
  completeCompactOptions,
  type FullCompactOptions,
  type NumberType,
} from "./options.ts";
import { keptRows, selectRows } from "./rows.ts";

export type { CompactOptions, NumberType, VarianceForm } from "./options.ts";

type Real = Float32Array | Float64Array;

/** Collects the tensors of a file. */
class Parcel {
  readonly tensors = new Map<string, Tensor>();
  readonly bits: Record<string, number> = {};

  matrix(name: string, values: Real, rows: number, columns: number, type: NumberType): void {
    const { tensor, scale, bits } = storeMatrix(values, rows, columns, type);
    this.tensors.set(name, tensor);
    if (scale) this.reals(`${name}.scale`, scale);
    if (bits !== undefined) this.bits[name] = bits;
  }

  /** Own variances that make up for what few bits did to the cover: a text of one word stays as it was. */
  corrected(own: Real, cover: Real, rows: Int32Array | undefined, rank: number): Float64Array {
    const stored = this.tensors.get("cover") as Tensor;
    const scale = this.tensors.get("cover.scale")?.data as Float32Array | undefined;
    const decoded = rowMatrix(stored, rank, scale, this.bits.cover ?? 0);
    const squareOf = (row: ArrayLike<number>): number =>
      Array.from(row).reduce((sum, value) => sum + value * value, 0);
    const corrected = Float64Array.from(
      own,
      (value, feature) => value - squareOf(cover.subarray(feature * rank, (feature + 1) * rank)),
    );
    for (let row = 0; row < decoded.rows; row++) {
      const elements = new Float64Array(rank);
      decoded.add([row], [1], 1, elements);
      const feature = rows ? (rows[row] as number) : row;
      corrected[feature] = (corrected[feature] as number) + squareOf(elements);
    }
    return corrected;
  }

  reals(name: string, values: Real): void {
    this.tensors.set(name, { dtype: "F32", shape: [values.length], data: Float32Array.from(values) });
  }

  integers(name: string, data: Int32Array): void {
    this.tensors.set(name, { dtype: "I32", shape: [data.length], data });
  }

  bytes(name: string, data: Uint8Array): void {
    this.tensors.set(name, { dtype: "U8", shape: [data.length], data });
  }
}

/** The model itself, if it can be made compact. */
export function compactable(model: TrainedModel): LatentModel {
  if (!isClosed(model)) return model;
  throw new ArgumentError("model", "found a Gaussian model, expected one with the bernoulli likelihood");
}

/** The bytes of a compact model, ready for load() of mlgpf/edge or for a file. */
export async function compactModel(
  trained: TrainedModel,
  given: CompactOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const model = compactable(trained);
  const options = completeCompactOptions(model, given);
  const collapsed = await collapse(model, options);
  const parcel = new Parcel();
  const labels = keptLabels(model, options.allLabels);
  const rows = keptRows(model, collapsed, options.type);
  addLatent(parcel, model, collapsed, options, rows);
  addLabels(parcel, model, labels, collapsed, options);
  addVocabulary(parcel, model);
  const calibrator = addCalibrator(parcel, model, labels);
  const { columnWeights, normalise } = model.transform;
  if (columnWeights) parcel.reals("columnWeights", columnWeights);
  if (model.columnIds) parcel.integers("columnIds", model.columnIds);
  const about: CompactAbout = {
    kernel: model.kernel,
    features: model.features,
    rows: rows?.length ?? model.features,
    labels: labels.length,
    factors: model.factors,
    groups: collapsed.groups,
    inducing: parcel.tensors.has("inducing") ? model.inducingPoints : 0,
    rank: collapsed.rank,
    hyper: plainHyper(model.hyper),
    normalise,
    bits: parcel.bits,
    variance: options.variance,
    ...textRules(model),
    ...(model.calibrator && { points: model.summary.points }),
  };
  const version = model.calibrator || model.vectoriser?.version === 2 ? "2" : "1";
  const metadata = { format: COMPACT_FORMAT, version, about: JSON.stringify(about), ...calibrator };
  const bytes = writeSafetensors({ tensors: parcel.tensors, metadata });
  readCompact(bytes, "the compact model"); // nothing is given out that load() would refuse
  return bytes;
}

/** Labels that training has seen; all of them where it has seen none. */
export function keptLabels({ labels, labelCounts }: LatentModel, all: boolean): number[] {
  const every = Array.from({ length: labels }, (_, label) => label);
  const seen = every.filter((label) => (labelCounts[label] as number) > 0);
  return all || seen.length === 0 ? every : seen;
}

/** Small matrices are not worth less than half precision. */
function smallType(type: NumberType): NumberType {
  return type === "f32" ? "f32" : "f16";
}

function addLatent(
  parcel: Parcel,
  model: LatentModel,
  { weights, own, cover, root, rank, groups }: Collapsed,
  { type }: FullCompactOptions,
  rows: Int32Array | undefined,
): void {
  const { features: d, inducingPoints: m, factors: p, inducingInputs } = model;
  const small = smallType(type);
  const large = (name: string, values: Real, columns: number): void =>
    parcel.matrix(name, rows ? selectRows(values, rows, columns) : values, rows?.length ?? d, columns, type);
  if (rows) {
    const rowOf = new Int32Array(d).fill(-1);
    rows.forEach((feature, row) => {
      rowOf[feature] = row;
    });
    parcel.integers("rows", rowOf);
  }
  if (weights) large("weights", weights, p);
  else parcel.matrix("mu", model.mu, m, p, small);
  if (!weights || root) {
    large("inducing", inducingInputs, m);
    const squares = new Float64Array(m);
    inducingInputs.forEach((value, i) => {
      squares[i % m] = (squares[i % m] as number) + value * value;
    });
    parcel.reals("inducingSquares", squares);
  }
  if (cover) large("cover", cover, rank);
  if (own) parcel.matrix("own", cover ? parcel.corrected(own, cover, rows, rank) : own, d, 1, small);
  if (root) parcel.matrix("root", root, groups * m, rank, small);
}

function addLabels(
  parcel: Parcel,
  model: LatentModel,
  labels: number[],
  { own, root, groups }: Collapsed,
  { type }: FullCompactOptions,
): void {
  const { factors: p, phi, bias, labelNames } = model;
  const rows = new Float64Array(labels.length * p);
  const spread = new Float64Array(labels.length);
  labels.forEach((label, i) => {
    for (let q = 0; q < p; q++) {
      const value = phi[label * p + q] as number;
      rows[i * p + q] = value;
      spread[i] = (spread[i] as number) + value * value;
    }
  });
  parcel.matrix("phi", rows, labels.length, p, type.startsWith("int") ? "int8" : type);
  parcel.reals(
    "bias",
    Float64Array.from(labels, (label) => bias[label] as number),
  );
  if ((own || root) && groups === 1) parcel.reals("spread", spread);
  parcel.bytes("names", nameBytes(labels.map((label) => labelNames?.[label] ?? String(label))));
}

/** The calibrator for these labels; returns what the metadata says of it. */
function addCalibrator(
  parcel: Parcel,
  { calibrator, labelCounts }: LatentModel,
  labels: number[],
): Record<string, string> {
  if (!calibrator) return {};
  const { labelOffsets, labelSlopes } = calibrator;
  const chosen = (of: Float64Array): Float64Array => Float64Array.from(labels, (label) => of[label] ?? 0);
  const { tensors, metadata } = calibratorToPart({
    ...calibrator,
    labelOffsets: chosen(labelOffsets),
    ...(labelSlopes && { labelSlopes: chosen(labelSlopes) }),
  });
  for (const [name, tensor] of tensors) parcel.tensors.set(name, tensor);
  parcel.integers(
    "labelCounts",
    Int32Array.from(labels, (label) => labelCounts[label] as number),
  );
  return metadata;
}

function addVocabulary(parcel: Parcel, { vectoriser, featureNames }: LatentModel): void {
  const names = vectoriser?.terms ?? featureNames;
  if (names === undefined) return;
  const { bytes, order } = vocabularyBytes(names);
  parcel.bytes("vocabulary", bytes);
  if (order) parcel.integers("order", order);
  if (vectoriser) parcel.bytes("frequency", countBytes(vectoriser.documentFrequency));
}

/** What the vectoriser does to a text. */
function textRules({ vectoriser }: LatentModel): Pick<CompactAbout, "text"> {
  if (!vectoriser) return {};
  const { options, documents } = vectoriser;
  const { wordNgrams = 1, charNgrams, sublinear = true, idf = true, normalise = true } = options;
  const { opening, charWeight, countUnknown } = options;
  return {
    text: {
      ...{ wordNgrams, ...(charNgrams && { charNgrams }), sublinear, idf, normalise, documents },
      ...(opening && { opening }),
      ...(charWeight && { charWeight }),
      ...(countUnknown && { countUnknown }),
    },
  };
}
