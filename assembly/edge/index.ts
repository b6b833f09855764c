// The label layer of mlgpf/edge: utilities of all labels from the latent means, for labels in whole numbers of 8 bits or
// in single or half precision. A module of its own, without imports; memory is laid out by the caller.

import { at } from "../simd";

/** First address that the caller may use. */
export function heapBase(): usize {
  return (__heap_base + 15) & ~15;
}

/**
 * out[k] = bias[k] + (phi[k] . mean) (unit scale[k]); phi in rows of `vectors` times 16 numbers of 8 bits, mean of as
 * many of 16, both padded with zeros. The sum is exact: the caller keeps the means small enough.
 */
export function utilitiesI8(
  labels: i32, vectors: i32, phi: usize, scale: usize, bias: usize, mean: usize, unit: f64, out: usize,
): void {
  const bytes = <usize>vectors << 4;
  for (let label = 0; label < labels; label++) {
    let sum = i32x4.splat(0);
    const end = phi + bytes;
    let x = mean;
    while (phi < end) {
      const numbers = v128.load(phi);
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(numbers), v128.load(x)));
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(numbers), v128.load(x, 16)));
      phi += 16;
      x += 32;
    }
    const total =
      i32x4.extract_lane(sum, 0) + i32x4.extract_lane(sum, 1) + i32x4.extract_lane(sum, 2) + i32x4.extract_lane(sum, 3);
    const factor = unit * <f64>load<f32>(at<f32>(scale, label));
    store<f64>(at<f64>(out, label), <f64>load<f32>(at<f32>(bias, label)) + <f64>total * factor);
  }
}

/** Four numbers of half precision, widened exactly: their bits moved up and the exponent's bias made good. */
// @ts-ignore: decorator
@inline
function fromHalf(address: usize): v128 {
  const bits = i32x4.extend_low_i16x8_s(v128.load64_zero(address));
  const magnitude = i32x4.shl(v128.and(bits, i32x4.splat(0x7fff)), 13);
  const sign = v128.and(bits, i32x4.splat(0x80000000));
  return v128.or(f32x4.mul(magnitude, f32x4.splat(5192296858534827628530496329220096.0)), sign);
}

/** out[k] = bias[k] + phi[k] . mean, in four running sums of double precision. */
// @ts-ignore: decorator
@inline
function utilities(
  half: bool, labels: i32, vectors: i32, phi: usize, bias: usize, mean: usize, out: usize,
): void {
  const step: usize = half ? 8 : 16;
  for (let label = 0; label < labels; label++) {
    let low = f64x2.splat(0);
    let high = f64x2.splat(0);
    let x = mean;
    for (let i = 0; i < vectors; i++) {
      const numbers = half ? fromHalf(phi) : v128.load(phi);
      const upper = v128.shuffle<i32>(numbers, numbers, 2, 3, 2, 3);
      low = f64x2.add(low, f64x2.mul(f64x2.promote_low_f32x4(numbers), v128.load(x)));
      high = f64x2.add(high, f64x2.mul(f64x2.promote_low_f32x4(upper), v128.load(x, 16)));
      phi += step;
      x += 32;
    }
    const sums = f64x2.add(low, high);
    const total = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
    store<f64>(at<f64>(out, label), <f64>load<f32>(at<f32>(bias, label)) + total);
  }
}

/** phi in rows of `vectors` times 4 numbers of single precision, padded with zeros. */
export function utilitiesF32(labels: i32, vectors: i32, phi: usize, bias: usize, mean: usize, out: usize): void {
  utilities(false, labels, vectors, phi, bias, mean, out);
}

/** The same of half precision; no infinity, no NaN. */
export function utilitiesF16(labels: i32, vectors: i32, phi: usize, bias: usize, mean: usize, out: usize): void {
  utilities(true, labels, vectors, phi, bias, mean, out);
}
