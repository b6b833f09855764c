// Random numbers by counting: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) makes four words of a key and a
// counter.
//
// The key is the seed; the counter is (index, 0, stream, kind), so that element i of an array depends on
// the seed, the stream and i alone: not on what was drawn before, nor on how many threads draw.

import { at } from "./simd";
import { log } from "./math";
import { QUANTILE_CENTRE, QUANTILE_FAR, QUANTILE_TAIL } from "./tables";

/** The use of the words, the last word of the counter: one stream may serve numbers of all three kinds. */
const UNIFORM: u32 = 0;
const NORMAL: u32 = 1;
const INTEGER: u32 = 2;
/** Added to it for another block of words when the first is used up. */
const AGAIN: u32 = 4;

/** The four words of the last call of philox. Globals are private to a thread. */
let word0: u32 = 0;
let word1: u32 = 0;
let word2: u32 = 0;
let word3: u32 = 0;

/** Ten rounds of two 32 x 32 bit products; the key grows by the golden ratio and by sqrt(3) - 1. */
function philox(key0: u32, key1: u32, counter0: u32, counter1: u32, counter2: u32, counter3: u32): void {
  for (let round = 0; round < 10; round++) {
    const product0 = <u64>0xd2511f53 * <u64>counter0;
    const product1 = <u64>0xcd9e8d57 * <u64>counter2;
    counter0 = <u32>(product1 >> 32) ^ counter1 ^ key0;
    counter1 = <u32>product1;
    counter2 = <u32>(product0 >> 32) ^ counter3 ^ key1;
    counter3 = <u32>product0;
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  word0 = counter0;
  word1 = counter1;
  word2 = counter2;
  word3 = counter3;
}

/** The four words themselves, for a check against known answers. counter is u32[4], out u32[4]. @kernel */
export function philoxWords(key0: u32, key1: u32, counter: usize, out: usize): void {
  const c0 = load<u32>(counter), c1 = load<u32>(counter, 4);
  const c2 = load<u32>(counter, 8), c3 = load<u32>(counter, 12);
  philox(key0, key1, c0, c1, c2, c3);
  store<u32>(out, word0);
  store<u32>(out, word1, 4);
  store<u32>(out, word2, 8);
  store<u32>(out, word3, 12);
}

// @ts-ignore: decorator
@inline
function word(i: i32): u32 {
  return i == 0 ? word0 : i == 1 ? word1 : i == 2 ? word2 : word3;
}

/** The first or second pair of words. */
// @ts-ignore: decorator
@inline
function pair(i: i32): u64 {
  return i == 0 ? (<u64>word1 << 32) | word0 : (<u64>word3 << 32) | word2;
}

/** out[i] uniform in [0, 1): multiples of 2^-24 for f32, of 2^-53 for f64. @kernel */
export function uniform<T extends number>(
  seedLow: u32, seedHigh: u32, stream: u32, n: i32, out: usize,
): void {
  for (let i = 0; i < n; i++) {
    if (sizeof<T>() == 4) {
      if ((i & 3) == 0) philox(seedLow, seedHigh, i >> 2, 0, stream, UNIFORM);
      store<f32>(at<f32>(out, i), <f32>(word(i & 3) >> 8) * 5.9604644775390625e-8);
    } else {
      if ((i & 1) == 0) philox(seedLow, seedHigh, i >> 1, 0, stream, UNIFORM);
      store<f64>(at<f64>(out, i), <f64>(pair(i & 1) >> 11) * 1.1102230246251565e-16);
    }
  }
}

/** Numerator (8 coefficients) over denominator (7, the constant 1), lowest power first. */
function rational(table: usize, r: f64): f64 {
  let numerator = load<f64>(table, 7 * 8);
  let denominator = load<f64>(table, 14 * 8);
  for (let i = 6; i >= 0; i--) numerator = numerator * r + load<f64>(at<f64>(table, i));
  for (let i = 13; i >= 8; i--) denominator = denominator * r + load<f64>(at<f64>(table, i));
  return numerator / (denominator * r + 1);
}

/** The x with Phi(x) = p, 0 < p < 1: Wichura's AS 241, relative error below 7e-16. */
function normalQuantile(p: f64): f64 {
  const q = p - 0.5;
  if (abs(q) <= 0.425) return q * rational(QUANTILE_CENTRE, 0.180625 - q * q);
  const tail = q < 0 ? p : 1 - p;
  const r = sqrt<f64>(-f64x2.extract_lane(log<f64>(f64x2.splat(tail)), 0));
  const x = r <= 5 ? rational(QUANTILE_TAIL, r - 1.6) : rational(QUANTILE_FAR, r - 5);
  return q < 0 ? -x : x;
}

/**
 * out[i] standard normal, from 52 bits each by the quantile function; computed in f64, rounded to T. @kernel
 */
export function normal<T extends number>(seedLow: u32, seedHigh: u32, stream: u32, n: i32, out: usize): void {
  for (let i = 0; i < n; i++) {
    if ((i & 1) == 0) philox(seedLow, seedHigh, i >> 1, 0, stream, NORMAL);
    // The middle of one of 2^52 equal parts: never 0 or 1, and symmetric.
    const p = (<f64>(pair(i & 1) >> 12) + 0.5) * 2.220446049250313e-16;
    store<T>(at<T>(out, i), <T>normalQuantile(p));
  }
}

/**
 * Number i of a sequence of integers in [0, bound), without bias (Lemire 2019): the high word of word *
 * bound, unless its low word falls among the first 2^32 mod bound; then the next word is tried.
 */
function below(seedLow: u32, seedHigh: u32, stream: u32, i: u32, bound: u32): u32 {
  const threshold = (<u32>0 - bound) % bound;
  for (let kind = INTEGER; ; kind += AGAIN) {
    philox(seedLow, seedHigh, i, 0, stream, kind);
    for (let w = 0; w < 4; w++) {
      const product = <u64>word(w) * <u64>bound;
      if (<u32>product >= threshold) return <u32>(product >> 32);
    }
  }
  return 0;
}

/** out (i32): the numbers 0 ... n - 1 in random order (Fisher and Yates). @kernel */
export function permutation(seedLow: u32, seedHigh: u32, stream: u32, n: i32, out: usize): void {
  for (let i = 0; i < n; i++) {
    const j = below(seedLow, seedHigh, stream, i, i + 1);
    store<i32>(at<i32>(out, i), load<i32>(at<i32>(out, j)));
    store<i32>(at<i32>(out, j), i);
  }
}

/**
 * out (i32, ascending): k different numbers of 0 ... n - 1, none of those in `excluded` (i32, ascending,
 * distinct, all below n), every such set equally likely. Floyd's choice among the ranks of those not
 * excluded, moved up past the excluded ones. work: a bit for each number, rounded up to whole i32. Returns
 * how many were chosen: k, or as many as there are. @kernel
 */
export function choice(
  seedLow: u32, seedHigh: u32, stream: u32, n: i32, k: i32, excluded: usize, excludedCount: i32,
  out: usize, work: usize,
): i32 {
  const ranks = n - excludedCount;
  const chosen = min(k, ranks);
  const bytes = ((ranks + 31) >> 5) << 2;
  memory.fill(work, 0, bytes);
  for (let last = ranks - chosen; last < ranks; last++) {
    let pick = <i32>below(seedLow, seedHigh, stream, last, last + 1);
    if ((load<u8>(work + (pick >> 3)) >> <u8>(pick & 7)) & 1) pick = last;
    const address = work + (pick >> 3);
    store<u8>(address, load<u8>(address) | (<u8>1 << <u8>(pick & 7)));
  }
  let passed = 0;
  for (let base = 0; base < bytes; base += 4) {
    for (let bits = load<u32>(work + base); bits != 0; bits &= bits - 1) {
      const rank = (base << 3) + <i32>ctz(bits);
      while (passed < excludedCount && load<i32>(at<i32>(excluded, passed)) <= rank + passed) passed++;
      store<i32>(out, rank + passed);
      out += 4;
    }
  }
  return chosen;
}
