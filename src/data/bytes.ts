// Any source of data as a run of byte chunks, unpacked when it is gzip.

import { fromUtf16 } from "./encoding.ts";
import { DataError } from "./errors.ts";

/** A stream of bytes (a file, `response.body`), or data already in memory. */
export type ByteSource = ReadableStream<Uint8Array> | Uint8Array | string | Blob;

export interface ByteOptions {
  /** Name for messages. */
  readonly file: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes taken from the source so far (packed bytes, when it is gzip). */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

const PIECE = 1 << 18; // of data in memory: small enough for progress and cancelling

/** What a source is, by its first bytes. */
export type ByteKind = "text" | "numpy" | "zip" | "parquet";

/** A source opened: unpacked, and told apart. Text is UTF-8 now, but for lines of another encoding. */
export interface OpenBytes {
  readonly kind: ByteKind;
  readonly chunks: AsyncGenerator<Uint8Array>;
}

const GZIP = [0x1f, 0x8b];
const UTF_16_LITTLE = [0xff, 0xfe];
const UTF_16_BIG = [0xfe, 0xff];
const BINARY: readonly [kind: ByteKind, magic: readonly number[]][] = [
  ["numpy", [0x93, 0x4e, 0x55, 0x4d]],
  ["zip", [0x50, 0x4b, 0x03, 0x04]],
  ["parquet", [0x50, 0x41, 0x52, 0x31]],
];
/** Other packed and binary formats people try. */
const FOREIGN: readonly [name: string, magic: readonly number[]][] = [
  ["zstandard data", [0x28, 0xb5, 0x2f, 0xfd]],
  ["bzip2 data", [0x42, 0x5a, 0x68]],
  ["xz data", [0xfd, 0x37, 0x7a, 0x58]],
];
const LONGEST_MAGIC = 4;

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte);
}

async function* memoryChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** Unlike `for await` over the stream itself, this also runs where streams are not async iterable. */
export async function* streamChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

function rawChunks(source: ByteSource): AsyncGenerator<Uint8Array> {
  if (typeof source === "string") return memoryChunks(new TextEncoder().encode(source));
  if (source instanceof Uint8Array) return memoryChunks(source);
  return streamChunks(source instanceof Blob ? source.stream() : source);
}

async function* watched(
  chunks: AsyncGenerator<Uint8Array>,
  options: ByteOptions,
): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of chunks) {
    options.signal?.throwIfAborted();
    total += chunk.length;
    options.onBytes?.(total);
    if (chunk.length > 0) yield chunk;
  }
}

/** The chunks again, the first one long enough to tell what the file is. */
async function* withLongStart(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let start = new Uint8Array(0);
  let short = true;
  for await (const chunk of chunks) {
    if (!short) {
      yield chunk;
      continue;
    }
    const joined = new Uint8Array(start.length + chunk.length);
    joined.set(start);
    joined.set(chunk, start.length);
    start = joined;
    short = start.length < LONGEST_MAGIC;
    if (!short) yield start;
  }
  if (short && start.length > 0) yield start;
}

async function* gunzip(packed: AsyncGenerator<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  const unpacker = new DecompressionStream("gzip");
  let sourceError: { error: unknown } | undefined;
  const feed = async (): Promise<void> => {
    const writer = unpacker.writable.getWriter();
    try {
      for (;;) {
        const next = await packed.next().catch((error: unknown) => {
          sourceError = { error };
          throw error;
        });
        if (next.done) break;
        await writer.write(next.value as Uint8Array<ArrayBuffer>);
      }
      await writer.close();
    } catch (error) {
      await writer.abort(error).catch(() => {});
    } finally {
      await packed.return(undefined);
    }
  };
  const fed = feed();
  const unpacked = streamChunks(unpacker.readable);
  try {
    yield* unpacked;
  } catch {
    if (sourceError) throw sourceError.error;
    throw new DataError({
      file,
      line: 0,
      found: "gzip data that is damaged or cut short",
      expected: "a whole gzip file",
    });
  } finally {
    await fed;
  }
}

async function* rejoined(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined); // who stops at the first chunk lets the source go as well
  }
}

/** The first chunk of several, and all of them again. */
async function peek(
  chunks: AsyncGenerator<Uint8Array>,
): Promise<{ first: Uint8Array; whole: AsyncGenerator<Uint8Array> }> {
  const long = withLongStart(chunks);
  const first = await long.next();
  return first.done
    ? { first: new Uint8Array(0), whole: long }
    : { first: first.value, whole: rejoined(first.value, long) };
}

/** Opens a source. Gzip and other formats are recognised by their first bytes, not by the file's name. */
export async function openBytes(source: ByteSource, options: ByteOptions): Promise<OpenBytes> {
  let { first, whole } = await peek(watched(rawChunks(source), options));
  if (startsWith(first, GZIP)) ({ first, whole } = await peek(gunzip(whole, options.file)));
  const foreign = FOREIGN.find(([, magic]) => startsWith(first, magic));
  if (foreign) {
    await whole.return(undefined);
    const expected = "UTF-8 text, plain or gzip";
    throw new DataError({ file: options.file, line: 1, found: foreign[0], expected });
  }
  const binary = BINARY.find(([, magic]) => startsWith(first, magic));
  if (binary) return { kind: binary[0], chunks: whole };
  const bigEndian = startsWith(first, UTF_16_BIG);
  if (bigEndian || startsWith(first, UTF_16_LITTLE))
    return { kind: "text", chunks: fromUtf16(whole, bigEndian) };
  return { kind: "text", chunks: whole };
}

/** All the chunks as one, or undefined when they have more than `most` bytes. */
export async function joined(
  chunks: AsyncGenerator<Uint8Array>,
  most: number,
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    length += chunk.length;
    if (length > most) return undefined;
  }
  if (pieces.length === 1) return pieces[0] as Uint8Array;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
