// Expected log likelihood of a label under a Gaussian utility f ~ N(m, v), its derivatives, and the
// predictive probability. For a negative label
//
//   value(m, v) = E log(1 + e^f)     d value / dm = E sigmoid(f)     d value / dv = E sigmoid'(f) / 2
//
// and a positive one is a negative one with m reversed: value(-m, v), with the sign of d/dm reversed too.
//
// Two rules. The default replaces sigmoid by a mixture of normal distribution functions (Monahan and
// Stefanski 1992), for which the expectation is exact whatever the variance; far from zero it uses a series
// in e^f, which is cheaper there and keeps the relative accuracy of rare labels. The other is Gauss-Hermite
// with any number of nodes.
//
// Worst errors of the default rule against a trapezoid sum of 2801 points, |m| <= 45, deviation <= 10:
// f32 3e-7 of max(1, value) up to a deviation of 3, 7e-7 up to 10, 2e-7 in d/dm, 1e-7 in d/dv; f64 1.3e-10,
// 1e-10, 1.1e-10. Relative error of the probability: f32 6e-5, f64 3e-7 for m >= -9; 6e-3, 4e-6 for m >= -15.

import { at, cell, lanes, multiplyAdd, sumLanes } from "./simd";
import { exp, log1pInside, quickExp2 } from "./math";
import { panelA, panelB, parallel, popFrame, pushFrame } from "./parallel";
import {
  constant, HALF, horner, MILLS_F32, MILLS_F64, MIXTURE_F32, MIXTURE_F64, number, ONE, TAIL_F32, TAIL_F64,
  TERMS_F32, TERMS_F64,
} from "./tables";

/** Elements worked on at a time: the scratch of the default rule stays in the first cache. */
const BLOCK: i32 = 512;

/** A mean below any that counts: pads a vector with elements whose value and derivatives are 0. */
const NOWHERE: f64 = -1e6;

// Scratch of a thread: the padded last vectors of a row; a list of elements, their means and their variances.
// The last two first hold exponentials.
const PADDED: usize = 0;
const LIST: usize = 64;
const LIST_MEAN: usize = LIST + 4 * BLOCK + 64;
const LIST_VARIANCE: usize = LIST_MEAN + 8 * BLOCK + 64;
const FIRST: usize = LIST_MEAN;
const GROWTH: usize = LIST_VARIANCE;

// Everything is computed for -|m|, where nothing cancels: value(m) = value(-|m|) + max(m, 0), the same d/dv.

/** E sigmoid(f) at m from that at -|m|. */
// @ts-ignore: decorator
@inline
function probabilityOf<T extends number>(m: v128, below: v128): v128 {
  return v128.bitselect(v128.sub<T>(number<T>(ONE), below), below, v128.gt<T>(m, v128.splat<T>(0)));
}
// @ts-ignore: decorator
@inline
function positivePart<T extends number>(m: v128): v128 {
  return v128.pmax<T>(m, v128.splat<T>(0));
}

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

/**
 * Mills' ratio Phi(-t) / phi(t) from k = 1 / (1 + p t). Pairs of terms: a shorter chain than Horner's rule.
 */
// @ts-ignore: decorator
@inline
function millsRatio<T extends number>(k: v128): v128 {
  const k2 = v128.mul<T>(k, k);
  if (sizeof<T>() == 4) {
    const low = millsStep<T>(millsConstant<T>(6), k, 7);
    const middle = millsStep<T>(millsConstant<T>(4), k, 5);
    const high = multiplyAdd<T>(millsConstant<T>(1), k2, millsStep<T>(millsConstant<T>(2), k, 3));
    return v128.mul<T>(multiplyAdd<T>(high, v128.mul<T>(k2, k2), multiplyAdd<T>(middle, k2, low)), k);
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
 * Term 1 and the others times their coefficients for value (0), mean derivative (1) or variance derivative
 * (2).
 */
// @ts-ignore: decorator
@inline
function sumTerms<T extends number>(
  i: i32, term1: v128, term2: v128, term3: v128, term4: v128, term5: v128, term6: v128,
): v128 {
  let sum = multiplyAdd<T>(term2, constant<T>(TERMS_F32, TERMS_F64, i), term1);
  sum = multiplyAdd<T>(term3, constant<T>(TERMS_F32, TERMS_F64, 3 + i), sum);
  sum = multiplyAdd<T>(term4, constant<T>(TERMS_F32, TERMS_F64, 6 + i), sum);
  sum = multiplyAdd<T>(term5, constant<T>(TERMS_F32, TERMS_F64, 9 + i), sum);
  return multiplyAdd<T>(term6, constant<T>(TERMS_F32, TERMS_F64, 12 + i), sum);
}

/**
 * The default rule over whole vectors, at most BLOCK elements; their variances are those at `variance` times
 * `factor`. Stores scale d/dm and scale d/dv, returns the lane sums of the values.
 *
 * First the tail, where value = sum c/k E e^{kf} and so on with E e^{kf} = e^{km + k^2 v/2}, computed for
 * all; elements outside it are listed and go through the mixture together: one vector rarely lies wholly on
 * one side. (The loops end in their condition because V8 lifts what is constant out of such loops only.)
 */
function defaultBlock<T extends number>(
  vectors: i32, mean: usize, variance: usize, factor: T, scale: T, dMean: usize, dVariance: usize,
): v128 {
  const scratch = panelA();
  const factors = v128.splat<T>(factor);
  const end = <usize>vectors << 4;
  // e^{-|m| + v/2} and e^v in a loop of their own: short chains overlap better (3.9, not 4.3 ns an element).
  let offset: usize = 0;
  do {
    const v = v128.pmax<T>(v128.mul<T>(v128.load(variance + offset), factors), v128.splat<T>(0));
    const first = v128.sub<T>(v128.mul<T>(v, number<T>(HALF)), v128.abs<T>(v128.load(mean + offset)));
    const finite = v128.pmin<T>(v, tailConstant<T>(4));
    v128.store(scratch + offset, quickExp2<T>(v128.mul<T>(first, tailConstant<T>(3))), FIRST);
    v128.store(scratch + offset, quickExp2<T>(v128.mul<T>(finite, tailConstant<T>(3))), GROWTH);
    offset += 16;
  } while (offset < end);

  const scales = v128.splat<T>(scale);
  const halfScales = v128.mul<T>(scales, number<T>(HALF));
  let sum = v128.splat<T>(0);
  let list = scratch + LIST;
  offset = 0;
  do {
    const m = v128.load(mean + offset);
    const v = v128.pmax<T>(v128.mul<T>(v128.load(variance + offset), factors), v128.splat<T>(0));
    const edge = v128.sub<T>(v128.mul<T>(v, tailConstant<T>(0)), v128.abs<T>(m));
    const tail = v128.lt<T>(edge, tailConstant<T>(1));

    // Term k is E e^{kf} at -|m|: the one before times e^{-|m| + v/2} e^{(k-1) v}.
    const term1 = v128.load(scratch + offset, FIRST);
    const growth = v128.load(scratch + offset, GROWTH);
    let ratio = v128.mul<T>(term1, growth);
    const term2 = v128.mul<T>(term1, ratio);
    ratio = v128.mul<T>(ratio, growth);
    const term3 = v128.mul<T>(term2, ratio);
    ratio = v128.mul<T>(ratio, growth);
    const term4 = v128.mul<T>(term3, ratio);
    ratio = v128.mul<T>(ratio, growth);
    const term5 = v128.mul<T>(term4, ratio);
    const term6 = v128.mul<T>(term5, v128.mul<T>(ratio, growth));
    const value = sumTerms<T>(0, term1, term2, term3, term4, term5, term6);
    const probability = sumTerms<T>(1, term1, term2, term3, term4, term5, term6);
    const slope = sumTerms<T>(2, term1, term2, term3, term4, term5, term6);
    sum = v128.add<T>(sum, v128.and(v128.add<T>(value, positivePart<T>(m)), tail));

    // Outside the tail m and v themselves are kept where the results will go.
    const derivative = v128.mul<T>(probabilityOf<T>(m, probability), scales);
    v128.store(dMean + offset, v128.bitselect(derivative, m, tail));
    v128.store(dVariance + offset, v128.bitselect(v128.mul<T>(slope, halfScales), v, tail));
    // Every offset is written, the list grows by those outside only: no branch to mispredict.
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
  } while (offset < end);
  if (list == scratch + LIST) return sum;
  return v128.add<T>(sum, mixtureList<T>(list, scale, dMean, dVariance, scratch));
}

/**
 * The mixture, for the listed elements, whose m and v lie where the derivatives go. With a = |m|,
 * g = sqrt(v + tau^2), t = a / g, and phi, Phi the normal density and distribution function:
 *   value(-a) = sum w (g phi(t) - a Phi(-t))   probability(-a) = sum w Phi(-t)   d/dv = 1/2 sum w phi(t) / g
 */
function mixtureList<T extends number>(
  listEnd: usize, scale: T, dMean: usize, dVariance: usize, scratch: usize,
): v128 {
  let mean = scratch + LIST_MEAN;
  let variance = scratch + LIST_VARIANCE;
  for (let list = scratch + LIST; list < listEnd; list += 4) {
    store<T>(mean, load<T>(dMean + load<usize>(list)));
    store<T>(variance, load<T>(dVariance + load<usize>(list)));
    mean += sizeof<T>();
    variance += sizeof<T>();
  }
  v128.store(mean, v128.splat<T>(<T>NOWHERE));
  v128.store(variance, v128.splat<T>(0));

  let sum = v128.splat<T>(0);
  const scales = v128.splat<T>(scale);
  const firstComponent = sizeof<T>() == 4 ? MIXTURE_F32 : MIXTURE_F64;
  const lastComponent = firstComponent + (sizeof<T>() == 4 ? 6 * 2 * 4 : 10 * 2 * 8);
  const end = mean;
  mean = scratch + LIST_MEAN;
  variance = scratch + LIST_VARIANCE;
  do {
    const m = v128.load(mean);
    const v = v128.load(variance);
    const a = v128.abs<T>(m);
    const exponent = v128.mul<T>(v128.mul<T>(a, a), tailConstant<T>(2));
    const pa = v128.mul<T>(a, millsConstant<T>(0));
    let value = v128.splat<T>(0), probability = value, slope = value;
    let component = firstComponent;
    do {
      const square = v128.add<T>(v, v128.load_splat<T>(component));
      const inverse = v128.div<T>(number<T>(ONE), square);
      const g = v128.sqrt<T>(square);
      const weight = v128.load_splat<T>(component, sizeof<T>());
      const e = v128.mul<T>(quickExp2<T>(v128.mul<T>(exponent, inverse)), weight);
      probability = multiplyAdd<T>(e, millsRatio<T>(v128.div<T>(g, v128.add<T>(g, pa))), probability);
      value = multiplyAdd<T>(e, g, value);
      slope = multiplyAdd<T>(e, v128.mul<T>(g, inverse), slope);
      component += 2 * sizeof<T>();
    } while (component < lastComponent);
    value = v128.sub<T>(value, v128.mul<T>(a, probability));
    sum = v128.add<T>(sum, v128.add<T>(value, positivePart<T>(m)));
    v128.store(mean, v128.mul<T>(probabilityOf<T>(m, probability), scales));
    v128.store(variance, v128.mul<T>(slope, v128.mul<T>(scales, number<T>(HALF))));
    mean += 16;
    variance += 16;
  } while (mean < end);

  mean = scratch + LIST_MEAN;
  variance = scratch + LIST_VARIANCE;
  for (let list = scratch + LIST; list < listEnd; list += 4) {
    store<T>(dMean + load<usize>(list), load<T>(mean));
    store<T>(dVariance + load<usize>(list), load<T>(variance));
    mean += sizeof<T>();
    variance += sizeof<T>();
  }
  return sum;
}

/**
 * Gauss-Hermite over whole vectors: f = -|m| + sqrt(v) x with the nodes x and weights of a standard normal
 * variable. d/dv is the expectation of sigmoid'(f) / 2, which needs no division by sqrt(v).
 */
function hermiteBlock<T extends number>(
  f: QuadratureFrame<T>, vectors: i32, mean: usize, variance: usize, factor: T,
  dMean: usize, dVariance: usize,
): v128 {
  const nodes = f.nodes, weights = f.weights, bytes = <usize>f.count << alignof<T>();
  const zero = v128.splat<T>(0), scales = v128.splat<T>(f.scale);
  let sum = zero;
  for (let offset: usize = 0; offset < <usize>vectors << 4; offset += 16) {
    const m = v128.load(mean + offset);
    const below = v128.neg<T>(v128.abs<T>(m));
    const v = v128.mul<T>(v128.load(variance + offset), v128.splat<T>(factor));
    const deviation = v128.sqrt<T>(v128.pmax<T>(v, zero));
    let value = zero, probability = zero, slope = zero;
    for (let j: usize = 0; j < bytes; j += sizeof<T>()) {
      const weight = v128.load_splat<T>(weights + j);
      const x = multiplyAdd<T>(deviation, v128.load_splat<T>(nodes + j), below);
      const e = exp<T>(v128.neg<T>(v128.abs<T>(x)));
      const larger = v128.div<T>(number<T>(ONE), v128.add<T>(e, number<T>(ONE)));
      const smaller = v128.mul<T>(e, larger);
      value = multiplyAdd<T>(v128.add<T>(v128.pmax<T>(x, zero), log1pInside<T>(e)), weight, value);
      probability = multiplyAdd<T>(v128.bitselect(smaller, larger, v128.lt<T>(x, zero)), weight, probability);
      slope = multiplyAdd<T>(v128.mul<T>(smaller, larger), weight, slope);
    }
    sum = v128.add<T>(sum, v128.add<T>(value, positivePart<T>(m)));
    v128.store(dMean + offset, v128.mul<T>(probabilityOf<T>(m, probability), scales));
    v128.store(dVariance + offset, v128.mul<T>(slope, v128.mul<T>(scales, number<T>(HALF))));
  }
  return sum;
}

// @ts-ignore: decorator
@unmanaged
class QuadratureFrame<T> {
  rows: i32;
  columns: i32;
  mean: usize;
  variance: usize;
  rowVariance: usize;
  rowStart: usize;
  column: usize;
  count: i32;
  nodes: usize;
  weights: usize;
  scale: T;
  rowValue: usize;
  dMean: usize;
  dVariance: usize;
  /** Rows, or for probabilities columns, of one task. */
  share: i32;
}

// @ts-ignore: decorator
@inline
function block<T extends number>(
  f: QuadratureFrame<T>, vectors: i32, mean: usize, variance: usize, factor: T,
  dMean: usize, dVariance: usize,
): f64 {
  const sum = f.count == 0
    ? defaultBlock<T>(vectors, mean, variance, factor, f.scale, dMean, dVariance)
    : hermiteBlock<T>(f, vectors, mean, variance, factor, dMean, dVariance);
  return <f64>sumLanes<T>(sum);
}

/** `n` elements as negatives, in blocks; the last vector is padded. Returns the sum of the values. */
function sweep<T extends number>(
  f: QuadratureFrame<T>, n: i32, mean: usize, variance: usize, factor: T, dMean: usize, dVariance: usize,
): f64 {
  const whole = n & -lanes<T>();
  let sum: f64 = 0;
  for (let i = 0; i < whole; i += BLOCK) {
    const vectors = min(BLOCK, whole - i) / lanes<T>();
    const to = at<T>(dMean, i), toVariance = at<T>(dVariance, i);
    sum += block<T>(f, vectors, at<T>(mean, i), at<T>(variance, i), factor, to, toVariance);
  }
  if (whole == n) return sum;
  const padded = panelA() + PADDED;
  const bytes = <usize>(n - whole) << alignof<T>();
  v128.store(padded, v128.splat<T>(<T>NOWHERE));
  v128.store(padded, v128.splat<T>(0), 16);
  memory.copy(padded, at<T>(mean, whole), bytes);
  memory.copy(padded + 16, at<T>(variance, whole), bytes);
  sum += block<T>(f, 1, padded, padded + 16, factor, padded, padded + 16);
  memory.copy(at<T>(dMean, whole), padded, bytes);
  memory.copy(at<T>(dVariance, whole), padded + 16, bytes);
  return sum;
}

/** Reverses the sign of the listed elements of a row. */
function reverse<T extends number>(row: usize, column: usize, end: usize): void {
  for (; column < end; column += 4) {
    const address = at<T>(row, load<i32>(column));
    store<T>(address, -load<T>(address));
  }
}

function likelihoodTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<QuadratureFrame<T>>(frame);
  const last = min((task + 1) * f.share, f.rows);
  for (let i = task * f.share; i < last; i++) {
    const mean = cell<T>(f.mean, f.columns, i, 0);
    const dMean = cell<T>(f.dMean, f.columns, i, 0);
    const dVariance = cell<T>(f.dVariance, f.columns, i, 0);
    const shared = f.rowVariance != 0;
    const variance = shared ? f.variance : cell<T>(f.variance, f.columns, i, 0);
    const factor: T = shared ? load<T>(at<T>(f.rowVariance, i)) : <T>1;
    let positive: usize = 0, end: usize = 0;
    if (f.rowStart != 0) {
      positive = at<i32>(f.column, load<i32>(at<i32>(f.rowStart, i)));
      end = at<i32>(f.column, load<i32>(at<i32>(f.rowStart, i + 1)));
    }
    reverse<T>(mean, positive, end);
    store<T>(at<T>(f.rowValue, i), <T>sweep<T>(f, f.columns, mean, variance, factor, dMean, dVariance));
    reverse<T>(dMean, positive, end);
    if (dMean != mean) reverse<T>(mean, positive, end);
  }
}

function probabilityTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<QuadratureFrame<T>>(frame);
  const first = task * f.share;
  const n = min(f.share, f.columns - first);
  sweep<T>(f, n, at<T>(f.mean, first), at<T>(f.variance, first), 1, at<T>(f.dMean, first), panelB());
}

function likelihoodTaskF32(frame: usize, task: i32): void { likelihoodTask<f32>(frame, task); }
function likelihoodTaskF64(frame: usize, task: i32): void { likelihoodTask<f64>(frame, task); }
function probabilityTaskF32(frame: usize, task: i32): void { probabilityTask<f32>(frame, task); }
function probabilityTaskF64(frame: usize, task: i32): void { probabilityTask<f64>(frame, task); }

/** Elements of a task: enough to pay for its start. */
const SHARE: i32 = 8192;

/**
 * Expected negative log likelihood of a batch. mean is [rows, columns]; so is variance, unless rowVariance
 * [rows] is given: then variance is [columns] and that of element (i, k) is rowVariance[i] variance[k].
 * Labels are negative but for those listed: column[rowStart[i] ... rowStart[i + 1] - 1], distinct, are the
 * positives of row i; rowStart may be 0. The rule is the default with count = 0, else Gauss-Hermite with
 * `count` nodes and weights (hermiteRule in src/core). Writes the sum over each row to rowValue [rows], and
 * scale times the derivatives of the sum to dMean and dVariance [rows, columns], which may be mean and a full
 * variance. (Positives are reversed in mean and back again: it is left as it was, unless it is dMean.)
 * @kernel
 */
export function expectedLogLikelihood<T extends number>(
  rows: i32, columns: i32, mean: usize, variance: usize, rowVariance: usize, rowStart: usize, column: usize,
  count: i32, nodes: usize, weights: usize, scale: T, rowValue: usize, dMean: usize, dVariance: usize,
): void {
  if (rows == 0) return;
  const frame = pushFrame(offsetof<QuadratureFrame<T>>());
  const f = changetype<QuadratureFrame<T>>(frame);
  f.rows = rows; f.columns = columns; f.mean = mean; f.variance = variance; f.rowVariance = rowVariance;
  f.rowStart = rowStart; f.column = column; f.count = count; f.nodes = nodes; f.weights = weights;
  f.scale = scale; f.rowValue = rowValue; f.dMean = dMean; f.dVariance = dVariance;
  f.share = max(1, SHARE / max(1, columns));
  const run: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? likelihoodTaskF32 : likelihoodTaskF64;
  parallel(run.index, frame, (rows + f.share - 1) / f.share);
  popFrame(frame);
}

/** out = E sigmoid(f) for n means and variances, the rule as above; out may be mean or variance. @kernel */
export function predictiveProbability<T extends number>(
  n: i32, mean: usize, variance: usize, count: i32, nodes: usize, weights: usize, out: usize,
): void {
  if (n == 0) return;
  const frame = pushFrame(offsetof<QuadratureFrame<T>>());
  const f = changetype<QuadratureFrame<T>>(frame);
  f.columns = n; f.mean = mean; f.variance = variance; f.dMean = out; f.scale = 1;
  f.count = count; f.nodes = nodes; f.weights = weights; f.share = SHARE;
  const run: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? probabilityTaskF32 : probabilityTaskF64;
  parallel(run.index, frame, (n + SHARE - 1) / SHARE);
  popFrame(frame);
}
