// Reads a compact model: every tensor is checked against the sizes the metadata states, nothing is copied. The bytes are
// anybody's: whatever is wrong is one FormatError.

import type { PreparedCalibrator } from "../calibrate/forward.ts";
import type { Thresholds } from "../metrics/cut.ts";
import { isLinear } from "../model/kernels/index.ts";
import { ByteReader } from "./bytes.ts";
import { calibratorOf, thresholdsOf } from "./calibrated.ts";
import { type ClosedNumbers, closedOf, scoreNames } from "./closed.ts";
import type { CompactAbout } from "./format.ts";
import { LARGEST_SQUARE } from "./limits.ts";
import type { RowMatrix } from "./matrix.ts";
import { type LabelMatrix, Parts } from "./parts.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Latent functions, and labels as mixtures of them. */
export interface LatentNumbers {
  readonly weights: RowMatrix | undefined;
  readonly inducing: { z: RowMatrix; squares: Float32Array } | undefined;
  readonly mu: RowMatrix | undefined;
  readonly phi: LabelMatrix;
  readonly bias: Float32Array;
  readonly spread: Float32Array | undefined;
  readonly own: RowMatrix | undefined;
  readonly cover: RowMatrix | undefined;
  readonly root: RowMatrix | undefined;
}

/** At least one of the two forms is there. */
export interface CompactModel {
  readonly about: CompactAbout;
  readonly bytes: number;
  readonly latent: LatentNumbers | undefined;
  readonly closed: ClosedNumbers | undefined;
  /** Without one, probabilities are those of the utilities. */
  readonly calibrator: PreparedCalibrator | undefined;
  /** Where it cuts, if it says so. */
  readonly thresholds: Thresholds | undefined;
  readonly rows: Int32Array | undefined;
  readonly columnWeights: Float32Array | undefined;
  /** Ids of the features, rising, where these are not their numbers. */
  readonly columnIds: Int32Array | undefined;
  readonly vocabulary: Vocabulary | undefined;
  readonly order: Int32Array | undefined;
  readonly frequency: Int32Array | undefined;
  readonly labelName: (label: number) => string;
}

/** The model in these bytes, which must stay as they are while it is used. */
export function readCompact(bytes: Uint8Array, file = "the model"): CompactModel {
  const parts = new Parts(bytes, file);
  const { about } = parts;
  const { features: d, rows: r, labels: k } = about;
  const latent = latentOf(parts);
  const closed = closedOf(parts);
  const calibrator = calibratorOf(parts, scoreNames(closed, latent !== undefined));
  if (closed && !calibrator) parts.refuse("a Gaussian model without a calibrator", "one");
  const model: CompactModel = {
    about,
    bytes: bytes.length,
    latent,
    closed,
    calibrator,
    thresholds: thresholdsOf(parts),
    rows: rowsOf(parts, d, r),
    columnWeights: parts.has("columnWeights") ? parts.reals("columnWeights", d) : undefined,
    columnIds: parts.has("columnIds") ? idsOf(parts, d) : undefined,
    labelName: labelNames(parts.bytes("names"), k, parts.file),
    ...vocabularyOf(parts, d),
  };
  parts.finish();
  return model;
}

function latentOf(parts: Parts): LatentNumbers | undefined {
  const { features: d, rows: r, labels: k, factors: p, groups, inducing: m, rank } = parts.about;
  if (p === 0) {
    if (r !== d || groups !== 1 || m > 0 || rank > 0)
      parts.refuse("sizes of latent functions without any", "none");
    return undefined;
  }
  const { linear, own, cover, root, inducing } = formOf(parts);
  parts.fits(rank);
  return {
    phi: parts.labelMatrix("phi", k, p),
    bias: parts.reals("bias", k),
    weights: linear ? parts.matrix("weights", r, p) : undefined,
    mu: linear ? undefined : parts.matrix("mu", m, p),
    inducing: inducing
      ? { z: parts.matrix("inducing", r, m), squares: parts.reals("inducingSquares", m, LARGEST_SQUARE) }
      : undefined,
    own: own ? parts.matrix("own", d, 1) : undefined,
    cover: cover ? parts.matrix("cover", r, rank) : undefined,
    root: root ? parts.matrix("root", groups * m, rank) : undefined,
    spread: (own || root) && groups === 1 ? spreads(parts, k) : undefined,
  };
}

/**
 * Which matrices latent functions have. Means go through the features where the kernel is linear, else through the inducing
 * inputs; so does the variance, but one for each factor always goes through inducing inputs. The sizes that the metadata
 * states are 0 just where there is no matrix that has them, so that every size is one of bytes which are there.
 */
function formOf(parts: Parts): Record<"linear" | "own" | "cover" | "root" | "inducing", boolean> {
  const { kernel, variance, groups, inducing: m, rank } = parts.about;
  const linear = isLinear(kernel);
  const none = variance === "none";
  const own = !none && linear && groups === 1;
  const root = !none && !own;
  const inducing = root || !linear;
  const cover = own && rank > 0;
  const expected = `those of kernel ${kernel} with variance ${variance}`;
  if (none && groups !== 1) parts.refuse(`${groups} groups without variance`, "1");
  if (inducing !== m > 0) parts.refuse(`${m} inducing inputs`, expected);
  if (rank > 0 ? none || variance === "diagonal" : root) parts.refuse(`rank ${rank}`, expected);
  return { linear, own, cover, root, inducing };
}

/** The id of each feature. */
function idsOf(parts: Parts, features: number): Int32Array {
  const ids = parts.integers("columnIds", features);
  if (ids.some((id, i) => id <= (i === 0 ? -1 : (ids[i - 1] as number))))
    parts.refuse("columnIds that do not rise", "each id once, in order");
  return ids;
}

/** The row of each feature, -1 for none; without the tensor each has its own. */
function rowsOf(parts: Parts, features: number, count: number): Int32Array | undefined {
  if (!parts.has("rows")) {
    if (count !== features)
      parts.refuse(`${count} rows for ${features} features`, "which features have rows");
    return undefined;
  }
  const rows = parts.integers("rows", features);
  if (rows.some((row) => row < -1 || row >= count))
    parts.refuse("a number in rows beyond the rows", `numbers from -1 to ${count - 1}`);
  return rows;
}

function spreads(parts: Parts, labels: number): Float32Array {
  const spread = parts.reals("spread", labels);
  if (spread.some((value) => value < 0)) parts.refuse("a spread below 0", "numbers from 0");
  return spread;
}

function vocabularyOf(
  parts: Parts,
  features: number,
): Pick<CompactModel, "vocabulary" | "order" | "frequency"> {
  const { text } = parts.about;
  if (!parts.has("vocabulary")) {
    if (text) parts.refuse("rules for texts without a vocabulary", "both or none");
    return { vocabulary: undefined, order: undefined, frequency: undefined };
  }
  const vocabulary = new Vocabulary(parts.bytes("vocabulary"), features, parts.file);
  const order = parts.has("order") ? orderOf(parts, features) : undefined;
  let frequency: Int32Array | undefined;
  if (text) {
    const reader = new ByteReader(parts.bytes("frequency"), "the document frequencies", parts.file);
    frequency = new Int32Array(features);
    for (let i = 0; i < features; i++) {
      frequency[i] = reader.integer();
      if ((frequency[i] as number) > text.documents)
        reader.refuse(`${frequency[i]} documents`, `at most ${text.documents}`);
    }
    reader.finish();
  }
  return { vocabulary, order, frequency };
}

/** The feature of each name: every feature once. */
function orderOf(parts: Parts, features: number): Int32Array {
  const order = parts.integers("order", features);
  const met = new Uint8Array(features);
  for (const feature of order) {
    if (met[feature] !== 0)
      parts.refuse(`feature ${feature} in order`, `each from 0 to ${features - 1} once`);
    met[feature] = 1;
  }
  return order;
}

/** Checks the list of names and gives a function that decodes one. */
function labelNames(bytes: Uint8Array, labels: number, file: string): (label: number) => string {
  const reader = new ByteReader(bytes, "the label names", file);
  const ends = new Int32Array(labels);
  const starts = new Int32Array(labels);
  for (let label = 0; label < labels; label++) {
    const length = reader.integer();
    starts[label] = reader.skip(length);
    ends[label] = reader.at;
  }
  reader.finish();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return (label) => decoder.decode(bytes.subarray(starts[label], ends[label]));
}
