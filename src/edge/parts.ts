// The parts of a compact file, each checked as it is taken: type, shape, and how large its numbers are.

import { FormatError, shownJson } from "../io/errors.ts";
import { readSafetensors, type Tensor, type TensorFile } from "../io/safetensors.ts";
import { checkAbout } from "./about.ts";
import { COMPACT_FORMAT, COMPACT_VERSIONS, type CompactAbout } from "./format.ts";
import { allHalvesFinite, fromHalf } from "./half.ts";
import { LARGEST_NUMBER, LARGEST_ROW } from "./limits.ts";
import { packedBytes, type RowMatrix, rowMatrix } from "./matrix.ts";
import { type SparseMatrix, sparseMatrix } from "./sparse.ts";

/** What the label layer multiplies with. */
export interface LabelMatrix {
  readonly dtype: "F32" | "F16" | "I8";
  readonly data: Float32Array | Uint16Array | Int8Array;
  readonly scale: Float32Array | undefined;
}

/** The weights of a label. */
export function labelWeights(
  { dtype, data, scale }: LabelMatrix,
  label: number,
  factors: number,
): Float64Array {
  const unit = scale?.[label] ?? 1;
  return Float64Array.from({ length: factors }, (_, p) => {
    const stored = data[label * factors + p] as number;
    return unit * (dtype === "F16" ? fromHalf(stored) : stored);
  });
}

/** The parts of a file, each checked as it is taken. */
export class Parts {
  readonly #tensors: TensorFile["tensors"];
  readonly #taken = new Set<string>();
  readonly #bytes: number;
  readonly whole: TensorFile;
  readonly about: CompactAbout;
  readonly file: string;

  constructor(bytes: Uint8Array, file: string) {
    const whole = readSafetensors(bytes, file);
    const { tensors, metadata } = whole;
    this.#bytes = bytes.length;
    this.whole = whole;
    this.file = file;
    if (metadata.format !== COMPACT_FORMAT)
      this.refuse(`format ${shownJson(metadata.format)}`, "a model made by mlgpf compact");
    if (!COMPACT_VERSIONS.some((version) => version === metadata.version))
      this.refuse(
        `compact version ${shownJson(metadata.version)}`,
        `version ${COMPACT_VERSIONS.join(" or ")}`,
      );
    this.about = checkAbout(metadata.about, file);
    this.#tensors = tensors;
  }

  refuse(found: string, expected: string): never {
    throw new FormatError(this.file, found, expected);
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  /** The other sizes are those of a tensor; a rank of packed numbers could be several times its bytes. */
  fits(rank: number): void {
    if (rank > this.#bytes) this.refuse(`rank ${rank} in ${this.#bytes} bytes`, "a smaller one");
  }

  /** Notes that somebody else has read and checked these. */
  took(names: Iterable<string>): void {
    for (const name of names) this.#taken.add(name);
  }

  /** Refuses whatever the model has no use for. */
  finish(): void {
    for (const name of [...this.#tensors.keys(), ...Object.keys(this.about.bits)])
      if (!this.#taken.has(name))
        this.refuse(`${JSON.stringify(name.slice(0, 60))} besides`, "only what the model is made of");
  }

  /** A tensor of one of these types; a size of -1 may be anything from 1. */
  #tensor<T extends Tensor["dtype"]>(
    name: string,
    types: readonly T[],
    shape: number[],
    largest = LARGEST_NUMBER,
  ): Tensor & { dtype: T } {
    this.#taken.add(name);
    const tensor = this.#tensors.get(name);
    if (tensor === undefined) return this.refuse(`no tensor ${name}`, "one");
    const fits =
      tensor.shape.length === shape.length &&
      shape.every((size, i) => (size === -1 ? (tensor.shape[i] as number) >= 1 : tensor.shape[i] === size));
    if (!fits)
      this.refuse(
        `tensor ${name} of shape [${tensor.shape}]`,
        `[${shape.join().replaceAll("-1", "1 or more")}]`,
      );
    if (!types.some((type) => type === tensor.dtype))
      this.refuse(`tensor ${name} of type ${tensor.dtype}`, types.join(" or "));
    if (
      tensor.dtype === "F32"
        ? !allWithin(tensor.data, largest)
        : tensor.dtype === "F16" && !allHalvesFinite(tensor.data)
    )
      this.refuse(`a number in ${name} that is not finite or too large`, `numbers up to ${largest}`);
    return tensor as Tensor & { dtype: T };
  }

  reals(name: string, size: number, largest?: number): Float32Array {
    return this.#tensor(name, ["F32"], [size], largest).data as Float32Array;
  }

  integers(name: string, size: number): Int32Array {
    return this.#tensor(name, ["I32"], [size]).data as Int32Array;
  }

  bytes(name: string): Uint8Array {
    return this.#tensor(name, ["U8"], [-1]).data as Uint8Array;
  }

  /** Scales of the rows of whole numbers. */
  #scale(name: string, dtype: string, rows: number): Float32Array | undefined {
    return dtype === "I8" || dtype === "U8" ? this.reals(`${name}.scale`, rows) : undefined;
  }

  labelMatrix(name: string, rows: number, columns: number): LabelMatrix {
    const { dtype, data } = this.#tensor(name, ["F32", "F16", "I8"], [rows, columns]);
    if (dtype !== "I8" && !rowsWithin(data as Float32Array | Uint16Array, columns, LARGEST_ROW))
      this.refuse(`a row of ${name} that is too large`, `magnitudes that add up to ${LARGEST_ROW} at most`);
    return { dtype, data: data as LabelMatrix["data"], scale: this.#scale(name, dtype, rows) };
  }

  /** A matrix most of whose elements are 0. */
  sparse(name: string, rows: number, columns: number): SparseMatrix {
    const gaps = this.bytes(`${name}.gaps`);
    const count = this.#tensors.get(`${name}.values`)?.shape[0] ?? 0;
    const { dtype, data } = this.#tensor(`${name}.values`, ["F32", "I8"], [count]);
    const scale = this.#scale(name, dtype, rows);
    const values = data as Float32Array | Int8Array;
    return sparseMatrix({ gaps, values, scale }, rows, columns, (found, expected) =>
      this.refuse(`${found} in ${name}`, expected),
    );
  }

  matrix(name: string, rows: number, columns: number): RowMatrix {
    const bits = Object.hasOwn(this.about.bits, name) ? (this.about.bits[name] as number) : 0;
    const stored = bits === 0 ? columns : packedBytes(columns, bits);
    const tensor = this.#tensor(name, bits === 0 ? ["F32", "F16", "I8"] : ["U8"], [rows, stored]);
    return rowMatrix(tensor, columns, this.#scale(name, tensor.dtype, rows), bits);
  }
}

/** Loops over every weight at load. NaN is not within anything. */
function allWithin(values: Float32Array, largest: number): boolean {
  for (let i = 0; i < values.length; i++) if (!(Math.abs(values[i] as number) <= largest)) return false;
  return true;
}

/** Whether the magnitudes in each row of finite numbers add up to so much at the most. */
function rowsWithin(values: Float32Array | Uint16Array, columns: number, largest: number): boolean {
  const halves = values instanceof Uint16Array;
  for (let start = 0; start < values.length; start += columns) {
    let sum = 0;
    for (let i = start; i < start + columns; i++)
      sum += Math.abs(halves ? fromHalf(values[i] as number) : (values[i] as number));
    if (sum > largest) return false;
  }
  return true;
}
