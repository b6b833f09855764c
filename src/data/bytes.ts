// Any source of data as a run of byte chunks, unpacked when it is gzip; and bytes as text: UTF-8, Windows-1252 where a line is not
// UTF-8, and UTF-16 where a file begins with its mark.

import { DataError } from "../base/errors.ts";
import { joined as concatenated } from "../base/safetensors.ts";

/** A stream of bytes (a file, `response.body`), or data already in memory. */
export type ByteSource = ReadableStream<Uint8Array> | Uint8Array | string | Blob;

export interface ByteOptions {
  readonly file: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes taken from the source so far (packed bytes, when it is gzip). */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

const PIECE = 1 << 18; // of data in memory: small enough for progress and cancelling

export type ByteKind = "text" | "numpy" | "parquet";

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
  ["parquet", [0x50, 0x41, 0x52, 0x31]],
];
/** Other packed and binary formats people try. */
const FOREIGN: readonly [name: string, magic: readonly number[]][] = [
  ["a zip archive (an Excel workbook, or numpy's npz)", [0x50, 0x4b, 0x03, 0x04]],
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

/** A stream that asks for each piece when it is wanted, until there is none; then, or when nobody wants more, it ends. */
export function pulled(
  next: () => Promise<Uint8Array | undefined>,
  end: () => Promise<unknown> = async () => {},
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const piece = await next().catch(async (error) => {
          await end().catch(() => {});
          throw error;
        });
        if (piece) return controller.enqueue(piece);
        await end();
        controller.close();
      },
      async cancel() {
        await end();
      },
    },
    { highWaterMark: 0 },
  );
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

async function* watched(chunks: AsyncGenerator<Uint8Array>, options: ByteOptions): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of chunks) {
    options.signal?.throwIfAborted();
    total += chunk.length;
    options.onBytes?.(total);
    if (chunk.length > 0) yield chunk;
  }
}

/** Fed by hand: with `pipeThrough` Node 20 takes gzip that is cut short for whole, and does not let the source go. */
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
  try {
    yield* streamChunks(unpacker.readable);
  } catch {
    if (sourceError) throw sourceError.error;
    const found = "gzip data that is damaged or cut short";
    throw new DataError({ file, line: 0, found, expected: "a whole gzip file" });
  } finally {
    await fed;
  }
}

/** The first bytes of a source, `least` of them or all, and the whole of it again. */
export async function peek(
  chunks: AsyncGenerator<Uint8Array>,
  least: number = LONGEST_MAGIC,
): Promise<{ first: Uint8Array; whole: AsyncGenerator<Uint8Array> }> {
  let first = new Uint8Array(0);
  while (first.length < least) {
    const next = await chunks.next();
    if (next.done) break;
    first = concatenated([first, next.value]);
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      if (first.length > 0) yield first;
      yield* chunks;
    } finally {
      await chunks.return(undefined); // who stops at the first chunk lets the source go as well
    }
  }
  return { first, whole: whole() };
}

/** Opens a source. Gzip and other formats are recognised by their first bytes, not by the file's name. */
export async function openBytes(source: ByteSource, options: ByteOptions): Promise<OpenBytes> {
  let { first, whole } = await peek(watched(rawChunks(source), options));
  if (startsWith(first, GZIP)) ({ first, whole } = await peek(gunzip(whole, options.file)));
  const foreign = FOREIGN.find(([, magic]) => startsWith(first, magic));
  if (foreign) {
    for await (const _ of whole) break; // lets the source go
    const expected = "UTF-8 text, plain or gzip (a workbook saved as CSV, a matrix as svmlight)";
    throw new DataError({ file: options.file, line: 1, found: foreign[0], expected });
  }
  const binary = BINARY.find(([, magic]) => startsWith(first, magic));
  if (binary) return { kind: binary[0], chunks: whole };
  if (startsWith(first, UTF_16_BIG)) return { kind: "text", chunks: fromUtf16(whole, "utf-16be") };
  return { kind: "text", chunks: startsWith(first, UTF_16_LITTLE) ? fromUtf16(whole, "utf-16le") : whole };
}

/** All the chunks as one, or undefined when they have more than `most()` bytes. */
export async function joined(chunks: AsyncGenerator<Uint8Array>, most: () => number): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    length += chunk.length;
    if (length > most()) return undefined;
  }
  return pieces.length === 1 ? pieces[0] : concatenated(pieces);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8(bytes: Uint8Array, start = 0, end: number = bytes.length): string | undefined {
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** Bytes 0x80 to 0x9f; all others are the code points of their value (as the Encoding Standard has it). */
const WINDOWS_1252_UPPER = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/**
 * Bytes as Windows-1252, which any bytes are. Not by TextDecoder: some versions of Node give Latin-1 in its place.
 */
export function windows1252(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  let text = "";
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    text += byte >= 0x80 && byte < 0xa0 ? WINDOWS_1252_UPPER[byte - 0x80] : String.fromCharCode(byte);
  }
  return text;
}

/** UTF-16, its mark included, as UTF-8. */
async function* fromUtf16(
  chunks: AsyncGenerator<Uint8Array>,
  order: "utf-16le" | "utf-16be",
): AsyncGenerator<Uint8Array> {
  const units = new TextDecoder(order);
  const encoder = new TextEncoder();
  for await (const chunk of chunks) yield encoder.encode(units.decode(chunk, { stream: true }));
  yield encoder.encode(units.decode());
}
