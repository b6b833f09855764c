// Reads variable-length integers (LEB128: seven bits a byte, low ones first) and never beyond the end.

import { FormatError } from "../io/errors.ts";

export class ByteReader {
  at = 0;
  readonly bytes: Uint8Array;
  readonly #what: string;
  readonly #file: string;

  constructor(bytes: Uint8Array, what: string, file: string) {
    this.bytes = bytes;
    this.#what = what;
    this.#file = file;
  }

  /** An integer below 2^28. */
  integer(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) break;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    return this.refuse("a number that does not end", "whole numbers below 2^28");
  }

  /** Steps over `length` bytes and says where they began. */
  skip(length: number): number {
    const start = this.at;
    this.at += length;
    if (this.at > this.bytes.length) this.refuse("an entry beyond the end", "whole entries");
    return start;
  }

  finish(): void {
    if (this.at !== this.bytes.length)
      this.refuse(`${this.bytes.length - this.at} bytes after the last entry`, "the end");
  }

  refuse(found: string, expected: string): never {
    throw new FormatError(this.#file, `${found} in ${this.#what}`, expected);
  }
}
