// Reads the tensors of a compact file, each checked as it is taken: type, shape, and how large its numbers are, so that no sum over
// them ever overflows: a model that loads gives no NaN for a finite input.
//
// Double precision ends at 1.8e308. A row has at most 2^31 values of at most 3.4e38, hyper-parameters lie below 1e36, and
// with numbers up to 1e18 the largest there is, |k(x,Z) cholInverse|^2, stays below 1e270. The label layer goes on in single
// precision, which ends at 3.4e38: means up to 1e30 times a label's weights of at most 1e7 together, rounding included.

import type { Tensor, TensorFile } from "../base/safetensors.ts";
import { type Fields, TensorReader } from "../base/tensors.ts";
import type { RowMatrix, RowReader, StoredMatrix } from "../parts/row.ts";
import { allHalvesFinite, packedBytes, rowMatrix } from "./matrix.ts";
import { sparseMatrix } from "./sparse.ts";
import type { wasmSparse } from "./wasm.ts";

/** Largest number in the file but those named below. */
export const LARGEST_NUMBER = 1e18;
/** Largest squared length. */
const LARGEST_SQUARE = 1e36;

/** Common to all sections of a file. */
export interface FileContext {
  readonly size: number;
  /** Bits of packed matrices, and which of them were asked for. */
  readonly bits: Fields;
  readonly packed: Set<string>;
  /** The module that the caller gave, and its sparse matrices. */
  readonly wasm: WebAssembly.Module | undefined;
  readonly wasmSparse: typeof wasmSparse | undefined;
}

type Matrices = "F32" | "F16" | "I8" | "U8";
const REALS_OR_BYTES: readonly Matrices[] = ["F32", "F16", "I8"];
type MatrixTensor = Extract<Tensor, { dtype: Matrices }>;

export class CompactReader extends TensorReader implements RowReader {
  readonly #context: FileContext;

  constructor(whole: TensorFile, file: string, context: FileContext, prefix?: string, taken?: Set<string>) {
    super(whole, file, prefix, taken);
    this.#context = context;
  }

  get wasm(): WebAssembly.Module | undefined {
    return this.#context.wasm;
  }

  override section(name: string): CompactReader {
    return new CompactReader(this.whole, this.file, this.#context, `${this.prefix}${name}.`, this.taken);
  }

  override checkAllTaken(): void {
    super.checkAllTaken();
    const { bits, packed } = this.#context;
    const other = Object.keys(bits).find((name) => !packed.has(name));
    if (other !== undefined) this.refuse(`bits of ${other.slice(0, 60)}`, "those of a packed matrix");
  }

  bytes(name: string): Uint8Array {
    return this.tensor(name, ["U8"], [-1]).data;
  }

  vector(name: string, size: number, most: number = LARGEST_NUMBER): Float32Array {
    return this.within(name, this.tensor(name, ["F32"], [size]).data, -most, most);
  }

  squares(name: string, size: number): Float32Array {
    return this.vector(name, size, LARGEST_SQUARE);
  }

  /** Scales of the rows of whole numbers. */
  #scale(name: string, dtype: Matrices, rows: number): Float32Array | undefined {
    return dtype === "I8" || dtype === "U8" ? this.vector(`${name}.scale`, rows) : undefined;
  }

  /** A matrix as it is stored, `width` elements a row; a size of packed numbers could be several times its bytes. */
  #checked(name: string, types: readonly Matrices[], rows: number, columns: number, width = columns): MatrixTensor {
    if (columns > this.#context.size) this.refuse(`${columns} columns of ${name}`, "as many as there are");
    const tensor = this.tensor(name, types, [rows, width]) as MatrixTensor;
    if (tensor.dtype === "F32") this.within(name, tensor.data, -LARGEST_NUMBER, LARGEST_NUMBER);
    if (tensor.dtype === "F16" && !allHalvesFinite(tensor.data))
      this.refuse(`a number in ${name} that is not finite`, "finite numbers");
    return tensor;
  }

  matrix(name: string, rows: number, columns: number): RowMatrix {
    const full = this.prefix + name;
    const { bits, packed } = this.#context;
    packed.add(full);
    const width = Object.hasOwn(bits, full) ? this.integer(bits, full, 2, 8) : 0;
    const tensor = width
      ? this.#checked(name, ["U8"], rows, columns, packedBytes(columns, width))
      : this.#checked(name, REALS_OR_BYTES, rows, columns);
    return rowMatrix(tensor, columns, this.#scale(name, tensor.dtype, rows), width);
  }

  sparse(name: string, rows: number, columns: number): RowMatrix {
    const gaps = this.bytes(`${name}.gaps`);
    const [count] = this.shape(`${name}.values`, 1);
    const { dtype, data } = this.tensor(`${name}.values`, ["F32", "I8"], [count]);
    if (dtype === "F32") this.within(`${name}.values`, data, -LARGEST_NUMBER, LARGEST_NUMBER);
    const bytes = { gaps, values: data, scale: this.#scale(name, dtype, rows) };
    const { wasm, wasmSparse } = this.#context;
    const inWasm = wasm && wasmSparse?.(bytes, rows, columns, wasm);
    return (
      inWasm ??
      sparseMatrix(bytes, rows, columns, (found, expected) =>
        this.refuse(`${found} in ${this.prefix}${name}`, expected),
      )
    );
  }

  stored(name: string, rows: number, columns: number): StoredMatrix {
    const tensor = this.#checked(name, REALS_OR_BYTES, rows, columns);
    const { dtype, data } = tensor;
    const scale = this.#scale(name, dtype, rows);
    return { matrix: rowMatrix(tensor, columns, scale, 0), dtype, data, scale };
  }
}
