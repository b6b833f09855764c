// Inputs of a model, in training and afterwards, in code, in files and over HTTP: one definition for all of them.
//   "a text", { text: "a text" }, { features: ... }, or the features themselves:
//   { name: 1.5, "12": 0.5 }                   by name or number
//   [0.5, 0, 1.5], Float32Array.of(0.5, 0)      of all columns
//   { indices: [0, 2], values: [0.5, 1.5] }     by number
//   [[0, 0.5], [2, 1.5]]                        by number: a list of pairs is one row, wherever it stands
// A list of these is several inputs. A text may have vectors beside it (embeddings, measurements): { text, vector: [...] } or, by name,
// { text, vectors: { title: [...], image: [...] } }. A vector without a text is features of all columns.

import { describe, isObject } from "./check.ts";
import { placeOf } from "./sparse.ts";

/** Features of one row: by name or number, of all columns, or by number. */
export type FeatureInput =
  | Readonly<Record<string, number>>
  | readonly number[]
  | Float32Array
  | Float64Array
  | readonly (readonly [column: number, value: number])[]
  | { readonly indices: ArrayLike<number>; readonly values: ArrayLike<number> };

/** Vectors of a document: one, or several by name. */
export interface VectorInput {
  readonly vector?: ArrayLike<number>;
  readonly vectors?: Readonly<Record<string, ArrayLike<number>>>;
}

/** A text, with vectors where the model has some; or features. */
export type Input =
  | string
  | ({ readonly text: string } & VectorInput)
  | VectorInput
  | { readonly features: FeatureInput }
  | FeatureInput;

/** A vector that every document has, by its name. */
export interface VectorShape {
  readonly name: string;
  readonly length: number;
}

/** Features by number, of all columns (`dense`), or by name. */
export type PlainFeatures =
  | { readonly indices: ArrayLike<number>; readonly values: ArrayLike<number>; readonly dense?: true }
  | { readonly names: readonly string[]; readonly values: ArrayLike<number> };

/** Says what was found and what was expected, in whatever error its caller has for it; `reason` is the kind of fault. */
export type Refuse = (found: string, expected: string, reason?: string) => never;

const INPUT = "a text, { text }, { features } or features";
const FEATURES = "an object with numbers, a list of numbers, pairs [column, value], or { indices, values }";

const isArray = (value: unknown): value is ArrayLike<unknown> => Array.isArray(value) || ArrayBuffer.isView(value);
const isPair = (value: unknown): boolean => isArray(value) && value.length === 2;

/** The inputs of a list, or undefined where the value is one input. */
export function listOfInputs(value: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const areNumbers = (each: ArrayLike<unknown>): boolean => typeof each[0] === "number";
  return value.length > 0 && (areNumbers(value) || value.every((each) => isPair(each) && areNumbers(each)))
    ? undefined
    : value;
}

/** One input: its text, or its features with every value checked. `besideText`: vectors stand beside a text, which may be empty. */
export function plainInput(value: unknown, refuse: Refuse, besideText = false): string | PlainFeatures {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return refuse(describe(value), INPUT);
  const { text, features, vector } = value as { text?: unknown; features?: unknown; vector?: unknown };
  if (text === undefined && features === undefined && plainVectors(value, refuse))
    return besideText ? "" : plainFeatures(vector, refuse);
  const hasFeatures = typeof features === "object" && features !== null;
  if (typeof text === "string") return hasFeatures ? refuse("both text and features", "one of them") : text;
  if (hasFeatures) return plainFeatures(features, refuse);
  if (text !== undefined && typeof text !== "number") return refuse(`${describe(text)} as text`, "a string");
  return plainFeatures(value, refuse);
}

/** The vectors of an input by name, every value checked; undefined where it has none. */
export function plainVectors(value: unknown, refuse: Refuse): ReadonlyMap<string, ArrayLike<number>> | undefined {
  const { vector, vectors } = Object(value) as { vector?: unknown; vectors?: unknown };
  const all = Object.entries({ ...(isArray(vector) && { vector }), ...(isObject(vectors) && vectors) });
  if (all.length === 0 || !all.every(([, each]) => isArray(each))) return undefined;
  return new Map(all.map(([name, each]) => [name, finite(each as ArrayLike<unknown>, [], refuse, name)]));
}

/** The vectors of one document, one after another as the shapes are; refuses others than these. */
export function vectorRow(
  shapes: readonly VectorShape[],
  found: ReadonlyMap<string, ArrayLike<number>> | undefined,
  refuse: Refuse,
): Float32Array {
  const row = new Float32Array(shapes.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const { name, length } of shapes) {
    const own = found?.get(name);
    if (own?.length !== length)
      return refuse(own ? `a vector ${name} of ${own.length} numbers` : `no vector ${name}`, `${length} numbers`);
    row.set(own, at);
    at += length;
  }
  const other = [...(found?.keys() ?? [])].find((name) => shapes.every((shape) => shape.name !== name));
  if (other !== undefined) {
    const known = shapes.map(({ name }) => name).join(", ");
    refuse(`a vector ${other}`, known || "none");
  }
  return row;
}

/** Features of one row in one of two forms. */
export function plainFeatures(value: unknown, refuse: Refuse): PlainFeatures {
  if (isArray(value)) {
    const places = Array.from(value, (_, i) => i);
    if (!Array.isArray(value) || typeof value[0] === "number") return byNumber(places, value, refuse, true);
    const [odd] = value.filter((each) => !isPair(each));
    if (odd !== undefined)
      return refuse(`${describe(odd)} in a list of features`, "numbers alone, or pairs [column, value] alone");
    const [indices, values] = [0, 1].map((at) => value.map((pair) => pair[at]));
    return byNumber(indices, values, refuse);
  }
  if (!isObject(value)) return refuse(`features ${describe(value)}`, FEATURES);
  const { indices, values } = value;
  if (isArray(indices) && isArray(values)) return byNumber(indices, values, refuse);
  const names = Object.keys(value);
  return { names, values: finite(Object.values(value), names, refuse) };
}

function byNumber(
  indices: ArrayLike<unknown>,
  values: ArrayLike<unknown>,
  refuse: Refuse,
  dense?: true,
): PlainFeatures {
  if (indices.length !== values.length)
    return refuse(`${indices.length} indices with ${values.length} values`, "as many of one as of the other");
  return { indices: indices as ArrayLike<number>, values: finite(values, indices, refuse), ...(dense && { dense }) };
}

/** JSON has no infinities, but 1e400 becomes one; what is stored is in single precision. */
function finite(
  values: ArrayLike<unknown>,
  keys: ArrayLike<unknown>,
  refuse: Refuse,
  vector?: string,
): ArrayLike<number> {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === "number" && Number.isFinite(Math.fround(value))) continue;
    const found = `value ${describe(value)} of ${vector === undefined ? `feature ${describe(keys[i])}` : `vector ${vector}`}`;
    if (Number.isFinite(value)) refuse(found, "at most 3.4e38 in magnitude", "value too large");
    const text = typeof value === "string" && vector === undefined ? ', or a text under the key "text"' : "";
    refuse(found, `a finite number${text}`, "not a finite number");
  }
  return values as ArrayLike<number>;
}

/** The features that a model has. */
export interface FeatureColumns {
  readonly columns: number; // D
  /** Ids that its columns had in the training data, rising, where they are not their numbers. */
  readonly ids?: Int32Array;
  /** The column of a name, or -1; without it features have no names. */
  find?(name: string): number;
}

/** A row of a model's columns, which rise, without zeros. */
export interface InputRow {
  readonly columns: Int32Array;
  readonly values: Float32Array;
  /** Part of the features that the model has. */
  readonly coverage: number;
}

/** Makes rows of a model's columns out of features. */
export function rowMaker({
  columns,
  ids,
  find,
}: FeatureColumns): (features: PlainFeatures, refuse: Refuse) => InputRow {
  const most = ids ? 2 ** 31 : columns;
  const least = ids ? ids[ids.length - 1] + 1 : columns; // values of a dense row
  const columnOf = (key: string | number, refuse: Refuse): number => {
    const named = typeof key === "string" && find ? find(key) : -1;
    if (named >= 0) return named;
    const id = typeof key === "string" && /^(0|[1-9]\d*)$/.test(key) ? Number(key) : key;
    if (Number.isInteger(id) && Number(id) >= 0 && Number(id) < most)
      return ids ? placeOf(Number(id), ids) : Number(id);
    if (typeof id === "string" && find) return -1;
    const expected =
      typeof id === "string" ? "a number: this model's features have no names" : `a whole number from 0 to ${most - 1}`;
    return refuse(`feature ${describe(id)}`, expected);
  };
  return (features, refuse) => {
    const { values } = features;
    const { length } = values;
    if ("dense" in features && (ids ? length < least : length !== least))
      return refuse(`${length} values`, ids ? `at least ${least}` : `${least}, one for each feature of the model`);
    const keys: ArrayLike<string | number> = "names" in features ? features.names : features.indices;
    const places = Array.from(keys, (key) => columnOf(key, refuse));
    const order = [...places.keys()].filter((i) => places[i] >= 0 && values[i] !== 0);
    order.sort((a, b) => places[a] - places[b]);
    const twice = order.find((i, at) => at > 0 && places[i] === places[order[at - 1]]);
    if (twice !== undefined) return refuse(`feature ${places[twice]} twice`, "each feature once");
    return {
      columns: Int32Array.from(order, (i) => places[i]),
      values: Float32Array.from(order, (i) => values[i]),
      coverage: places.filter((place) => place >= 0).length / (length || 1),
    };
  };
}
