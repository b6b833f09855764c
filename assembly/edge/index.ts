// The module of mlgpf/edge. sparse.ts has matrices with few elements; here is the label layer: utilities of all labels from the latent means of one or several texts, for labels in
// whole numbers of 8 bits or in single or half precision. A module of its own, without imports; memory is laid out by
// the caller: labels a multiple of four, rows padded with zeros to whole vectors.
//
// Four labels go together for one text, two for four texts: so many running sums hide how long an addition takes, and
// a vector that is loaded serves several of them. The sum of a text and a label is the same either way, to the last bit.

import { at } from "../simd";

export { addDense, addSparse, unpack } from "./sparse";

/** First address that the caller may use. */
export function heapBase(): usize {
  return (__heap_base + 15) & ~15;
}

/** (0 + 2) + (1 + 3) */
// @ts-ignore: decorator
@inline
function sumF32(lanes: v128): f64 {
  const pairs = f32x4.add(lanes, v128.shuffle<f32>(lanes, lanes, 2, 3, 2, 3));
  return <f64>(f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1));
}

// @ts-ignore: decorator
@inline
function sumI32(lanes: v128): i32 {
  const pairs = i32x4.add(lanes, v128.shuffle<i32>(lanes, lanes, 2, 3, 2, 3));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
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

// @ts-ignore: decorator
@inline
function four(half: bool, address: usize): v128 {
  return half ? fromHalf(address) : v128.load(address);
}

/** Labels `label` to `label + 3` of one text. */
// @ts-ignore: decorator
@inline
function realSingle(half: bool, vectors: i32, phi: usize, bias: usize, mean: usize, out: usize): void {
  const step: usize = half ? 8 : 16;
  const row = <usize>vectors * step;
  let a = f32x4.splat(0), b = f32x4.splat(0), c = f32x4.splat(0), d = f32x4.splat(0);
  const end = phi + row;
  while (phi < end) {
    const x = v128.load(mean);
    a = f32x4.add(a, f32x4.mul(four(half, phi), x));
    b = f32x4.add(b, f32x4.mul(four(half, phi + row), x));
    c = f32x4.add(c, f32x4.mul(four(half, phi + 2 * row), x));
    d = f32x4.add(d, f32x4.mul(four(half, phi + 3 * row), x));
    phi += step;
    mean += 16;
  }
  store<f64>(out, <f64>load<f32>(bias) + sumF32(a));
  store<f64>(out, <f64>load<f32>(bias, 4) + sumF32(b), 8);
  store<f64>(out, <f64>load<f32>(bias, 8) + sumF32(c), 16);
  store<f64>(out, <f64>load<f32>(bias, 12) + sumF32(d), 24);
}

/** Two labels of four texts. */
// @ts-ignore: decorator
@inline
function realTile(half: bool, vectors: i32, phi: usize, bias: usize, mean: usize, out: usize, stride: usize): void {
  const step: usize = half ? 8 : 16;
  const row = <usize>vectors * step;
  const width = <usize>vectors << 4;
  let a0 = f32x4.splat(0), a1 = f32x4.splat(0), a2 = f32x4.splat(0), a3 = f32x4.splat(0);
  let b0 = f32x4.splat(0), b1 = f32x4.splat(0), b2 = f32x4.splat(0), b3 = f32x4.splat(0);
  const end = phi + row;
  while (phi < end) {
    const first = four(half, phi);
    const second = four(half, phi + row);
    let x = v128.load(mean);
    a0 = f32x4.add(a0, f32x4.mul(first, x));
    b0 = f32x4.add(b0, f32x4.mul(second, x));
    x = v128.load(mean + width);
    a1 = f32x4.add(a1, f32x4.mul(first, x));
    b1 = f32x4.add(b1, f32x4.mul(second, x));
    x = v128.load(mean + 2 * width);
    a2 = f32x4.add(a2, f32x4.mul(first, x));
    b2 = f32x4.add(b2, f32x4.mul(second, x));
    x = v128.load(mean + 3 * width);
    a3 = f32x4.add(a3, f32x4.mul(first, x));
    b3 = f32x4.add(b3, f32x4.mul(second, x));
    phi += step;
    mean += 16;
  }
  const biasA = <f64>load<f32>(bias);
  const biasB = <f64>load<f32>(bias, 4);
  store<f64>(out, biasA + sumF32(a0));
  store<f64>(out, biasB + sumF32(b0), 8);
  out += stride;
  store<f64>(out, biasA + sumF32(a1));
  store<f64>(out, biasB + sumF32(b1), 8);
  out += stride;
  store<f64>(out, biasA + sumF32(a2));
  store<f64>(out, biasB + sumF32(b2), 8);
  out += stride;
  store<f64>(out, biasA + sumF32(a3));
  store<f64>(out, biasB + sumF32(b3), 8);
}

/** out[t][k] = bias[k] + phi[k] . mean[t], in four running sums of single precision. */
// @ts-ignore: decorator
@inline
function utilities(
  half: bool, labels: i32, vectors: i32, phi: usize, bias: usize, texts: i32, means: usize, out: usize,
): void {
  const row = <usize>vectors * <usize>(half ? 8 : 16);
  const width = <usize>vectors << 4;
  const stride = <usize>labels << 3;
  for (let label = 0; label < labels; label += 4) {
    let text = 0;
    let mean = means;
    let target = out;
    for (; text + 4 <= texts; text += 4) {
      realTile(half, vectors, phi, bias, mean, target, stride);
      realTile(half, vectors, phi + 2 * row, bias + 8, mean, target + 16, stride);
      mean += 4 * width;
      target += 4 * stride;
    }
    for (; text < texts; text++) {
      realSingle(half, vectors, phi, bias, mean, target);
      mean += width;
      target += stride;
    }
    phi += 4 * row;
    bias += 16;
    out += 32;
  }
}

/** phi in rows of `vectors` times 4 numbers of single precision, means of as many. */
export function utilitiesF32(
  labels: i32, vectors: i32, phi: usize, bias: usize, texts: i32, means: usize, out: usize,
): void {
  utilities(false, labels, vectors, phi, bias, texts, means, out);
}

/** The same of half precision; no infinity, no NaN. */
export function utilitiesF16(
  labels: i32, vectors: i32, phi: usize, bias: usize, texts: i32, means: usize, out: usize,
): void {
  utilities(true, labels, vectors, phi, bias, texts, means, out);
}

/** Sum over 16 numbers of 8 bits, widened to low and high, times 16 of 16 bits. */
// @ts-ignore: decorator
@inline
function dot(sum: v128, low: v128, high: v128, mean: usize): v128 {
  sum = i32x4.add(sum, i32x4.dot_i16x8_s(low, v128.load(mean)));
  return i32x4.add(sum, i32x4.dot_i16x8_s(high, v128.load(mean, 16)));
}

/** The same, the other way round: the numbers of 8 bits at an address, the others at hand. */
// @ts-ignore: decorator
@inline
function dotOf(sum: v128, phi: usize, first: v128, second: v128): v128 {
  const numbers = v128.load(phi);
  sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(numbers), first));
  return i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(numbers), second));
}

/** bias + total (unit scale) */
// @ts-ignore: decorator
@inline
function scaled(total: v128, unit: f64, scale: usize, bias: usize): f64 {
  return <f64>load<f32>(bias) + <f64>sumI32(total) * (unit * <f64>load<f32>(scale));
}

/** One label of four texts. */
// @ts-ignore: decorator
@inline
function wholeTile(
  vectors: i32, phi: usize, scale: usize, bias: usize, mean: usize, units: usize, out: usize, stride: usize,
): void {
  const width = <usize>vectors << 5;
  const end = phi + (<usize>vectors << 4);
  let a = i32x4.splat(0), b = i32x4.splat(0), c = i32x4.splat(0), d = i32x4.splat(0);
  while (phi < end) {
    const numbers = v128.load(phi);
    const low = i16x8.extend_low_i8x16_s(numbers);
    const high = i16x8.extend_high_i8x16_s(numbers);
    a = dot(a, low, high, mean);
    b = dot(b, low, high, mean + width);
    c = dot(c, low, high, mean + 2 * width);
    d = dot(d, low, high, mean + 3 * width);
    phi += 16;
    mean += 32;
  }
  store<f64>(out, scaled(a, load<f64>(units), scale, bias));
  store<f64>(out + stride, scaled(b, load<f64>(units, 8), scale, bias));
  store<f64>(out + 2 * stride, scaled(c, load<f64>(units, 16), scale, bias));
  store<f64>(out + 3 * stride, scaled(d, load<f64>(units, 24), scale, bias));
}

/** Four labels of one text. */
// @ts-ignore: decorator
@inline
function wholeSingle(
  vectors: i32, phi: usize, scale: usize, bias: usize, mean: usize, unit: f64, out: usize,
): void {
  const row = <usize>vectors << 4;
  const end = phi + row;
  let a = i32x4.splat(0), b = i32x4.splat(0), c = i32x4.splat(0), d = i32x4.splat(0);
  while (phi < end) {
    const first = v128.load(mean);
    const second = v128.load(mean, 16);
    a = dotOf(a, phi, first, second);
    b = dotOf(b, phi + row, first, second);
    c = dotOf(c, phi + 2 * row, first, second);
    d = dotOf(d, phi + 3 * row, first, second);
    phi += 16;
    mean += 32;
  }
  store<f64>(out, scaled(a, unit, scale, bias));
  store<f64>(out, scaled(b, unit, scale + 4, bias + 4), 8);
  store<f64>(out, scaled(c, unit, scale + 8, bias + 8), 16);
  store<f64>(out, scaled(d, unit, scale + 12, bias + 12), 24);
}

/**
 * out[t][k] = bias[k] + (phi[k] . mean[t]) (unit[t] scale[k]); phi in rows of `vectors` times 16 numbers of 8 bits,
 * means of as many of 16. The sum is exact: the caller keeps the means small enough.
 */
export function utilitiesI8(
  labels: i32, vectors: i32, phi: usize, scale: usize, bias: usize, texts: i32, means: usize, units: usize, out: usize,
): void {
  const row = <usize>vectors << 4;
  const width = <usize>vectors << 5;
  const stride = <usize>labels << 3;
  for (let label = 0; label < labels; label += 4) {
    let text = 0;
    let mean = means;
    let target = out;
    for (; text + 4 <= texts; text += 4) {
      const unit = at<f64>(units, text);
      for (let i: usize = 0; i < 4; i++)
        wholeTile(vectors, phi + i * row, scale + 4 * i, bias + 4 * i, mean, unit, target + 8 * i, stride);
      mean += 4 * width;
      target += 4 * stride;
    }
    for (; text < texts; text++) {
      wholeSingle(vectors, phi, scale, bias, mean, load<f64>(at<f64>(units, text)), target);
      mean += width;
      target += stride;
    }
    phi += 4 * row;
    scale += 16;
    bias += 16;
    out += 32;
  }
}
