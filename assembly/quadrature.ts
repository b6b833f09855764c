// Expected log likelihood of a label under a Gaussian utility f ~ N(m, v), its derivatives, and the predictive
// probability. For a negative label
//
//   value(m, v) = E log(1 + e^f)     d value / dm = E sigmoid(f)     d value / dv = E sigmoid'(f) / 2
//
// and a positive one is a negative one with m reversed: value(-m, v), with the sign of d/dm reversed too.
//
// Two rules. The default replaces sigmoid by a mixture of normal distribution functions (Monahan and Stefanski 1992),
// for which the expectation is exact whatever the variance; far from zero it uses the exponential series of the tail,
// which is cheaper there and keeps the relative accuracy of rare labels. The other is Gauss-Hermite with any number of
// nodes. Both compute with -|m|: value(m) = m + value(-m) and probability(m) = 1 - probability(-m) for m > 0.

import { at, lanes, multiplyAdd, sumLanes } from "./simd";
import { exp, loadPart, log1pInside, quickExp2, storePart } from "./math";
import { panelA, parallel, popFrame, pushFrame } from "./parallel";
import {
  constant, HALF, horner, MILLS_F32, MILLS_F64, MIXTURE_F32, MIXTURE_F64, number, ONE, TAIL_F32, TAIL_F64, TAIL_TERMS_F32,
  TAIL_TERMS_F64,
} from "./tables";

/** Components of the mixture and terms of the tail's series. */
// @ts-ignore: decorator
@inline
function componentBytes<T extends number>(): usize {
  return sizeof<T>() == 4 ? 6 * 2 * 4 : 10 * 2 * 8;
}
// @ts-ignore: decorator
@inline
function termBytes<T extends number>(): usize {
  return sizeof<T>() == 4 ? 2 * 3 * 4 : 5 * 3 * 8;
}

// @ts-ignore: decorator
@inline
function millsStep<T extends number>(p: v128, k: v128, i: i32): v128 {
  return horner<T>(p, k, MILLS_F32, MILLS_F64, i);
}

/** Phi(-t) / phi(t) from k = 1 / (1 + p t). */
// @ts-ignore: decorator
@inline
function millsRatio<T extends number>(k: v128): v128 {
  if (sizeof<T>() == 4) {
    const k2 = v128.mul<T>(k, k);
    const p01 = millsStep<T>(constant<T>(MILLS_F32, MILLS_F64, 6), k, 7);
    const p23 = millsStep<T>(constant<T>(MILLS_F32, MILLS_F64, 4), k, 5);
    const p45 = millsStep<T>(constant<T>(MILLS_F32, MILLS_F64, 2), k, 3);
    const p456 = multiplyAdd<T>(constant<T>(MILLS_F32, MILLS_F64, 1), k2, p45);
    const p0123 = multiplyAdd<T>(p23, k2, p01);
    const q = multiplyAdd<T>(p456, v128.mul<T>(k2, k2), p0123);
    return v128.mul<T>(q, k);
  }
  let q = millsStep<T>(constant<T>(MILLS_F32, MILLS_F64, 1), k, 2);
  q = millsStep<T>(q, k, 3);
  q = millsStep<T>(q, k, 4);
  q = millsStep<T>(q, k, 5);
  q = millsStep<T>(q, k, 6);
  q = millsStep<T>(q, k, 7);
  if (sizeof<T>() == 8) {
    q = millsStep<T>(q, k, 8);
    q = millsStep<T>(q, k, 9);
    q = millsStep<T>(q, k, 10);
    q = millsStep<T>(q, k, 11);
    q = millsStep<T>(q, k, 12);
    q = millsStep<T>(q, k, 13);
    q = millsStep<T>(q, k, 14);
  }
  return v128.mul<T>(q, k);
}

/**
 * The default rule over `vectors` whole vectors; the variances are `variance` times `factor`. Stores scale d/dm and
 * scale d/dv, returns the lane sums of the values. Outputs may lie on the inputs.
 *
 * Mixture, with a = |m|, g = sqrt(v + tau^2), t = a / g and e = phi(t):
 *   value(-a) = sum w (g e - a Phi(-t))    probability(-a) = sum w Phi(-t)    d/dv = 1/2 sum w e / g
 * One square root and one division a component: 1 / (g (g + p a)) gives both 1 / g and Mills' k = g / (g + p a).
 *
 * Tail, with E e^{kf} = e^{-ka + k^2 v/2} and sigmoid(f) = e^f - e^{2f} + e^{3f} - ...: the n terms taken leave less than
 * the next, E e^{(n+1)f}: for f32 n = 3 where 2.5 v - a < -4.1, at most 8e-8 and 5e-6 of the value; for f64 n = 6 where
 * 4 v - a < -3.5, at most 3e-11 and 1e-9 of it. The derivatives of either branch are exactly those of its value.
 */
// @ts-ignore: decorator
@inline
export function mixtureSweep<T extends number>(
  vectors: i32, mean: usize, variance: usize, factor: T, scale: T, dMean: usize, dVariance: usize,
): v128 {
  const factors = v128.splat<T>(factor);
  const scales = v128.splat<T>(scale);
  let sum = v128.splat<T>(0);
  const end = mean + (<usize>vectors << 4);
  do {
    const m = v128.load(mean);
    const a = v128.abs<T>(m);
    const v = v128.pmax<T>(v128.mul<T>(v128.load(variance), factors), v128.splat<T>(0));
    const edge = v128.sub<T>(v128.mul<T>(v, constant<T>(TAIL_F32, TAIL_F64, 0)), a);
    const tail = v128.lt<T>(edge, constant<T>(TAIL_F32, TAIL_F64, 1));
    // Sums over the components, or terms, for value, probability and twice the variance derivative.
    let value = v128.splat<T>(0), probability = value, slope = value;
    if (!(sizeof<T>() == 4 ? i32x4.all_true(tail) : i64x2.all_true(tail))) {
      const exponent = v128.mul<T>(v128.mul<T>(a, a), constant<T>(TAIL_F32, TAIL_F64, 2));
      const pa = v128.mul<T>(a, constant<T>(MILLS_F32, MILLS_F64, 0));
      let component = sizeof<T>() == 4 ? MIXTURE_F32 : MIXTURE_F64;
      const last = component + componentBytes<T>();
      do {
        const square = v128.add<T>(v, v128.load_splat<T>(component));
        const inverse = v128.div<T>(number<T>(ONE), square);
        const g = v128.sqrt<T>(square);
        const density = quickExp2<T>(v128.mul<T>(exponent, inverse));
        const e = v128.mul<T>(density, v128.load_splat<T>(component, sizeof<T>()));
        const mills = millsRatio<T>(v128.div<T>(g, v128.add<T>(g, pa)));
        probability = multiplyAdd<T>(e, mills, probability);
        value = multiplyAdd<T>(e, g, value);
        slope = multiplyAdd<T>(e, v128.mul<T>(g, inverse), slope);
        component += 2 * sizeof<T>();
      } while (component < last);
      value = v128.sub<T>(value, v128.mul<T>(a, probability));
    }
    if (v128.any_true(tail)) {
      const half = v128.mul<T>(v, number<T>(HALF));
      let term = quickExp2<T>(v128.mul<T>(v128.sub<T>(half, a), constant<T>(TAIL_F32, TAIL_F64, 3)));
      const finite = v128.pmin<T>(v, constant<T>(TAIL_F32, TAIL_F64, 4));
      const growth = quickExp2<T>(v128.mul<T>(finite, constant<T>(TAIL_F32, TAIL_F64, 3)));
      let ratio = term, tailValue = term, tailProbability = term, tailSlope = term;
      let k = sizeof<T>() == 4 ? TAIL_TERMS_F32 : TAIL_TERMS_F64;
      const last = k + termBytes<T>();
      do {
        ratio = v128.mul<T>(ratio, growth);
        term = v128.mul<T>(term, ratio);
        tailValue = multiplyAdd<T>(term, v128.load_splat<T>(k), tailValue);
        tailProbability = multiplyAdd<T>(term, v128.load_splat<T>(k, sizeof<T>()), tailProbability);
        tailSlope = multiplyAdd<T>(term, v128.load_splat<T>(k, 2 * sizeof<T>()), tailSlope);
        k += 3 * sizeof<T>();
      } while (k < last);
      value = v128.bitselect(tailValue, value, tail);
      probability = v128.bitselect(tailProbability, probability, tail);
      slope = v128.bitselect(tailSlope, slope, tail);
    }
    const positive = v128.gt<T>(m, v128.splat<T>(0));
    sum = v128.add<T>(sum, v128.add<T>(value, v128.and(m, positive)));
    probability = v128.bitselect(v128.sub<T>(number<T>(ONE), probability), probability, positive);
    v128.store(dMean, v128.mul<T>(probability, scales));
    v128.store(dVariance, v128.mul<T>(slope, v128.mul<T>(scales, number<T>(HALF))));
    mean += 16;
    variance += 16;
    dMean += 16;
    dVariance += 16;
  } while (mean < end);
  return sum;
}
