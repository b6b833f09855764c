// The parts of a model file, taken out one by one and checked: a file that is not whole is refused in one sentence.

import { areFinite } from "../../data/finite.ts";
import { FormatError, shownJson } from "../../io/errors.ts";
import type { Tensor, TensorFile } from "../../io/safetensors.ts";

export type Real = Float32Array | Float64Array;

export const realTensor = (data: Real, shape: number[]): Tensor =>
  data instanceof Float32Array ? { dtype: "F32", shape, data } : { dtype: "F64", shape, data };

export const wholeTensor = (data: Int32Array, shape: number[] = [data.length]): Tensor => ({
  dtype: "I32",
  shape,
  data,
});

/** What a part adds to a file. */
export interface FilePart {
  tensors: Map<string, Tensor>;
  metadata: Record<string, string>;
}

export class FileParts {
  readonly tensors: TensorFile["tensors"];
  readonly metadata: TensorFile["metadata"];
  readonly file: string;

  constructor({ tensors, metadata }: TensorFile, file: string) {
    this.tensors = tensors;
    this.metadata = metadata;
    this.file = file;
  }

  refuse(found: string, expected: string): never {
    throw new FormatError(this.file, found, expected);
  }

  /** The one of these names that the metadata has; `standard` where it has none. */
  name<Name extends string>(what: string, names: readonly Name[], standard?: Name): Name {
    const value = this.metadata[what] ?? standard;
    const found = names.find((name) => name === value);
    return found ?? this.refuse(`${what} ${shownJson(value)}`, names.join(" or "));
  }

  json(name: string): unknown {
    try {
      return JSON.parse(this.metadata[name] as string);
    } catch {
      return this.refuse(`metadata ${name} that is not JSON`, "JSON");
    }
  }

  /** So many texts, in the metadata. */
  texts(name: string, count: number): string[] {
    const list = this.json(name);
    const good =
      Array.isArray(list) && list.length === count && list.every((item) => typeof item === "string");
    return good ? (list as string[]) : this.refuse(`metadata ${name}`, `${count} names`);
  }

  /** A number in the metadata, above 0. */
  positive(name: string): number {
    const value = Number(this.metadata[name]);
    return value > 0 && Number.isFinite(value)
      ? value
      : this.refuse(`metadata ${name} ${shownJson(this.metadata[name])}`, "a number above 0");
  }

  shape(name: string, dimensions: number): number[] {
    const shape = this.tensors.get(name)?.shape;
    if (shape?.length !== dimensions)
      this.refuse(`tensor ${name} of shape ${JSON.stringify(shape)}`, `${dimensions} dimensions`);
    return shape as number[];
  }

  /** A tensor of floating point numbers of that shape, all of them finite; of the type of another where there is one. */
  reals(name: string, shape: number[], like?: string): Real {
    const tensor = this.tensors.get(name);
    if (JSON.stringify(tensor?.shape) !== JSON.stringify(shape))
      this.refuse(`tensor ${name} of shape ${JSON.stringify(tensor?.shape)}`, JSON.stringify(shape));
    if (tensor?.dtype !== "F32" && tensor?.dtype !== "F64")
      return this.refuse(`tensor ${name} of type ${tensor?.dtype}`, "F32 or F64");
    const wanted = like === undefined ? tensor.dtype : this.tensors.get(like)?.dtype;
    if (tensor.dtype !== wanted)
      this.refuse(`tensor ${name} of type ${tensor.dtype}`, `${wanted} as that of ${like}`);
    if (!areFinite(tensor.data)) this.refuse(`a number in ${name} that is not finite`, "finite numbers");
    return tensor.data;
  }

  /** The same in single precision. */
  singles(name: string, shape: number[]): Float32Array {
    const data = this.reals(name, shape);
    return data instanceof Float32Array ? data : this.refuse(`tensor ${name} of type F64`, "F32");
  }

  /** Whole numbers from 0 to below `limit`. */
  wholes(name: string, count: number, limit: number): Int32Array {
    const tensor = this.tensors.get(name);
    if (tensor?.dtype !== "I32" || tensor.data.length !== count)
      return this.refuse(`no right ${name}`, `${count} whole numbers`);
    if (tensor.data.some((value) => value < 0 || value >= limit))
      this.refuse(`a number in ${name} that is out of range`, `whole numbers from 0 to ${limit - 1}`);
    return tensor.data;
  }

  /** The same, each greater than the one before. */
  rising(name: string, count: number, limit: number): Int32Array {
    const numbers = this.wholes(name, count, limit);
    for (let i = 1; i < count; i++)
      if ((numbers[i] as number) <= (numbers[i - 1] as number))
        this.refuse(`${name} that do not rise`, "each feature once, in order");
    return numbers;
  }
}
