// A matrix that stays as it lies in the file; its rows are decoded as they are added up.

import type { Tensor } from "../io/safetensors.ts";
import { fromHalf } from "./half.ts";

export interface RowMatrix {
  readonly rows: number;
  readonly columns: number;
  /** into[i] += factor times element i of the row. */
  add(row: number, factor: number, into: Float64Array): void;
}

/** The matrix a checked tensor holds; `scale` for whole numbers, `bits` where they are packed. */
export function rowMatrix(
  tensor: Tensor,
  columns: number,
  scale: Float32Array | undefined,
  bits: number,
): RowMatrix {
  const rows = tensor.shape[0] as number;
  const data = tensor.data as Float32Array | Uint16Array | Int8Array | Uint8Array;
  if (tensor.dtype === "U8")
    return packedMatrix(data as Uint8Array, rows, columns, scale as Float32Array, bits);
  // One closure for each type, so that an engine sees a single kind of array in its loop: five times as fast.
  if (tensor.dtype === "F32") {
    const numbers = data as Float32Array;
    return {
      rows,
      columns,
      add(row, factor, into) {
        const base = row * columns;
        for (let i = 0; i < columns; i++)
          into[i] = (into[i] as number) + factor * (numbers[base + i] as number);
      },
    };
  }
  if (tensor.dtype === "F16") {
    const halves = data as Uint16Array;
    return {
      rows,
      columns,
      add(row, factor, into) {
        const base = row * columns;
        for (let i = 0; i < columns; i++)
          into[i] = (into[i] as number) + factor * fromHalf(halves[base + i] as number);
      },
    };
  }
  const whole = data as Int8Array;
  const scales = scale as Float32Array;
  return {
    rows,
    columns,
    add(row, factor, into) {
      const base = row * columns;
      const scaled = factor * (scales[row] as number);
      for (let i = 0; i < columns; i++) into[i] = (into[i] as number) + scaled * (whole[base + i] as number);
    },
  };
}

/** Bytes of a row of packed numbers. */
export function packedBytes(columns: number, bits: number): number {
  return Math.ceil((columns * bits) / 8);
}

function packedMatrix(
  data: Uint8Array,
  rows: number,
  columns: number,
  scale: Float32Array,
  bits: number,
): RowMatrix {
  const bytes = packedBytes(columns, bits);
  const mask = (1 << bits) - 1;
  const zero = 1 << (bits - 1);
  return {
    rows,
    columns,
    add(row, factor, into) {
      const scaled = factor * (scale[row] as number);
      let at = row * bytes;
      let held = 0;
      let count = 0;
      for (let i = 0; i < columns; i++) {
        if (count < bits) {
          held |= (data[at++] as number) << count;
          count += 8;
        }
        into[i] = (into[i] as number) + scaled * ((held & mask) - zero);
        held >>= bits;
        count -= bits;
      }
    },
  };
}
