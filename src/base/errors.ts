// Errors, each one sentence: what was found and what was expected. One class for each thing a caller may want to handle.

/** An argument that cannot be used; the message names it, says what was found and what was expected. */
export class ArgumentError extends Error {
  override name = "ArgumentError";
  /** `problem` is the message without the name. */
  constructor(
    readonly argument: string,
    readonly problem: string,
  ) {
    super(`${argument}: ${problem}`);
  }
}

/** NaN or Infinity where only finite numbers can be worked with. */
export class NotFiniteError extends ArgumentError {
  override name = "NotFiniteError";
}

/** Memory that could not be had; the message says what was asked for and how much there is. */
export class OutOfMemoryError extends Error {
  override name = "OutOfMemoryError";
  constructor(
    readonly requestedBytes: number,
    message: string,
  ) {
    super(message);
  }
}

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
  /** The unit that is counted: lines of a file, or rows of a list in memory. Default "line". */
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
  return JSON.stringify(short).replace(/[\u2028\u2029]/g, (mark) => (mark === "\u2028" ? "\\u2028" : "\\u2029"));
}

/** Control characters, those that turn the direction of writing, and halves of surrogate pairs. */
const UNPRINTABLE =
  /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/** One line of text that shows what it is: on a terminal it moves no cursor and changes no colour. */
export const clean = (text: string): string => text.replace(UNPRINTABLE, " ");

/** A value of a file's JSON for one sentence; lists and objects can be of any depth and are not shown. */
export function shownJson(value: unknown): string | undefined {
  return typeof value === "object" ? "(a list or an object)" : JSON.stringify(value)?.slice(0, 60);
}

/** A file that is not what its reader takes: `model.safetensors: found ..., expected ...`. */
export class FormatError extends Error {
  override readonly name: string = "FormatError";

  constructor(
    readonly file: string,
    readonly found: string,
    readonly expected: string,
  ) {
    super(`${file}: found ${found}, expected ${expected}`);
  }
}

/** A path, or an address without user, password and query, also where it is mistyped. */
const withoutSecrets = (file: string): string =>
  file.replace(/^([a-z][a-z+.-]+:\/{1,2})[^/]*@/i, "$1").replace(/^(https?:[^?]*\?).+/is, "$1...");

/** A file that cannot be opened, read or written: `cannot read train.txt: there is no such file`. */
export class FileError extends Error {
  override readonly name: string = "FileError";
  readonly file: string;
  /** As the system has it: ENOENT, EACCES, ... */
  readonly code: string;

  constructor(action: "read" | "write", file: string, why: string, code: string) {
    const shown = withoutSecrets(file);
    super(`cannot ${action} ${shown}: ${why}`);
    this.file = shown;
    this.code = code;
  }
}
