// Numbers for terms. Terms are kept as code units in one array and found by a hash of them, so that counting the words of a
// text makes no string for any of them.

import { type Growable, growableIntegers } from "./growable.ts";

/** What the hash of a term begins with. Random, so that nobody can write texts whose words all collide; nothing shows it. */
export const EMPTY_HASH: number = Math.floor(Math.random() * 2 ** 32) | 0;

/** The hash of a term that has one more unit. */
export function hashUnit(hash: number, unit: number): number {
  const mixed = Math.imul(hash ^ unit, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

export function hashUnits(units: Uint16Array, from: number, to: number): number {
  let hash = EMPTY_HASH;
  for (let i = from; i < to; i++) hash = hashUnit(hash, units[i] as number);
  return hash;
}

/** units[from..to) as a text, however many there are. */
export function textOf(units: Uint16Array, from: number, to: number): string {
  let text = "";
  for (let i = from; i < to; i++) text += String.fromCharCode(units[i] as number);
  return text;
}

export class TermTable {
  size = 0;
  #units: Uint16Array = new Uint16Array(1 << 12); // of all terms, one after another
  readonly #starts: Growable<Int32Array> = growableIntegers(); // of each term, and the end of the last
  #slots: Int32Array = new Int32Array(1 << 11); // pairs: the hash of a term, its number plus 1 (0 where there is none)

  constructor(terms: Iterable<string> = []) {
    this.#starts.push(0);
    for (const term of terms) {
      const units = Uint16Array.from({ length: term.length }, (_, i) => term.charCodeAt(i));
      this.add(units, 0, units.length, hashUnits(units, 0, units.length));
    }
  }

  /** The number of the term units[from..to), or -1. */
  find(units: Uint16Array, from: number, to: number, hash: number): number {
    return (this.#slots[this.#slot(units, from, to, hash) + 1] as number) - 1;
  }

  /** The number of the term units[from..to), which is the next one if it is new. */
  add(units: Uint16Array, from: number, to: number, hash: number): number {
    const slot = this.#slot(units, from, to, hash);
    const known = this.#slots[slot + 1] as number;
    if (known > 0) return known - 1;
    const start = this.#starts.data[this.size] as number;
    const end = start + to - from;
    if (end > this.#units.length) {
      const wider = new Uint16Array(2 * end);
      wider.set(this.#units.subarray(0, start));
      this.#units = wider;
    }
    this.#units.set(units.subarray(from, to), start);
    this.#starts.push(end);
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = ++this.size;
    if (4 * this.size > this.#slots.length) this.#widen();
    return this.size - 1;
  }

  /** The first code unit of a term that has any. */
  firstUnit(number: number): number {
    return this.#units[this.#starts.data[number] as number] as number;
  }

  /** A term by its number. */
  term(number: number): string {
    const starts = this.#starts.data;
    return textOf(this.#units, starts[number] as number, starts[number + 1] as number);
  }

  /** Where the term is, or would go. */
  #slot(units: Uint16Array, from: number, to: number, hash: number): number {
    const slots = this.#slots;
    const last = slots.length - 1;
    for (let slot = (2 * hash) & last; ; slot = (slot + 2) & last) {
      const number = slots[slot + 1] as number;
      if (number === 0 || (slots[slot] === hash && this.#is(number - 1, units, from, to))) return slot;
    }
  }

  #is(number: number, units: Uint16Array, from: number, to: number): boolean {
    const starts = this.#starts.data;
    const own = this.#units;
    const start = starts[number] as number;
    if ((starts[number + 1] as number) - start !== to - from) return false;
    for (let i = from, at = start; i < to; i++, at++) if (own[at] !== units[i]) return false;
    return true;
  }

  #widen(): void {
    const old = this.#slots;
    const slots = new Int32Array(2 * old.length);
    const last = slots.length - 1;
    for (let from = 0; from < old.length; from += 2) {
      if (old[from + 1] === 0) continue;
      let slot = (2 * (old[from] as number)) & last;
      while (slots[slot + 1] !== 0) slot = (slot + 2) & last;
      slots[slot] = old[from] as number;
      slots[slot + 1] = old[from + 1] as number;
    }
    this.#slots = slots;
  }
}
