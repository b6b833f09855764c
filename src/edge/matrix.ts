// A matrix that stays as it lies in the file; its rows are decoded as they are added up.

import type { Tensor } from "../base/safetensors.ts";
import type { RowMatrix } from "../parts/row.ts";

// Half precision (F16): (fraction + implicit one) times a power of two, both by the upper six bits.
const implicit = new Float64Array(64);
const power = new Float64Array(64);
// By products, not powers: the host's power function is not the same everywhere.
for (let exponent = 0, unit = 1 / 16777216; exponent < 32; exponent++) {
  implicit[exponent] = implicit[exponent + 32] = exponent === 0 ? 0 : 1024;
  power[exponent] = unit;
  power[exponent + 32] = -unit;
  if (exponent > 0) unit *= 2;
}

/** The number with these bits, exactly; not for infinities and NaN, which files may not have. */
export function fromHalf(bits: number): number {
  const high = bits >> 10;
  return ((bits & 1023) + implicit[high]) * power[high];
}

/** None of these bits is an infinity or NaN. */
export function allHalvesFinite(values: Uint16Array): boolean {
  for (let i = 0; i < values.length; i++) if ((values[i] & 0x7c00) === 0x7c00) return false;
  return true;
}

/** The matrix a checked tensor holds; `scale` for whole numbers, `bits` where they are packed. */
export function rowMatrix(tensor: Tensor, columns: number, scale: Float32Array | undefined, bits: number): RowMatrix {
  return { rows: tensor.shape[0], columns, add: adder(tensor, columns, scale as Float32Array, bits) };
}

/** One closure for each type, so that an engine sees a single kind of array in its loop. */
function adder({ dtype, data }: Tensor, columns: number, scale: Float32Array, bits: number): RowMatrix["add"] {
  if (dtype === "U8") return packedAdder(data, columns, scale, bits);
  if (dtype === "F32") return (which, factors, count, into) => addRows(data, columns, which, factors, count, into);
  if (dtype === "F16") {
    // Widened when first needed: doing so at each use takes three times as long as the sum itself.
    let wide: Float32Array | undefined;
    return (which, factors, count, into) => {
      wide ??= Float32Array.from(data, fromHalf);
      addRows(wide, columns, which, factors, count, into);
    };
  }
  const whole = data as Int8Array;
  return rowByRow((row, factor, into) => {
    const base = row * columns;
    const scaled = factor * scale[row];
    for (let i = 0; i < columns; i++) into[i] = into[i] + scaled * whole[base + i];
  });
}

/** Four rows go together: the sums are read and written a quarter as often, in the same order. */
function addRows(
  numbers: Float32Array,
  columns: number,
  which: ArrayLike<number>,
  factors: ArrayLike<number>,
  count: number,
  into: Float64Array,
): void {
  let e = 0;
  for (; e + 4 <= count; e += 4) {
    const [a, b, c, d] = [which[e] * columns, which[e + 1] * columns, which[e + 2] * columns, which[e + 3] * columns];
    const [fa, fb, fc, fd] = [factors[e], factors[e + 1], factors[e + 2], factors[e + 3]];
    for (let i = 0; i < columns; i++)
      into[i] = into[i] + fa * numbers[a + i] + fb * numbers[b + i] + fc * numbers[c + i] + fd * numbers[d + i];
  }
  for (; e < count; e++) {
    const base = which[e] * columns;
    const factor = factors[e];
    for (let i = 0; i < columns; i++) into[i] = into[i] + factor * numbers[base + i];
  }
}

/** Bytes of a row of packed numbers. */
export const packedBytes = (columns: number, bits: number): number => Math.ceil((columns * bits) / 8);

function packedAdder(data: Uint8Array, columns: number, scale: Float32Array, bits: number): RowMatrix["add"] {
  const bytes = packedBytes(columns, bits);
  const mask = (1 << bits) - 1;
  const zero = 1 << (bits - 1);
  return rowByRow((row, factor, into) => {
    const scaled = factor * scale[row];
    let at = row * bytes;
    let held = 0;
    let count = 0;
    for (let i = 0; i < columns; i++) {
      if (count < bits) {
        held |= data[at++] << count;
        count += 8;
      }
      into[i] = into[i] + scaled * ((held & mask) - zero);
      held >>= bits;
      count -= bits;
    }
  });
}

function rowByRow(addOne: (row: number, factor: number, into: Float64Array) => void): RowMatrix["add"] {
  return (rows, factors, count, into) => {
    for (let e = 0; e < count; e++) addOne(rows[e], factors[e], into);
  };
}
