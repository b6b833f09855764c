// Errors about files other than data files, each one sentence.

/** A value of a file's JSON for one sentence; lists and objects can be of any depth and are not shown. */
export function shownJson(value: unknown): string | undefined {
  return typeof value === "object" ? "(a list or an object)" : JSON.stringify(value)?.slice(0, 60);
}

/** A file that is not what its reader takes: `model.safetensors: found ..., expected ...`. */
export class FormatError extends Error {
  override readonly name: string = "FormatError";
  readonly file: string;
  readonly found: string;
  readonly expected: string;

  constructor(file: string, found: string, expected: string) {
    super(`${file}: found ${found}, expected ${expected}`);
    this.file = file;
    this.found = found;
    this.expected = expected;
  }
}

/** A file that cannot be opened, read or written: `cannot read train.txt: there is no such file`. */
export class FileError extends Error {
  override readonly name: string = "FileError";
  readonly file: string;
  /** As the system has it: ENOENT, EACCES, ... */
  readonly code: string;

  constructor(action: "read" | "write", file: string, why: string, code: string) {
    super(`cannot ${action} ${file}: ${why}`);
    this.file = file;
    this.code = code;
  }
}
