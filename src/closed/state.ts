// What further learning needs, as one safetensors file: any of
//
//   totals     m, n_k, N                                   always, but for the exact form
//   sums       A (its lower triangle) and B'               parts of a data set add up (merge.ts)
//   solution   W and C for one noise                       new documents are learned in seconds (learn.ts)
//   documents  rows, labels and ids of what was learned    corrected and forgotten documents; the exact form fits anew
//
// beside the plan, whose identity is a checksum of everything that decides the features: sums of different plans cannot
// be added, and a state serves only the model it was made with. Every tensor has a checksum of its own.

import type { RealArray } from "../core/matrix.ts";
import { checkDataset } from "../data/check.ts";
import { excerpt } from "../data/errors.ts";
import { areFinite } from "../data/finite.ts";
import { checksum, checksumOf } from "../io/checksum.ts";
import { FormatError, shownJson } from "../io/errors.ts";
import { readSafetensors, safetensorsChunks, type Tensor, type TensorFile } from "../io/safetensors.ts";
import { type Documents, MOST_WEIGHT } from "./documents.ts";
import { packedLength } from "./packed.ts";
import type { RidgeChoice } from "./ridge.ts";

export const STATE_FORMAT = "mlgpf-state";
/** A file has the first version that knows all that is in it: documents that count as more than one have 2. */
export const STATE_VERSIONS = ["1", "2"] as const;

/** What decides the features of a document. */
export interface StatePlan {
  /** Made by planIdentity. */
  readonly identity: string;
  /** M and D, features of the kernel part and of the linear one (0 for none); the columns of documents' rows. */
  readonly kernel: number;
  readonly linear: number;
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
  /** What C is behind by: C = inverse - sum of sign f f' (learn.ts). */
  readonly pending?: {
    readonly factors: RealArray; // [n,P]
    readonly signs: Int32Array; // [n]
  };
}

/** A state as plain data. P = M + D; labels are numbered as in the model. */
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

const real = (data: RealArray, shape: number[]): Tensor =>
  data instanceof Float32Array ? { dtype: "F32", shape, data } : { dtype: "F64", shape, data };
const whole = (data: Int32Array): Tensor => ({ dtype: "I32", shape: [data.length], data });

/** The file in pieces, to be written one after another. */
export function stateChunks(state: LearningState): Uint8Array[] {
  const { plan, labels, labelNames, totals, sums, solution, documents, journal } = state;
  const features = plan.kernel + plan.linear;
  const tensors = new Map<string, Tensor>();
  const metadata: Record<string, string> = {
    format: STATE_FORMAT,
    version: documents?.weights ? "2" : "1",
    plan: JSON.stringify(plan),
    labels: String(labels),
  };
  if (labelNames) metadata.labelNames = JSON.stringify(labelNames);
  if (journal !== undefined) metadata.journal = String(journal);
  if (totals) {
    metadata.points = String(totals.points);
    tensors.set("totals.sums", real(totals.sums, [features]));
    tensors.set("totals.labelCounts", real(totals.labelCounts, [labels]));
  }
  if (sums) {
    tensors.set("sums.gram", real(sums.gram, [packedLength(features)]));
    tensors.set("sums.cross", real(sums.cross, [labels, features]));
  }
  if (solution) {
    metadata.choice = JSON.stringify(solution.choice);
    tensors.set("solution.weights", real(solution.weights, [features, labels]));
    tensors.set("solution.inverse", real(solution.inverse, [packedLength(features)]));
    const { pending } = solution;
    if (pending) {
      tensors.set("solution.pending", real(pending.factors, [pending.signs.length, features]));
      tensors.set("solution.pendingSigns", whole(pending.signs));
    }
  }
  if (documents) {
    const ids = new TextEncoder().encode(JSON.stringify(documents.ids));
    tensors.set("documents.ids", { dtype: "U8", shape: [ids.length], data: ids });
    tensors.set("documents.rowStart", whole(documents.features.rowStart));
    tensors.set("documents.columnIndex", whole(documents.features.columnIndex));
    tensors.set("documents.values", real(documents.features.values, [documents.features.values.length]));
    tensors.set("documents.labelStart", whole(documents.labels.rowStart));
    tensors.set("documents.labelIndex", whole(documents.labels.labelIndex));
    if (documents.squares)
      tensors.set("documents.squares", real(documents.squares, [documents.squares.length]));
    if (documents.weights) tensors.set("documents.weights", whole(documents.weights));
  }
  metadata.checksums = JSON.stringify(
    Object.fromEntries([...tensors].map(([name, { data }]) => [name, checksum(data)])),
  );
  return safetensorsChunks({ tensors, metadata });
}

/** The bytes of a state's file (safetensors). */
export function stateToBytes(state: LearningState): Uint8Array<ArrayBuffer> {
  const chunks = stateChunks(state);
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Reads a state, checks every checksum and every shape, and refuses what is not one. */
export function stateFromBytes(bytes: Uint8Array, file = "the state"): LearningState {
  return stateFromTensors(readSafetensors(bytes, file), file);
}

/** The same from a safetensors file that is open. */
export function stateFromTensors(tensorFile: TensorFile, file = "the state"): LearningState {
  return new StateReader(tensorFile, file).read();
}

class StateReader {
  readonly #tensors: TensorFile["tensors"];
  readonly #metadata: TensorFile["metadata"];
  readonly #file: string;

  constructor({ tensors, metadata }: TensorFile, file: string) {
    this.#tensors = tensors;
    this.#metadata = metadata;
    this.#file = file;
  }

  read(): LearningState {
    const { format, version } = this.#metadata;
    if (format !== STATE_FORMAT) this.#refuse(`format ${shownJson(format)}`, "a state made by mlgpf");
    if (!STATE_VERSIONS.some((known) => known === version))
      this.#refuse(`state version ${version}`, `version ${STATE_VERSIONS.join(" or ")}`);
    this.#checkSums();
    const plan = this.#plan();
    const labels = this.#count("labels", Number(this.#metadata.labels));
    const features = plan.kernel + plan.linear;
    return {
      plan,
      labels,
      labelNames: this.#names(labels),
      totals: this.#has("totals") ? this.#totals(labels, features) : undefined,
      sums: this.#has("sums") ? this.#sums(labels, features) : undefined,
      solution: this.#has("solution") ? this.#solution(labels, features) : undefined,
      documents: this.#has("documents") ? this.#documents(plan.columns, labels) : undefined,
      ...(this.#metadata.journal !== undefined && {
        journal: this.#count("journal", Number(this.#metadata.journal)),
      }),
    };
  }

  #refuse(found: string, expected: string): never {
    throw new FormatError(this.#file, found, expected);
  }

  #has(section: string): boolean {
    return [...this.#tensors.keys()].some((name) => name.startsWith(`${section}.`));
  }

  #json(name: string): unknown {
    try {
      return JSON.parse(this.#metadata[name] as string);
    } catch {
      return this.#refuse(`metadata ${name} that is not JSON`, "JSON");
    }
  }

  /** Every tensor is what was written. */
  #checkSums(): void {
    const sums = this.#json("checksums") as Record<string, unknown> | null;
    for (const [name, { data }] of this.#tensors) {
      if (checksum(data) !== sums?.[name])
        this.#refuse(`tensor ${excerpt(name)} with another checksum than was written`, "an undamaged file");
    }
  }

  #count(name: string, value: unknown): number {
    return Number.isSafeInteger(value) && (value as number) >= 0
      ? (value as number)
      : this.#refuse(`${name} ${shownJson(value)}`, "a whole number from 0");
  }

  #plan(): StatePlan {
    const plan = this.#json("plan") as Partial<StatePlan> | null;
    if (typeof plan?.identity !== "string" || typeof plan.about !== "object" || plan.about === null)
      this.#refuse("metadata plan", "a plan with its identity");
    return {
      identity: plan.identity,
      kernel: this.#count("kernel features", plan.kernel),
      linear: this.#count("linear features", plan.linear),
      columns: this.#count("columns", plan.columns),
      about: plan.about,
    };
  }

  #names(labels: number): string[] | undefined {
    if (this.#metadata.labelNames === undefined) return undefined;
    const names = this.#json("labelNames");
    return isTexts(names) && names.length === labels
      ? names
      : this.#refuse("metadata labelNames", `${labels} names`);
  }

  #sums(labels: number, features: number): StateSums {
    return {
      gram: this.#doubles("sums.gram", [packedLength(features)]),
      cross: this.#doubles("sums.cross", [labels, features]),
    };
  }

  #solution(labels: number, features: number): StateSolution {
    const choice = this.#json("choice") as Partial<RidgeChoice> | null;
    if (!(typeof choice?.noise === "number" && choice.noise > 0))
      this.#refuse("metadata choice", "a noise above 0");
    return {
      choice: { ...choice, noise: choice.noise },
      weights: this.#reals("solution.weights", [features, labels]),
      inverse: this.#reals("solution.inverse", [packedLength(features)]),
      ...(this.#tensors.has("solution.pending") && { pending: this.#pending(features) }),
    };
  }

  #pending(features: number): NonNullable<StateSolution["pending"]> {
    const signs = this.#wholes("solution.pendingSigns");
    if (signs.some((sign) => sign !== 1 && sign !== -1))
      this.#refuse("a sign that is none in solution.pendingSigns", "1 or -1");
    return { factors: this.#reals("solution.pending", [signs.length, features]), signs };
  }

  #totals(labels: number, features: number): StateTotals {
    const points = this.#count("points", Number(this.#metadata.points));
    const labelCounts = this.#doubles("totals.labelCounts", [labels]);
    if (!labelCounts.every((count) => Number.isInteger(count) && count >= 0 && count <= points))
      this.#refuse("a label count that cannot be", `whole numbers from 0 to ${points}`);
    return { points, labelCounts, sums: this.#doubles("totals.sums", [features]) };
  }

  #reals(name: string, shape: number[]): RealArray {
    const tensor = this.#tensors.get(name);
    if (tensor?.dtype !== "F32" && tensor?.dtype !== "F64")
      return this.#refuse(`tensor ${name} of type ${tensor?.dtype}`, "F32 or F64");
    if (tensor.shape.join() !== shape.join())
      this.#refuse(`tensor ${name} of shape [${tensor.shape.join(", ")}]`, `[${shape.join(", ")}]`);
    if (!areFinite(tensor.data)) this.#refuse(`a number in ${name} that is not finite`, "finite numbers");
    return tensor.data;
  }

  #doubles(name: string, shape: number[]): Float64Array {
    const data = this.#reals(name, shape);
    return data instanceof Float64Array ? data : this.#refuse(`tensor ${name} of type F32`, "F64");
  }

  #singles(name: string, length: number): Float32Array {
    const data = this.#reals(name, [length]);
    return data instanceof Float32Array ? data : this.#refuse(`tensor ${name} of type F64`, "F32");
  }

  #wholes(name: string): Int32Array {
    const tensor = this.#tensors.get(name);
    return tensor?.dtype === "I32"
      ? tensor.data
      : this.#refuse(`tensor ${name} of type ${tensor?.dtype}`, "I32");
  }

  #documents(columns: number, labels: number): Documents {
    const ids = this.#ids();
    const columnIndex = this.#wholes("documents.columnIndex");
    const features = {
      rows: ids.length,
      columns,
      rowStart: this.#wholes("documents.rowStart"),
      columnIndex,
      values: this.#singles("documents.values", columnIndex.length),
    };
    const sets = {
      rows: ids.length,
      labels,
      rowStart: this.#wholes("documents.labelStart"),
      labelIndex: this.#wholes("documents.labelIndex"),
    };
    checkDataset({ features, labels: sets, ids, source: { file: this.#file, format: STATE_FORMAT } });
    const squares = this.#tensors.has("documents.squares")
      ? this.#singles("documents.squares", ids.length)
      : undefined;
    const weights = this.#tensors.has("documents.weights") ? this.#weights(ids.length) : undefined;
    return { ids, features, labels: sets, squares, weights };
  }

  #weights(documents: number): Int32Array {
    const weights = this.#wholes("documents.weights");
    const right = weights.length === documents && weights.every((each) => each >= 1 && each <= MOST_WEIGHT);
    return right
      ? weights
      : this.#refuse("tensor documents.weights", `${documents} whole numbers from 1 to ${MOST_WEIGHT}`);
  }

  #ids(): string[] {
    const tensor = this.#tensors.get("documents.ids");
    if (tensor?.dtype !== "U8") return this.#refuse(`tensor documents.ids of type ${tensor?.dtype}`, "U8");
    try {
      const ids: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(tensor.data));
      if (isTexts(ids)) return ids;
    } catch {
      // Not JSON: refused below like any other thing that is no list of texts.
    }
    return this.#refuse("tensor documents.ids", "a JSON list of texts");
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");
