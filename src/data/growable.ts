// Typed arrays that grow while a file of unknown size is read.

type Numbers = Int32Array | Float32Array | Uint8Array;

/** Entries per array: row starts are kept as int32. */
const MOST_ENTRIES = 2 ** 31 - 1;

export class Growable<A extends Numbers> {
  data: A;
  length = 0;
  readonly #make: (length: number) => A;

  constructor(make: (length: number) => A, capacity = 1024) {
    this.#make = make;
    this.data = make(capacity);
  }

  push(value: number): void {
    if (this.length === this.data.length) this.#grow();
    this.data[this.length++] = value;
  }

  /** A copy of exactly the entries written. */
  finish(): A {
    const copy = this.#make(this.length);
    copy.set(this.data.subarray(0, this.length));
    return copy;
  }

  #grow(): void {
    if (this.length >= MOST_ENTRIES) throw new RangeError(`a data set holds at most ${MOST_ENTRIES} entries`);
    const wider = this.#make(Math.min(2 * this.length + 16, MOST_ENTRIES));
    wider.set(this.data);
    this.data = wider;
  }
}

export function growableIntegers(capacity?: number): Growable<Int32Array> {
  return new Growable((length) => new Int32Array(length), capacity);
}

export function growableFloats(capacity?: number): Growable<Float32Array> {
  return new Growable((length) => new Float32Array(length), capacity);
}
