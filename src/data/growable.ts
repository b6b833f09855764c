// Typed arrays that grow while a file of unknown size is read.

type Numbers = Int32Array | Float32Array | Uint8Array;

/** Entries per array: row starts are kept as int32. */
const MOST_ENTRIES = 2 ** 31 - 1;

/** So that a good guess is not just too small. */
const MARGIN = 1.03;

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

  /** Makes room for about so many times as many entries as there are now. */
  expect(times: number): void {
    const capacity = Math.min(Math.ceil(this.length * times * MARGIN), MOST_ENTRIES);
    if (capacity <= this.data.length) return;
    try {
      this.#widen(capacity);
    } catch {
      // Too much for this machine: the guess was wrong, or growing will say so when it comes to it.
    }
  }

  /** The entries written: a part of the array where most of it is used, else a copy. Nothing is added afterwards. */
  finish(): A {
    const { data, length } = this;
    return (4 * length >= 3 * data.length ? data.subarray(0, length) : data.slice(0, length)) as A;
  }

  #grow(): void {
    if (this.length >= MOST_ENTRIES) throw new RangeError(`a data set holds at most ${MOST_ENTRIES} entries`);
    this.#widen(Math.min(2 * this.length + 16, MOST_ENTRIES));
  }

  #widen(capacity: number): void {
    const wider = this.#make(capacity);
    wider.set(this.data.subarray(0, this.length));
    this.data = wider;
  }
}

export function growableIntegers(capacity?: number): Growable<Int32Array> {
  return new Growable((length) => new Int32Array(length), capacity);
}

export function growableFloats(capacity?: number): Growable<Float32Array> {
  return new Growable((length) => new Float32Array(length), capacity);
}
