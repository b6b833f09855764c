// What is sent back. Short answers are one text; long ones are pieces of bytes that a host writes as the client takes
// them.

/** An answer as a host sends it. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string | readonly Uint8Array[];
  /** How many texts and feature rows were predicted for it. */
  inputs?: number;
}

export const JSON_TYPE = "application/json";
export const NDJSON_TYPE = "application/x-ndjson";

/** Characters of a piece. */
const PIECE = 1 << 16;

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { "content-type": JSON_TYPE, ...headers },
    body: `${JSON.stringify(value)}\n`,
  };
}

export function plain(body: string, type = "text/plain; charset=utf-8"): Answer {
  return { status: 200, headers: { "content-type": type }, body };
}

/** Bytes of a body that is in pieces; a text is too short to count. */
export function heldBytes(body: Answer["body"]): number {
  return typeof body === "string" ? 0 : body.reduce((sum, piece) => sum + piece.length, 0);
}

/** Puts a body together, and into bytes as soon as there is a piece. */
export class BodyWriter {
  readonly #encoder = new TextEncoder();
  readonly #pieces: Uint8Array[] = [];
  #text = "";

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE) this.#cut();
  }

  body(): Answer["body"] {
    if (this.#pieces.length === 0) return this.#text;
    if (this.#text !== "") this.#cut();
    return this.#pieces;
  }

  #cut(): void {
    this.#pieces.push(this.#encoder.encode(this.#text));
    this.#text = "";
  }
}
