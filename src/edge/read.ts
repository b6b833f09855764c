// Reads a compact model: every tensor is checked against the sizes the metadata states, nothing is copied. The bytes are
// anybody's: whatever is wrong is one FormatError.

import { FormatError } from "../io/errors.ts";
import { readSafetensors, type Tensor, type TensorFile } from "../io/safetensors.ts";
import { isLinear } from "../model/kernels/index.ts";
import { checkAbout } from "./about.ts";
import { ByteReader } from "./bytes.ts";
import { COMPACT_FORMAT, COMPACT_VERSION, type CompactAbout } from "./format.ts";
import { allHalvesFinite, fromHalf } from "./half.ts";
import { LARGEST_NUMBER, LARGEST_ROW, LARGEST_SQUARE } from "./limits.ts";
import { packedBytes, type RowMatrix, rowMatrix } from "./matrix.ts";
import { Vocabulary } from "./vocabulary.ts";

/** What the label layer multiplies with. */
export interface LabelMatrix {
  readonly dtype: "F32" | "F16" | "I8";
  readonly data: Float32Array | Uint16Array | Int8Array;
  readonly scale: Float32Array | undefined;
}

export interface CompactModel {
  readonly about: CompactAbout;
  readonly bytes: number;
  readonly weights: RowMatrix | undefined;
  readonly inducing: { z: RowMatrix; squares: Float32Array } | undefined;
  readonly mu: RowMatrix | undefined;
  readonly phi: LabelMatrix;
  readonly bias: Float32Array;
  readonly spread: Float32Array | undefined;
  readonly own: RowMatrix | undefined;
  readonly cover: RowMatrix | undefined;
  readonly root: RowMatrix | undefined;
  readonly rows: Int32Array | undefined;
  readonly columnWeights: Float32Array | undefined;
  /** Ids of the features, rising, where these are not their numbers. */
  readonly columnIds: Int32Array | undefined;
  readonly vocabulary: Vocabulary | undefined;
  readonly order: Int32Array | undefined;
  readonly frequency: Int32Array | undefined;
  readonly labelName: (label: number) => string;
}

/** The parts of a file, each checked as it is taken. */
class Parts {
  readonly #tensors: TensorFile["tensors"];
  readonly #taken = new Set<string>();
  readonly about: CompactAbout;
  readonly file: string;

  constructor({ tensors, metadata }: TensorFile, file: string) {
    this.file = file;
    if (metadata.format !== COMPACT_FORMAT)
      this.refuse(`format ${JSON.stringify(metadata.format)}`, "a model made by mlgpf compact");
    if (metadata.version !== COMPACT_VERSION)
      this.refuse(`compact version ${JSON.stringify(metadata.version)}`, `version ${COMPACT_VERSION}`);
    this.about = checkAbout(metadata.about, file);
    this.#tensors = tensors;
  }

  refuse(found: string, expected: string): never {
    throw new FormatError(this.file, found, expected);
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
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

  matrix(name: string, rows: number, columns: number): RowMatrix {
    const bits = Object.hasOwn(this.about.bits, name) ? (this.about.bits[name] as number) : 0;
    const stored = bits === 0 ? columns : packedBytes(columns, bits);
    const tensor = this.#tensor(name, bits === 0 ? ["F32", "F16", "I8"] : ["U8"], [rows, stored]);
    return rowMatrix(tensor, columns, this.#scale(name, tensor.dtype, rows), bits);
  }
}

/** The model in these bytes, which must stay as they are while it is used. */
export function readCompact(bytes: Uint8Array, file = "the model"): CompactModel {
  const parts = new Parts(readSafetensors(bytes, file), file);
  const { about } = parts;
  const { features: d, rows: r, labels: k, factors: p, groups, inducing: m, rank } = about;
  const { linear, own, cover, root, inducing } = formOf(parts);
  // The other sizes are those of a tensor; a rank that is packed could be several times its bytes.
  if (rank > bytes.length) parts.refuse(`rank ${rank} in ${bytes.length} bytes`, "a smaller one");
  const model: CompactModel = {
    about,
    bytes: bytes.length,
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
    rows: rowsOf(parts, d, r),
    columnWeights: parts.has("columnWeights") ? parts.reals("columnWeights", d) : undefined,
    columnIds: parts.has("columnIds") ? idsOf(parts, d) : undefined,
    labelName: labelNames(parts.bytes("names"), k, parts.file),
    ...vocabularyOf(parts, d),
  };
  parts.finish();
  return model;
}

/**
 * Which matrices this model has. Means go through the features where the kernel is linear, else through the inducing
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
