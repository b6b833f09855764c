// The tensors of a compact file as they are collected.

import { rowMatrix } from "../edge/matrix.ts";
import type { Tensor } from "../io/safetensors.ts";
import { storeMatrix } from "./numbers.ts";
import type { NumberType } from "./options.ts";
import type { SparseWriter } from "./sparse.ts";

type Real = Float32Array | Float64Array;

/** Collects the tensors of a file. */
export class Parcel {
  readonly tensors: Map<string, Tensor> = new Map();
  readonly bits: Record<string, number> = {};

  matrix(name: string, values: Real, rows: number, columns: number, type: NumberType): void {
    const { tensor, scale, bits } = storeMatrix(values, rows, columns, type);
    this.tensors.set(name, tensor);
    if (scale) this.reals(`${name}.scale`, scale);
    if (bits !== undefined) this.bits[name] = bits;
  }

  /** Own variances that make up for what few bits did to the cover: a text of one word stays as it was. */
  corrected(own: Real, cover: Real, rows: Int32Array | undefined, rank: number): Float64Array {
    const stored = this.tensors.get("cover") as Tensor;
    const scale = this.tensors.get("cover.scale")?.data as Float32Array | undefined;
    const decoded = rowMatrix(stored, rank, scale, this.bits.cover ?? 0);
    const squareOf = (row: ArrayLike<number>): number =>
      Array.from(row).reduce((sum, value) => sum + value * value, 0);
    const corrected = Float64Array.from(
      own,
      (value, feature) => value - squareOf(cover.subarray(feature * rank, (feature + 1) * rank)),
    );
    for (let row = 0; row < decoded.rows; row++) {
      const elements = new Float64Array(rank);
      decoded.add([row], [1], 1, elements);
      const feature = rows ? (rows[row] as number) : row;
      corrected[feature] = (corrected[feature] as number) + squareOf(elements);
    }
    return corrected;
  }

  reals(name: string, values: Real): void {
    this.tensors.set(name, { dtype: "F32", shape: [values.length], data: Float32Array.from(values) });
  }

  integers(name: string, data: Int32Array): void {
    this.tensors.set(name, { dtype: "I32", shape: [data.length], data });
  }

  bytes(name: string, data: Uint8Array): void {
    this.tensors.set(name, { dtype: "U8", shape: [data.length], data });
  }

  /** A matrix of which only some elements are there. */
  sparse(name: string, { gaps, values, scale }: ReturnType<SparseWriter["finish"]>): void {
    this.bytes(`${name}.gaps`, gaps);
    const shape = [values.length];
    this.tensors.set(
      `${name}.values`,
      values instanceof Int8Array
        ? { dtype: "I8", shape, data: values }
        : { dtype: "F32", shape, data: values },
    );
    if (scale) this.reals(`${name}.scale`, scale);
  }

  /** Bytes of all tensors so far. */
  get size(): number {
    return [...this.tensors.values()].reduce((sum, { data }) => sum + data.byteLength, 0);
  }
}
