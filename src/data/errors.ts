// What a broken data file is refused with: one sentence that says where, what was found and what was
// expected.

export interface DataErrorParts {
  readonly file: string;
  /** Counted from 1; 0 when the file as a whole is meant. */
  readonly line: number;
  readonly found: string;
  readonly expected: string;
  /** The kind of broken row, e.g. "duplicate feature". Absent when skipping a row would not help. */
  readonly reason?: string;
  /** The columns or keys there are, where one was looked for in vain; the option `option` names another. */
  readonly names?: readonly string[];
  readonly option?: string;
  /** What is counted: lines of a file, or rows of a list in memory. Default "line". */
  readonly unit?: "line" | "row";
}

/** Message: `train.txt, line 17: found feature id 5001, expected a number from 0 to 4999`. */
export class DataError extends Error {
  override readonly name: string = "DataError";
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly expected: string;
  readonly reason: string | undefined;
  /** The columns or keys of the file, where one was looked for in vain: a choice to offer for the option `option`. */
  readonly names: readonly string[] | undefined;
  readonly option: string | undefined;

  constructor(parts: DataErrorParts) {
    const place = parts.line > 0 ? `${parts.file}, ${parts.unit ?? "line"} ${parts.line}` : parts.file;
    super(`${place}: found ${parts.found}, expected ${parts.expected}`);
    this.file = parts.file;
    this.line = parts.line;
    this.found = parts.found;
    this.expected = parts.expected;
    this.reason = parts.reason;
    this.names = parts.names;
    this.option = parts.option;
  }
}

const EXCERPT = 40;

/** A piece of the user's file made fit for a sentence: in quotes, on one line, not long. */
export function excerpt(text: string, most: number = EXCERPT): string {
  const short = text.length > most ? `${text.slice(0, most)}...` : text;
  // JSON leaves the two line separators of Unicode as they are.
  return JSON.stringify(short).replace(/[\u2028\u2029]/g, (mark) =>
    mark === "\u2028" ? "\\u2028" : "\\u2029",
  );
}
