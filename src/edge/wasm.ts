// The module of mlgpf/edge, loaded where the caller gives it: the memory of an instance, laid out once and by the caller, and sparse
// matrices in it. They give the same bits as plain TypeScript.

import type { RowMatrix } from "../parts/row.ts";
import { SHORT_COLUMNS, type SparseBytes } from "./sparse.ts";

const PAGE = 65536;

export class WasmMemory<Kernels> {
  readonly kernels: Kernels & { memory: WebAssembly.Memory; heapBase(): number };
  #next: number;

  constructor(module: WebAssembly.Module) {
    this.kernels = new WebAssembly.Instance(module, {}).exports as unknown as WasmMemory<Kernels>["kernels"];
    this.#next = this.kernels.heapBase();
  }

  reserve(bytes: number): number {
    const address = this.#next;
    this.#next = Math.ceil((address + bytes) / 16) * 16;
    return address;
  }

  /** The memory, with all that was reserved in it. */
  grown(): ArrayBuffer {
    const { memory } = this.kernels;
    const missing = Math.ceil((this.#next - memory.buffer.byteLength) / PAGE);
    if (missing > 0) memory.grow(missing);
    return memory.buffer as ArrayBuffer; // shared in no module of the edge
  }
}

/** Exports of assembly/edge/sparse.ts: they take the addresses and sizes that they name there. */
type SparseKernels = Record<"addSparse" | "addDense" | "unpack", (...numbers: number[]) => number>;

/** Elements of a row that are worked on together where zeros are stored too. */
const LANES = 8;
/** A number takes three bytes with its column: where more than so many of the elements are there, zeros take less. */
const DENSE = 1 / 3;

/** The matrix in the module's memory; undefined where it has no kernel for it, or its bytes are wrong. */
export function wasmSparse(
  { gaps, values, scale }: SparseBytes,
  rows: number,
  columns: number,
  module: WebAssembly.Module,
): RowMatrix | undefined {
  if (!(values instanceof Int8Array) || !scale || columns > SHORT_COLUMNS || rows > gaps.length) return undefined;
  const memory = new WasmMemory<SparseKernels>(module);
  const { kernels } = memory;
  const width = Math.ceil(columns / LANES) * LANES;
  const dense = values.length > DENSE * rows * width;
  const [rowsAt, factorsAt] = [memory.reserve(4 * rows), memory.reserve(8 * rows)];
  const [scaleAt, intoAt] = [memory.reserve(4 * rows), memory.reserve(8 * width)];
  const valuesAt = memory.reserve(dense ? rows * width : values.length);
  const [startsAt, columnsAt] = dense ? [0, 0] : [memory.reserve(4 * (rows + 1)), memory.reserve(2 * values.length)];
  // Bytes that are needed once.
  const [gapsAt, numbersAt] = [memory.reserve(gaps.length), dense ? memory.reserve(values.length) : valuesAt];
  const buffer = memory.grown();
  new Float32Array(buffer, scaleAt, rows).set(scale);
  new Uint8Array(buffer, gapsAt, gaps.length).set(gaps);
  new Int8Array(buffer, numbersAt, values.length).set(values);
  const numbers = [numbersAt, values.length, dense ? width : 0, startsAt, dense ? valuesAt : columnsAt];
  if (!kernels.unpack(gapsAt, gaps.length, rows, columns, ...numbers)) return undefined;
  const [held, times] = [new Int32Array(buffer, rowsAt, rows), new Float64Array(buffer, factorsAt, rows)];
  const sums = new Float64Array(buffer, intoAt, columns);
  return {
    rows,
    columns,
    add(which, factors, count, into) {
      for (let e = 0; e < count; e++) {
        held[e] = which[e];
        times[e] = factors[e];
      }
      sums.set(into);
      if (dense) kernels.addDense(count, rowsAt, factorsAt, width, scaleAt, valuesAt, intoAt);
      else kernels.addSparse(count, rowsAt, factorsAt, startsAt, scaleAt, columnsAt, valuesAt, intoAt);
      into.set(sums);
    },
  };
}
