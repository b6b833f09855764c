// Reads a compact model: every tensor is checked, nothing is copied. Whatever is wrong with the bytes is one FormatError.

import { isObject } from "../base/check.ts";
import type { Thresholds } from "../base/prediction.ts";
import { readSafetensors } from "../base/safetensors.ts";
import type { View } from "../base/sparse.ts";
import { type Fields, viewsFrom } from "../base/tensors.ts";
import { LEAST_WEIGHT, MOST_WEIGHT } from "../base/terms.ts";
import type { LabelScores, LazyLogits, OpenMover, OpenRow, RowMover, RowScorer } from "../parts/row.ts";
import { COMPACT_FORMAT, COMPACT_VERSION, type TextRules } from "./format.ts";
import { CompactReader } from "./reader.ts";
import type { MoveLogits, RowScores } from "./scores.ts";
import { ByteReader, Vocabulary } from "./vocabulary.ts";

const kernelRow = async (): Promise<OpenRow> => (await import("../parts/regression/row.ts")).kernelRow;
/** Row scorers by family: code that only some models need is loaded with those. */
const rowScorers: Readonly<Record<string, () => Promise<OpenRow>>> = {
  gpr: kernelRow,
  sgpr: kernelRow,
  linear: async () => (await import("../parts/linear/row.ts")).linearRow,
  coupling: async () => (await import("../parts/coupling/row.ts")).couplingRow,
  svgp: async () => (await import("./svgp.ts")).openSvgp,
};
/** The family that moves logits by the names of labels. */
const NAMES = "names";

export interface CompactPart extends RowScorer {
  readonly family: string;
}

/** Scores of a row's parts as probabilities: by the calibrator or, without one, by the sigmoid of the only part. */
interface Probabilities {
  of(scores: readonly LabelScores[], move?: MoveLogits): RowScores;
  readonly calibrated: boolean;
  /** Thresholds, if the file has them. */
  readonly thresholds?: Thresholds | undefined;
}

interface CompactMover extends ReturnType<OpenMover> {
  readonly family: string;
  /** The logits of a row that its text has moved. */
  moved(mover: RowMover, text: string): MoveLogits;
}

export interface CompactModel {
  /** Bytes of the file. */
  readonly size: number;
  readonly features: number;
  readonly labels: number;
  /** N, where there is a calibrator. */
  readonly points: number | undefined;
  readonly normalise: boolean;
  readonly parts: readonly CompactPart[];
  /** Moves calibrated logits, where a part does. */
  readonly mover: CompactMover | undefined;
  readonly labelCounts: Int32Array | undefined;
  readonly probabilities: Probabilities;
  readonly columnWeights: Float32Array | undefined;
  /** Ids of the features, rising, where these are not their numbers. */
  readonly columnIds: Int32Array | undefined;
  readonly text: TextRules | undefined;
  /** Vectors of each document, behind the words; and what made them, if known. */
  readonly views: readonly View[] | undefined;
  readonly embedder: unknown;
  readonly vocabulary: Vocabulary | undefined;
  readonly order: Int32Array | undefined;
  readonly frequency: Int32Array | undefined;
  readonly labelName: (label: number) => string;
  /** The way scores are computed; both give the same numbers. */
  readonly path: "wasm" | "plain";
}

/** A size that an array of the file can have; what the file really holds is checked by its tensors' shapes. */
const MOST = 2 ** 31 - 1;
const MOST_PARTS = 8;

/** The model in these bytes, which must stay as they are while it is used. */
export async function readCompact(
  bytes: Uint8Array,
  file = "the model",
  wasm?: WebAssembly.Module,
): Promise<CompactModel> {
  const wasmSparse = wasm && (await import("./wasm.ts")).wasmSparse;
  const context = { size: bytes.length, bits: {} as Fields, packed: new Set<string>(), wasm, wasmSparse };
  const reader = new CompactReader(readSafetensors(bytes, file), file, context);
  reader.checkFormat(COMPACT_FORMAT, COMPACT_VERSION, "a model made by mlgpf compact");
  const about = reader.object("about");
  if (isObject(about.bits)) context.bits = about.bits;
  const features = reader.integer(about, "features", 1, MOST);
  const labels = reader.integer(about, "labels", 1, MOST);
  const points = about.points === undefined ? undefined : reader.integer(about, "points", 1, MOST);
  const unit = about.unit !== undefined && reader.flag(about, "unit");
  const views = viewsFrom(reader, about, features);
  const ranges = views && [{ from: 0, to: views[0].from }, ...views];
  const parts: CompactPart[] = [];
  let mover: CompactModel["mover"];
  for (const fields of reader.objects(about, "parts", MOST_PARTS)) {
    const family = reader.word(fields, "family", [...Object.keys(rowScorers), NAMES]);
    if (parts.some((part) => part.family === family) || mover) reader.refuse(`two parts ${family}`, "each once");
    if (family === NAMES) {
      const { namesRow, NamedLogits } = await import("./named.ts");
      mover = {
        ...namesRow(reader.section(family), fields),
        family,
        moved: (own, text) => (logits, known) => new NamedLogits(logits, known, own, text),
      };
      continue;
    }
    const sizes = { features, labels, unit, views: ranges, before: parts.length };
    const open = await rowScorers[family]();
    parts.push({ ...open(reader.section(family), fields, sizes), family });
  }
  if (parts.length === 0) reader.refuse("no parts", "at least one");
  const labelCounts = points === undefined ? undefined : reader.integers("labelCounts", labels, points + 1);
  const text = about.text === undefined ? undefined : textRules(reader, Object(about.text));
  const model: CompactModel = {
    size: bytes.length,
    features,
    labels,
    points,
    normalise: reader.flag(about, "normalise"),
    parts,
    mover,
    labelCounts,
    probabilities: await probabilitiesOf(reader, parts, labels, labelCounts, points),
    columnWeights: reader.has("columnWeights") ? reader.vector("columnWeights", features) : undefined,
    columnIds: reader.has("columnIds") ? reader.rising("columnIds", features, MOST + 1) : undefined,
    text,
    views,
    embedder: about.embedder,
    labelName: labelNames(reader.bytes("names"), labels, file),
    ...vocabularyOf(reader, views?.[0].from ?? features, text),
    path: wasm ? "wasm" : "plain",
  };
  if (mover && points === undefined) reader.refuse(`the part ${mover.family} without a calibrator`, "both or none");
  reader.checkAllTaken();
  return model;
}

async function probabilitiesOf(
  reader: CompactReader,
  parts: readonly CompactPart[],
  labels: number,
  labelCounts: Int32Array | undefined,
  points: number | undefined,
): Promise<Probabilities> {
  const { calibrator: told, thresholds } = reader.metadata;
  if ((told === undefined) !== (points === undefined))
    reader.refuse(`${told ? "a" : "no"} calibrator beside points ${points}`, "both or none");
  if (labelCounts && points !== undefined) {
    const { calibratorFromFile, prepareCalibrator, rowScores, thresholdsFromFile } = await import("./scores.ts");
    const scores = parts.map(({ score }) => score);
    const calibrator = prepareCalibrator(calibratorFromFile(reader, labels, scores), { labelCounts, points });
    return {
      of: (found, move) => rowScores(found, calibrator, move),
      calibrated: true,
      thresholds: thresholds === undefined ? undefined : thresholdsFromFile(reader, labels),
    };
  }
  if (thresholds !== undefined) reader.refuse("thresholds without a calibrator", "both or none");
  if (parts.length !== 1 || !parts[0].sigmoid)
    reader.refuse("no calibrator", "one, as scores that are no probabilities need");
  const { sigmoidScores } = await import("./svgp.ts");
  return { of: ([{ logits }]) => sigmoidScores(logits as LazyLogits), calibrated: false };
}

function textRules(reader: CompactReader, about: Fields): TextRules {
  const given = (name: string): boolean => about[name] !== undefined;
  const weight = (name: string): number | undefined =>
    given(name) ? reader.number(about, name, LEAST_WEIGHT, MOST_WEIGHT) : undefined;
  const range = given("charNgrams") ? reader.numbers(about, "charNgrams", 2, 1, 9) : undefined;
  if (range && !(range.every(Number.isInteger) && range[0] <= range[1]))
    reader.refuse(`charNgrams ${range}`, "two whole numbers from 1 to 9");
  const { stem } = about;
  if (given("stem") && !(typeof stem === "string" && /^[a-z]{1,30}$/.test(stem)))
    reader.refuse("no right stem", "a language");
  return {
    wordNgrams: reader.integer(about, "wordNgrams", 0, 9),
    charNgrams: range as [number, number] | undefined,
    sublinear: reader.flag(about, "sublinear"),
    idf: reader.flag(about, "idf"),
    normalise: reader.flag(about, "normalise"),
    leadWords: weight("leadWords"),
    charWeight: weight("charWeight"),
    oovInNorm: given("oovInNorm") ? reader.flag(about, "oovInNorm") : undefined,
    stem: stem as string | undefined,
    documents: reader.integer(about, "documents", 0, MOST),
  };
}

function vocabularyOf(
  reader: CompactReader,
  features: number,
  text: TextRules | undefined,
): Pick<CompactModel, "vocabulary" | "order" | "frequency"> {
  if (!reader.has("vocabulary")) {
    if (text) reader.refuse("rules for texts without a vocabulary", "both or none");
    return { vocabulary: undefined, order: undefined, frequency: undefined };
  }
  const vocabulary = new Vocabulary(reader.bytes("vocabulary"), features, reader.file);
  const order = reader.has("order") ? orderOf(reader, features) : undefined;
  if (!text) return { vocabulary, order, frequency: undefined };
  const counts = new ByteReader(reader.bytes("frequency"), "the document frequencies", reader.file);
  const frequency = new Int32Array(features);
  for (let i = 0; i < features; i++) frequency[i] = counts.integer();
  counts.finish();
  reader.within("frequency", frequency, 0, text.documents);
  return { vocabulary, order, frequency };
}

/** The feature of each name: every feature once. */
function orderOf(reader: CompactReader, features: number): Int32Array {
  const order = reader.integers("order", features, features);
  if (new Set(order).size !== features) reader.refuse("a feature twice in order", "each once");
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
