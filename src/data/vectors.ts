// Vectors of documents, as files or an embedder (a sentence encoder) give them: columns behind those of the words.

import { ArgumentError } from "../base/errors.ts";
import { type VectorShape, vectorRow } from "../base/input.ts";
import type { SparseRows } from "../base/sparse.ts";
import { growableFloats, SparseRowsBuilder } from "./builders.ts";

/** Makes vectors of texts, a batch at a time. */
export interface Embedder {
  /** Its name, for messages and the model. */
  readonly name: string;
  readonly embed: (texts: readonly string[]) => Promise<ArrayLike<ArrayLike<number>>>;
}

/** Fingerprint of an embedder, kept in a model: its name, and some of what it makes of texts that everybody has. */
export interface EmbedderMark {
  readonly name: string;
  readonly outputs: readonly number[];
}

export const VECTOR = "vector";

/** Vectors and a mark as a file has them. */
export const areVectors = (shapes: unknown, mark: unknown): boolean => {
  const isShape = ({ name, length }: VectorShape): boolean =>
    typeof name === "string" && Number.isInteger(length) && length > 0 && length <= 2 ** 20;
  const right =
    shapes === undefined ||
    (Array.isArray(shapes) && shapes.length > 0 && shapes.every((each) => isShape(Object(each))));
  const { outputs = [] } = Object(mark) as Partial<EmbedderMark>;
  return right && Array.isArray(outputs) && outputs.every(Number.isFinite);
};

/** Rows with so many columns more: those of vectors, one after another. */
export function widened(features: SparseRows, vectors: Float32Array, width: number): SparseRows {
  const { rows, columns, rowStart, columnIndex, values } = features;
  const builder = new SparseRowsBuilder();
  for (let row = 0; row < rows; row++) {
    for (let e = rowStart[row]; e < rowStart[row + 1]; e++) builder.add(columnIndex[e], values[e]);
    for (let i = 0; i < width; i++) builder.add(columns + i, vectors[row * width + i]);
    builder.endRow();
  }
  return { ...builder.build(columns + width), texts: features.texts };
}

const BATCH = 32;
/** Numbers that are kept of texts that may be read again. */
const MOST_KEPT = 5e7;

const kept = new WeakMap<Embedder["embed"], Map<string, Float32Array>>();

interface EmbedOptions {
  /** That of the model's vectors, where there are some. */
  readonly length?: number | undefined;
  readonly onBatch?: (done: number) => void;
  /** Texts may be asked for again. Default true. */
  readonly keep?: boolean;
}

/** The vectors of texts, one after another. */
export async function embedded(
  { name, embed }: Embedder,
  texts: readonly string[],
  { length, onBatch = () => {}, keep = true }: EmbedOptions = {},
): Promise<{ vectors: Float32Array; length: number }> {
  const known = (keep && kept.get(embed)) || new Map<string, Float32Array>();
  if (keep) kept.set(embed, known);
  const refuse = (found: string, expected: string): never => {
    throw new ArgumentError("embed", `found ${found} from ${name}, expected ${expected}`);
  };
  let width = length ?? known.get(texts[0])?.length ?? 0;
  const rows: Float32Array[] = [];
  for (let first = 0; first < texts.length; first += BATCH) {
    const batch = texts.slice(first, first + BATCH);
    const fresh = [...new Set(batch)].filter((text) => !known.has(text));
    const found = fresh.length > 0 ? await embed(fresh) : [];
    if (found?.length !== fresh.length) refuse(`${found?.length} vectors of ${fresh.length} texts`, "one each");
    const own = new Map(fresh.map((text, i) => [text, Float32Array.from(found[i])]));
    for (const [text, vector] of own) {
      width ||= vector.length;
      const right = vector.length === width && width > 0 && vector.every(Number.isFinite);
      if (!right) refuse(`a vector of ${vector.length} numbers`, `${width || "some"} finite numbers`);
      if (keep && known.size * width < MOST_KEPT) known.set(text, vector);
    }
    for (const text of batch) rows.push((own.get(text) ?? known.get(text)) as Float32Array);
    onBatch(rows.length);
  }
  const vectors = new Float32Array(rows.length * width);
  for (const [i, row] of rows.entries()) vectors.set(row, i * width);
  return { vectors, length: width };
}

/** Texts by whose vectors an embedder is known again, and how many numbers of each are kept. */
const PROBES = ["a small yellow bird sings", "the council adopted the budget for agriculture"];
const KEPT = 16;
/** So much of their length may differ: encoders round in their own ways. */
const TOLERANCE = 0.05;

export async function markOf(embedder: Embedder): Promise<EmbedderMark> {
  const { vectors, length } = await embedded(embedder, PROBES);
  const starts = PROBES.flatMap((_, i) =>
    Array.from(vectors.subarray(i * length, i * length + Math.min(KEPT, length))),
  );
  return { name: embedder.name, outputs: starts.map((value) => Number(value.toPrecision(4))) };
}

/** Refuses another embedder than the one of the model. */
export async function checkMark(embedder: Embedder, { name, outputs }: EmbedderMark): Promise<void> {
  const own = await markOf(embedder);
  const norm = (values: readonly number[]): number => Math.sqrt(values.reduce((sum, each) => sum + each * each, 0));
  const apart = norm(outputs.map((value, i) => value - (own.outputs[i] ?? 0)));
  if (own.outputs.length === outputs.length && apart <= TOLERANCE * norm(outputs)) return;
  throw new ArgumentError(
    "embed",
    `found ${embedder.name}, which makes other vectors than the model was trained with, expected ${name}`,
  );
}

/** Vectors that stand with the documents, row by row, until they become columns. */
export class VectorRows {
  #values = growableFloats();

  constructor(public shapes: readonly VectorShape[] | undefined) {}

  /** The vectors of the next row; those of the first row say which the others have. */
  add(found: ReadonlyMap<string, ArrayLike<number>> | undefined, refuse: Parameters<typeof vectorRow>[2]): void {
    const shapes = this.shapes ?? Array.from(found ?? [], ([name, { length }]) => ({ name, length }));
    const empty = shapes.find(({ length }) => length === 0);
    if (empty) refuse(`a vector ${empty.name} of 0 numbers`, "some", "not the vectors of the others");
    this.shapes = shapes;
    for (const value of vectorRow(shapes, found, refuse)) this.#values.push(value);
  }

  take(): Float32Array {
    const values = this.#values.finish();
    this.#values = growableFloats();
    return values;
  }
}
