// Matrices of which only the largest elements are kept, as src/edge/sparse.ts reads them.

import { LONGEST_GAP } from "../edge/sparse.ts";

/** Rows as they are written: what is left out is 0. */
export class SparseWriter {
  readonly #whole: boolean;
  readonly #gaps = new Growing((size) => new Uint8Array(size));
  readonly #values: Growing<Int8Array> | Growing<Float32Array>;
  readonly #scale: number[] = [];

  /** Elements are whole numbers of eight bits with a scale for each row, or single precision. */
  constructor(whole: boolean) {
    this.#whole = whole;
    this.#values = whole
      ? new Growing((size) => new Int8Array(size))
      : new Growing((size) => new Float32Array(size));
  }

  /** The next row: its columns, rising, and their values. */
  row(columns: ArrayLike<number>, values: ArrayLike<number>, count: number = columns.length): void {
    let greatest = 0;
    for (let i = 0; i < count; i++) greatest = Math.max(greatest, Math.abs(values[i] as number));
    const unit = this.#whole ? Math.fround(greatest / 127) : 1;
    this.#scale.push(unit);
    let last = -1;
    for (let i = 0; i < count; i++) {
      const value = unit === 0 ? 0 : (values[i] as number) / unit;
      const stored = this.#whole ? Math.round(value) : value;
      if (stored === 0) continue;
      let gap = (columns[i] as number) - last;
      for (; gap > LONGEST_GAP; gap -= LONGEST_GAP) this.#gaps.push(LONGEST_GAP + 1);
      this.#gaps.push(gap);
      this.#values.push(stored);
      last = columns[i] as number;
    }
    this.#gaps.push(0);
  }

  finish(): { gaps: Uint8Array; values: Int8Array | Float32Array; scale?: Float32Array } {
    const [gaps, values] = [this.#gaps.finish(), this.#values.finish()];
    return this.#whole ? { gaps, values, scale: Float32Array.from(this.#scale) } : { gaps, values };
  }
}

/** A list of numbers that is made longer as it fills. */
class Growing<A extends Uint8Array | Int8Array | Float32Array> {
  readonly #make: (size: number) => A;
  #held: A;
  #length = 0;

  constructor(make: (size: number) => A) {
    this.#make = make;
    this.#held = make(1024);
  }

  push(value: number): void {
    if (this.#length === this.#held.length) {
      const before = this.#held;
      this.#held = this.#make(2 * before.length);
      this.#held.set(before);
    }
    this.#held[this.#length++] = value;
  }

  finish(): A {
    return this.#held.slice(0, this.#length) as A;
  }
}

/** Bits of a magnitude that tell it from others: sign, exponent and the first eight of the fraction. */
const LOW_BITS = 15;

/** A magnitude that at most so many of these numbers reach, and nearly as many as there may be; 0 where all may stay. */
export function leastKept(values: Float32Array, most: number): number {
  if (values.length <= most) return 0;
  const counts = new Float64Array(1 << (31 - LOW_BITS));
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < bits.length; i++) {
    const bin = ((bits[i] as number) & 0x7fffffff) >>> LOW_BITS;
    counts[bin] = (counts[bin] as number) + 1;
  }
  let bin = counts.length - 1;
  for (let kept = 0; bin >= 0; bin--) {
    kept += counts[bin] as number;
    if (kept > most) break;
  }
  const edge = Uint32Array.of((bin + 1) << LOW_BITS);
  return new Float32Array(edge.buffer)[0] as number;
}
