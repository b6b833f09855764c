// A safetensors file read with checks: every tensor and every number of the metadata is checked as it is taken, and what is wrong is
// refused in one sentence. Models, compact models, states, shards and checkpoints are read with it.

import { areFinite, isObject } from "./check.ts";
import { FormatError, shownJson } from "./errors.ts";
import { checksumOf } from "./hash.ts";
import type { Tensor, TensorFile, TensorType } from "./safetensors.ts";
import type { View } from "./sparse.ts";

export type Real = Float32Array | Float64Array;
/** A JSON object of the metadata. */
export type Fields = Readonly<Record<string, unknown>>;

export const realTensor = (data: Real, shape: readonly number[] = [data.length]): Tensor =>
  data instanceof Float32Array ? { dtype: "F32", shape, data } : { dtype: "F64", shape, data };

export const integerTensor = (data: Int32Array, shape: readonly number[] = [data.length]): Tensor => ({
  dtype: "I32",
  shape,
  data,
});

/** The checksum of everything in a file but the checksum that it states. */
export function contentChecksum({ tensors, metadata }: TensorFile): string {
  const texts = Object.keys(metadata)
    .sort()
    .flatMap((name) => (name === "checksum" ? [] : [name, metadata[name]]));
  const names = [...tensors.keys()].sort();
  return checksumOf([
    ...texts,
    ...names.flatMap((name) => {
      const { dtype, shape, data } = tensors.get(name) as Tensor;
      return [`${name} ${dtype} ${shape}`, data];
    }),
  ]);
}

export const withChecksum = ({ tensors, metadata }: TensorFile): TensorFile => ({
  tensors,
  metadata: { ...metadata, checksum: contentChecksum({ tensors, metadata }) },
});

/** Reads tensors and metadata; a section has names of its own behind `<section>.`. */
export class TensorReader {
  /** `taken` are the names that were taken, of all sections. */
  constructor(
    readonly whole: TensorFile,
    readonly file: string,
    protected readonly prefix: string = "",
    protected readonly taken: Set<string> = new Set(),
  ) {}

  section(name: string): TensorReader {
    return new TensorReader(this.whole, this.file, `${this.prefix}${name}.`, this.taken);
  }

  get metadata(): TensorFile["metadata"] {
    return this.whole.metadata;
  }

  refuse(found: string, expected: string): never {
    throw new FormatError(this.file, found, expected);
  }

  /** Refuses tensors that nothing has asked for. */
  checkAllTaken(): void {
    const other = [...this.whole.tensors.keys()].find((name) => !this.taken.has(name));
    if (other !== undefined) this.refuse(`a tensor ${shownJson(other)}`, "only what the model is made of");
  }

  /** Refuses a file of another format or version. */
  checkFormat(format: string, version: string, made: string): void {
    const { metadata } = this;
    if (metadata.format !== format) this.refuse(`format ${shownJson(metadata.format)}`, made);
    if (metadata.version !== version)
      this.refuse(`version ${shownJson(metadata.version)} of ${format}`, `version ${version}`);
  }

  // Metadata

  json(name: string): unknown {
    try {
      return JSON.parse(this.metadata[name]);
    } catch {
      return this.refuse(`metadata ${name} that is not JSON`, "JSON");
    }
  }

  object(name: string): Fields {
    const found = this.json(name);
    return isObject(found) ? found : this.refuse(`metadata ${name} that is no JSON object`, "one");
  }

  number(fields: Fields, name: string, least: number, most: number): number {
    const value = fields[name];
    if (typeof value === "number" && value >= least && value <= most) return value;
    return this.refuse(`${name} ${shownJson(value)}`, `a number from ${least} to ${most}`);
  }

  integer(fields: Fields, name: string, least = 0, most: number = Number.MAX_SAFE_INTEGER): number {
    const value = fields[name];
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
    return this.refuse(`${name} ${shownJson(value)}`, `a whole number from ${least} to ${most}`);
  }

  word<Word extends string>(fields: Fields, name: string, words: readonly Word[]): Word {
    const found = words.find((word) => word === fields[name]);
    return found ?? this.refuse(`${name} ${shownJson(fields[name])}`, words.join(" or "));
  }

  flag(fields: Fields, name: string): boolean {
    const value = fields[name];
    return typeof value === "boolean" ? value : this.refuse(`${name} ${shownJson(value)}`, "true or false");
  }

  /** So many numbers in a list. */
  numbers(fields: Fields, name: string, count: number, least: number, most: number): number[] {
    const list = fields[name];
    const right =
      Array.isArray(list) &&
      list.length === count &&
      list.every((value) => typeof value === "number" && value >= least && value <= most);
    return right ? list : this.refuse(`${name} ${shownJson(list)}`, `${count} numbers from ${least} to ${most}`);
  }

  objects(fields: Fields, name: string, most: number): Fields[] {
    const list = fields[name];
    const right = Array.isArray(list) && list.length <= most && list.every(isObject);
    return right ? list : this.refuse(`no right ${name}`, `a list of at most ${most}`);
  }

  /** So many texts, as JSON of the metadata. */
  texts(name: string, count: number): string[] {
    const list = this.json(name);
    const right = Array.isArray(list) && list.length === count && list.every((item) => typeof item === "string");
    return right ? list : this.refuse(`metadata ${name}`, `${count} names`);
  }

  // Tensors

  has(name: string): boolean {
    return this.whole.tensors.has(this.prefix + name);
  }

  shape(name: string, dimensions: number): readonly number[] {
    const shape = this.whole.tensors.get(this.prefix + name)?.shape;
    if (shape?.length === dimensions) return shape;
    return this.refuse(`tensor ${this.prefix}${name} of shape ${JSON.stringify(shape)}`, `${dimensions} dimensions`);
  }

  /** A tensor of one of these types; a size of -1 may be anything from 1. */
  tensor<T extends TensorType>(
    name: string,
    types: readonly T[],
    shape: readonly number[],
  ): Extract<Tensor, { dtype: T }> {
    const full = this.prefix + name;
    this.taken.add(full);
    const tensor = this.whole.tensors.get(full);
    if (tensor === undefined) return this.refuse(`no tensor ${full}`, "one");
    const fits =
      tensor.shape.length === shape.length &&
      shape.every((size, i) => (size === -1 ? tensor.shape[i] >= 1 : tensor.shape[i] === size));
    if (!fits)
      this.refuse(`tensor ${full} of shape [${tensor.shape}]`, `[${shape.join().replaceAll("-1", "1 or more")}]`);
    if (!types.some((type) => type === tensor.dtype))
      this.refuse(`tensor ${full} of type ${tensor.dtype}`, types.join(" or "));
    return tensor as Extract<Tensor, { dtype: T }>;
  }

  #finite<A extends Real>(name: string, data: A): A {
    return areFinite(data)
      ? data
      : this.refuse(`a number in ${this.prefix}${name} that is not finite`, "finite numbers");
  }

  reals(name: string, shape: readonly number[]): Real {
    return this.#finite(name, this.tensor(name, ["F32", "F64"], shape).data);
  }

  singles(name: string, shape: readonly number[]): Float32Array {
    return this.#finite(name, this.tensor(name, ["F32"], shape).data);
  }

  doubles(name: string, shape: readonly number[]): Float64Array {
    return this.#finite(name, this.tensor(name, ["F64"], shape).data);
  }

  /** Numbers from `least` to `most`. */
  within<A extends ArrayLike<number>>(name: string, data: A, least: number, most: number): A {
    for (let i = 0; i < data.length; i++)
      if (!(data[i] >= least && data[i] <= most))
        this.refuse(`${data[i]} in ${this.prefix}${name}`, `numbers from ${least} to ${most}`);
    return data;
  }

  /** Whole numbers from 0 to below `limit`. */
  integers(name: string, count: number, limit: number): Int32Array {
    const { data } = this.tensor(name, ["I32"], [count]);
    return this.within(name, data, 0, limit - 1);
  }

  /** The same, each greater than the one before. */
  rising(name: string, count: number, limit: number): Int32Array {
    const numbers = this.integers(name, count, limit);
    for (let i = 1; i < count; i++)
      if (numbers[i] <= numbers[i - 1])
        this.refuse(`numbers in ${this.prefix}${name} that do not rise`, "each once, in order");
    return numbers;
  }
}

/** Refuses a file that is not as it was written; one that states no checksum is taken as it is, unless it must. */
export function checkIntact(reader: TensorReader, must = false): void {
  const { checksum } = reader.metadata;
  if (checksum === undefined ? must : checksum !== contentChecksum(reader.whole))
    reader.refuse("bytes that do not have the checksum it states", "a file as it was written");
}

/** Vectors of documents, which follow one another up to the last column; undefined where there are none. */
export function viewsFrom(reader: TensorReader, about: Fields, features: number): readonly View[] | undefined {
  if (about.views === undefined) return undefined;
  const views = reader.objects(about, "views", 64).map((view) => ({
    name: String(view.name),
    from: reader.integer(view, "from", 0, features - 1),
    to: reader.integer(view, "to", 1, features),
    unit: reader.flag(view, "unit"),
  }));
  const follow = views.every(({ from, to }, i) => from < to && to === (views[i + 1]?.from ?? features));
  if (views.length === 0 || !follow) reader.refuse("vectors that do not follow one another", "all of them");
  return views;
}

/** Weight and length scale of each view of a kernel, words first. */
export function viewWeights(reader: TensorReader, { views }: Fields, count: number): [number, number][] {
  const isPair = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair[0] >= 0 && pair[0] <= 1 && pair[1] > 1e-18 && pair[1] < 1e18;
  if (!Array.isArray(views) || views.length !== count || !views.every(isPair))
    return reader.refuse("no weights of views", `${count} pairs`);
  return views;
}
