// Matrices in the memory of a core: row-major, single or double precision, freed by whoever made them.

import { oneOf, sameSize, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import type { PrecisionKernels } from "../generated/kernels.ts";
import { Core, type Precision } from "./core.ts";

/** Elements of a matrix outside the core's memory. */
export type RealArray = Float32Array | Float64Array;

/** Sum from the first to the last element, in double precision. */
export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}

/** Bytes of an element. */
export const BYTES: Record<Precision, number> = { f32: 4, f64: 8 };
const ARRAYS = { f32: Float32Array, f64: Float64Array } as const;

/** A block of the arena; views share it with the matrix they look into. */
class Storage {
  readonly address: number;
  released = false;
  constructor(
    readonly core: Core,
    bytes: number,
    what: string,
  ) {
    if (!(core instanceof Core))
      throw new ArgumentError("core", "found something else, expected a core that createCore() made");
    if (core.disposed) throw new ArgumentError("core", "found one that was disposed of, expected a live one");
    this.address = core.arena.cleared(bytes, what);
  }

  release(): void {
    if (this.released) return;
    this.released = true;
    this.core.arena.release(this.address);
  }

  checkLive(argument: string): void {
    if (this.released) throw new ArgumentError(argument, "found one that was freed, expected a live one");
    if (this.core.disposed)
      throw new ArgumentError(argument, "found one of a core that was disposed of, expected a live one");
  }
}

/** A matrix in the memory of a core, or a view into one. */
export class Matrix {
  /** Use `matrix()` and the methods below. */
  constructor(
    private readonly storage: Storage,
    readonly precision: Precision,
    readonly rows: number,
    readonly columns: number,

    /** Elements from one row to the next. */
    readonly stride: number,
    private readonly offset: number,
    private readonly owner: boolean,
  ) {}

  get core(): Core {
    return this.storage.core;
  }

  /** The kernels of its precision. */
  get kernels(): PrecisionKernels {
    return this.core.kernels[this.precision];
  }

  /** Byte address of the first element. */
  get address(): number {
    this.storage.checkLive("matrix");
    return this.storage.address + this.offset;
  }

  /** Address and stride, as kernels take a matrix. */
  get strided(): [address: number, stride: number] {
    return [this.address, this.stride];
  }

  get contiguous(): boolean {
    return this.stride === this.columns || this.rows <= 1;
  }

  /** Rows `from` to `to` (exclusive) as a view of the same memory. */
  rowRange(from: number, to: number): Matrix {
    return this.block(from, 0, to - from, this.columns);
  }

  /** A rectangle as a view of the same memory. */
  block(row: number, column: number, rows: number, columns: number): Matrix {
    wholeNumber("row", row, 0, this.rows);
    wholeNumber("column", column, 0, this.columns);
    wholeNumber("rows", rows, 0, this.rows - row);
    wholeNumber("columns", columns, 0, this.columns - column);
    const offset = this.offset + (row * this.stride + column) * BYTES[this.precision];
    return new Matrix(this.storage, this.precision, rows, columns, this.stride, offset, false);
  }

  /** The same elements, row by row, in another shape. */
  reshape(rows: number, columns: number): Matrix {
    this.#checkContiguous();
    const elements = wholeNumber("rows", rows, 0) * wholeNumber("columns", columns, 0);
    sameSize("rows x columns", "elements", elements, this.rows * this.columns);
    return new Matrix(this.storage, this.precision, rows, columns, columns, this.offset, false);
  }

  /** The elements in place, for a contiguous matrix. Memory may move when it grows: use it before allocating again. */
  view(): RealArray {
    this.#checkContiguous();
    return this.#window(0, this.rows * this.columns);
  }

  /** A copy of the elements, row by row. */
  toArray(): RealArray {
    const out = new ARRAYS[this.precision](this.rows * this.columns);
    for (let i = 0; i < this.rows; i++) out.set(this.#window(i * this.stride, this.columns), i * this.columns);
    return out;
  }

  /** Copies the elements in, row by row. */
  set(values: ArrayLike<number>): this {
    sameSize("values", "elements", values.length, this.rows * this.columns);
    if (this.contiguous) this.view().set(values);
    else {
      for (let i = 0; i < this.rows; i++) {
        const row = Array.prototype.slice.call(values, i * this.columns, (i + 1) * this.columns) as number[];
        this.#window(i * this.stride, this.columns).set(row);
      }
    }
    return this;
  }

  /** Gives the memory back. Views end with the matrix they look into. */
  free(): void {
    if (!this.owner) throw new ArgumentError("matrix", "found a view, expected the matrix that it looks into");
    this.storage.release();
  }

  [Symbol.dispose](): void {
    if (this.owner) this.free();
  }

  /** Writing to this matrix could change the other one. */
  overlaps(other: Matrix): boolean {
    if (this.storage !== other.storage || this.rows * this.columns * other.rows * other.columns === 0) return false;
    const size = BYTES[this.precision];
    const [first, second] = this.offset <= other.offset ? [this, other] : [other, this];
    const distance = (second.offset - first.offset) / size;
    if (distance > (first.rows - 1) * first.stride + first.columns - 1) return false;
    if (first.stride !== second.stride) return true;
    const row = Math.floor(distance / first.stride);
    const column = distance % first.stride;
    const sameColumns = column < first.columns || column + second.columns > first.stride;
    return row < first.rows && sameColumns;
  }

  #window(from: number, length: number): RealArray {
    const address = this.address + from * BYTES[this.precision];
    const { buffer } = this.core.memory;
    return this.precision === "f64"
      ? new Float64Array(buffer, address, length)
      : new Float32Array(buffer, address, length);
  }

  #checkContiguous(): void {
    if (!this.contiguous)
      throw new ArgumentError("matrix", "found rows with gaps between them, expected a contiguous matrix");
  }
}

/** A new matrix of zeros. */
export function matrix(core: Core, rows: number, columns: number, precision: Precision = "f32"): Matrix {
  wholeNumber("rows", rows, 0);
  wholeNumber("columns", columns, 0);
  const bytes = rows * columns * BYTES[oneOf("precision", precision, ["f32", "f64"])];
  const storage = new Storage(core, bytes, `a ${rows} x ${columns} matrix of ${precision}`);
  return new Matrix(storage, precision, rows, columns, columns, 0, true);
}

/** A new matrix with the given elements, row by row. */
export function matrixFrom(
  core: Core,
  rows: number,
  columns: number,
  values: ArrayLike<number>,
  precision: Precision = "f32",
): Matrix {
  const elements = wholeNumber("rows", rows, 0) * wholeNumber("columns", columns, 0);
  sameSize("values", "elements", values.length, elements);
  return matrix(core, rows, columns, precision).set(values);
}

/** Whole numbers in the memory of a core: row numbers, label ids, statuses. */
export class Integers {
  readonly length: number;
  readonly #storage: Storage;

  constructor(core: Core, length: number) {
    this.length = wholeNumber("length", length, 0);
    this.#storage = new Storage(core, length * 4, `${length} whole numbers`);
  }

  get core(): Core {
    return this.#storage.core;
  }

  get address(): number {
    this.#storage.checkLive("integers");
    return this.#storage.address;
  }

  view(): Int32Array {
    return new Int32Array(this.core.memory.buffer, this.address, this.length);
  }

  toArray(): Int32Array<ArrayBuffer> {
    return new Int32Array(this.view());
  }

  set(values: ArrayLike<number>): this {
    sameSize("values", "elements", values.length, this.length);
    this.view().set(values);
    return this;
  }

  free(): void {
    this.#storage.release();
  }

  [Symbol.dispose](): void {
    this.free();
  }
}

/** New whole numbers: that many zeros, or the given ones. */
export function integers(core: Core, values: number | ArrayLike<number>): Integers {
  return typeof values === "number" ? new Integers(core, values) : new Integers(core, values.length).set(values);
}

/** Addresses as kernels take them: 0 for what is not there. */
export function addresses<T extends readonly ({ readonly address: number } | undefined)[]>(
  ...held: T
): { [Index in keyof T]: number } {
  return held.map((each) => each?.address ?? 0) as { [Index in keyof T]: number };
}

interface Freeable {
  free(): void;
}

/** Frees what it was given when the work is done, whether it succeeded or not. */
export class Scope {
  readonly #items: Freeable[] = [];

  keep<T extends Freeable>(item: T): T {
    this.#items.push(item);
    return item;
  }

  free(): void {
    for (const item of this.#items.splice(0)) item.free();
  }
}

/** Runs `work` and frees everything it put into its scope where that fails; else what it returns says who does. */
export function keeping<T>(work: (scope: Scope) => T): T {
  const scope = new Scope();
  const failed = (error: unknown): never => {
    scope.free();
    throw error;
  };
  try {
    const result = work(scope);
    return result instanceof Promise ? (result.catch(failed) as T) : result;
  } catch (error) {
    return failed(error);
  }
}

/** Runs `work` and then frees everything it put into its scope. */
export function scoped<T>(work: (scope: Scope) => T): T {
  const scope = new Scope();
  let result: T;
  try {
    result = work(scope);
  } catch (error) {
    scope.free();
    throw error;
  }
  if (result instanceof Promise) return result.finally(() => scope.free()) as T;
  scope.free();
  return result;
}
