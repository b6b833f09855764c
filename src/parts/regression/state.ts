// The state that further learning needs, as a safetensors file: any of
//
//   totals     m, n_k, N                                   always, but for the exact form
//   sums       A (its lower triangle) and B'               parts of a data set add up
//   solution   C for one noise (W is in the model)         new documents are learned in seconds (learn.ts)
//   first      C of the exact form's first documents       new and corrected documents of the exact form (gpr/learn.ts)
//   documents  rows, labels and ids of what was learned    corrected and forgotten documents; the exact form can be fitted anew
//
// beside the plan, whose identity is a checksum of everything that decides the features: sums of different plans cannot
// be added, and a state serves only the model it was made with. What is learned later goes behind the file's end, so that C need
// not be written again: change after change, each a safetensors file with the checksum of the one before. All have checksums.

import { isObject } from "../../base/check.ts";
import { checksumOf } from "../../base/hash.ts";
import {
  joined,
  readSafetensorsSeries,
  safetensorsChunks,
  type Tensor,
  type TensorFile,
} from "../../base/safetensors.ts";
import { checkIntact, type Fields, integerTensor, realTensor, TensorReader, withChecksum } from "../../base/tensors.ts";
import type { Core } from "../../core/core.ts";
import { keeping, type Matrix, matrixFrom, type RealArray } from "../../core/matrix.ts";
import type { Sign } from "../../core/sums.ts";
import { checkDataset } from "../../data/dataset.ts";
import { changed, type DocumentChange, type Documents, join, LearningError, MOST_WEIGHT, select } from "./documents.ts";
import { type LearnedInverse, LearnedRidge } from "./learn.ts";
import { packedLength, packLower, precisionOf, unpackLower } from "./packed.ts";
import type { RidgeChoice } from "./ridge.ts";
import { Statistics, Totals } from "./totals.ts";

export const STATE_FORMAT = "mlgpf-state";
export const STATE_VERSION = "4";
/** A file with so many changes behind it is written anew. */
const MOST_CHANGES = 64;

/** Everything that decides the features of a document. */
export interface StatePlan {
  /** Made by planIdentity. */
  readonly identity: string;
  /** P, and the columns of documents' rows. */
  readonly features: number;
  readonly columns: number;
  /** Form, covariance, jitter and whatever else a reader may want to know, as JSON. */
  readonly about: Readonly<Record<string, unknown>>;
}

/** m, n_k and N. */
export interface StateTotals {
  readonly points: number;
  readonly labelCounts: Float64Array; // [K]
  readonly sums: Float64Array; // [P]
}

/** A and B. */
export interface StateSums {
  readonly gram: Float64Array; // [P (P + 1) / 2]
  readonly cross: Float64Array; // [K,P]
}

/** C for one noise. */
export interface StateSolution extends LearnedInverse {
  readonly choice: RidgeChoice;
}

/** C = inverse(K + lam I) of the first documents, in the exact form. */
export interface StateInverse {
  /** Its lower triangle. */
  readonly inverse: Float32Array;
  /** Which of the first ones have been corrected since, rising: they are not among the documents any more. */
  readonly removed: Int32Array;
}

/** The file that a state was read from or written to, and what has changed since. */
export interface StateFile {
  readonly bytes: number;
  /** That of its last change, or of the file where it has none. */
  readonly checksum: string;
  /** How many changes are behind it. */
  readonly changes: number;
  /** C, and the directions that it is behind by. */
  readonly inverse: RealArray;
  readonly pending: number;
  readonly since: readonly DocumentChange[];
}

/** A state as plain data; labels are numbered as in the model. */
export interface LearningState {
  readonly plan: StatePlan;
  /** K */
  readonly labels: number;
  readonly labelNames?: readonly string[] | undefined;
  readonly totals?: StateTotals | undefined;
  readonly sums?: StateSums | undefined;
  readonly solution?: StateSolution | undefined;
  readonly inverse?: StateInverse | undefined;
  readonly documents?: Documents | undefined;
  /** Texts of the documents, in a part of a training alone. */
  readonly texts?: readonly string[] | undefined;
  /** Number of the last batch of a server's journal that is in here. */
  readonly journal?: number | undefined;
  /** Where changes can go behind a file's end. */
  readonly file?: StateFile | undefined;
  /** How a server found the model's promises kept, as plain JSON. */
  readonly promises?: Readonly<Record<string, unknown>> | undefined;
}

/** The identity of a plan: vocabulary, column weights, basis, inducing inputs, covariance, in an order of the caller's. */
export function planIdentity(parts: readonly (string | ArrayBufferView)[]): string {
  return checksumOf(parts);
}

/** Changes with everything that is learned: a model notes it, and goes on only with the state that has it. */
export function stateIdentity({ plan, labels, totals, documents }: LearningState): string {
  return checksumOf([
    plan.identity,
    String(labels),
    ...(totals ? [String(totals.points), totals.labelCounts, totals.sums] : []),
    ...(documents ? [documents.features.values, documents.labels.labelIndex] : []),
    ...(documents?.weights ? [documents.weights] : []),
  ]);
}

/** The file in pieces, to be written one after another. */
export const stateChunks = (state: LearningState): Uint8Array[] => safetensorsChunks(stateTensors(state));

const allOf = (tensors: Record<string, Tensor | undefined>): Map<string, Tensor> =>
  new Map(Object.entries(tensors).filter((entry): entry is [string, Tensor] => entry[1] !== undefined));

function stateTensors(state: LearningState): TensorFile {
  const { plan, labels, sums, solution, inverse, documents, texts } = state;
  const tensors = allOf({
    ...learnedTensors(state),
    "sums.gram": sums && realTensor(sums.gram),
    "sums.cross": sums && realTensor(sums.cross, [labels, plan.features]),
    "solution.inverse": solution && realTensor(solution.inverse),
    "first.inverse": inverse && realTensor(inverse.inverse),
    ...(documents && documentTensors(documents)),
    "documents.texts": texts && textsTensor(texts),
  });
  const choice = solution && { choice: JSON.stringify(solution.choice) };
  return withChecksum({ tensors, metadata: { ...learnedMetadata(state), plan: JSON.stringify(plan), ...choice } });
}

const learnedMetadata = ({ labels, labelNames, totals, journal, promises }: LearningState): Record<string, string> => ({
  format: STATE_FORMAT,
  version: STATE_VERSION,
  state: JSON.stringify({ labels, points: totals?.points, journal, promises }),
  ...(labelNames && { labelNames: JSON.stringify(labelNames) }),
});

/** Tensors that every change writes anew, with the directions from `first` on. */
function learnedTensors(
  { plan, totals, solution, inverse }: LearningState,
  first = 0,
): Record<string, Tensor | undefined> {
  const pending = solution?.pending.slice(first) ?? [];
  return {
    "totals.sums": totals && realTensor(totals.sums),
    "totals.labelCounts": totals && realTensor(totals.labelCounts),
    "first.removed": inverse && integerTensor(inverse.removed),
    "solution.direction": solution && realTensor(solution.direction),
    "solution.signs": solution && integerTensor(Int32Array.from(pending, ({ sign }) => sign)),
    ...Object.fromEntries(
      pending.map(({ factors }, i) => [
        `solution.pending.${i}`,
        realTensor(factors, [factors.length / plan.features, plan.features]),
      ]),
    ),
  };
}

/** Bytes to be written: all of a file, or what goes behind so many bytes of the one that there is; and the file as it is then. */
export interface StateContent {
  readonly content: readonly Uint8Array[];
  readonly behind?: number;
  readonly file?: StateFile | undefined;
}

/** A state as it is to be written: what has changed since its file was written, where that is enough. */
export function stateContent(state: LearningState): StateContent {
  const { file, documents } = state;
  const behind = file && keptOf(state)?.inverse === file.inverse && documents ? file : undefined;
  const added = Math.max(1, file?.since.length ?? 0);
  if (!behind || !documents || behind.changes + added > MOST_CHANGES) {
    const whole = stateTensors(state);
    const content = safetensorsChunks(whole);
    return { content, file: fileOf(state, lengthOf(content), whole.metadata.checksum, 0) };
  }
  const content: Uint8Array[] = [];
  let { checksum } = behind;
  const since = behind.since.length > 0 ? behind.since : [{ places: [], in: select(documents, []) }];
  since.forEach((change, i) => {
    const isLast = i === since.length - 1;
    const tensors = allOf({
      ...(isLast && learnedTensors(state, behind.pending)),
      ...documentTensors(change.in),
      "documents.out": integerTensor(Int32Array.from(change.places)),
    });
    const all = withChecksum({ tensors, metadata: { ...learnedMetadata(state), follows: checksum } });
    ({ checksum } = all.metadata);
    content.push(...safetensorsChunks(all));
  });
  const bytes = behind.bytes + lengthOf(content);
  return { content, behind: behind.bytes, file: fileOf(state, bytes, checksum, behind.changes + since.length) };
}

const lengthOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, { length }) => sum + length, 0);

/** The largest of a state, which stays as it is while little is learned. */
const keptOf = ({ solution, inverse }: LearningState): StateSolution | StateInverse | undefined => solution ?? inverse;

function fileOf(state: LearningState, bytes: number, checksum: string, changes: number): StateFile | undefined {
  const inverse = keptOf(state)?.inverse;
  return inverse && { bytes, checksum, changes, inverse, pending: state.solution?.pending.length ?? 0, since: [] };
}

function documentTensors({ ids, features, labels, weights }: Documents): Record<string, Tensor | undefined> {
  return {
    "documents.ids": textsTensor(ids),
    "documents.rowStart": integerTensor(features.rowStart),
    "documents.columnIndex": integerTensor(features.columnIndex),
    "documents.values": realTensor(features.values),
    "documents.labelStart": integerTensor(labels.rowStart),
    "documents.labelIndex": integerTensor(labels.labelIndex),
    "documents.weights": weights && integerTensor(weights),
  };
}

function textsTensor(texts: readonly string[]): Tensor {
  const data = new TextEncoder().encode(JSON.stringify(texts));
  return { dtype: "U8", shape: [data.length], data };
}

/** The bytes of a state's file (safetensors). */
export const stateToBytes = (state: LearningState): Uint8Array<ArrayBuffer> => joined(stateChunks(state));

/** Reads a state, checks every checksum and every shape, and refuses what is not one. */
export function stateFromBytes(bytes: Uint8Array, file = "the state"): LearningState {
  const [first, ...changes] = readSafetensorsSeries(bytes, file);
  const state = wholeFrom(stateReader(first, file));
  const { documents } = state;
  const readers = changes.map((change) => stateReader(change, file));
  if (readers.length > 0 && !(keptOf(state) && documents))
    readers[0].refuse("changes behind a state that cannot learn", "none");
  let { checksum = "" } = first.metadata;
  for (const reader of readers) {
    const { metadata } = reader;
    if (metadata.follows !== checksum)
      reader.refuse("a change that does not follow what stands before it", "changes in their order");
    checksum = metadata.checksum;
  }
  const last = readers.at(-1);
  const after = last && documents ? afterChanges(state, documents, readers, last) : state;
  const { inverse } = after;
  if (inverse && sizeOf(inverse) - inverse.removed.length > (after.documents?.ids.length ?? 0))
    throw new LearningError(`${file}: found fewer documents than its inverse has, expected those of one model`);
  const known = fileOf(after, bytes.length, checksum, changes.length);
  return known ? { ...after, file: known } : after;
}

function stateReader(tensorFile: TensorFile, file: string): TensorReader {
  const reader = new TensorReader(tensorFile, file);
  reader.checkFormat(STATE_FORMAT, STATE_VERSION, "a state made by mlgpf");
  checkIntact(reader);
  return reader;
}

/** Totals and labels of a file, of all that was learned up to it. */
function learnedFrom(
  reader: TensorReader,
  features: number,
): Pick<LearningState, "labels" | "labelNames" | "totals" | "journal" | "promises"> {
  const about = reader.object("state");
  const labels = reader.integer(about, "labels");
  return {
    labels,
    labelNames: reader.metadata.labelNames === undefined ? undefined : reader.texts("labelNames", labels),
    totals: reader.has("totals.sums") ? totalsFrom(reader, about, labels, features) : undefined,
    ...(about.journal !== undefined && { journal: reader.integer(about, "journal") }),
    ...(isObject(about.promises) && { promises: about.promises }),
  };
}

function wholeFrom(reader: TensorReader): LearningState {
  const plan = planFrom(reader);
  const { features, columns } = plan;
  const learned = learnedFrom(reader, features);
  const { labels } = learned;
  return {
    plan,
    ...learned,
    sums: reader.has("sums.gram") ? sumsFrom(reader.section("sums"), labels, features) : undefined,
    solution: reader.has("solution.inverse") ? solutionFrom(reader, features) : undefined,
    inverse: reader.has("first.inverse") ? inverseFrom(reader.section("first")) : undefined,
    documents: reader.has("documents.ids") ? documentsFrom(reader.section("documents"), columns, labels) : undefined,
    texts: reader.has("documents.texts") ? textsFrom(reader.section("documents"), "texts") : undefined,
  };
}

/** The state after all changes behind it: the last one says all but the documents, of which each has its own. */
function afterChanges(
  { plan, sums, solution, inverse }: LearningState,
  documents: Documents,
  readers: readonly TensorReader[],
  last: TensorReader,
): LearningState {
  const learned = learnedFrom(last, plan.features);
  const pending = [...(solution?.pending ?? [])];
  let direction = solution?.direction;
  const changes = readers.map((reader): DocumentChange => {
    if (reader.has("solution.signs")) {
      pending.push(...pendingFrom(reader.section("solution"), plan.features));
      direction = reader.section("solution").reals("direction", [plan.features]);
    }
    const section = reader.section("documents");
    const out = section.integers("out", section.shape("out", 1)[0], 2 ** 31);
    return { places: [...out], in: documentsFrom(section, plan.columns, learned.labels) };
  });
  const after = changed(documents, changes);
  return {
    plan,
    ...learned,
    sums,
    ...(solution && direction && { solution: { ...solution, pending, direction } }),
    ...(inverse && { inverse: { ...inverse, removed: removedFrom(last.section("first"), sizeOf(inverse)) } }),
    documents: after,
  };
}

function planFrom(reader: TensorReader): StatePlan {
  const plan = reader.object("plan");
  if (typeof plan.identity !== "string" || !isObject(plan.about))
    return reader.refuse("metadata plan", "a plan with its identity");
  return {
    identity: plan.identity,
    features: reader.integer(plan, "features"),
    columns: reader.integer(plan, "columns"),
    about: plan.about,
  };
}

function totalsFrom(reader: TensorReader, about: Fields, labels: number, features: number): StateTotals {
  const points = reader.integer(about, "points");
  const section = reader.section("totals");
  const labelCounts = section.within("labelCounts", section.doubles("labelCounts", [labels]), 0, points);
  if (!labelCounts.every(Number.isInteger)) reader.refuse("a label count that is not whole", "whole numbers");
  return { points, labelCounts, sums: section.doubles("sums", [features]) };
}

const sumsFrom = (section: TensorReader, labels: number, features: number): StateSums => ({
  gram: section.doubles("gram", [packedLength(features)]),
  cross: section.doubles("cross", [labels, features]),
});

function solutionFrom(reader: TensorReader, features: number): StateSolution {
  const section = reader.section("solution");
  const choice = reader.object("choice");
  const noise = reader.number(choice, "noise", Number.MIN_VALUE, Number.MAX_VALUE);
  return {
    choice: { ...choice, noise },
    inverse: section.reals("inverse", [packedLength(features)]),
    direction: section.reals("direction", [features]),
    pending: pendingFrom(section, features),
  };
}

/** How many documents C of the first ones was made of. */
export const sizeOf = ({ inverse }: Pick<StateInverse, "inverse">): number =>
  Math.floor((Math.sqrt(8 * inverse.length + 1) - 1) / 2);

function inverseFrom(section: TensorReader): StateInverse {
  const inverse = section.singles("inverse", section.shape("inverse", 1));
  const size = sizeOf({ inverse });
  if (packedLength(size) !== inverse.length) section.refuse(`${inverse.length} numbers in first.inverse`, "a triangle");
  return { inverse, removed: removedFrom(section, size) };
}

const removedFrom = (section: TensorReader, size: number): Int32Array =>
  section.rising("removed", section.shape("removed", 1)[0], size);

function pendingFrom(section: TensorReader, features: number): LearnedInverse["pending"] {
  const signs = section.tensor("signs", ["I32"], section.shape("signs", 1)).data;
  if (signs.some((sign) => sign !== 1 && sign !== -1))
    section.refuse("a sign that is none in solution.signs", "1 or -1");
  return Array.from(signs, (sign, i) => ({
    factors: section.reals(`pending.${i}`, [-1, features]),
    sign: sign as Sign,
  }));
}

function documentsFrom(section: TensorReader, columns: number, labels: number): Documents {
  const ids = textsFrom(section, "ids");
  const integers = (name: string): Int32Array => section.tensor(name, ["I32"], section.shape(name, 1)).data;
  const columnIndex = integers("columnIndex");
  const rows = ids.length;
  const values = section.singles("values", [columnIndex.length]);
  const features = { rows, columns, rowStart: integers("rowStart"), columnIndex, values };
  const sets = { rows, labels, rowStart: integers("labelStart"), labelIndex: integers("labelIndex") };
  checkDataset({ features, labels: sets, ids, source: { file: section.file, format: STATE_FORMAT } });
  return {
    ids,
    features,
    labels: sets,
    weights: section.has("weights")
      ? section.within("weights", section.integers("weights", rows, MOST_WEIGHT + 1), 1, MOST_WEIGHT)
      : undefined,
  };
}

function textsFrom(section: TensorReader, name: string): string[] {
  const { data } = section.tensor(name, ["U8"], section.shape(name, 1));
  try {
    const texts: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
    if (Array.isArray(texts) && texts.every((text) => typeof text === "string")) return texts;
  } catch {
    // Not JSON: refused below like any other thing that is no list of texts.
  }
  return section.refuse(`tensor documents.${name}`, "a JSON list of texts");
}

/** Totals (with A and B, where the state has them), and the solution that learns into them. */
export interface Restored {
  readonly totals: Totals;
  readonly learned?: LearnedRidge | undefined;
  free(): void;
}

/** The parts of a state that live in a core: totals, sums where `totals` is Statistics, solution where given. */
export function captureState(
  plan: StatePlan,
  totals: Totals,
  solution?: { learned: LearnedRidge; choice: RidgeChoice },
): Pick<LearningState, "plan" | "labels" | "totals" | "sums" | "solution"> {
  const copy = (m: Matrix): Float64Array => m.toArray() as Float64Array;
  return {
    plan,
    labels: totals.labels,
    totals: { points: totals.points, labelCounts: totals.labelCounts.slice(), sums: copy(totals.sums) },
    ...(totals instanceof Statistics && {
      sums: { gram: packLower(totals.gram) as Float64Array, cross: copy(totals.cross) },
    }),
    ...(solution && { solution: { choice: solution.choice, ...solution.learned.known } }),
  };
}

/** Totals of a state in the memory of a core, the sums where it has them, and with W the solution. */
export function restoreState(core: Core, state: LearningState, weights?: RealArray): Restored | undefined {
  const { plan, labels, totals: saved, sums, solution } = state;
  if (saved === undefined) return undefined;
  const { features } = plan;
  return keeping((scope) => {
    const totals = scope.keep(new (sums ? Statistics : Totals)(core, { features, labels }));
    totals.points = saved.points;
    totals.labelCounts = saved.labelCounts.slice();
    totals.sums.set(saved.sums);
    if (totals instanceof Statistics && sums) {
      unpackLower(sums.gram, totals.gram);
      totals.cross.set(sums.cross);
    }
    if (solution === undefined || weights === undefined) return { totals, free: () => scope.free() };
    const precision = precisionOf(weights);
    const placed = scope.keep(matrixFrom(core, features, labels, weights, precision));
    const mean = scope.keep(matrixFrom(core, 1, labels, totals.mean(), precision));
    const learned = scope.keep(new LearnedRidge(totals, { mean, weights: placed }, solution));
    return { totals, learned, free: () => scope.free() };
  });
}

/** The state of both parts of a plan together, without a solution: sums are added, documents stand one after another. */
export function mergeStates(a: LearningState, b: LearningState): LearningState {
  if (a.plan.identity !== b.plan.identity)
    throw new LearningError(
      `found parts of plans ${a.plan.identity} and ${b.plan.identity}, expected parts of one plan (vocabulary, columns and noise)`,
    );
  const added = (x: Float64Array, y: Float64Array): Float64Array => x.map((value, i) => value + y[i]);
  const { plan, labels, labelNames } = a;
  return {
    plan,
    labels,
    labelNames,
    totals: a.totals &&
      b.totals && {
        points: a.totals.points + b.totals.points,
        labelCounts: added(a.totals.labelCounts, b.totals.labelCounts),
        sums: added(a.totals.sums, b.totals.sums),
      },
    sums: a.sums && b.sums && { gram: added(a.sums.gram, b.sums.gram), cross: added(a.sums.cross, b.sums.cross) },
    documents: a.documents && b.documents && join(a.documents, b.documents),
    texts: a.texts && b.texts && [...a.texts, ...b.texts],
  };
}
