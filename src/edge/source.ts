// Where a model's bytes come from. Things are told by what they can do, not by their class: in some edge runtimes the
// caller's classes are not those of this code.

import { FormatError } from "../base/errors.ts";
import { readAll } from "../base/safetensors.ts";

type Bytes = ArrayBuffer | ArrayBufferView;
type Body = { arrayBuffer(): Promise<ArrayBuffer>; readonly status?: number; readonly ok?: boolean };

/** Bytes, a Response or Blob, a stream of bytes, a promise of one of these, or a function that gives one. */
export type ModelSource =
  | Bytes
  | Body
  | ReadableStream<Uint8Array>
  | Promise<Bytes | Body | ReadableStream<Uint8Array>>
  | (() => ModelSource);

export async function readSource(given: ModelSource, signal?: AbortSignal, name = "the model"): Promise<Uint8Array> {
  signal?.throwIfAborted();
  const source = await (typeof given === "function" ? given() : given);
  signal?.throwIfAborted();
  if (typeof source === "function") return readSource(source, signal, name);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (Object.prototype.toString.call(source).endsWith("ArrayBuffer]")) return new Uint8Array(source as ArrayBuffer);
  if (typeof (source as Body)?.arrayBuffer === "function") {
    const body = source as Body;
    if (body.ok === false) throw new FormatError(name, `HTTP status ${body.status}`, "200 and a model");
    const bytes = new Uint8Array(await body.arrayBuffer());
    signal?.throwIfAborted();
    return bytes;
  }
  if (typeof (source as ReadableStream)?.getReader === "function") {
    const reader = (source as ReadableStream<Uint8Array>).getReader();
    try {
      return await readAll(reader, () => signal?.throwIfAborted());
    } catch (error) {
      reader.cancel(error).catch(() => {});
      throw error;
    }
  }
  throw new FormatError(name, `${typeof source}`, "bytes, a Response, a stream, or a function that gives one");
}
