// A sorted list of names that is searched as it lies in the file. Names are UTF-8 in the order of their bytes,
// front-coded: how many bytes a name shares with the one before, how many follow, those bytes. Every 16th shares none,
// so that a search can begin there. Nothing is decoded at load: 17,000 words cost a walk of half a millisecond.

import { ByteReader } from "./bytes.ts";

/** Names between two places where a search can begin. */
export const BLOCK = 16;

export class Vocabulary {
  readonly size: number;
  readonly #bytes: Uint8Array;
  /** Where each block begins. */
  readonly #blocks: Int32Array;
  readonly #query: Uint8Array;
  readonly #longest: number;
  readonly #encoder = new TextEncoder();

  /** Checks every entry: lengths within the bytes, names rising strictly. */
  constructor(bytes: Uint8Array, size: number, file: string) {
    const reader = new ByteReader(bytes, "the vocabulary", file);
    // An entry takes two bytes at least, so this holds before anything is allocated by the stated size.
    if (size * 2 > bytes.length) reader.refuse(`${bytes.length} bytes`, `${size} names`);
    this.size = size;
    this.#bytes = bytes;
    this.#blocks = new Int32Array(Math.ceil(size / BLOCK));
    let previous = new Uint8Array(64);
    let length = 0;
    let longest = 0;
    for (let i = 0; i < size; i++) {
      if (i % BLOCK === 0) this.#blocks[i / BLOCK] = reader.at;
      const shared = reader.integer();
      const added = reader.integer();
      const start = reader.skip(added);
      if (shared > length || (i % BLOCK === 0 && shared > 0))
        reader.refuse(`${shared} shared bytes`, `at most ${i % BLOCK === 0 ? 0 : length}`);
      const rises = i === 0 || comesAfter(bytes, start, added, previous, shared, length, i % BLOCK === 0);
      if (!rises) reader.refuse("names that do not rise", "names in the order of their bytes, each once");
      length = shared + added;
      if (length > previous.length) {
        const larger = new Uint8Array(2 * length);
        larger.set(previous.subarray(0, shared));
        previous = larger;
      }
      previous.set(bytes.subarray(start, start + added), shared);
      longest = Math.max(longest, length);
    }
    reader.finish();
    this.#longest = longest;
    // UTF-8 takes at most three bytes for each unit of a text.
    this.#query = new Uint8Array(3 * longest);
  }

  /** Position of a name, or -1. */
  find(name: string): number {
    if (name.length > this.#longest || this.size === 0) return -1;
    const length = this.#encoder.encodeInto(name, this.#query).written;
    let low = 0;
    let high = this.#blocks.length - 1;
    // The last block whose first name is not greater.
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#startsAfter(this.#blocks[middle] as number, length)) high = middle - 1;
      else low = middle;
    }
    return this.#searchBlock(low, length);
  }

  /** The name at a position. */
  name(position: number): string {
    const bytes = new Uint8Array(this.#longest);
    let [at, length] = [this.#blocks[Math.floor(position / BLOCK)] as number, 0];
    for (let i = position - (position % BLOCK); i <= position; i++) {
      const [shared, afterShared] = this.#integer(at);
      const [added, start] = this.#integer(afterShared);
      at = start + added;
      bytes.set(this.#bytes.subarray(start, at), shared);
      length = shared + added;
    }
    return new TextDecoder().decode(bytes.subarray(0, length));
  }

  /** Reads an integer that was checked at load; `at` moves on. */
  #integer(at: number): [value: number, next: number] {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[at++] as number;
      value |= (byte & 127) << shift;
      if (byte < 128) return [value, at];
    }
  }

  /** Whether the first name of the block at `at` is greater than the query. */
  #startsAfter(at: number, length: number): boolean {
    const [added, start] = this.#integer(at + 1);
    const common = Math.min(added, length);
    for (let i = 0; i < common; i++) {
      const difference = (this.#bytes[start + i] as number) - (this.#query[i] as number);
      if (difference !== 0) return difference > 0;
    }
    return added > length;
  }

  #searchBlock(block: number, length: number): number {
    const end = Math.min(this.size, (block + 1) * BLOCK);
    let at = this.#blocks[block] as number;
    let equal = 0; // leading bytes of the query that the name at hand has too
    for (let i = block * BLOCK; i < end; i++) {
      const [shared, afterShared] = this.#integer(at);
      const [added, start] = this.#integer(afterShared);
      at = start + added;
      // A name that shares more differs from the query where the one before did, and comes before it still.
      if (shared > equal) continue;
      // One that shares less has risen above the query at that byte.
      if (shared < equal) return -1;
      let j = 0;
      while (j < added && equal < length && this.#bytes[start + j] === this.#query[equal]) {
        j++;
        equal++;
      }
      if (j === added) {
        if (equal === length) return i;
      } else if (equal === length || (this.#bytes[start + j] as number) > (this.#query[equal] as number)) {
        return -1;
      }
    }
    return -1;
  }
}

/** Whether a name (the first `shared` bytes of `previous`, then the added ones) is greater than `previous`. */
function comesAfter(
  bytes: Uint8Array,
  start: number,
  added: number,
  previous: Uint8Array,
  shared: number,
  length: number,
  whole: boolean,
): boolean {
  const common = Math.min(added, length - shared);
  for (let i = 0; i < common; i++) {
    const difference = (bytes[start + i] as number) - (previous[shared + i] as number);
    // The first byte after the shared ones must differ: each name is coded in one way, and the search relies on it.
    if (difference !== 0) return difference > 0 && (i === 0 || whole);
    if (!whole) return false;
  }
  return shared + added > length;
}
