// Expected log likelihood of a label under a Gaussian utility f ~ N(m, v), its derivatives, and the predictive
// probability. For a negative label
//
//   value(m, v) = E log(1 + e^f)     d value / dm = E sigmoid(f)     d value / dv = E sigmoid'(f) / 2
//
// and a positive one is a negative one with m reversed: value(-m, v), with the sign of d/dm reversed too.
//
// Two rules. The default replaces sigmoid by a mixture of normal distribution functions (Monahan and Stefanski 1992),
// for which the expectation is exact whatever the variance; far from zero it uses a series in e^f, which is cheaper
// there and keeps the relative accuracy of rare labels. The other is Gauss-Hermite with any number of nodes.

import { at, lanes, multiplyAdd, sumLanes } from "./simd";
import { exp, log1pInside, quickExp2 } from "./math";
import { panelA, parallel, popFrame, pushFrame } from "./parallel";
import {
  constant, HALF, horner, MILLS_F32, MILLS_F64, MIXTURE_F32, MIXTURE_F64, number, ONE, TAIL_F32, TAIL_F64, TERMS_F32, TERMS_F64,
} from "./tables";

/** Elements worked on at a time: the scratch of the default rule stays in the first cache. */
const BLOCK: i32 = 512;

// Scratch of a thread: the padded last vectors of a row, a list of elements, and one record of vectors for each vector.
const PADDED: usize = 0;
const LIST: usize = 64;
const RECORDS: usize = LIST + 4 * BLOCK + 64;

// A record, in bytes. Each loop below is short so that the CPU overlaps many turns of it: one loop with the whole
// formula in it is a chain of some 80 cycles and took half as long again.
const MEAN: usize = 0;
const VARIANCE: usize = 16;
const SQRT: usize = 32;
const RECIPROCAL: usize = 48;
const MILLS: usize = 64;
const DENSITY: usize = 80;
const VALUE: usize = 96;
const PROBABILITY: usize = 112;
const SLOPE: usize = 128;
const RECORD: usize = 144;

// @ts-ignore: decorator
@inline
function tailConstant<T extends number>(i: i32): v128 {
  return constant<T>(TAIL_F32, TAIL_F64, i);
}
// @ts-ignore: decorator
@inline
function millsConstant<T extends number>(i: i32): v128 {
  return constant<T>(MILLS_F32, MILLS_F64, i);
}
// @ts-ignore: decorator
@inline
function millsStep<T extends number>(p: v128, k: v128, i: i32): v128 {
  return horner<T>(p, k, MILLS_F32, MILLS_F64, i);
}

/** Phi(-t) / phi(t) from k = 1 / (1 + p t). Pairs of terms (Estrin) for f32: a shorter chain than Horner's. */
// @ts-ignore: decorator
@inline
function millsRatio<T extends number>(k: v128): v128 {
  const k2 = v128.mul<T>(k, k);
  if (sizeof<T>() == 4) {
    const low = multiplyAdd<T>(millsStep<T>(millsConstant<T>(4), k, 5), k2, millsStep<T>(millsConstant<T>(6), k, 7));
    const high = multiplyAdd<T>(millsConstant<T>(1), k2, millsStep<T>(millsConstant<T>(2), k, 3));
    return v128.mul<T>(multiplyAdd<T>(high, v128.mul<T>(k2, k2), low), k);
  }
  let q = millsStep<T>(millsConstant<T>(1), k, 2);
  q = multiplyAdd<T>(q, k2, millsStep<T>(millsConstant<T>(3), k, 4));
  q = multiplyAdd<T>(q, k2, millsStep<T>(millsConstant<T>(5), k, 6));
  q = multiplyAdd<T>(q, k2, millsStep<T>(millsConstant<T>(7), k, 8));
  q = multiplyAdd<T>(q, k2, millsStep<T>(millsConstant<T>(9), k, 10));
  q = multiplyAdd<T>(q, k2, millsStep<T>(millsConstant<T>(11), k, 12));
  q = multiplyAdd<T>(q, k2, millsStep<T>(millsConstant<T>(13), k, 14));
  return v128.mul<T>(q, k);
}

/**
 * The tail, with E e^{kf} = e^{km + k^2 v/2}: value = sum c/k E e^{kf} and so on, computed for -|m|, of which
 * value(m) = m + value(-m) and probability(m) = 1 - probability(-m) make the rest. Stores scale d/dm and scale d/dv in
 * the tail, and m and v themselves elsewhere; lists the offsets of the latter. Returns the end of the list and leaves
 * the lane sums of the values in the padding.
 */
export function tailBlock<T extends number>(
  vectors: i32, mean: usize, variance: usize, factor: T, scale: T, dMean: usize, dVariance: usize, scratch: usize,
): usize {
  const end = <usize>vectors << 4;
  const factors = v128.splat<T>(factor);
  let offset: usize = 0, record = scratch + RECORDS;
  do {
    const v = v128.pmax<T>(v128.mul<T>(v128.load(variance + offset), factors), v128.splat<T>(0));
    const a = v128.abs<T>(v128.load(mean + offset));
    const half = v128.mul<T>(v, number<T>(HALF));
    v128.store(record, v, VARIANCE);
    v128.store(record, quickExp2<T>(v128.mul<T>(v128.sub<T>(half, a), tailConstant<T>(3))), VALUE);
    v128.store(record, quickExp2<T>(v128.mul<T>(v128.pmin<T>(v, tailConstant<T>(4)), tailConstant<T>(3))), SLOPE);
    offset += 16;
    record += RECORD;
  } while (offset < end);

  const scales = v128.splat<T>(scale);
  const halfScales = v128.mul<T>(scales, number<T>(HALF));
  let sum = v128.splat<T>(0);
  let list = scratch + LIST;
  offset = 0;
  record = scratch + RECORDS;
  do {
    const term1 = v128.load(record, VALUE);
    const growth = v128.load(record, SLOPE);
    let ratio = v128.mul<T>(term1, growth);
    let term = v128.mul<T>(term1, ratio);
    let value = multiplyAdd<T>(term, constant<T>(TERMS_F32, TERMS_F64, 0), term1);
    let probability = multiplyAdd<T>(term, constant<T>(TERMS_F32, TERMS_F64, 1), term1);
    let slope = multiplyAdd<T>(term, constant<T>(TERMS_F32, TERMS_F64, 2), term1);
    let k = sizeof<T>() == 4 ? TERMS_F32 : TERMS_F64;
    const last = k + (sizeof<T>() == 4 ? 6 : 12) * sizeof<T>();
    do {
      k += 3 * sizeof<T>();
      ratio = v128.mul<T>(ratio, growth);
      term = v128.mul<T>(term, ratio);
      value = multiplyAdd<T>(term, v128.load_splat<T>(k), value);
      probability = multiplyAdd<T>(term, v128.load_splat<T>(k, sizeof<T>()), probability);
      slope = multiplyAdd<T>(term, v128.load_splat<T>(k, 2 * sizeof<T>()), slope);
    } while (k < last);

    const m = v128.load(mean + offset);
    const v = v128.load(record, VARIANCE);
    const tail = v128.lt<T>(v128.sub<T>(v128.mul<T>(v, tailConstant<T>(0)), v128.abs<T>(m)), tailConstant<T>(1));
    const positive = v128.gt<T>(m, v128.splat<T>(0));
    sum = v128.add<T>(sum, v128.and(v128.add<T>(value, v128.and(m, positive)), tail));
    probability = v128.bitselect(v128.sub<T>(number<T>(ONE), probability), probability, positive);
    v128.store(dMean + offset, v128.bitselect(v128.mul<T>(probability, scales), m, tail));
    v128.store(dVariance + offset, v128.bitselect(v128.mul<T>(slope, halfScales), v, tail));
    // Every offset is written, the list grows only by those outside: no branch to mispredict.
    const outside = ~(sizeof<T>() == 4 ? i32x4.bitmask(tail) : i64x2.bitmask(tail));
    store<usize>(list, offset);
    list += (outside & 1) << 2;
    store<usize>(list, offset + sizeof<T>());
    list += (outside & 2) << 1;
    if (sizeof<T>() == 4) {
      store<usize>(list, offset + 2 * sizeof<T>());
      list += outside & 4;
      store<usize>(list, offset + 3 * sizeof<T>());
      list += (outside & 8) >> 1;
    }
    offset += 16;
    record += RECORD;
  } while (offset < end);
  v128.store(scratch, sum, PADDED);
  return list;
}

/**
 * The mixture, for the listed elements. With a = |m|, g = sqrt(v + tau^2), t = a / g and phi, Phi the normal density and
 * distribution function:
 *   value(-a) = sum w (g phi(t) - a Phi(-t))   probability(-a) = sum w Phi(-t)   d/dv = 1/2 sum w phi(t) / g
 * Takes m and v from where the derivatives go. Returns the lane sums of the values.
 */
export function mixtureBlock<T extends number>(listEnd: usize, scale: T, dMean: usize, dVariance: usize, scratch: usize): v128 {
  const first = scratch + RECORDS;
  const end = gatherRecords<T>(listEnd, dMean, dVariance, scratch);
  let record = first;
  do {
    v128.store(record, v128.splat<T>(0), VALUE);
    v128.store(record, v128.splat<T>(0), PROBABILITY);
    v128.store(record, v128.splat<T>(0), SLOPE);
    record += RECORD;
  } while (record < end);

  let component = sizeof<T>() == 4 ? MIXTURE_F32 : MIXTURE_F64;
  const lastComponent = component + (sizeof<T>() == 4 ? 6 * 2 * 4 : 10 * 2 * 8);
  do {
    const variance = v128.load_splat<T>(component);
    const weight = v128.load_splat<T>(component, sizeof<T>());
    // One square root and one division: 1 / (g (g + p a)) gives 1 / g and Mills' k = g / (g + p a).
    record = first;
    do {
      const square = v128.add<T>(v128.load(record, VARIANCE), variance);
      const g = v128.sqrt<T>(square);
      const h = multiplyAdd<T>(v128.abs<T>(v128.load(record, MEAN)), millsConstant<T>(0), g);
      const inverse = v128.div<T>(number<T>(ONE), v128.mul<T>(g, h));
      v128.store(record, g, SQRT);
      v128.store(record, v128.mul<T>(inverse, h), RECIPROCAL);
      v128.store(record, v128.mul<T>(square, inverse), MILLS);
      record += RECORD;
    } while (record < end);
    record = first;
    do {
      const t = v128.mul<T>(v128.load(record, MEAN), v128.load(record, RECIPROCAL));
      v128.store(record, v128.mul<T>(quickExp2<T>(v128.mul<T>(v128.mul<T>(t, t), tailConstant<T>(2))), weight), DENSITY);
      record += RECORD;
    } while (record < end);
    record = first;
    do {
      const e = v128.load(record, DENSITY);
      const mills = millsRatio<T>(v128.load(record, MILLS));
      v128.store(record, multiplyAdd<T>(e, mills, v128.load(record, PROBABILITY)), PROBABILITY);
      v128.store(record, multiplyAdd<T>(e, v128.load(record, SQRT), v128.load(record, VALUE)), VALUE);
      v128.store(record, multiplyAdd<T>(e, v128.load(record, RECIPROCAL), v128.load(record, SLOPE)), SLOPE);
      record += RECORD;
    } while (record < end);
    component += 2 * sizeof<T>();
  } while (component < lastComponent);

  let sum = v128.splat<T>(0);
  const scales = v128.splat<T>(scale);
  record = first;
  do {
    const m = v128.load(record, MEAN);
    const probability = v128.load(record, PROBABILITY);
    const positive = v128.gt<T>(m, v128.splat<T>(0));
    const value = v128.sub<T>(v128.load(record, VALUE), v128.mul<T>(v128.abs<T>(m), probability));
    sum = v128.add<T>(sum, v128.add<T>(value, v128.and(m, positive)));
    const signed = v128.bitselect(v128.sub<T>(number<T>(ONE), probability), probability, positive);
    v128.store(record, v128.mul<T>(signed, scales), PROBABILITY);
    v128.store(record, v128.mul<T>(v128.load(record, SLOPE), v128.mul<T>(scales, number<T>(HALF))), SLOPE);
    record += RECORD;
  } while (record < end);
  scatterRecords<T>(listEnd, dMean, dVariance, scratch);
  return sum;
}

/** m and v of the listed elements into records, the last one padded with elements that count for nothing. */
function gatherRecords<T extends number>(listEnd: usize, mean: usize, variance: usize, scratch: usize): usize {
  let record = scratch + RECORDS;
  let lane: usize = 0;
  for (let list = scratch + LIST; list < listEnd; list += 4) {
    const offset = load<usize>(list);
    store<T>(record + lane, load<T>(mean + offset), MEAN);
    store<T>(record + lane, load<T>(variance + offset), VARIANCE);
    lane += sizeof<T>();
    if (lane == 16) {
      lane = 0;
      record += RECORD;
    }
  }
  if (lane == 0) return record;
  for (; lane < 16; lane += sizeof<T>()) {
    store<T>(record + lane, <T>-1e6, MEAN);
    store<T>(record + lane, 0, VARIANCE);
  }
  return record + RECORD;
}

function scatterRecords<T extends number>(listEnd: usize, dMean: usize, dVariance: usize, scratch: usize): void {
  let record = scratch + RECORDS;
  let lane: usize = 0;
  for (let list = scratch + LIST; list < listEnd; list += 4) {
    const offset = load<usize>(list);
    store<T>(dMean + offset, load<T>(record + lane, PROBABILITY));
    store<T>(dVariance + offset, load<T>(record + lane, SLOPE));
    lane += sizeof<T>();
    if (lane == 16) {
      lane = 0;
      record += RECORD;
    }
  }
}
