// The body of a request: its bytes within the limits, unpacked where it is packed, read as text and as JSON.

import { describe } from "../base/check.ts";
import { excerpt } from "../base/errors.ts";
import { readAll } from "../base/safetensors.ts";
import { pulled } from "../data/bytes.ts";
import { busy, HttpError, type HttpRequest, refuse, tooLong } from "./http.ts";
import { type Limits, SMALL } from "./limits.ts";

export interface Body {
  readonly bytes: Uint8Array;
  readonly type: string;
  readonly accept: string;
  readonly query: string;
}

/** Bytes that large requests and waiting documents hold, all together. */
export class HeldBytes {
  readonly #most: number;
  readonly #freed: (bytes: number) => void;
  total = 0;

  /** `freed` is told of bytes that are no longer held. */
  constructor(most: number, freed: (bytes: number) => void = () => {}) {
    this.#most = most;
    this.#freed = freed;
  }

  take(bytes: number): void {
    if (this.total + bytes > this.#most) throw busy(`requests and waiting documents hold ${this.total} bytes`);
    this.total += bytes;
  }

  give(bytes: number): void {
    this.total -= bytes;
    if (bytes > 0) this.#freed(bytes);
  }
}

/** The part of them that one request holds: nothing as long as it is small. */
export class Holding {
  readonly #of: HeldBytes;
  #bytes = 0;
  #counted = 0;

  constructor(of: HeldBytes) {
    this.#of = of;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= SMALL.bodyBytes) return;
    this.#of.take(this.#bytes - this.#counted);
    this.#counted = this.#bytes;
  }

  release(): void {
    const counted = this.#counted;
    this.#bytes = this.#counted = 0;
    this.#of.give(counted);
  }
}

/** Input of the unpacker at a time: Deno unpacks all that it is given at once, to a thousand times its size. */
const PACKED_PIECE = 4096;

export async function readBody(
  request: HttpRequest,
  types: readonly string[],
  query: string,
  { bodyBytes }: Limits,
  holding: Holding,
): Promise<Body> {
  const type = request.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase() || "nothing";
  if (!types.includes(type)) {
    const found = type === "nothing" ? type : excerpt(type);
    const hint = `${types.join(" or ")} (curl -H 'content-type: ${types[0]}')`;
    throw new HttpError(415, `content-type: found ${found}, expected ${hint}`, { accept: types.join(", ") });
  }
  const encoding = request.header("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding !== "identity" && encoding !== "gzip")
    throw new HttpError(415, `content-encoding: found ${excerpt(encoding)}, expected gzip or none`, {
      "accept-encoding": "gzip, identity",
    });
  if (Number(request.header("content-length") ?? 0) > bodyBytes) throw tooLong(bodyBytes);
  const counter = (): ((bytes: number) => void) => {
    let length = 0;
    return (bytes) => {
      length += bytes;
      if (length > bodyBytes) throw tooLong(bodyBytes);
      holding.add(bytes);
    };
  };
  const sent = await request.body(counter());
  const bytes = encoding === "gzip" ? await unpacked(sent, counter()) : sent;
  return { bytes, type, query, accept: request.header("accept") ?? "" };
}

async function unpacked(packed: Uint8Array, take: (bytes: number) => void): Promise<Uint8Array> {
  let at = 0;
  const source = pulled(async () => {
    const piece = packed.slice(at, at + PACKED_PIECE);
    at += PACKED_PIECE;
    return piece.length > 0 ? piece : undefined;
  });
  const reader = (source as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new DecompressionStream("gzip"))
    .getReader();
  try {
    return await readAll(reader, take);
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof HttpError) throw error;
    return refuse("the body", "gzip data that is damaged or cut short", "a whole gzip file");
  }
}

export function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refuse("the body", "bytes that are not UTF-8", "text in UTF-8");
  }
}

/** A value of one of the forms, which errors name. */
export function parseJson(text: string, where: string, forms: string): unknown {
  if (text.trim() === "") refuse(where, "nothing", forms);
  try {
    return JSON.parse(text);
  } catch {
    return refuse(where, excerpt(text), `JSON: ${forms}`);
  }
}

/** The parameters of a query; each may come once and no others may. */
export function queryOf(query: string, allowed: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  if (query === "") return found;
  for (const [key, value] of new URLSearchParams(query)) {
    if (!allowed.includes(key)) refuse("the query", excerpt(key), allowed.join(" or "));
    if (Object.hasOwn(found, key)) refuse("the query", `${key} twice`, "each once");
    found[key] = value;
  }
  return found;
}

/** A whole number of a request; `shown` is what an error shows of it. */
export function wholeIn(
  where: string,
  value: unknown,
  from: number,
  to: number = Number.POSITIVE_INFINITY,
  shown: unknown = value,
): number {
  if (Number.isInteger(value) && (value as number) >= from && (value as number) <= to) return value as number;
  const range = to === Number.POSITIVE_INFINITY ? `of at least ${from}` : `from ${from} to ${to}`;
  return refuse(where, describe(shown), `a whole number ${range}`);
}
