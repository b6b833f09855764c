// log, exp and cos by + - * / alone. Math.log and Math.exp differ in the last bit between engines; what is saved
// in a model (idf weights, validation figures) must be the same bytes everywhere.

const LN2_HIGH = 0.6931471803691238; // 33 bits of ln 2, so that exponent * LN2_HIGH is exact
const LN2_LOW = 1.9082149292705877e-10; // the rest

const bits = new DataView(new ArrayBuffer(8));

/** 2^exponent for -1022 <= exponent <= 1023. */
function powerOfTwo(exponent: number): number {
  bits.setUint32(0, (exponent + 1023) << 20);
  bits.setUint32(4, 0);
  return bits.getFloat64(0);
}

/**
 * Natural logarithm, within 1 unit in the last place or so. x = 2^e m with m in [sqrt(1/2), sqrt(2)); s = (m
 * - 1) / (m + 1); log m = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.172.
 */
export function deterministicLog(x: number): number {
  if (!(x > 0)) return x === 0 ? -Infinity : NaN;
  if (x === Infinity) return x;
  let exponent = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984; // 2^54: subnormal numbers have no leading one
    exponent = -54;
  }
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  exponent += (high >>> 20) - 1023;
  bits.setUint32(0, (high & 0xfffff) | 0x3ff00000);
  let m = bits.getFloat64(0);
  if (m >= Math.SQRT2) {
    m *= 0.5;
    exponent++;
  }
  const s = (m - 1) / (m + 1);
  const z = s * s;
  let series = 1 / 23;
  for (let odd = 21; odd >= 3; odd -= 2) series = series * z + 1 / odd;
  // log m = 2s + 2s z series, and 2s = f - s f with f = m - 1: f is exact, so the large part carries no
  // rounding.
  const f = m - 1;
  return exponent * LN2_HIGH + (f - (s * (f - 2 * z * series) - exponent * LN2_LOW));
}

/** The series of e^r to r^13 / 13!, written out: it is under most of what the edge computes, and a loop takes twice as long. */
function expSeries(r: number): number {
  let series = (1 / 6227020800) * r + 1 / 479001600;
  series = (series * r + 1 / 39916800) * r + 1 / 3628800;
  series = (series * r + 1 / 362880) * r + 1 / 40320;
  series = (series * r + 1 / 5040) * r + 1 / 720;
  series = (series * r + 1 / 120) * r + 1 / 24;
  series = (series * r + 1 / 6) * r + 1 / 2;
  return (series * r + 1) * r + 1;
}

/** e^x, within 2 units in the last place: x = k ln 2 + r, |r| < 0.35, e^r by its series, times 2^k. */
export function deterministicExp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > 709.782712893384) return Infinity;
  if (x < -745.1332191019412) return 0;
  const k = Math.floor(x * Math.LOG2E + 0.5);
  const series = expSeries(x - k * LN2_HIGH - k * LN2_LOW);
  if (k > -1022 && k < 1024) return series * powerOfTwo(k);
  const half = k >> 1; // two factors, because 2^k alone lies outside the range of normal numbers
  return series * powerOfTwo(half) * powerOfTwo(k - half);
}

/** log(p / (1 - p)) */
export const logitOf = (p: number): number => deterministicLog(p) - deterministicLog(1 - p);

/** x^power for x > 0. */
export function deterministicPower(x: number, power: number): number {
  return deterministicExp(power * deterministicLog(x));
}

/** cos(x) for x in [0, pi]: cos x = 1 - 2 sin^2(x / 2), with the sine of x / 2 in [0, pi / 2] by its series. */
export function deterministicCos(x: number): number {
  const half = x / 2;
  const square = half * half;
  let term = half;
  let sine = half;
  for (let k = 1; k <= 12; k++) {
    term *= -square / (2 * k * (2 * k + 1));
    sine += term;
  }
  return 1 - 2 * sine * sine;
}
