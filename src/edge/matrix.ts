// A matrix that stays as it lies in the file; its rows are decoded as they are added up.

import type { Tensor } from "../io/safetensors.ts";
import { fromHalf } from "./half.ts";

/** A sparse row, columns rising, as the model wants it: weighted and scaled. */
export interface Row {
  readonly columns: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

export interface RowMatrix {
  readonly rows: number;
  readonly columns: number;
  /** into[i] += factor times element i of the row, for the first `count` rows and their factors, one after another. */
  add(rows: ArrayLike<number>, factors: ArrayLike<number>, count: number, into: Float64Array): void;
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
  // One closure for each type, so that an engine sees a single kind of array in its loop.
  if (tensor.dtype === "F32") {
    const numbers = data as Float32Array;
    return {
      rows,
      columns,
      // Four rows go together: the sums are read and written a quarter as often, in the same order.
      add(which, factors, count, into) {
        let e = 0;
        for (; e + 4 <= count; e += 4) {
          const a = (which[e] as number) * columns;
          const b = (which[e + 1] as number) * columns;
          const c = (which[e + 2] as number) * columns;
          const d = (which[e + 3] as number) * columns;
          const fa = factors[e] as number;
          const fb = factors[e + 1] as number;
          const fc = factors[e + 2] as number;
          const fd = factors[e + 3] as number;
          for (let i = 0; i < columns; i++)
            into[i] =
              (into[i] as number) +
              fa * (numbers[a + i] as number) +
              fb * (numbers[b + i] as number) +
              fc * (numbers[c + i] as number) +
              fd * (numbers[d + i] as number);
        }
        for (; e < count; e++) {
          const base = (which[e] as number) * columns;
          const factor = factors[e] as number;
          for (let i = 0; i < columns; i++)
            into[i] = (into[i] as number) + factor * (numbers[base + i] as number);
        }
      },
    };
  }
  if (tensor.dtype === "F16") {
    const halves = data as Uint16Array;
    return {
      rows,
      columns,
      add: rowByRow((row, factor, into) => {
        const base = row * columns;
        for (let i = 0; i < columns; i++)
          into[i] = (into[i] as number) + factor * fromHalf(halves[base + i] as number);
      }),
    };
  }
  const whole = data as Int8Array;
  const scales = scale as Float32Array;
  return {
    rows,
    columns,
    add: rowByRow((row, factor, into) => {
      const base = row * columns;
      const scaled = factor * (scales[row] as number);
      for (let i = 0; i < columns; i++) into[i] = (into[i] as number) + scaled * (whole[base + i] as number);
    }),
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
    add: rowByRow((row, factor, into) => {
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
    }),
  };
}

function rowByRow(addOne: (row: number, factor: number, into: Float64Array) => void): RowMatrix["add"] {
  return (rows, factors, count, into) => {
    for (let e = 0; e < count; e++) addOne(rows[e] as number, factors[e] as number, into);
  };
}

/** Of the squares. */
export function squareSum(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) * (values[i] as number);
  return sum;
}
