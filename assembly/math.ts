// exp, log and their relatives on vectors of either precision, and array kernels made of them.
//
// Only + - * / and bit operations are used, in a fixed order, so every runtime gives the same bits. Each
// comment states the worst error measured, in units of the last place (ULP): for f32 against f64, over every
// argument where the function bends and every 61st of all 2^32; for f64 against 80 bits, over 9.5 million
// arguments of all exponents.

import { at, lanes, multiplyAdd } from "./simd";
import {
  BIAS, BIASED_ROUNDER, constant, EXP2_F32, EXP2_F64, EXP_F32, EXP_F64, HALF, horner, INFINITE, integer, LIFT,
  LIFT_EXPONENT, LOG_F32, LOG_F64, NEGATIVE_INFINITE, NOT_A_NUMBER, number, ONE, ROUNDER, SMALLEST_NORMAL,
  SQRT_HALF_BITS, TWO,
} from "./tables";

/** Bits of the fraction of T. */
// @ts-ignore: decorator
@inline
function fractionBits<T extends number>(): i32 {
  return sizeof<T>() == 4 ? 23 : 52;
}

// The same integer operations on lanes of 32 or 64 bits.

// @ts-ignore: decorator
@inline
function addBits<T extends number>(a: v128, b: v128): v128 {
  return sizeof<T>() == 4 ? i32x4.add(a, b) : i64x2.add(a, b);
}
// @ts-ignore: decorator
@inline
function subtractBits<T extends number>(a: v128, b: v128): v128 {
  return sizeof<T>() == 4 ? i32x4.sub(a, b) : i64x2.sub(a, b);
}
// @ts-ignore: decorator
@inline
function shiftLeft<T extends number>(a: v128, by: i32): v128 {
  return sizeof<T>() == 4 ? i32x4.shl(a, by) : i64x2.shl(a, by);
}
// @ts-ignore: decorator
@inline
function shiftRight<T extends number>(a: v128, by: i32): v128 {
  return sizeof<T>() == 4 ? i32x4.shr_s(a, by) : i64x2.shr_s(a, by);
}

/** 2^n for lanes of integers n within the range of normal numbers. */
// @ts-ignore: decorator
@inline
function scaleOf<T extends number>(n: v128): v128 {
  return shiftLeft<T>(addBits<T>(n, integer<T>(BIAS)), fractionBits<T>());
}

/** One step of the polynomial of exp, and so on for the other tables. */
// @ts-ignore: decorator
@inline
function expStep<T extends number>(p: v128, r: v128, i: i32): v128 {
  return horner<T>(p, r, EXP_F32, EXP_F64, i);
}
// @ts-ignore: decorator
@inline
function exp2Step<T extends number>(p: v128, r: v128, i: i32): v128 {
  return horner<T>(p, r, EXP2_F32, EXP2_F64, i);
}
// @ts-ignore: decorator
@inline
function logStep<T extends number>(p: v128, z: v128, i: i32): v128 {
  return horner<T>(p, z, LOG_F32, LOG_F64, i);
}

/**
 * e^x, with gradual underflow; overflow gives Infinity. x = n log(2) + r, |r| <= log(2) / 2, and 2^n is
 * applied in two halves because 2^-150 and 2^128 are no normal numbers.
 * Worst error 1.03 ULP (f32), 0.99 ULP (f64).
 */
// @ts-ignore: decorator
@inline
export function exp<T extends number>(x: v128): v128 {
  x = v128.pmin<T>(x, constant<T>(EXP_F32, EXP_F64, 0));
  x = v128.pmax<T>(x, constant<T>(EXP_F32, EXP_F64, 1));
  const shifted = multiplyAdd<T>(x, constant<T>(EXP_F32, EXP_F64, 2), number<T>(ROUNDER));
  const n = v128.sub<T>(shifted, number<T>(ROUNDER));
  let r = v128.sub<T>(x, v128.mul<T>(n, constant<T>(EXP_F32, EXP_F64, 3)));
  r = v128.sub<T>(r, v128.mul<T>(n, constant<T>(EXP_F32, EXP_F64, 4)));
  let p = expStep<T>(constant<T>(EXP_F32, EXP_F64, 5), r, 6);
  p = expStep<T>(p, r, 7);
  p = expStep<T>(p, r, 8);
  p = expStep<T>(p, r, 9);
  if (sizeof<T>() == 8) {
    p = expStep<T>(p, r, 10);
    p = expStep<T>(p, r, 11);
    p = expStep<T>(p, r, 12);
    p = expStep<T>(p, r, 13);
    p = expStep<T>(p, r, 14);
  }
  const y = v128.add<T>(multiplyAdd<T>(v128.mul<T>(r, r), p, r), number<T>(ONE));
  const power = subtractBits<T>(shifted, number<T>(ROUNDER));
  const half = shiftRight<T>(power, 1);
  return v128.mul<T>(v128.mul<T>(y, scaleOf<T>(half)), scaleOf<T>(subtractBits<T>(power, half)));
}

/**
 * 2^y for y below 127 (f32) or 1023 (f64), quick: 0 for y below -126.5 or -1022.5, no gradual underflow;
 * relative error 2.6e-7 (f32), 1.4e-14 (f64).
 */
// @ts-ignore: decorator
@inline
export function quickExp2<T extends number>(y: v128): v128 {
  y = v128.pmax<T>(y, exp2Constant<T>(0));
  // The bias of the exponent rides on the rounding constant: the low bits of the sum are those of 2^n.
  const shifted = v128.add<T>(y, number<T>(BIASED_ROUNDER));
  const r = v128.sub<T>(y, v128.sub<T>(shifted, number<T>(BIASED_ROUNDER)));
  // Pairs of terms: a shorter chain than Horner's rule.
  const r2 = v128.mul<T>(r, r);
  let p = exp2Step<T>(exp2Constant<T>(1), r, 2);
  p = multiplyAdd<T>(p, r2, exp2Step<T>(exp2Constant<T>(3), r, 4));
  p = multiplyAdd<T>(p, r2, exp2Step<T>(exp2Constant<T>(5), r, 6));
  if (sizeof<T>() == 8) {
    p = multiplyAdd<T>(p, r2, exp2Step<T>(exp2Constant<T>(7), r, 8));
    p = multiplyAdd<T>(p, r2, exp2Step<T>(exp2Constant<T>(9), r, 10));
  }
  return v128.mul<T>(p, shiftLeft<T>(shifted, fractionBits<T>()));
}

// @ts-ignore: decorator
@inline
function exp2Constant<T extends number>(i: i32): v128 {
  return constant<T>(EXP2_F32, EXP2_F64, i);
}

/**
 * log(1 + f) + e log(2) + c for f in [sqrt(1/2) - 1, sqrt(2) - 1] and a tiny correction c. With
 * s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + R)), R = s^2 times a polynomial in s^2.
 */
// @ts-ignore: decorator
@inline
function logParts<T extends number>(f: v128, e: v128, c: v128): v128 {
  const s = v128.div<T>(f, v128.add<T>(f, number<T>(TWO)));
  const z = v128.mul<T>(s, s);
  let p = logStep<T>(constant<T>(LOG_F32, LOG_F64, 2), z, 3);
  p = logStep<T>(p, z, 4);
  p = logStep<T>(p, z, 5);
  if (sizeof<T>() == 8) {
    p = logStep<T>(p, z, 6);
    p = logStep<T>(p, z, 7);
    p = logStep<T>(p, z, 8);
  }
  const halfSquare = v128.mul<T>(v128.mul<T>(f, f), number<T>(HALF));
  const high = v128.mul<T>(e, constant<T>(LOG_F32, LOG_F64, 0));
  const low = multiplyAdd<T>(e, constant<T>(LOG_F32, LOG_F64, 1), c);
  const small = multiplyAdd<T>(s, multiplyAdd<T>(z, p, halfSquare), low);
  return v128.sub<T>(high, v128.sub<T>(v128.sub<T>(halfSquare, small), f));
}

/** The integer e with x = 2^e m, m in [sqrt(1/2), sqrt(2)), for normal x > 0. */
// @ts-ignore: decorator
@inline
function exponentOf<T extends number>(x: v128): v128 {
  return shiftRight<T>(subtractBits<T>(x, integer<T>(SQRT_HALF_BITS)), fractionBits<T>());
}

/** Small integers as numbers of T. */
// @ts-ignore: decorator
@inline
function toFloat<T extends number>(n: v128): v128 {
  return v128.sub<T>(addBits<T>(n, number<T>(ROUNDER)), number<T>(ROUNDER));
}

/** `regular` where 0 < x < Infinity; -Infinity at 0, Infinity at Infinity, NaN below 0 and at NaN. */
// @ts-ignore: decorator
@inline
function logEdges<T extends number>(x: v128, regular: v128): v128 {
  const positive = v128.gt<T>(x, v128.splat<T>(0));
  const outside = v128.bitselect(number<T>(INFINITE), number<T>(NOT_A_NUMBER), positive);
  const edge = v128.bitselect(number<T>(NEGATIVE_INFINITE), outside, v128.eq<T>(x, v128.splat<T>(0)));
  return v128.bitselect(regular, edge, v128.and(positive, v128.lt<T>(x, number<T>(INFINITE))));
}

/** log(x). Subnormal numbers are lifted first. Worst error 0.84 ULP (f32), 0.78 ULP (f64). */
// @ts-ignore: decorator
@inline
export function log<T extends number>(x: v128): v128 {
  const tiny = v128.lt<T>(x, number<T>(SMALLEST_NORMAL));
  const lifted = v128.bitselect(v128.mul<T>(x, number<T>(LIFT)), x, tiny);
  const power = exponentOf<T>(lifted);
  const m = subtractBits<T>(lifted, shiftLeft<T>(power, fractionBits<T>()));
  const e = v128.sub<T>(toFloat<T>(power), v128.and(tiny, number<T>(LIFT_EXPONENT)));
  return logEdges<T>(x, logParts<T>(v128.sub<T>(m, number<T>(ONE)), e, v128.splat<T>(0)));
}

/** log(1 + x) for -1 < x < Infinity: u = 1 + x is reduced; what its rounding lost comes back as lost / u. */
// @ts-ignore: decorator
@inline
export function log1pInside<T extends number>(x: v128): v128 {
  const one = number<T>(ONE);
  const u = v128.add<T>(x, one);
  const power = exponentOf<T>(u);
  const m = subtractBits<T>(u, shiftLeft<T>(power, fractionBits<T>()));
  const e = toFloat<T>(power);
  const lost = v128.bitselect(
    v128.sub<T>(one, v128.sub<T>(u, x)), v128.sub<T>(x, v128.sub<T>(u, one)), v128.ge<T>(x, one));
  // Without a power of two x itself is the reduced argument, and nothing is lost.
  const unreduced = v128.eq<T>(e, v128.splat<T>(0));
  const f = v128.bitselect(x, v128.sub<T>(m, one), unreduced);
  return logParts<T>(f, e, v128.andnot(v128.div<T>(lost, u), unreduced));
}

/** log(1 + x). Worst error 0.84 ULP (f32), 0.81 ULP (f64). */
// @ts-ignore: decorator
@inline
export function log1p<T extends number>(x: v128): v128 {
  return logEdges<T>(v128.add<T>(x, number<T>(ONE)), log1pInside<T>(x));
}

/** log(1 + e^x) = max(x, 0) + log(1 + e^-|x|). Worst error 1.68 ULP (f32), 1.59 ULP (f64). */
// @ts-ignore: decorator
@inline
export function softplus<T extends number>(x: v128): v128 {
  const e = exp<T>(v128.neg<T>(v128.abs<T>(x)));
  return v128.add<T>(v128.pmax<T>(x, v128.splat<T>(0)), log1pInside<T>(e));
}

/**
 * 1 / (1 + e^-x), by the exponential of -|x| so that both tails keep their relative accuracy.
 * Worst error 2.41 ULP (f32), 2.37 ULP (f64).
 */
// @ts-ignore: decorator
@inline
export function sigmoid<T extends number>(x: v128): v128 {
  const e = exp<T>(v128.neg<T>(v128.abs<T>(x)));
  const numerator = v128.bitselect(e, number<T>(ONE), v128.lt<T>(x, v128.splat<T>(0)));
  return v128.div<T>(numerator, v128.add<T>(e, number<T>(ONE)));
}

/** Functions that mapArray can apply to each element. */
export const EXP: i32 = 0;
export const LOG: i32 = 1;
export const LOG1P: i32 = 2;
export const SOFTPLUS: i32 = 3;
export const SIGMOID: i32 = 4;
export const SQRT: i32 = 5;
export const SQUARE: i32 = 6;
export const RECIPROCAL: i32 = 7;
export const NEGATE: i32 = 8;
export const ABS: i32 = 9;

// @ts-ignore: decorator
@inline
function apply<T extends number>(op: i32, x: v128): v128 {
  if (op == EXP) return exp<T>(x);
  if (op == LOG) return log<T>(x);
  if (op == LOG1P) return log1p<T>(x);
  if (op == SOFTPLUS) return softplus<T>(x);
  if (op == SIGMOID) return sigmoid<T>(x);
  if (op == SQRT) return v128.sqrt<T>(x);
  if (op == SQUARE) return v128.mul<T>(x, x);
  if (op == RECIPROCAL) return v128.div<T>(number<T>(ONE), x);
  if (op == NEGATE) return v128.neg<T>(x);
  return v128.abs<T>(x);
}

/** The first `count` < lanes elements at x, zeros behind them. */
// @ts-ignore: decorator
@inline
export function loadPart<T extends number>(x: usize, count: i32): v128 {
  if (sizeof<T>() == 8) return v128.load64_zero(x);
  let v = v128.load32_zero(x);
  if (count > 1) v = v128.load_lane<f32>(x, v, 1, 4);
  if (count > 2) v = v128.load_lane<f32>(x, v, 2, 8);
  return v;
}

/** Stores the first `count` < lanes elements of v. */
// @ts-ignore: decorator
@inline
export function storePart<T extends number>(x: usize, v: v128, count: i32): void {
  v128.store_lane<T>(x, v, 0);
  if (sizeof<T>() == 8) return;
  if (count > 1) v128.store_lane<f32>(x, v, 1, 4);
  if (count > 2) v128.store_lane<f32>(x, v, 2, 8);
}

// @ts-ignore: decorator
@inline
function mapWith<T extends number>(op: i32, n: i32, x: usize, out: usize): void {
  const whole = n & -lanes<T>();
  const end = at<T>(x, whole);
  while (x < end) {
    v128.store(out, apply<T>(op, v128.load(x)));
    x += 16;
    out += 16;
  }
  // The last elements ride in a padded vector: every element gets the same arithmetic.
  if (whole < n) storePart<T>(out, apply<T>(op, loadPart<T>(x, n - whole)), n - whole);
}

/** out[i] = op(x[i]) for i < n; out may be x. @kernel */
export function mapArray<T extends number>(op: i32, n: i32, x: usize, out: usize): void {
  switch (op) {
    case EXP: mapWith<T>(EXP, n, x, out); break;
    case LOG: mapWith<T>(LOG, n, x, out); break;
    case LOG1P: mapWith<T>(LOG1P, n, x, out); break;
    case SOFTPLUS: mapWith<T>(SOFTPLUS, n, x, out); break;
    case SIGMOID: mapWith<T>(SIGMOID, n, x, out); break;
    case SQRT: mapWith<T>(SQRT, n, x, out); break;
    case SQUARE: mapWith<T>(SQUARE, n, x, out); break;
    case RECIPROCAL: mapWith<T>(RECIPROCAL, n, x, out); break;
    case NEGATE: mapWith<T>(NEGATE, n, x, out); break;
    case ABS: mapWith<T>(ABS, n, x, out); break;
  }
}
