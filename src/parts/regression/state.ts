// The state that further learning needs, as one safetensors file: any of
//
//   totals     m, n_k, N                                   always, but for the exact form
//   sums       A (its lower triangle) and B'               parts of a data set add up
//   solution   W and C for one noise                       new documents are learned in seconds (learn.ts)
//   documents  rows, labels and ids of what was learned    corrected and forgotten documents; the exact form fits anew
//
// beside the plan, whose identity is a checksum of everything that decides the features: sums of different plans cannot
// be added, and a state serves only the model it was made with. The file has a checksum.

import { isObject, sameSize } from "../../base/check.ts";
import { checksumOf } from "../../base/hash.ts";
import { joined, readSafetensors, safetensorsChunks, type Tensor, type TensorFile } from "../../base/safetensors.ts";
import { type Fields, integerTensor, realTensor, TensorReader, withChecksum } from "../../base/tensors.ts";
import type { Core, Precision } from "../../core/core.ts";
import { keeping, type Matrix, matrix, matrixFrom, type RealArray } from "../../core/matrix.ts";
import { isSquare } from "../../core/shapes.ts";
import type { Sign } from "../../core/sums.ts";
import { checkDataset } from "../../data/dataset.ts";
import { type Documents, join, LearningError, MOST_WEIGHT } from "./documents.ts";
import { LearnedRidge, type PendingPoints } from "./learn.ts";
import type { RidgeChoice } from "./ridge.ts";
import { Statistics, Totals } from "./totals.ts";

/** Numbers in a lower triangle of n rows. */
export const packedLength = (n: number): number => (n * (n + 1)) / 2;

export const STATE_FORMAT = "mlgpf-state";
export const STATE_VERSION = "3";

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

/** W and C for one noise. */
export interface StateSolution {
  readonly choice: RidgeChoice;
  readonly weights: RealArray; // [P,K]
  readonly inverse: RealArray; // [P (P + 1) / 2]
  /** Directions that C is behind by: C = inverse - sum of sign f f' (learn.ts). */
  readonly pending?: {
    readonly factors: RealArray; // [n,P]
    readonly signs: Int32Array; // [n]
  };
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
  readonly documents?: Documents | undefined;
  /** Number of the last batch of a server's journal that is in here. */
  readonly journal?: number | undefined;
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
export function stateChunks(state: LearningState): Uint8Array[] {
  const { plan, labels, labelNames, totals, sums, solution, documents, journal } = state;
  const { features } = plan;
  const all: Record<string, Tensor | undefined> = {
    "totals.sums": totals && realTensor(totals.sums),
    "totals.labelCounts": totals && realTensor(totals.labelCounts),
    "sums.gram": sums && realTensor(sums.gram),
    "sums.cross": sums && realTensor(sums.cross, [labels, features]),
    "solution.weights": solution && realTensor(solution.weights, [features, labels]),
    "solution.inverse": solution && realTensor(solution.inverse),
    "solution.pending":
      solution?.pending && realTensor(solution.pending.factors, [solution.pending.signs.length, features]),
    "solution.pendingSigns": solution?.pending && integerTensor(solution.pending.signs),
    ...(documents && documentTensors(documents)),
  };
  const tensors = new Map(Object.entries(all).filter((entry): entry is [string, Tensor] => entry[1] !== undefined));
  const metadata = {
    format: STATE_FORMAT,
    version: STATE_VERSION,
    plan: JSON.stringify(plan),
    state: JSON.stringify({ labels, points: totals?.points, journal }),
    ...(labelNames && { labelNames: JSON.stringify(labelNames) }),
    ...(solution && { choice: JSON.stringify(solution.choice) }),
  };
  return safetensorsChunks(withChecksum({ tensors, metadata }));
}

function documentTensors({ ids, features, labels, squares, weights }: Documents): Record<string, Tensor | undefined> {
  const data = new TextEncoder().encode(JSON.stringify(ids));
  return {
    "documents.ids": { dtype: "U8", shape: [data.length], data },
    "documents.rowStart": integerTensor(features.rowStart),
    "documents.columnIndex": integerTensor(features.columnIndex),
    "documents.values": realTensor(features.values),
    "documents.labelStart": integerTensor(labels.rowStart),
    "documents.labelIndex": integerTensor(labels.labelIndex),
    "documents.squares": squares && realTensor(squares),
    "documents.weights": weights && integerTensor(weights),
  };
}

/** The bytes of a state's file (safetensors). */
export const stateToBytes = (state: LearningState): Uint8Array<ArrayBuffer> => joined(stateChunks(state));

/** Reads a state, checks every checksum and every shape, and refuses what is not one. */
export function stateFromBytes(bytes: Uint8Array, file = "the state"): LearningState {
  return stateFromTensors(readSafetensors(bytes, file), file);
}

/** The same from a safetensors file that is open. */
export function stateFromTensors(tensorFile: TensorFile, file = "the state"): LearningState {
  const reader = new TensorReader(tensorFile, file);
  reader.checkFormat(STATE_FORMAT, STATE_VERSION, "a state made by mlgpf");
  reader.checkIntact();
  const about = reader.object("state");
  const plan = planFrom(reader);
  const labels = reader.integer(about, "labels");
  const { features } = plan;
  const has = (section: string): boolean =>
    [...tensorFile.tensors.keys()].some((name) => name.startsWith(`${section}.`));
  return {
    plan,
    labels,
    labelNames: reader.metadata.labelNames === undefined ? undefined : reader.texts("labelNames", labels),
    totals: has("totals") ? totalsFrom(reader, about, labels, features) : undefined,
    sums: has("sums") ? sumsFrom(reader.section("sums"), labels, features) : undefined,
    solution: has("solution") ? solutionFrom(reader, labels, features) : undefined,
    documents: has("documents") ? documentsFrom(reader.section("documents"), plan.columns, labels) : undefined,
    ...(about.journal !== undefined && { journal: reader.integer(about, "journal") }),
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

function solutionFrom(reader: TensorReader, labels: number, features: number): StateSolution {
  const section = reader.section("solution");
  const choice = reader.object("choice");
  const noise = reader.number(choice, "noise", Number.MIN_VALUE, Number.MAX_VALUE);
  return {
    choice: { ...choice, noise },
    weights: section.reals("weights", [features, labels]),
    inverse: section.reals("inverse", [packedLength(features)]),
    ...(section.has("pending") && { pending: pendingFrom(section, features) }),
  };
}

function pendingFrom(section: TensorReader, features: number): NonNullable<StateSolution["pending"]> {
  const [count] = section.shape("pendingSigns", 1);
  const signs = section.tensor("pendingSigns", ["I32"], [count]).data;
  if (signs.some((sign) => sign !== 1 && sign !== -1))
    section.refuse("a sign that is none in solution.pendingSigns", "1 or -1");
  return { factors: section.reals("pending", [count, features]), signs };
}

function documentsFrom(section: TensorReader, columns: number, labels: number): Documents {
  const ids = idsFrom(section);
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
    squares: section.has("squares") ? section.singles("squares", [rows]) : undefined,
    weights: section.has("weights")
      ? section.within("weights", section.integers("weights", rows, MOST_WEIGHT + 1), 1, MOST_WEIGHT)
      : undefined,
  };
}

function idsFrom(section: TensorReader): string[] {
  const { data } = section.tensor("ids", ["U8"], section.shape("ids", 1));
  try {
    const ids: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
    if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return ids;
  } catch {
    // Not JSON: refused below like any other thing that is no list of texts.
  }
  return section.refuse("tensor documents.ids", "a JSON list of texts");
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
    ...(solution && {
      solution: {
        choice: solution.choice,
        weights: solution.learned.weights.toArray(),
        inverse: packLower(solution.learned.base),
        ...pendingOf(solution.learned),
      },
    }),
  };
}

/** Directions that C is behind by, as plain data. */
function pendingOf({ pending, base }: LearnedRidge): Pick<StateSolution, "pending"> {
  if (pending.length === 0) return {};
  const rows = pending.reduce((sum, { factor }) => sum + factor.rows, 0);
  const length = rows * base.columns;
  const factors = base.precision === "f32" ? new Float32Array(length) : new Float64Array(length);
  const signs = new Int32Array(rows);
  let row = 0;
  for (const { factor, sign } of pending) {
    factors.set(factor.toArray(), row * base.columns);
    signs.fill(sign, row, row + factor.rows);
    row += factor.rows;
  }
  return { pending: { factors, signs } };
}

/** The same in the memory of a core: neighbours of one sign together. */
function placePending(
  core: Core,
  { factors, signs }: NonNullable<StateSolution["pending"]>,
  features: number,
  precision: Precision,
): PendingPoints[] {
  const all: PendingPoints[] = [];
  for (let from = 0, to = 0; from < signs.length; from = to) {
    while (to < signs.length && signs[to] === signs[from]) to++;
    const part = factors.subarray(from * features, to * features);
    const factor = matrixFrom(core, to - from, features, part, precision);
    all.push({ factor, sign: signs[from] as Sign });
  }
  return all;
}

/** Totals and solution of a state in the memory of a core; the sums too where it has them. */
export function restoreState(core: Core, state: LearningState): Restored | undefined {
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
    if (solution === undefined) return { totals, free: () => scope.free() };
    const precisionOf = (data: Float32Array | Float64Array) => (data instanceof Float32Array ? "f32" : "f64");
    const precision = precisionOf(solution.weights);
    const square = scope.keep(matrix(core, features, features, precisionOf(solution.inverse)));
    const exactInverse = unpackLower(solution.inverse, square, "both");
    const weights = scope.keep(matrixFrom(core, features, labels, solution.weights, precision));
    const mean = scope.keep(matrixFrom(core, 1, labels, totals.mean(), precision));
    const pending = solution.pending ? placePending(core, solution.pending, features, exactInverse.precision) : [];
    const learned = scope.keep(new LearnedRidge(totals, { mean, weights, exactInverse }, { pending }));
    return { totals, learned, free: () => scope.free() };
  });
}

/** The lower triangle of a matrix. */
export function packLower(m: Matrix): RealArray {
  const n = isSquare("m", m);
  const out = m.precision === "f32" ? new Float32Array(packedLength(n)) : new Float64Array(packedLength(n));
  for (let i = 0; i < n; i++) out.set(m.block(i, 0, 1, i + 1).view(), packedLength(i));
  return out;
}

/** Puts numbers into the lower triangle of a matrix, and with `both` into the upper one too. */
export function unpackLower(packed: RealArray, m: Matrix, part: "lower" | "both" = "lower"): Matrix {
  const n = isSquare("m", m);
  sameSize("packed", "numbers", packed.length, packedLength(n));
  for (let i = 0; i < n; i++)
    m.block(i, 0, 1, i + 1)
      .view()
      .set(packed.subarray(packedLength(i), packedLength(i + 1)));
  if (part === "both") m.core.kernels[m.precision].mirrorLower(n, m.address, m.stride);
  return m;
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
  };
}
