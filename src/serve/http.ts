// Requests and replies, whatever carries them. Short replies are one text, long ones pieces that a host writes as they are taken.

export interface HttpRequest {
  readonly method: string;
  /** Path and query: `/predict?topK=3` */
  readonly target: string;
  header(name: string): string | null | undefined;
  /** All of the body; an HttpError where it is too slow (408), and whatever `take` throws when told of a piece. */
  body(take: (bytes: number) => void): Promise<Uint8Array>;
  gone(): boolean;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string | readonly Uint8Array[];
  /** How many texts and feature rows were predicted for it. */
  inputs?: number;
}

/** A reply that counts until its host has done with it. */
export interface OpenReply extends Reply {
  /** The reply was sent, or given up because the client does not take it. */
  over(sent: boolean): void;
}

export const JSON_TYPE = "application/json";
export const NDJSON_TYPE = "application/x-ndjson";

type Headers = Readonly<Record<string, string>>;

export class HttpError extends Error {
  override readonly name: string = "HttpError";
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, sentence: string, headers: Headers = {}) {
    super(sentence);
    this.status = status;
    this.headers = headers;
  }
}

/** Refuses a request for what stands in it: 400, and where it is. */
export function refuse(where: string, found: string, expected: string): never {
  throw new HttpError(400, `${where}: found ${found}, expected ${expected}`);
}

/** Too much at once: the client may come again in a second. */
export const busy = (why: string): HttpError =>
  new HttpError(503, `${why}; please ask again in a second`, { "retry-after": "1" });

export const tooLong = (limit: number): HttpError =>
  new HttpError(413, `the body: found more than ${limit} bytes, expected at most that`);

export const tooSlow = (seconds: number): HttpError =>
  new HttpError(408, `the body: found no end of it within ${seconds} s, expected all of it by then`);

/** Nobody reads it, but it is counted. */
export const brokenOff = (): HttpError =>
  new HttpError(400, "the body: found the connection closed, expected all of the body");

export const wentAway = (): HttpError => new HttpError(499, "the client went away");

export const json = (status: number, value: unknown, headers: Headers = {}): Reply => ({
  status,
  headers: { "content-type": JSON_TYPE, ...headers },
  body: `${JSON.stringify(value)}\n`,
});

export const plain = (body: string, type = "text/plain; charset=utf-8"): Reply => ({
  status: 200,
  headers: { "content-type": type },
  body,
});

export const empty = (headers: Record<string, string> = {}): Reply => ({ status: 204, headers, body: "" });

const PIECE = 1 << 16;

/** Puts a body together, and into bytes as soon as there is a piece. */
export class BodyWriter {
  readonly #encoder = new TextEncoder();
  readonly #pieces: Uint8Array[] = [];
  #text = "";

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE) this.#cut();
  }

  body(): Reply["body"] {
    if (this.#pieces.length === 0) return this.#text;
    if (this.#text !== "") this.#cut();
    return this.#pieces;
  }

  #cut(): void {
    this.#pieces.push(this.#encoder.encode(this.#text));
    this.#text = "";
  }
}
