// Counter-based random numbers: Philox4x32-10 (Salmon et al. 2011). A number depends only on seed, stream and index,
// so any part of a sequence can be made anywhere, in any order.

import { log } from "./math";
import { at } from "./simd";

// The four words of the last block.
let word0: u32 = 0;
let word1: u32 = 0;
let word2: u32 = 0;
let word3: u32 = 0;

/** One block of four words from a counter of 128 bits and a key of 64. */
function philox(c0: u32, c1: u32, c2: u32, c3: u32, key0: u32, key1: u32): void {
  for (let round = 0; round < 10; round++) {
    const product0 = <u64>c0 * 0xd2511f53;
    const product1 = <u64>c2 * 0xcd9e8d57;
    c0 = <u32>(product1 >> 32) ^ c1 ^ key0;
    c1 = <u32>product1;
    c2 = <u32>(product0 >> 32) ^ c3 ^ key1;
    c3 = <u32>product0;
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  word0 = c0;
  word1 = c1;
  word2 = c2;
  word3 = c3;
}

/** One block as it is, for checking against published answers: counter and key in, four words out. @kernel */
export function philoxBlock(c0: u32, c1: u32, c2: u32, c3: u32, key0: u32, key1: u32, out: usize): void {
  philox(c0, c1, c2, c3, key0, key1);
  store<u32>(out, word0);
  store<u32>(out, word1, 4);
  store<u32>(out, word2, 8);
  store<u32>(out, word3, 12);
}

/** Number i of a stream, uniform in (0, 1), with 53 bits: the middle of one of 2^53 equal parts. */
function uniform53(i: i32, stream: u32, seedLow: u32, seedHigh: u32): f64 {
  philox(<u32>i >> 1, 0, stream, 0, seedLow, seedHigh);
  const high = i & 1 ? word2 : word0;
  const low = i & 1 ? word3 : word1;
  const bits = ((<u64>high << 32) | low) >> 11;
  return (<f64>bits + 0.5) * 1.1102230246251565e-16; // 2^-53
}

/** out_i uniform in [0, 1): 24 bits in single precision, 53 in double. @kernel */
export function uniform<T extends number>(seedLow: u32, seedHigh: u32, stream: u32, n: i32, out: usize): void {
  for (let i = 0; i < n; i++) {
    if (sizeof<T>() == 4) {
      philox(<u32>i >> 2, 0, stream, 0, seedLow, seedHigh);
      const j = i & 3;
      const word = j == 0 ? word0 : j == 1 ? word1 : j == 2 ? word2 : word3;
      store<f32>(at<f32>(out, i), <f32>(word >> 8) * <f32>5.9604645e-8); // 2^-24
    } else {
      const middle = uniform53(i, stream, seedLow, seedHigh);
      store<f64>(at<f64>(out, i), middle - 5.551115123125783e-17); // back to the part's lower edge
    }
  }
}

/** out_i standard normal. @kernel */
export function normal<T extends number>(seedLow: u32, seedHigh: u32, stream: u32, n: i32, out: usize): void {
  for (let i = 0; i < n; i++) store<T>(at<T>(out, i), <T>normalQuantile(uniform53(i, stream, seedLow, seedHigh)));
}

/** Inverse of the normal distribution function, to about 1e-16 (Wichura 1988, AS 241 PPND16). */
function normalQuantile(p: f64): f64 {
  const q = p - 0.5;
  if (abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (
      (q *
        (((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r + 45921.953931549871457) * r +
          13731.693765509461125) * r + 1971.5909503065514427) * r + 133.14166789178437745) * r + 3.387132872796366608)) /
      (((((((5226.495278852854561 * r + 28729.085735721942674) * r + 39307.89580009271061) * r + 21213.794301586595867) * r +
        5394.1960214247511077) * r + 687.1870074920579083) * r + 42.313330701600911252) * r + 1)
    );
  }
  const tail = q < 0 ? p : 1 - p;
  let r = sqrt(-f64x2.extract_lane(log<f64>(f64x2.splat(tail)), 0));
  let value: f64;
  if (r <= 5) {
    r -= 1.6;
    value =
      (((((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r + 0.24178072517745061177) * r + 1.27045825245236838258) * r +
        3.64784832476320460504) * r + 5.7694972214606914055) * r + 4.6303378461565452959) * r + 1.42343711074968357734) /
      (((((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r + 0.0151986665636164571966) * r + 0.14810397642748007459) * r +
        0.68976733498510000455) * r + 1.6763848301838038494) * r + 2.05319162663775882187) * r + 1);
  } else {
    r -= 5;
    value =
      (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r + 0.0012426609473880784386) * r + 0.026532189526576123093) * r +
        0.29656057182850489123) * r + 1.7848265399172913358) * r + 5.4637849111641143699) * r + 6.6579046435011037772) /
      (((((((2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r + 1.8463183175100546818e-5) * r + 7.868691311456132591e-4) * r +
        0.0148753612908506148525) * r + 0.13692988092273580531) * r + 0.59983220655588793769) * r + 1);
  }
  return q < 0 ? -value : value;
}

// A running sequence of words, for draws that may need more than one.
let cursor: u32 = 0;

function nextWord(stream: u32, seedLow: u32, seedHigh: u32): u32 {
  const j = cursor & 3;
  if (j == 0) philox(cursor >> 2, 0, stream, 1, seedLow, seedHigh);
  cursor++;
  return j == 0 ? word0 : j == 1 ? word1 : j == 2 ? word2 : word3;
}

/** Uniform in 0 ... bound - 1 without bias (Lemire 2019): the rare word that would tip the balance is thrown away. */
function below(bound: u32, stream: u32, seedLow: u32, seedHigh: u32): u32 {
  let product = <u64>nextWord(stream, seedLow, seedHigh) * bound;
  if (<u32>product < bound) {
    const threshold: u32 = (0 - bound) % bound;
    while (<u32>product < threshold) product = <u64>nextWord(stream, seedLow, seedHigh) * bound;
  }
  return <u32>(product >> 32);
}

/** out = 0 ... n - 1 in random order (Fisher and Yates). @kernel */
export function permutation(seedLow: u32, seedHigh: u32, stream: u32, n: i32, out: usize): void {
  cursor = 0;
  for (let i = 0; i < n; i++) {
    const j = <i32>below(i + 1, stream, seedLow, seedHigh);
    store<i32>(at<i32>(out, i), load<i32>(at<i32>(out, j)));
    store<i32>(at<i32>(out, j), i);
  }
}

/**
 * k of 0 ... n - 1 without the `excluded` (rising, `excludedCount` of them), each set equally likely, rising (Floyd).
 * k is at most n - excludedCount; work has a zero byte for each of n.
 * @kernel
 */
export function choice(
  seedLow: u32, seedHigh: u32, stream: u32, n: i32, k: i32, excluded: usize, excludedCount: i32, out: usize, work: usize,
): void {
  cursor = 0;
  const pool = n - excludedCount;
  for (let j = pool - k; j < pool; j++) {
    const pick = <i32>below(j + 1, stream, seedLow, seedHigh);
    store<u8>(work + <usize>(load<u8>(work + <usize>pick) ? j : pick), 1);
  }
  // Walk the pool upwards, stepping over the excluded.
  let found = 0;
  let skipped = 0;
  for (let i = 0; found < k; i++) {
    while (skipped < excludedCount && load<i32>(at<i32>(excluded, skipped)) == i + skipped) skipped++;
    if (load<u8>(work + <usize>i)) {
      store<u8>(work + <usize>i, 0);
      store<i32>(at<i32>(out, found), i + skipped);
      found++;
    }
  }
}
