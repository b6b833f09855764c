// The body of a request: what its head says of it, its bytes within the limits, unpacked where it is packed.

import { excerpt } from "../data/errors.ts";
import type { Limits } from "./limits.ts";
import { SMALL } from "./limits.ts";
import type { Body } from "./question.ts";
import { busy, Refusal, refuse, tooLong } from "./refusal.ts";

/** Bytes that large requests hold, all together. */
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
    if (this.total + bytes > this.#most) throw busy(`large requests hold ${this.total} bytes`);
    this.total += bytes;
  }

  give(bytes: number): void {
    this.total -= bytes;
    if (bytes > 0) this.#freed(bytes);
  }
}

/** What one request holds of them: nothing as long as it is small. */
export class Holding {
  readonly #of: HeldBytes;
  #bytes = 0;
  #counted = 0;

  constructor(of: HeldBytes) {
    this.#of = of;
  }

  /** Takes more, or is busy. */
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

/** A request as the body's reader sees it. */
interface Sent {
  header(name: string): string | null | undefined;
  /** All of the body; `take` is told of each piece and throws what ends it. */
  body(take: (bytes: number) => void): Promise<Uint8Array>;
}

/** Input of the unpacker at a time: Deno unpacks all that it is given at once, to a thousand times its size. */
const PACKED_PIECE = 4096;

/** Reads a body of one of these types. */
export async function readBody(
  asked: Sent,
  types: readonly string[],
  query: string,
  limits: Limits,
  holding: Holding,
): Promise<Body> {
  const type = asked.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase() || "nothing";
  if (!types.includes(type)) {
    const [first] = types as [string];
    const found = type === "nothing" ? type : excerpt(type);
    const hint = `${types.join(" or ")} (curl -H 'content-type: ${first}')`;
    throw new Refusal(415, `content-type: found ${found}, expected ${hint}`, { accept: types.join(", ") });
  }
  const encoding = asked.header("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding !== "identity" && encoding !== "gzip")
    throw new Refusal(415, `content-encoding: found ${excerpt(encoding)}, expected gzip or none`, {
      "accept-encoding": "gzip, identity",
    });
  if (Number(asked.header("content-length") ?? 0) > limits.bodyBytes) throw tooLong(limits.bodyBytes);
  const counter = (): ((bytes: number) => void) => {
    let length = 0;
    return (bytes) => {
      length += bytes;
      if (length > limits.bodyBytes) throw tooLong(limits.bodyBytes);
      holding.add(bytes);
    };
  };
  const sent = await asked.body(counter());
  const bytes = encoding === "gzip" ? await unpacked(sent, counter()) : sent;
  return { bytes, type, query, accept: asked.header("accept") ?? "" };
}

async function unpacked(packed: Uint8Array, take: (bytes: number) => void): Promise<Uint8Array> {
  let at = 0;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        if (at >= packed.length) return controller.close();
        controller.enqueue(packed.slice(at, at + PACKED_PIECE));
        at += PACKED_PIECE;
      },
    },
    { highWaterMark: 0 },
  );
  const reader = source.pipeThrough(new DecompressionStream("gzip")).getReader();
  const pieces: Uint8Array[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return joined(pieces);
      take(value.length);
      pieces.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof Refusal) throw error;
    return refuse("the body", "gzip data that is damaged or cut short", "a whole gzip file");
  }
}

/** Pieces as one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0] as Uint8Array;
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
