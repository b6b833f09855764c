// Functions that WGSL has only coarsely, and tests by bits: a shader compiler may assume that there is no NaN.

const LOG2_HIGH = 6.9313812256e-1;
const LOG2_LOW = 9.0580006145e-6;
const SQRT_HALF_BITS = 0x3f3504f3;

fn isFinite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

/** log(1 + f) + e log(2), f in [sqrt(1/2) - 1, sqrt(2) - 1]: the coefficients of FreeBSD's e_logf.c. */
fn logParts(f: f32, e: f32) -> f32 {
  let s = f / (f + 2.0);
  let z = s * s;
  let r = z * (0.66666662693 + z * (0.40000972152 + z * (0.28498786688 + z * 0.24279078841)));
  let halfSquare = 0.5 * f * f;
  return e * LOG2_HIGH - ((halfSquare - (s * (halfSquare + r) + e * LOG2_LOW)) - f);
}

/** log(x) of a normal number x > 0; the built-in one has an absolute error of 2^-21 near 1. */
fn logOf(x: f32) -> f32 {
  let bits = bitcast<i32>(x);
  let e = (bits - SQRT_HALF_BITS) >> 23u;
  return logParts(bitcast<f32>(bits - (e << 23u)) - 1.0, f32(e));
}

/** log(1 + x), 0 <= x <= 1. */
fn log1pOf(x: f32) -> f32 {
  if (x < 0.41) {
    return logParts(x, 0.0);
  }
  return logParts(0.5 * (x - 1.0), 1.0);
}
