// Read-only tables of constants, and how vectors of them are read.
//
// Why tables: V8 builds a v128.const anew at each use, inside the loop, by three instructions of which one crosses from
// the integer registers. A broadcast load is one instruction (exp of f32: 2.1 against 1.0 ns an element).

import { at, multiplyAdd } from "./simd";

/** Entry i of the table for T, in every lane. Folds to a load from a fixed address. */
// @ts-ignore: decorator
@inline
export function constant<T extends number>(tableF32: usize, tableF64: usize, i: i32): v128 {
  return v128.load_splat<T>(sizeof<T>() == 4 ? at<T>(tableF32, i) : at<T>(tableF64, i));
}

/** p x + entry i: one step of Horner's rule. */
// @ts-ignore: decorator
@inline
export function horner<T extends number>(p: v128, x: v128, tableF32: usize, tableF64: usize, i: i32): v128 {
  return multiplyAdd<T>(p, x, constant<T>(tableF32, tableF64, i));
}

/** Small numbers by name. */
export const HALF: i32 = 0;
export const ONE: i32 = 1;
export const TWO: i32 = 2;
export const INFINITE: i32 = 3;
export const NEGATIVE_INFINITE: i32 = 4;
export const NOT_A_NUMBER: i32 = 5;
/** Added to a number, rounds it to an integer and leaves that integer in the low bits of the sum: 1.5 * 2^23, 1.5 * 2^52. */
export const ROUNDER: i32 = 6;
/** The same plus the bias of the exponent, 127 or 1023. */
export const BIASED_ROUNDER: i32 = 7;
/** The smallest normal number, what lifts subnormal ones above it, and its exponent. */
export const SMALLEST_NORMAL: i32 = 8;
export const LIFT: i32 = 9;
export const LIFT_EXPONENT: i32 = 10;
export const NUMBERS_F32: usize = memory.data<f32>([
  0.5, 1, 2, Infinity, -Infinity, NaN, 12582912, 12583039, 1.1754943508222875e-38, 33554432, 25,
]);
export const NUMBERS_F64: usize = memory.data<f64>([
  0.5, 1, 2, Infinity, -Infinity, NaN, 6755399441055744, 6755399441056767, 2.2250738585072014e-308, 18014398509481984, 54,
]);

// @ts-ignore: decorator
@inline
export function number<T extends number>(i: i32): v128 {
  return constant<T>(NUMBERS_F32, NUMBERS_F64, i);
}

/** Integers as wide as T: the bias of the exponent, and the bits of sqrt(1/2). */
export const BIAS: i32 = 0;
export const SQRT_HALF_BITS: i32 = 1;
const INTEGERS_F32: usize = memory.data<i32>([127, 0x3f3504f3]);
const INTEGERS_F64: usize = memory.data<i64>([1023, 0x3fe6a09e667f3bcd]);

// @ts-ignore: decorator
@inline
export function integer<T extends number>(i: i32): v128 {
  return constant<T>(INTEGERS_F32, INTEGERS_F64, i);
}

/**
 * exp: 0 and 1 the arguments beyond which it is Infinity or 0; 2 is 1 / log(2); 3 and 4 log(2) in two parts, the first
 * so short that its product with an exponent is exact; from 5 on the coefficients of (e^r - 1 - r) / r^2 for
 * |r| <= log(2) / 2, highest power first: minimax, relative error in e^r 3e-9 (f32) and 4e-18 (f64).
 */
export const EXP_F32: usize = memory.data<f32>([
  89, -104, 1.4426950408889634, 0.693359375, -2.12194440054690583e-4,
  0.0013950726826017009, 0.008369024838590011, 0.041666202267885685, 0.1666651771176465, 0.5000000096284072,
]);
export const EXP_F64: usize = memory.data<f64>([
  710, -746, 1.4426950408889634, 6.93147180369123816490e-1, 1.90821492927058770002e-10,
  2.5118113875109873e-8, 2.7631561970220897e-7, 2.7557215507812644e-6, 2.4801489199636304e-5, 1.9841269918265353e-4,
  0.001388888894768208, 0.0083333333333068, 0.04166666666651311, 0.166666666666667, 0.5000000000000013,
]);

/** quickExp2: 0 the least argument; then the coefficients of 2^r, |r| <= 1/2: relative error 8e-8 (f32), 1.4e-14 (f64). */
export const EXP2_F32: usize = memory.data<f32>([
  -127, 0.0013276357367264576, 0.009675655472192112, 0.05550714483829958, 0.24022117619218916, 0.6931469657851752,
  1.0000000720782707,
]);
export const EXP2_F64: usize = memory.data<f64>([
  -1023, 1.0150288664622263e-7, 1.325949304785092e-6, 1.5252985802557709e-5, 1.540343456820415e-4, 0.0013333557614500992,
  0.009618129192571096, 0.0555041086687161, 0.24022650695647582, 0.6931471805598702, 1.0000000000000129,
]);

/** log: 0 and 1 log(2) in two parts as above; from 2 on the coefficients of FreeBSD's e_logf.c and e_log.c. */
export const LOG_F32: usize = memory.data<f32>([
  6.9313812256e-1, 9.0580006145e-6,
  0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693,
]);
export const LOG_F64: usize = memory.data<f64>([
  6.93147180369123816490e-1, 1.90821492927058770002e-10,
  1.479819860511658591e-1, 1.531383769920937332e-1, 1.818357216161805012e-1, 2.222219843214978396e-1,
  2.857142874366239149e-1, 3.999999999940941908e-1, 6.666666666666735130e-1,
]);

/**
 * The logistic function as a mixture of normal distribution functions: pairs tau^2, w / sqrt(2 pi) with
 * sigmoid(f) = sum w Phi(f / tau), w > 0 summing to 1. Fitted by weighted minimax to value and both derivatives of the
 * expectation over all means and standard deviations up to 10 outside the tail (below); error 1.2e-7 with 6
 * components, 2e-10 with 10.
 */
export const MIXTURE_F32: usize = memory.data<f32>([
  0.66158262444383, 0.006162147828978784, 1.2074657697492321, 0.06527335755481237,
  2.211714948262685, 0.15456635185682463, 4.154284629276059, 0.1316308284500432,
  7.867217282225016, 0.03906417836845677, 14.946113950678539, 0.0022454163423170333,
]);
export const MIXTURE_F64: usize = memory.data<f64>([
  0.4471317328911665, 0.00024704774349792276, 0.7059112903299698, 0.006265338199353581,
  1.0936899192755287, 0.03691053230168982, 1.702033949331462, 0.09051764108027446,
  2.6735313710193225, 0.11838933261579294, 4.2212896553253065, 0.0924278027966499,
  6.6348901141685, 0.04285780292044244, 10.304850148772212, 0.010324223615002827,
  15.85542137480252, 0.0009825660157640839, 24.707177476135367, 1.999311296477818e-5,
]);

/**
 * Mills' ratio Phi(-t) / phi(t), t >= 0, as a polynomial in k = 1 / (1 + p t) without constant term: entry 0 is p, then
 * the highest power first. Minimax with weight phi(t) max(1, 2 t): error 4e-8 (f32), 7e-13 (f64); relative error below
 * 4e-5 and 5e-11 everywhere.
 */
export const MILLS_F32: usize = memory.data<f32>([
  0.35, 0.10916111716749029, -0.450415338861484, 0.5077645384638483, 0.042022987631916774, 0.34922020719078833,
  0.34538872164962303, 0.35017199461155246,
]);
export const MILLS_F64: usize = memory.data<f64>([
  0.24, 0.01664716531839759, -0.12381819225047501, 0.3836409089898856, -0.630487470190513, 0.6074825398703348,
  -0.4251752924095762, 0.23761033599543713, -0.006357351270850663, 0.13267427458617662, 0.15599462962482843,
  0.1989601551084239, 0.2261408016201097, 0.24000166694169445, 0.23999996538156979,
]);

/**
 * The tail: 0 and 1 its edge, variance factor and bound; 2 is -1 / (2 log(2)), 3 is 1 / log(2), 4 the largest variance
 * whose exponential is finite.
 */
export const TAIL_F32: usize = memory.data<f32>([2.5, -4.1, -0.7213475204444817, 1.4426950408889634, 80]);
export const TAIL_F64: usize = memory.data<f64>([4, -3.5, -0.7213475204444817, 1.4426950408889634, 700]);
/** Coefficients of the k-th term, k = 2, 3, ...: in value, mean derivative and twice the variance derivative. */
export const TAIL_TERMS_F32: usize = memory.data<f32>([-0.5, -1, -2, 0.3333333333333333, 1, 3]);
export const TAIL_TERMS_F64: usize = memory.data<f64>([
  -0.5, -1, -2, 0.3333333333333333, 1, 3, -0.25, -1, -4, 0.2, 1, 5, -0.16666666666666666, -1, -6,
]);
