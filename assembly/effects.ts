// Effects of single labels on the calibrator: for the pairs of label k, with t = z + u + a (z - centre), the (u, a) with the
// least
//
//   sum of weight log(1 + e^-(y t))  +  (u - u0)^2 / (2 t1)  +  (a - a0)^2 / (2 t2),      low <= a <= high.
//
// It is convex. Newton's step goes to the exact minimum of the quadratic model within the bounds and is halved until the
// sum falls enough; a task owns its labels, so no sum is split.

import { at, multiplyAdd, sumLanes } from "./simd";
import { loadPart, sigmoid, softplus } from "./math";
import { parallel, popFrame, pushFrame } from "./parallel";
import { number, ONE } from "./tables";

// @ts-ignore: decorator
@unmanaged
class EffectFrame {
  labels: i32;
  start: usize;
  z: usize;
  signedWeight: usize;
  centre: f64;
  precisionOffset: f64;
  precisionSlope: f64;
  low: f64;
  high: f64;
  offset0: usize;
  slope0: usize;
  offset: usize;
  slope: usize;
  varianceOffset: usize;
  varianceSlope: usize;
}

const LABELS_A_TASK: i32 = 8;
const MOST_STEPS: i32 = 60;
const MOST_HALVINGS: i32 = 40;
/** A fall of the sum that is no longer worth a step. */
const SMALL_FALL: f64 = 1e-11;

/** Value, gradient and curvature at the point last asked for. Globals are private to a thread. */
let value: f64 = 0;
let gradient0: f64 = 0;
let gradient1: f64 = 0;
let curve00: f64 = 0;
let curve01: f64 = 0;
let curve11: f64 = 0;

function evaluate(f: EffectFrame, k: i32, u: f64, a: f64): void {
  const begin = load<i32>(at<i32>(f.start, k)), end = load<i32>(at<i32>(f.start, k + 1));
  const zero = v128.splat<f64>(0);
  const one = number<f64>(ONE);
  const offset = v128.splat<f64>(u), slope = v128.splat<f64>(a), centre = v128.splat<f64>(f.centre);
  let loss = zero, g0 = zero, g1 = zero, h00 = zero, h01 = zero, h11 = zero;
  for (let pair = begin; pair < end; pair += 2) {
    const whole = pair + 1 < end;
    const zAt = at<f64>(f.z, pair), weightAt = at<f64>(f.signedWeight, pair);
    const z = whole ? v128.load(zAt) : loadPart<f64>(zAt, 1);
    const signed = whole ? v128.load(weightAt) : loadPart<f64>(weightAt, 1);
    const x = v128.sub<f64>(z, centre);
    const t = v128.add<f64>(v128.add<f64>(z, offset), v128.mul<f64>(slope, x));
    const weight = v128.abs<f64>(signed);
    const present = v128.gt<f64>(signed, zero);
    const p = sigmoid<f64>(t), q = sigmoid<f64>(v128.neg<f64>(t));
    loss = multiplyAdd<f64>(weight, softplus<f64>(v128.bitselect(v128.neg<f64>(t), t, present)), loss);
    const pull = v128.mul<f64>(weight, v128.bitselect(v128.neg<f64>(q), p, present));
    const bend = v128.mul<f64>(weight, v128.mul<f64>(p, v128.sub<f64>(one, p)));
    const bent = v128.mul<f64>(bend, x);
    g0 = v128.add<f64>(g0, pull);
    g1 = multiplyAdd<f64>(pull, x, g1);
    h00 = v128.add<f64>(h00, bend);
    h01 = v128.add<f64>(h01, bent);
    h11 = multiplyAdd<f64>(bent, x, h11);
  }
  const du = u - load<f64>(at<f64>(f.offset0, k)), da = a - load<f64>(at<f64>(f.slope0, k));
  value = sumLanes<f64>(loss) + 0.5 * (f.precisionOffset * du * du + f.precisionSlope * da * da);
  gradient0 = sumLanes<f64>(g0) + f.precisionOffset * du;
  gradient1 = sumLanes<f64>(g1) + f.precisionSlope * da;
  curve00 = sumLanes<f64>(h00) + f.precisionOffset;
  curve01 = sumLanes<f64>(h01);
  curve11 = sumLanes<f64>(h11) + f.precisionSlope;
}

function fitLabel(f: EffectFrame, k: i32): void {
  let u = load<f64>(at<f64>(f.offset, k));
  let a = min(f.high, max(f.low, load<f64>(at<f64>(f.slope, k))));
  evaluate(f, k, u, a);
  for (let step = 0; step < MOST_STEPS; step++) {
    const determinant = curve00 * curve11 - curve01 * curve01;
    let da = (curve01 * gradient0 - curve00 * gradient1) / determinant;
    da = min(f.high - a, max(f.low - a, da));
    // The best offset beside that slope, whether it met a bound or not.
    const du = -(gradient0 + curve01 * da) / curve00;
    const fall = -(gradient0 * du + gradient1 * da);
    if (!(fall > SMALL_FALL)) break;
    const before = value;
    let share: f64 = 1;
    let halvings = 0;
    for (; halvings < MOST_HALVINGS; halvings++, share *= 0.5) {
      evaluate(f, k, u + share * du, a + share * da);
      if (value <= before - 1e-4 * share * fall) break;
    }
    // Nothing is left to gain beyond rounding: the last point stays.
    if (halvings == MOST_HALVINGS) {
      evaluate(f, k, u, a);
      break;
    }
    u += share * du;
    a += share * da;
  }
  const determinant = curve00 * curve11 - curve01 * curve01;
  store<f64>(at<f64>(f.offset, k), u);
  store<f64>(at<f64>(f.slope, k), a);
  store<f64>(at<f64>(f.varianceOffset, k), curve11 / determinant);
  store<f64>(at<f64>(f.varianceSlope, k), curve00 / determinant);
}

/**
 * Pairs lie by labels, those of label k from start[k] to start[k + 1]. offset and slope are where to begin, and get the
 * effects; varianceOffset and varianceSlope their variances by the curvature there. @kernel
 */
export function labelEffects(
  labels: i32, start: usize, z: usize, signedWeight: usize, centre: f64, precisionOffset: f64, precisionSlope: f64,
  low: f64, high: f64, offset0: usize, slope0: usize, offset: usize, slope: usize, varianceOffset: usize,
  varianceSlope: usize,
): void {
  const frame = pushFrame(offsetof<EffectFrame>());
  const f = changetype<EffectFrame>(frame);
  f.labels = labels; f.start = start; f.z = z; f.signedWeight = signedWeight; f.centre = centre;
  f.precisionOffset = precisionOffset; f.precisionSlope = precisionSlope; f.low = low; f.high = high;
  f.offset0 = offset0; f.slope0 = slope0; f.offset = offset; f.slope = slope;
  f.varianceOffset = varianceOffset; f.varianceSlope = varianceSlope;
  const task: (frame: usize, task: i32) => void = effectsTask;
  parallel(task.index, frame, (labels + LABELS_A_TASK - 1) / LABELS_A_TASK);
  popFrame(frame);
}
function effectsTask(frame: usize, task: i32): void {
  const f = changetype<EffectFrame>(frame);
  for (let k = task * LABELS_A_TASK, end = min(f.labels, k + LABELS_A_TASK); k < end; k++) fitLabel(f, k);
}
