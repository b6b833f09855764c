// The safetensors format: 8 bytes header length (little-endian), a JSON header, then the tensors without
// gaps.
//     {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"key": "text"}}
// Reading checks every length and offset before anything is allocated. Tensors are laid out as the reference
// writer does it (widest type first, then by name), so that every one lies aligned and can be read in place.
// Typed arrays have the byte order of the machine; every runtime this runs on is little-endian, as the format
// is.

import { excerpt, FormatError } from "./errors.ts";
import { repeatedKey } from "./jsonkeys.ts";

/** dtype to the array that holds it; F16 as its bits. In falling order of width, as they are laid out. */
interface TensorArrays {
  I64: BigInt64Array;
  F64: Float64Array;
  F32: Float32Array;
  I32: Int32Array;
  F16: Uint16Array;
  I8: Int8Array;
  U8: Uint8Array;
}

export type TensorType = keyof TensorArrays;

export type Tensor = {
  [T in TensorType]: { readonly dtype: T; readonly shape: readonly number[]; readonly data: TensorArrays[T] };
}[TensorType];

export interface TensorFile {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Header entry of one tensor; offsets are from the start of the file. */
export interface TensorInfo {
  readonly dtype: TensorType;
  readonly shape: readonly number[];
  readonly start: number;
  readonly end: number;
}

export interface TensorHeader {
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Where the tensors begin and end. */
  readonly dataStart: number;
  readonly end: number;
}

interface ArrayConstructor {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): TensorArrays[TensorType];
}

const ARRAYS: Readonly<Record<TensorType, ArrayConstructor>> = {
  I64: BigInt64Array,
  F64: Float64Array,
  F32: Float32Array,
  I32: Int32Array,
  F16: Uint16Array,
  I8: Int8Array,
  U8: Uint8Array,
};
const TYPES = Object.keys(ARRAYS) as TensorType[];
const METADATA = "__metadata__";
const MOST_HEADER = 100_000_000; // the limit of the reference reader
const PREFIX = 8;

function width(dtype: TensorType): number {
  return ARRAYS[dtype].BYTES_PER_ELEMENT;
}

/** Bytes of a tensor, or NaN when they cannot be counted exactly. */
function byteLength(dtype: TensorType, shape: readonly number[]): number {
  let bytes = width(dtype);
  if (shape.includes(0)) return 0;
  for (const size of shape) {
    bytes *= size;
    if (!Number.isSafeInteger(bytes)) return NaN;
  }
  return bytes;
}

function inCodeUnitOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The file in pieces, ready to be written one after another: header first, then each tensor in place. */
export function safetensorsChunks(file: TensorFile): Uint8Array[] {
  const entries = [...file.tensors].sort(
    ([nameA, a], [nameB, b]) => TYPES.indexOf(a.dtype) - TYPES.indexOf(b.dtype) || inCodeUnitOrder(nameA, nameB),
  );
  const header: [string, unknown][] = [];
  const metadata = Object.entries(file.metadata).sort(([a], [b]) => inCodeUnitOrder(a, b));
  if (metadata.length > 0) header.push([METADATA, Object.fromEntries(metadata)]);
  let offset = 0;
  for (const [name, { dtype, shape, data }] of entries) {
    if (name === METADATA) throw new RangeError(`found a tensor named ${METADATA}, expected another name`);
    if (data.byteLength !== byteLength(dtype, shape) || data.BYTES_PER_ELEMENT !== width(dtype))
      throw new RangeError(
        `found ${data.byteLength} bytes for tensor ${excerpt(name)}, expected ${dtype} [${shape.join(", ")}]`,
      );
    header.push([name, { dtype, shape, data_offsets: [offset, offset + data.byteLength] }]);
    offset += data.byteLength;
  }
  const json = new TextEncoder().encode(`{${header.map(([key, value]) => jsonMember(key, value)).join(",")}}`);
  const padded = PREFIX + json.length + ((8 - (json.length % 8)) % 8);
  if (padded > MOST_HEADER) throw new RangeError(`found a header of ${padded} bytes, expected at most ${MOST_HEADER}`);
  const start = new Uint8Array(padded).fill(32);
  new DataView(start.buffer).setBigUint64(0, BigInt(padded - PREFIX), true);
  start.set(json, PREFIX);
  return [start, ...entries.map(([, { data }]) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength))];
}

/** Written by hand because an object would put keys that look like numbers first. */
function jsonMember(key: string, value: unknown): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

/** The whole file as one array. */
export const writeSafetensors = (file: TensorFile): Uint8Array<ArrayBuffer> => joined(safetensorsChunks(file));

/** Pieces one after another, as one array. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** All bytes of a stream; `take` is told of each piece. */
export async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  take: (bytes: number) => void,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    take(next.value.length);
    pieces.push(next.value);
  }
  return pieces.length === 1 ? pieces[0] : joined(pieces);
}

/** Length of the header in bytes, from the first 8 bytes of a file and the file's length. */
export function headerLength(prefix: Uint8Array, fileLength: number, file = "the model"): number {
  if (prefix.length < PREFIX || fileLength < PREFIX)
    throw new FormatError(file, `${Math.min(prefix.length, fileLength)} bytes`, "a safetensors file of at least 8");
  const length = Number(new DataView(prefix.buffer, prefix.byteOffset, PREFIX).getBigUint64(0, true));
  if (length > MOST_HEADER) {
    // No length that is allowed has eight bytes that can be printed.
    const start = new TextDecoder().decode(prefix.subarray(0, PREFIX));
    if (/^[\s\x20-\x7e]+$/.test(start)) throw new FormatError(file, "text", "a model or another file made by mlgpf");
    throw new FormatError(file, `a header length of ${length}`, `a safetensors file with at most ${MOST_HEADER}`);
  }
  if (PREFIX + length > fileLength) {
    const expected = "a whole file (is it cut short?)";
    throw new FormatError(file, `a header of ${length} bytes in a file of ${fileLength}`, expected);
  }
  return length;
}

/**
 * Checks a file's header, given the bytes of its start (8 bytes and the header, or more) and its length.
 * Nothing is allocated for the tensors. Only where a `series` of files is expected may something be behind them.
 */
export function readSafetensorsHeader(
  start: Uint8Array,
  fileLength: number,
  file = "the model",
  series = false,
): TensorHeader {
  const dataStart = PREFIX + headerLength(start, fileLength, file);
  const fields = parseHeader(start.subarray(PREFIX, dataStart), file);
  let metadata: Record<string, string> = {};
  const tensors: [string, TensorInfo][] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (name === METADATA) metadata = checkMetadata(value, file);
    else tensors.push([name, checkTensor(name, value, dataStart, fileLength, file)]);
  }
  tensors.sort(([, a], [, b]) => a.start - b.start || a.end - b.end);
  let end = dataStart;
  for (const [name, info] of tensors) {
    if (info.start !== end) {
      const what = info.start < end ? "an overlap" : "a gap";
      throw new FormatError(file, `${what} before tensor ${excerpt(name)}`, "tensors one after another");
    }
    end = info.end;
  }
  if (end !== fileLength && !series)
    throw new FormatError(file, `${fileLength - end} bytes after the last tensor`, "the end of the file");
  return { tensors: new Map(tensors), metadata, dataStart, end };
}

/**
 * The tensors of a whole file whose header was checked: views of `bytes` where they lie aligned, else copies.
 */
export function viewTensors(bytes: Uint8Array, header: TensorHeader): TensorFile {
  const tensors = new Map<string, Tensor>();
  for (const [name, { dtype, shape, start, end }] of header.tensors) {
    const offset = bytes.byteOffset + start;
    const aligned = offset % width(dtype) === 0;
    // A copy, also of a Buffer, whose slices are views.
    const buffer = aligned ? bytes.buffer : new Uint8Array(bytes.subarray(start, end)).buffer;
    const data = new ARRAYS[dtype](buffer, aligned ? offset : 0, (end - start) / width(dtype));
    tensors.set(name, { dtype, shape, data } as Tensor);
  }
  return { tensors, metadata: header.metadata };
}

export function readSafetensors(bytes: Uint8Array, file = "the model"): TensorFile {
  return viewTensors(bytes, readSafetensorsHeader(bytes, bytes.length, file));
}

/** Files that stand one behind another in the same bytes. */
export function readSafetensorsSeries(bytes: Uint8Array, file = "the model"): [TensorFile, ...TensorFile[]] {
  const files: TensorFile[] = [];
  for (let rest = bytes; files.length === 0 || rest.length > 0; ) {
    const header = readSafetensorsHeader(rest, rest.length, file, true);
    files.push(viewTensors(rest, header));
    rest = rest.subarray(header.end);
  }
  return files as [TensorFile, ...TensorFile[]];
}

function parseHeader(bytes: Uint8Array, file: string): Record<string, unknown> {
  let json: string;
  let fields: unknown;
  try {
    json = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    fields = JSON.parse(json);
  } catch {
    throw new FormatError(file, "a header that is not JSON", "a safetensors file");
  }
  if (!json.startsWith("{") || typeof fields !== "object" || fields === null)
    throw new FormatError(file, "a header that does not begin with {", "a safetensors file");
  const twice = repeatedKey(json);
  if (twice !== undefined) throw new FormatError(file, `${excerpt(twice)} twice in the header`, "each name once");
  return fields as Record<string, unknown>;
}

function checkMetadata(value: unknown, file: string): Record<string, string> {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isMap || !Object.values(value).every((text) => typeof text === "string"))
    throw new FormatError(file, `${METADATA} that is not a map of texts`, "a text for each key");
  return value as Record<string, string>;
}

function checkTensor(name: string, value: unknown, dataStart: number, fileLength: number, file: string): TensorInfo {
  const refuse = (found: string, expected: string): never => {
    throw new FormatError(file, `${found} for tensor ${excerpt(name)}`, expected);
  };
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return refuse("no description", "its dtype, shape and data_offsets");
  const fields = value as Record<string, unknown>;
  const unknown = Object.keys(fields).find((key) => !["dtype", "shape", "data_offsets"].includes(key));
  if (unknown !== undefined) return refuse(`a field ${excerpt(unknown)}`, "dtype, shape and data_offsets");
  const dtype = TYPES.find((type) => type === fields.dtype);
  if (!dtype) {
    // A list may be of any depth, and an object need not turn into a text.
    const found = typeof fields.dtype === "object" ? "that is no text" : excerpt(String(fields.dtype));
    return refuse(`dtype ${found}`, `one of ${TYPES.join(", ")}`);
  }
  const { shape, data_offsets: offsets } = fields;
  const areSizes = (list: unknown): list is number[] =>
    Array.isArray(list) && list.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (!areSizes(shape)) return refuse("a shape that is not a list of sizes", "whole numbers from 0");
  if (!areSizes(offsets) || offsets.length !== 2)
    return refuse("data_offsets that are not two numbers", "[start, end]");
  const [start, end] = offsets as [number, number];
  const most = fileLength - dataStart;
  if (end > most) return refuse(`data up to byte ${end}`, `at most ${most} (is the file cut short?)`);
  if (start > end || end - start !== byteLength(dtype, shape))
    return refuse(`data_offsets [${start}, ${end}]`, `${byteLength(dtype, shape)} bytes as its shape has`);
  return { dtype, shape, start: dataStart + start, end: dataStart + end };
}
