// The tensors of a compact file as they are collected: matrices in few bits, sparse matrices, names.

import type { Tensor } from "../base/safetensors.ts";
import { Growable, growableBytes, growableFloats } from "../data/builders.ts";
import { rowMatrix } from "../edge/matrix.ts";
import { STEP, sparseMatrix, WIDE_GAP } from "../edge/sparse.ts";
import type { FullCompactOptions, NumberType, SparseRow, CompactWriter as Writer } from "../parts/compact.ts";
import type { RowMatrix } from "../parts/row.ts";
import { storeMatrix } from "./numbers.ts";

type Real = Float32Array | Float64Array;

/** Part of the file that is for sparse weights at least; an element takes two bytes. */
const LEAST_SHARE = 0.1;
const ELEMENT_BYTES = 2;

/** Collects the tensors of a file; those of a section have its name before theirs. */
export class CompactWriter implements Writer {
  readonly labels: readonly number[];
  readonly options: FullCompactOptions;
  readonly columns: Int32Array | undefined;
  readonly #prefix: string;

  constructor(
    { labels, options, columns }: Pick<Writer, "labels" | "options" | "columns">,
    readonly tensors: Map<string, Tensor> = new Map(),
    /** Bits of packed matrices. */
    readonly bits: Record<string, number> = {},
    prefix = "",
  ) {
    this.labels = labels;
    this.options = options;
    this.columns = columns;
    this.#prefix = prefix;
  }

  section(name: string): CompactWriter {
    return new CompactWriter(this, this.tensors, this.bits, `${this.#prefix}${name}.`);
  }

  get whole(): boolean {
    return this.options.type.startsWith("int");
  }

  tensor(name: string, tensor: Tensor): void {
    this.tensors.set(this.#prefix + name, tensor);
  }

  vector(name: string, values: ArrayLike<number>): void {
    this.tensor(name, { dtype: "F32", shape: [values.length], data: Float32Array.from(values) });
  }

  integers(name: string, data: Int32Array): void {
    this.tensor(name, { dtype: "I32", shape: [data.length], data });
  }

  doubles(name: string, data: Float64Array): void {
    this.tensor(name, { dtype: "F64", shape: [data.length], data });
  }

  bytes(name: string, data: Uint8Array): void {
    this.tensor(name, { dtype: "U8", shape: [data.length], data });
  }

  matrix(name: string, values: Real, rows: number, columns: number, type: NumberType): RowMatrix {
    const { tensor, scale, bits } = storeMatrix(values, rows, columns, type);
    this.tensor(name, tensor);
    if (scale) this.vector(`${name}.scale`, scale);
    if (bits !== undefined) this.bits[this.#prefix + name] = bits;
    return rowMatrix(tensor, columns, scale, bits ?? 0);
  }

  sparse(name: string, rows: number, columns: number, each: (row: number, write: SparseRow) => void): RowMatrix {
    const writer = new SparseWriter(this.whole);
    for (let row = 0; row < rows; row++) each(row, (...given) => writer.row(...given));
    const { gaps, values, scale } = writer.finish();
    this.bytes(`${name}.gaps`, gaps);
    const shape = [values.length];
    this.tensor(
      `${name}.values`,
      values instanceof Int8Array ? { dtype: "I8", shape, data: values } : { dtype: "F32", shape, data: values },
    );
    if (scale) this.vector(`${name}.scale`, scale);
    return sparseMatrix({ gaps, values, scale }, rows, columns, (found, expected) => {
      throw new Error(`${name}: found ${found}, expected ${expected}`);
    });
  }

  room(): number {
    if (!this.whole) return Number.POSITIVE_INFINITY;
    const bytes = 1e6 * this.options.size;
    let taken = 0;
    for (const { data } of this.tensors.values()) taken += data.byteLength;
    return Math.max(LEAST_SHARE * bytes, bytes - taken) / ELEMENT_BYTES;
  }
}

/** Rows of a sparse matrix as src/edge/sparse.ts reads them: what is left out is 0. */
export class SparseWriter {
  readonly #gaps = growableBytes();
  readonly #values: Growable<Int8Array> | Growable<Float32Array>;
  readonly #scale: number[] = [];

  /** Elements are whole numbers of eight bits with a scale for each row, or single precision. */
  constructor(private readonly whole: boolean) {
    this.#values = whole ? new Growable((size) => new Int8Array(size)) : growableFloats();
  }

  /** The next row: its columns, rising, and their values. */
  row(columns: ArrayLike<number>, values: ArrayLike<number>, count: number = columns.length): void {
    let greatest = 0;
    for (let i = 0; i < count; i++) greatest = Math.max(greatest, Math.abs(values[i]));
    const unit = this.whole ? Math.fround(greatest / 127) : 1;
    this.#scale.push(unit);
    let last = -1;
    for (let i = 0; i < count; i++) {
      const value = unit === 0 ? 0 : values[i] / unit;
      const stored = this.whole ? Math.round(value) : value;
      if (stored === 0) continue;
      let gap = columns[i] - last;
      for (; gap >= STEP; gap -= STEP - 1) this.#gap(STEP);
      this.#gap(gap);
      this.#values.push(stored);
      last = columns[i];
    }
    this.#gaps.push(0);
  }

  #gap(gap: number): void {
    if (gap >= WIDE_GAP) this.#gaps.push(WIDE_GAP + ((gap - WIDE_GAP) >> 8));
    this.#gaps.push(gap >= WIDE_GAP ? (gap - WIDE_GAP) & 255 : gap);
  }

  finish(): { gaps: Uint8Array; values: Int8Array | Float32Array; scale: Float32Array | undefined } {
    const scale = this.whole ? Float32Array.from(this.#scale) : undefined;
    return { gaps: this.#gaps.finish(), values: this.#values.finish(), scale };
  }
}
