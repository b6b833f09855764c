// Rows are built entry by entry, and a row can be given up halfway: that is how broken rows are skipped.

import { type Growable, growableFloats, growableIntegers } from "./growable.ts";
import type { LabelSets, SparseRows } from "./rows.ts";

/** True when data[from..to) rises strictly. */
function rises(data: Int32Array, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i++) if ((data[i] as number) <= (data[i - 1] as number)) return false;
  return true;
}

export class SparseRowsBuilder {
  #rowStart: Growable<Int32Array> = growableIntegers();
  #columnIndex: Growable<Int32Array> = growableIntegers();
  #values: Growable<Float32Array> = growableFloats();
  #start = 0; // of the row being built
  #mostColumn = -1;
  #order: Float64Array = new Float64Array(0); // room to sort a row in

  constructor() {
    this.#rowStart.push(0);
  }

  /** Finished rows. */
  get rows(): number {
    return this.#rowStart.length - 1;
  }

  /** One more than the largest column of the finished rows. */
  get columns(): number {
    return this.#mostColumn + 1;
  }

  /** Entries of the row being built. */
  get pending(): number {
    return this.#columnIndex.length - this.#start;
  }

  /** Makes room for about so many times as many rows as there are now. */
  expect(times: number): void {
    for (const each of [this.#rowStart, this.#columnIndex, this.#values]) each.expect(times);
  }

  add(column: number, value: number): void {
    this.#columnIndex.push(column);
    this.#values.push(value);
  }

  /**
   * Ends the row: sorts it when it is not sorted, leaves out zeros. Returns a column that came twice, or -1.
   */
  endRow(): number {
    const end = this.#columnIndex.length;
    if (!rises(this.#columnIndex.data, this.#start, end)) {
      const duplicate = this.#sortRow(end);
      if (duplicate >= 0) return duplicate;
    }
    if (end > this.#start) {
      this.#mostColumn = Math.max(this.#mostColumn, this.#columnIndex.data[end - 1] as number);
    }
    this.#dropZeros(end);
    this.#start = this.#columnIndex.length;
    this.#rowStart.push(this.#start);
    return -1;
  }

  /** Gives up the row being built. */
  abandonRow(): void {
    this.#columnIndex.length = this.#start;
    this.#values.length = this.#start;
  }

  build(columns: number = this.columns): SparseRows {
    return {
      rows: this.rows,
      columns,
      rowStart: this.#rowStart.finish(),
      columnIndex: this.#columnIndex.finish(),
      values: this.#values.finish(),
    };
  }

  /** Sorts by numbers that hold a column and its place, which takes no comparisons in JavaScript. */
  #sortRow(end: number): number {
    const [start, columns] = [this.#start, this.#columnIndex.data];
    const length = end - start;
    if (this.#order.length < length) this.#order = new Float64Array(2 * length);
    const order = this.#order.subarray(0, length);
    for (let i = 0; i < length; i++) order[i] = (columns[start + i] as number) * length + i;
    order.sort();
    const values = this.#values.data.slice(start, end);
    for (let i = 0; i < length; i++) {
      const pair = order[i] as number;
      const column = Math.floor(pair / length);
      if (i > 0 && column === columns[start + i - 1]) return column;
      columns[start + i] = column;
      this.#values.data[start + i] = values[pair - column * length] as number;
    }
    return -1;
  }

  #dropZeros(end: number): void {
    const columns = this.#columnIndex.data;
    const values = this.#values.data;
    let to = this.#start;
    for (let i = this.#start; i < end; i++) {
      if (values[i] === 0) continue;
      columns[to] = columns[i] as number;
      values[to++] = values[i] as number;
    }
    this.#columnIndex.length = to;
    this.#values.length = to;
  }
}

export class LabelSetsBuilder {
  #rowStart: Growable<Int32Array> = growableIntegers();
  #labelIndex: Growable<Int32Array> = growableIntegers();
  #start = 0;
  #mostLabel = -1;

  constructor() {
    this.#rowStart.push(0);
  }

  get rows(): number {
    return this.#rowStart.length - 1;
  }

  /** One more than the largest label id of the finished rows. */
  get labels(): number {
    return this.#mostLabel + 1;
  }

  get pending(): number {
    return this.#labelIndex.length - this.#start;
  }

  /** Makes room for about so many times as many rows as there are now. */
  expect(times: number): void {
    for (const each of [this.#rowStart, this.#labelIndex]) each.expect(times);
  }

  add(label: number): void {
    this.#labelIndex.push(label);
  }

  /** Ends the row: sorted, and a label given twice counts once, because labels are a set. */
  endRow(): void {
    const data = this.#labelIndex.data;
    const end = this.#labelIndex.length;
    if (!rises(data, this.#start, end)) {
      data.subarray(this.#start, end).sort();
      let to = this.#start + 1;
      for (let i = to; i < end; i++) if (data[i] !== data[to - 1]) data[to++] = data[i] as number;
      this.#labelIndex.length = to;
    }
    if (end > this.#start) {
      this.#mostLabel = Math.max(this.#mostLabel, data[this.#labelIndex.length - 1] as number);
    }
    this.#start = this.#labelIndex.length;
    this.#rowStart.push(this.#start);
  }

  abandonRow(): void {
    this.#labelIndex.length = this.#start;
  }

  build(labels: number = this.labels): LabelSets {
    return {
      rows: this.rows,
      labels,
      rowStart: this.#rowStart.finish(),
      labelIndex: this.#labelIndex.finish(),
    };
  }
}
