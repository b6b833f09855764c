// A grammar of requests as strangers send them: right, nearly right and wrong, in pieces, cut short, several at once. The
// same seed gives the same bytes.

import { Dice } from "./dice.ts";

/** What a client does with one connection. */
export interface Script {
  /** What it sends, one piece after the other. */
  readonly pieces: readonly Uint8Array[];
  /** Milliseconds between two pieces. */
  readonly pause: number;
  /** What it does when all is sent: reads to the end, closes its side, or goes away. */
  readonly end: "read" | "half" | "gone";
}

const METHODS = [
  "GET",
  "HEAD",
  "PUT",
  "OPTIONS",
  "DELETE",
  "PATCH",
  "get",
  "TRACE",
  "CONNECT",
  "P\u0000ST",
  "X".repeat(300),
];
const PATHS = [
  "/predict",
  "/predict/tagger",
  "/predict/nobody",
  "/v1/projects/tagger/suggest",
  "/v1/projects/tagger/suggest-batch",
  "/v1/projects/tagger/learn",
  "/v1/projects/tagger/forget",
  "/v1/projects/tagger/query",
  "/v1/projects/tagger/documents",
  "/v1/vocabs",
  "/v1/projects/tagger",
  "/v1/projects",
  "/v1/",
  "/v1/detect-language",
  "/health",
  "/metrics",
  "/",
  "",
  "*",
  "//predict",
  "/predict/",
  "/predict/%",
  "/predict/%ff",
  "/predict/..%2f..",
  "/constructor",
  "http://evil.example/predict",
  `/${"a".repeat(9000)}`,
];
const QUERIES = [
  "",
  "",
  "",
  "?",
  "?topK=3",
  "?threshold=0.1",
  "?topK=0",
  "?topK=1e9",
  "?topK=99999",
  "?limit=2",
  "?a=b",
  "?topK=%",
];
const TYPES = [
  "application/json",
  "application/x-ndjson",
  "application/x-www-form-urlencoded",
  "text/plain",
  "multipart/form-data; boundary=x",
  "",
  "application/json; charset=utf-16",
  ";",
];
const HOSTS = ["evil.example", "", "localhost.evil.example", "a".repeat(5000), "[::1", "127.0.0.1:99999"];
const STRANGE = [
  "x-a: b",
  "expect: 100-continue",
  "expect: something",
  "upgrade: websocket\r\nconnection: upgrade",
  "content-length: 0",
  "content-length: -1",
  "content-length: 1e3",
  "content-length: 99999999999999999999",
  "transfer-encoding: gzip",
  "transfer-encoding: chunked, chunked",
  "content-encoding: br",
  "accept: application/x-ndjson",
  "origin: https://page.example",
  ": no name",
  "no colon",
  "x\u0000y: z",
  "cookie: é\u0001",
  " folded: line",
  `x-long: ${"a".repeat(20_000)}`,
  Array.from({ length: 3000 }, (_, i) => `x-${i}: ${i}`).join("\r\n"),
];
const TEXTS = [
  "",
  " ",
  "a lion",
  "a boat with a sail and an anchor",
  "\ud800",
  "\u0000",
  "ｆｕｌｌ",
  "漢字",
  "é".repeat(300),
];
const LONG_TEXTS = ["a".repeat(40_000), "word ".repeat(9000), "漢字".repeat(20_000)];
const NUMBERS = [
  "0",
  "1",
  "-1",
  "0.5",
  "1e400",
  "-1e400",
  "3e38",
  "1e-400",
  "1e308",
  "123456789012345678901234567890",
  "-0",
];
const WRONG = [
  "null",
  "true",
  "[]",
  "{}",
  '""',
  "01",
  "NaN",
  "[[",
  "{",
  '"',
  "",
  "\u0000",
  "[".repeat(2000),
  '{"a":'.repeat(2000),
];

class RequestMaker {
  readonly #dice: Dice;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  #text(): string {
    return JSON.stringify(this.#dice.of(this.#dice.chance(0.02) ? LONG_TEXTS : TEXTS));
  }

  #features(): string {
    const dice = this.#dice;
    if (dice.chance(0.3)) {
      const count = dice.below(4);
      const list = (): string => Array.from({ length: dice.chance(0.9) ? count : 2 }, () => dice.of(NUMBERS)).join();
      return `{"indices":[${list()}],"values":[${list()}]}`;
    }
    const names = ["lion", "boat", "__proto__", "constructor", "0", "9", "", "length"];
    return `{${dice.list(5, () => `${JSON.stringify(dice.of(names))}:${dice.of(NUMBERS)}`).join()}}`;
  }

  #input(): string {
    const dice = this.#dice;
    if (dice.chance(0.08)) return dice.of(WRONG);
    if (dice.chance(0.3)) return this.#text();
    return dice.chance(0.5) ? `{"text":${this.#text()}}` : `{"features":${this.#features()}}`;
  }

  /** The body of a question, mostly right. */
  #question(): string {
    const dice = this.#dice;
    const options = dice
      .list(2, () => `,"${dice.of(["topK", "threshold", "explain", "topk"])}":${dice.of(NUMBERS)}`)
      .join("");
    switch (dice.below(6)) {
      case 0:
        return `{"text":${this.#text()}${options}}`;
      case 1:
        return `{"features":${this.#features()}${options}}`;
      case 2:
        return `{"texts":[${dice.list(20, () => this.#input()).join()}]${options}}`;
      case 3:
        return dice.list(20, () => this.#input()).join("\n");
      case 4:
        return `{"documents":[${dice.list(35, () => `{"text":${this.#text()}}`).join()}]}`;
      default:
        return `[${dice.list(20, () => this.#input()).join()}]`;
    }
  }

  /** As a form where it should be one. */
  #form(): string {
    const dice = this.#dice;
    const fields = [["text", dice.of(dice.chance(0.1) ? LONG_TEXTS : TEXTS)]];
    for (const name of ["limit", "threshold", "language", "metadata_a", "project"])
      if (dice.chance(0.3)) fields.push([name, dice.of([...NUMBERS, "en", "fi", ""])]);
    return new URLSearchParams(fields).toString();
  }

  #body(form: boolean): Uint8Array {
    const dice = this.#dice;
    const bytes = new TextEncoder().encode(dice.chance(0.05) ? dice.of(WRONG) : form ? this.#form() : this.#question());
    if (!dice.chance(0.15) || bytes.length === 0) return bytes;
    // Some bytes are others, or the end is missing.
    for (let i = 0; i <= dice.below(3); i++) bytes[dice.below(bytes.length)] = dice.below(256);
    return dice.chance(0.5) ? bytes : bytes.slice(0, dice.below(bytes.length));
  }

  /** A whole request as bytes. */
  request(last: boolean): Uint8Array {
    const dice = this.#dice;
    const right = dice.chance(0.6);
    const path = right ? dice.of(PATHS.slice(0, 5)) : dice.of(PATHS);
    const isForm = path.endsWith("/suggest");
    const body = this.#body(isForm);
    const chunked = dice.chance(0.15);
    const type = isForm ? TYPES[2] : right && dice.chance(0.2) ? TYPES[1] : TYPES[0];
    const method = right || dice.chance(0.5) ? "POST" : dice.of(METHODS);
    const version = dice.chance(0.97) ? "HTTP/1.1" : dice.of(["HTTP/1.0", "HTTP/2.0", "HTTP/9", "", "HTTP/1.1 x"]);
    const lines = [
      `${method} ${path}${dice.of(QUERIES)} ${version}`,
      `host: ${dice.chance(0.95) ? "localhost" : dice.of(HOSTS)}`,
    ];
    if (dice.chance(0.95)) lines.push(`content-type: ${dice.chance(0.92) ? type : dice.of(TYPES)}`);
    if (dice.chance(0.06)) lines.push("content-encoding: gzip");
    if (dice.chance(0.12)) lines.push(dice.of(STRANGE));
    const length = dice.chance(0.96) ? body.length : dice.below(2 * body.length + 2);
    lines.push(chunked ? "transfer-encoding: chunked" : `content-length: ${length}`);
    if (last) lines.push("connection: close");
    const end = dice.chance(0.98) ? "\r\n" : "\n";
    const head = new TextEncoder().encode(`${lines.join(end)}${end}${end}`);
    return joined([head, ...(chunked ? this.#chunks(body) : [body])]);
  }

  #chunks(body: Uint8Array): Uint8Array[] {
    const dice = this.#dice;
    const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < body.length; ) {
      const size = Math.min(body.length - at, 1 + dice.below(8000));
      const said = dice.chance(0.99) ? size.toString(16) : dice.of(["", "-1", "zz", "fffffffffffffffff", "5;x=y"]);
      parts.push(encode(`${said}\r\n`), body.subarray(at, at + size), encode("\r\n"));
      at += size;
    }
    parts.push(encode(dice.chance(0.95) ? "0\r\n\r\n" : dice.of(["0\r\nx: y\r\n\r\n", "0\r\n", "\r\n", ""])));
    return parts;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** What a client does, by its seed. */
export function script(seed: number): Script {
  const dice = new Dice(seed);
  const maker = new RequestMaker(dice);
  const count = dice.chance(0.85) ? 1 : 1 + dice.below(4);
  const bytes = joined(Array.from({ length: count }, (_, i) => maker.request(i === count - 1)));
  const pieces: Uint8Array[] = [];
  const cuts = dice.chance(0.7) ? 0 : 1 + dice.below(6);
  const places = Array.from({ length: cuts }, () => dice.below(bytes.length + 1)).sort((a, b) => a - b);
  for (const [i, to] of [...places, bytes.length].entries()) pieces.push(bytes.subarray(places[i - 1] ?? 0, to));
  // Some never send the end.
  if (dice.chance(0.05)) pieces.pop();
  return {
    pieces,
    pause: dice.chance(0.8) ? 0 : dice.below(20),
    end: dice.chance(0.9) ? "read" : dice.of(["half", "gone"]),
  };
}
