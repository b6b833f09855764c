// Matrices in fewer bits: half precision, and whole numbers with a scale for each row, packed.

import type { Tensor } from "../base/safetensors.ts";
import { packedBytes } from "../edge/matrix.ts";
import type { NumberType } from "../parts/compact.ts";

type Real = Float32Array | Float64Array;

export interface StoredMatrix {
  tensor: Tensor;
  /** One for each row, for whole numbers. */
  scale?: Float32Array;
  /** Where elements are packed. */
  bits?: number;
}

const floats = new Float32Array(1);
const words = new Uint32Array(floats.buffer);
const MOST_HALF = 65504;

/** Bits of the nearest number of half precision, ties to even; beyond the greatest one, that. */
export function toHalf(value: number): number {
  floats[0] = Math.max(-MOST_HALF, Math.min(MOST_HALF, value));
  const word = words[0];
  const sign = (word >>> 16) & 0x8000;
  const exponent = ((word >>> 23) & 255) - 112;
  const fraction = word & 0x7fffff;
  if (exponent <= 0) {
    // Subnormal: so many units of 2^-24, rounded by the addition of 1.5 * 2^52.
    const units = Math.abs(floats[0]) * 2 ** 24;
    return sign | (units + 6755399441055744 - 6755399441055744);
  }
  // A carry out of the fraction is one more in the exponent, as it should be.
  const rounded = ((exponent << 23) | fraction) + 0xfff + ((fraction >>> 13) & 1);
  return sign | Math.min(rounded >>> 13, 0x7bff);
}

/** How much of a row's greatest element the largest whole number stands for; with few bits less than all is better. */
const REACHES: readonly number[] = [1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5];
const SEARCHED_BITS = 6;

/** The scale for a row of numbers of so many bits: the one of a few with the smallest squared error. */
function rowScale(row: Real, most: number, bits: number): number {
  let greatest = 0;
  for (const value of row) greatest = Math.max(greatest, Math.abs(value));
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const reach of bits <= SEARCHED_BITS ? REACHES : [1]) {
    const scale = Math.fround((greatest * reach) / most);
    if (scale === 0) continue;
    let error = 0;
    for (const value of row) {
      const difference = value - scale * clampedRound(value / scale, most);
      error += difference * difference;
    }
    if (error < least) [best, least] = [scale, error];
  }
  return best;
}

function clampedRound(value: number, most: number): number {
  return Math.max(-most, Math.min(most, Math.round(value)));
}

/** A matrix [rows, columns] in the type asked for. */
export function storeMatrix(values: Real, rows: number, columns: number, type: NumberType): StoredMatrix {
  const shape = [rows, columns];
  if (type === "f32") return { tensor: { dtype: "F32", shape, data: Float32Array.from(values) } };
  if (type === "f16") return { tensor: { dtype: "F16", shape, data: Uint16Array.from(values, toHalf) } };
  const bits = Number(type.slice(3));
  const most = 2 ** (bits - 1) - 1;
  const scale = new Float32Array(rows);
  const whole = new Int8Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const elements = values.subarray(row * columns, (row + 1) * columns);
    const unit = rowScale(elements, most, bits);
    scale[row] = unit;
    if (unit === 0) continue;
    for (let i = 0; i < columns; i++) whole[row * columns + i] = clampedRound(elements[i] / unit, most);
  }
  if (bits === 8) return { tensor: { dtype: "I8", shape, data: whole }, scale };
  const data = packRows(whole, rows, columns, bits);
  return { tensor: { dtype: "U8", shape: [rows, packedBytes(columns, bits)], data }, scale, bits };
}

/** Low bits first, each number raised by 2^(bits-1), rows of whole bytes. */
function packRows(whole: Int8Array, rows: number, columns: number, bits: number): Uint8Array {
  const bytes = packedBytes(columns, bits);
  const packed = new Uint8Array(rows * bytes);
  const zero = 1 << (bits - 1);
  for (let row = 0; row < rows; row++) {
    let at = row * bytes;
    let held = 0;
    let count = 0;
    for (let i = 0; i < columns; i++) {
      held |= (whole[row * columns + i] + zero) << count;
      count += bits;
      for (; count >= 8; count -= 8) {
        packed[at++] = held & 255;
        held >>= 8;
      }
    }
    if (count > 0) packed[at] = held;
  }
  return packed;
}
