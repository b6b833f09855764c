// A sorted list of names that is searched as it lies in the file. Names are UTF-8 in the order of their bytes,
// front-coded: how many bytes a name shares with the one before, how many follow, those bytes. Every 16th shares none,
// so that a search can begin there. Nothing is decoded at load: 17,000 words cost a walk of half a millisecond.

import { FormatError } from "../base/errors.ts";

/** Reads variable-length integers (LEB128: seven bits a byte, low ones first) and never beyond the end. */
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

/** Names between two places where a search can begin. */
export const BLOCK = 16;

export class Vocabulary {
  readonly size: number;
  readonly #entries: ByteReader;
  /** Where each block begins. */
  readonly #blocks: Int32Array;
  readonly #query: Uint8Array;
  readonly #longest: number;
  readonly #encoder = new TextEncoder();

  /** Checks every entry: lengths within the bytes, names rising strictly. */
  constructor(bytes: Uint8Array, size: number, file: string) {
    const entries = new ByteReader(bytes, "the vocabulary", file);
    // An entry takes two bytes at least, so this holds before anything is allocated by the stated size.
    if (size * 2 > bytes.length) entries.refuse(`${bytes.length} bytes`, `${size} names`);
    this.size = size;
    this.#entries = entries;
    this.#blocks = new Int32Array(Math.ceil(size / BLOCK));
    let previous = new Uint8Array(64);
    let length = 0;
    let longest = 0;
    for (let i = 0; i < size; i++) {
      const begins = i % BLOCK === 0;
      if (begins) this.#blocks[i / BLOCK] = entries.at;
      const shared = entries.integer();
      const added = entries.integer();
      const start = entries.skip(added);
      const most = begins ? 0 : length;
      if (shared > most) entries.refuse(`${shared} shared bytes`, `at most ${most}`);
      // The first byte after the shared ones must differ: each name is coded in one way, and the search relies on it.
      const rises = begins
        ? i === 0 || isGreater(bytes, start, added, previous, length)
        : added > 0 && (shared === length || bytes[start] > previous[shared]);
      if (!rises) entries.refuse("names that do not rise", "names in the order of their bytes, each once");
      length = shared + added;
      if (length > previous.length) {
        const larger = new Uint8Array(2 * length);
        larger.set(previous.subarray(0, shared));
        previous = larger;
      }
      previous.set(bytes.subarray(start, start + added), shared);
      longest = Math.max(longest, length);
    }
    entries.finish();
    this.#longest = longest;
    // UTF-8 takes at most three bytes for each unit of a text.
    this.#query = new Uint8Array(3 * longest);
  }

  find(name: string): number {
    if (name.length > this.#longest || this.size === 0) return -1;
    const length = this.#encoder.encodeInto(name, this.#query).written;
    const entries = this.#entries;
    let low = 0;
    let high = this.#blocks.length - 1;
    // The last block whose first name is not greater.
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      entries.at = this.#blocks[middle] + 1;
      const added = entries.integer();
      if (isGreater(entries.bytes, entries.at, added, this.#query, length)) high = middle - 1;
      else low = middle;
    }
    return this.#searchBlock(low, length);
  }

  name(position: number): string {
    const entries = this.#entries;
    const name = new Uint8Array(this.#longest);
    let length = 0;
    entries.at = this.#blocks[Math.floor(position / BLOCK)];
    for (let i = position - (position % BLOCK); i <= position; i++) {
      const shared = entries.integer();
      const added = entries.integer();
      const start = entries.skip(added);
      name.set(entries.bytes.subarray(start, entries.at), shared);
      length = shared + added;
    }
    return new TextDecoder().decode(name.subarray(0, length));
  }

  #searchBlock(block: number, length: number): number {
    const entries = this.#entries;
    const { bytes } = entries;
    const end = Math.min(this.size, (block + 1) * BLOCK);
    let equal = 0; // leading bytes of the query that the name at hand has too
    entries.at = this.#blocks[block];
    for (let i = block * BLOCK; i < end; i++) {
      const shared = entries.integer();
      let at = entries.skip(entries.integer());
      // A name that shares more differs from the query where the one before did, and comes before it still.
      if (shared > equal) continue;
      // One that shares less has risen above the query at that byte.
      if (shared < equal) return -1;
      while (at < entries.at && equal < length && bytes[at] === this.#query[equal]) {
        at++;
        equal++;
      }
      if (at === entries.at) {
        if (equal === length) return i;
      } else if (equal === length || bytes[at] > this.#query[equal]) return -1;
    }
    return -1;
  }
}

/** True where the `size` bytes from `start` come after the first `length` of the other. */
function isGreater(bytes: Uint8Array, start: number, size: number, other: Uint8Array, length: number): boolean {
  const common = Math.min(size, length);
  for (let i = 0; i < common; i++) {
    const difference = bytes[start + i] - other[i];
    if (difference !== 0) return difference > 0;
  }
  return size > length;
}
