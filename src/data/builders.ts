// Rows are built entry by entry in typed arrays that grow while a file of unknown size is read, and a row can be given up halfway:
// that is how broken rows are skipped. A data set takes these arrays as they are.

import { ArgumentError } from "../base/errors.ts";
import type { LabelSets, SparseRows } from "../base/sparse.ts";

type Numbers = Int32Array | Float32Array | Uint8Array | Int8Array;

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
    if (this.length >= MOST_ENTRIES)
      throw new ArgumentError("data", `found more than ${MOST_ENTRIES} entries, expected fewer`);
    this.#widen(Math.min(2 * this.length + 16, MOST_ENTRIES));
  }

  #widen(capacity: number): void {
    const wider = this.#make(capacity);
    wider.set(this.data.subarray(0, this.length));
    this.data = wider;
  }
}

export const growableBytes = (): Growable<Uint8Array> => new Growable((length) => new Uint8Array(length));
export const growableIntegers = (): Growable<Int32Array> => new Growable((length) => new Int32Array(length));
export const growableFloats = (): Growable<Float32Array> => new Growable((length) => new Float32Array(length));

/** The entries of one row, columns rising. */
export interface RowEntries {
  readonly columnIndex: Int32Array;
  readonly values: Float32Array;
}

/** True when data[from..to) rises strictly. */
function rises(data: Int32Array, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i++) if (data[i] <= data[i - 1]) return false;
  return true;
}

class IdRows {
  protected readonly rowStart: Growable<Int32Array> = growableIntegers();
  protected readonly ids: Growable<Int32Array> = growableIntegers();
  protected start = 0; // of the row being built
  protected largest = -1; // id of the finished rows

  constructor() {
    this.rowStart.push(0);
  }

  get rows(): number {
    return this.rowStart.length - 1;
  }

  get pending(): number {
    return this.ids.length - this.start;
  }

  expect(times: number): void {
    this.rowStart.expect(times);
    this.ids.expect(times);
  }

  abandonRow(): void {
    this.ids.length = this.start;
  }

  /** The row being built, whose ids rise, is complete. */
  protected closeRow(): void {
    const { data, length } = this.ids;
    if (length > this.start) this.largest = Math.max(this.largest, data[length - 1]);
    this.start = length;
    this.rowStart.push(length);
  }
}

export class SparseRowsBuilder extends IdRows {
  readonly #values: Growable<Float32Array> = growableFloats();
  #order: Float64Array = new Float64Array(0); // room to sort a row in

  add(column: number, value: number): void {
    this.ids.push(column);
    this.#values.push(value);
  }

  /** Ends the row: sorts it when it is not sorted, leaves out zeros. Returns a column that came twice, or -1. */
  endRow(check?: (row: RowEntries) => void): number {
    const duplicate = rises(this.ids.data, this.start, this.ids.length) ? -1 : this.#sortRow();
    if (duplicate >= 0) return duplicate;
    const last = this.pending > 0 ? this.ids.data[this.ids.length - 1] : -1; // it may be a zero
    this.#dropZeros();
    const [from, to] = [this.start, this.ids.length];
    check?.({ columnIndex: this.ids.data.subarray(from, to), values: this.#values.data.subarray(from, to) });
    this.largest = Math.max(this.largest, last);
    this.closeRow();
    return -1;
  }

  override expect(times: number): void {
    super.expect(times);
    this.#values.expect(times);
  }

  override abandonRow(): void {
    super.abandonRow();
    this.#values.length = this.start;
  }

  /** Without `columns` there are as many as the largest id says. */
  build(columns: number = this.largest + 1): SparseRows {
    return {
      rows: this.rows,
      columns,
      rowStart: this.rowStart.finish(),
      columnIndex: this.ids.finish(),
      values: this.#values.finish(),
    };
  }

  /** Sorts by numbers that hold a column and its place, which takes no comparisons in JavaScript. */
  #sortRow(): number {
    const [start, length, columns] = [this.start, this.pending, this.ids.data];
    if (this.#order.length < length) this.#order = new Float64Array(2 * length);
    const order = this.#order.subarray(0, length);
    for (let i = 0; i < length; i++) order[i] = columns[start + i] * length + i;
    order.sort();
    const values = this.#values.data.slice(start, start + length);
    for (let i = 0; i < length; i++) {
      const pair = order[i];
      const column = Math.floor(pair / length);
      if (i > 0 && column === columns[start + i - 1]) return column;
      columns[start + i] = column;
      this.#values.data[start + i] = values[pair - column * length];
    }
    return -1;
  }

  #dropZeros(): void {
    const [columns, values] = [this.ids.data, this.#values.data];
    let to = this.start;
    for (let i = this.start; i < this.ids.length; i++) {
      if (values[i] === 0) continue;
      columns[to] = columns[i];
      values[to++] = values[i];
    }
    this.ids.length = to;
    this.#values.length = to;
  }
}

export class LabelSetsBuilder extends IdRows {
  add(label: number): void {
    this.ids.push(label);
  }

  /** Ends the row: sorted, and a label given twice counts once, because labels are a set. */
  endRow(): void {
    const { data, length } = this.ids;
    if (!rises(data, this.start, length)) {
      data.subarray(this.start, length).sort();
      let to = this.start + 1;
      for (let i = to; i < length; i++) if (data[i] !== data[to - 1]) data[to++] = data[i];
      this.ids.length = to;
    }
    this.closeRow();
  }

  /** Without `labels` there are as many as the largest id says. */
  build(labels: number = this.largest + 1): LabelSets {
    return { rows: this.rows, labels, rowStart: this.rowStart.finish(), labelIndex: this.ids.finish() };
  }
}
