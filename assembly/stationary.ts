// Stationary covariances v g(t), t = |x - z|^2 / l^2, by the numbers of src/base/kernels.ts: one function a kernel
// for its value, one for its slope -2 v g'(t).

import { exp } from "./math";

const SE: i32 = 1;
const MATERN32: i32 = 2;

/** v g(t) from log v. */
// @ts-ignore: decorator
@inline
export function stationaryValue<T extends number>(family: i32, logVariance: v128, t: v128): v128 {
  if (family == SE) return exp<T>(v128.sub<T>(logVariance, v128.mul<T>(v128.splat<T>(<T>0.5), t)));
  return family == MATERN32 ? matern32Value<T>(logVariance, t) : matern52Value<T>(logVariance, t);
}

/** -2 v g'(t), given v g(t), which it is for the squared exponential. */
// @ts-ignore: decorator
@inline
export function stationarySlope<T extends number>(family: i32, logVariance: v128, t: v128, value: v128): v128 {
  if (family == SE) return value;
  return family == MATERN32 ? matern32Slope<T>(logVariance, t) : matern52Slope<T>(logVariance, t);
}

/** (1 + u) exp(-u), u = sqrt(3 t) */
function matern32Value<T extends number>(logVariance: v128, t: v128): v128 {
  const u = v128.sqrt<T>(v128.mul<T>(v128.splat<T>(<T>3), t));
  return v128.mul<T>(v128.add<T>(v128.splat<T>(<T>1), u), exp<T>(v128.sub<T>(logVariance, u)));
}
/** 3 exp(-u) */
function matern32Slope<T extends number>(logVariance: v128, t: v128): v128 {
  const u = v128.sqrt<T>(v128.mul<T>(v128.splat<T>(<T>3), t));
  return v128.mul<T>(v128.splat<T>(<T>3), exp<T>(v128.sub<T>(logVariance, u)));
}

/** (1 + u + u^2 / 3) exp(-u), u = sqrt(5 t) */
function matern52Value<T extends number>(logVariance: v128, t: v128): v128 {
  const u = v128.sqrt<T>(v128.mul<T>(v128.splat<T>(<T>5), t));
  const polynomial = v128.add<T>(
    v128.add<T>(v128.splat<T>(<T>1), u), v128.mul<T>(v128.mul<T>(u, u), v128.splat<T>(<T>(1.0 / 3.0))),
  );
  return v128.mul<T>(polynomial, exp<T>(v128.sub<T>(logVariance, u)));
}
/** 5/3 (1 + u) exp(-u) */
function matern52Slope<T extends number>(logVariance: v128, t: v128): v128 {
  const u = v128.sqrt<T>(v128.mul<T>(v128.splat<T>(<T>5), t));
  const factor = v128.mul<T>(v128.splat<T>(<T>(5.0 / 3.0)), v128.add<T>(v128.splat<T>(<T>1), u));
  return v128.mul<T>(factor, exp<T>(v128.sub<T>(logVariance, u)));
}
