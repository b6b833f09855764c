// Read-only tables of constants, and how vectors of them are read.
//
// Why tables: V8 builds a v128.const anew at each use, inside the loop, by three instructions of which one
// crosses from the integer registers. A broadcast load is one instruction (exp of f32: 1.3, not 2.1 ns an
// element).

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
/** Added to a number, rounds it and leaves the integer in the low bits of the sum: 1.5 * 2^23, 1.5 * 2^52. */
export const ROUNDER: i32 = 6;
/** The same plus the bias of the exponent, 127 or 1023. */
export const BIASED_ROUNDER: i32 = 7;
/** The smallest normal number, what lifts subnormal ones above it, and its exponent. */
export const SMALLEST_NORMAL: i32 = 8;
export const LIFT: i32 = 9;
export const LIFT_EXPONENT: i32 = 10;
const NUMBERS_F32: usize = memory.data<f32>([
  0.5, 1, 2, Infinity, -Infinity, NaN, 12582912, 12583039, 1.1754943508222875e-38, 33554432, 25,
]);
const NUMBERS_F64: usize = memory.data<f64>([
  0.5, 1, 2, Infinity, -Infinity, NaN, 6755399441055744, 6755399441056767, 2.2250738585072014e-308,
  18014398509481984, 54,
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
 * exp: 0 and 1 the arguments beyond which it is Infinity or 0; 2 is 1 / log(2); 3 and 4 log(2) in two parts,
 * the first so short that its product with an exponent is exact; from 5 on, highest power first, the
 * coefficients of (e^r - 1 - r) / r^2 for |r| <= log(2) / 2: minimax, error in e^r 3e-9 (f32), 4e-18 (f64).
 */
export const EXP_F32: usize = memory.data<f32>([
  89, -104, 1.4426950408889634, 0.693359375, -2.12194440054690583e-4,
  0.0013950726826017009, 0.008369024838590011, 0.041666202267885685, 0.1666651771176465, 0.5000000096284072,
]);
export const EXP_F64: usize = memory.data<f64>([
  710, -746, 1.4426950408889634, 6.93147180369123816490e-1, 1.90821492927058770002e-10,
  2.5118113875109873e-8, 2.7631561970220897e-7, 2.7557215507812644e-6, 2.4801489199636304e-5,
  1.9841269918265353e-4, 0.001388888894768208, 0.0083333333333068, 0.04166666666651311, 0.166666666666667,
  0.5000000000000013,
]);

/**
 * quickExp2: 0 the least argument; then the coefficients of 2^r, |r| <= 1/2: relative error 8e-8 (f32),
 * 1.4e-14 (f64).
 */
export const EXP2_F32: usize = memory.data<f32>([
  -127, 0.0013276357367264576, 0.009675655472192112, 0.05550714483829958, 0.24022117619218916,
  0.6931469657851752, 1.0000000720782707,
]);
export const EXP2_F64: usize = memory.data<f64>([
  -1023, 1.0150288664622263e-7, 1.325949304785092e-6, 1.5252985802557709e-5, 1.540343456820415e-4,
  0.0013333557614500992, 0.009618129192571096, 0.0555041086687161, 0.24022650695647582, 0.6931471805598702,
  1.0000000000000129,
]);

/**
 * log: 0 and 1 log(2) in two parts as above; from 2 on the coefficients of FreeBSD's e_logf.c and e_log.c.
 */
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
 * sigmoid(f) = sum w Phi(f / tau), w > 0 summing to 1. Fitted by weighted minimax to value and both
 * derivatives of the expectation over all means and standard deviations up to 10 outside the tail (below):
 * error 8e-8 with 6 components, 1.3e-10 with 10.
 */
export const MIXTURE_F32: usize = memory.data<f32>([
  0.6613108253161473, 0.006276606198512388, 1.227884523462852, 0.07031475528962572,
  2.297452966272967, 0.1619661051654344, 4.377616123083308, 0.12568879113359005,
  8.283305035247384, 0.03301029521654115, 15.552407966082658, 0.001685727397729006,
]);
export const MIXTURE_F64: usize = memory.data<f64>([
  0.43728955071932574, 0.0001984394416984369, 0.6899023185997808, 0.00553776167814874,
  1.0722421215953237, 0.03523722498686739, 1.6806106109938537, 0.09093005288566701,
  2.6670203821778418, 0.12125905773646128, 4.255856991610666, 0.09353160922288066,
  6.7388039147099095, 0.041786259839806494, 10.492727579534176, 0.009576088875842735,
  16.12295220630574, 0.0008687843879343836, 25.04236058637104, 1.7001346125632186e-05,
]);

/**
 * Mills' ratio Phi(-t) / phi(t), t >= 0, as a polynomial in k = 1 / (1 + p t) without constant term: entry 0
 * is p, then the highest power first. Minimax with weight phi(t) max(1, 2 t): error 4e-8 (f32), 7e-13 (f64);
 * relative error below 4e-5 and 5e-11 everywhere.
 */
export const MILLS_F32: usize = memory.data<f32>([
  0.35, 0.10916111716749029, -0.450415338861484, 0.5077645384638483, 0.042022987631916774,
  0.34922020719078833, 0.34538872164962303, 0.35017199461155246,
]);
export const MILLS_F64: usize = memory.data<f64>([
  0.24, 0.01664716531839759, -0.12381819225047501, 0.3836409089898856, -0.630487470190513, 0.6074825398703348,
  -0.4251752924095762, 0.23761033599543713, -0.006357351270850663, 0.13267427458617662, 0.15599462962482843,
  0.1989601551084239, 0.2261408016201097, 0.24000166694169445, 0.23999996538156979,
]);

/**
 * The tail is where slope v - |m| < bound, entries 0 and 1. 2 is -1 / (2 log(2)), 3 is 1 / log(2), 4 a
 * variance whose exponential is finite.
 */
export const TAIL_F32: usize = memory.data<f32>([3.5, -1.9, -0.7213475204444817, 1.4426950408889634, 80]);
export const TAIL_F64: usize = memory.data<f64>([4, -2.8, -0.7213475204444817, 1.4426950408889634, 700]);

/**
 * sigmoid(f) = e^f + sum c[k] e^{kf} in the tail, k = 2 ... 6: c / k, c and c k, for value, mean derivative
 * and twice the variance derivative. Minimax over the tail: error 9e-8 and at most 1e-4 of the value (f32),
 * 9e-11 and 5e-8 of it (f64).
 */
export const TERMS_F32: usize = memory.data<f32>([
  -0.49991145293516936, -0.9998229058703387, -1.9996458117406775,
  0.33151772055813583, 0.9945531616744074, 2.9836594850232223,
  -0.23481053907980853, -0.9392421563192341, -3.7569686252769365,
  0.13765254899440574, 0.6882627449720287, 3.4413137248601435,
  -0.03795686931880832, -0.2277412159128499, -1.3664472954770994,
]);
export const TERMS_F64: usize = memory.data<f64>([
  -0.49999927615064477, -0.9999985523012895, -1.999997104602579,
  0.33329187463142373, 0.9998756238942712, 2.9996268716828136,
  -0.24902717516135478, -0.9961087006454191, -3.9844348025816765,
  0.1888183906419001, 0.9440919532095005, 4.720459766047503,
  -0.10473128567468874, -0.6283877140481324, -3.7703262842887946,
]);

/** The normal quantile, Wichura's AS 241: 8 coefficients above the line, 7 below, lowest power first. */
export const QUANTILE_CENTRE: usize = memory.data<f64>([
  3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
  4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
  4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
  3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
]);
export const QUANTILE_TAIL: usize = memory.data<f64>([
  1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
  1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
  2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
  1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
]);
export const QUANTILE_FAR: usize = memory.data<f64>([
  6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
  2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
  5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
  1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
]);
