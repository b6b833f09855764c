// A request that is not answered as it was asked: an HTTP status and one sentence.

export class Refusal extends Error {
  override readonly name: string = "Refusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, sentence: string, headers: Readonly<Record<string, string>> = {}) {
    super(sentence);
    this.status = status;
    this.headers = headers;
  }
}

/** What is wrong with a question: 400, and where it is. */
export function refuse(where: string, found: string, expected: string): never {
  throw new Refusal(400, `${where}: found ${found}, expected ${expected}`);
}

/** Too much at once: the client may come again in a second. */
export function busy(what: string): Refusal {
  return new Refusal(503, `${what}; please ask again in a second`, { "retry-after": "1" });
}

export function tooLong(limit: number): Refusal {
  return new Refusal(413, `the body: found more than ${limit} bytes, expected at most that`);
}

export function tooSlow(seconds: number): Refusal {
  return new Refusal(408, `the body: found no end of it within ${seconds} s, expected all of it by then`);
}

/** Nobody reads it, but it is counted. */
export function brokenOff(): Refusal {
  return new Refusal(400, "the body: found the connection closed, expected all of the body");
}
