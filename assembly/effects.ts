// The offset of each label beside a calibrator's logits: for the pairs of a label the u with the least
//
//   sum of weight log(1 + e^-(y (z + u)))  +  (u - mean)^2 / (2 variance)
//
// It is convex. Newton's step is halved until the sum falls enough; a task owns its labels, so no sum is split.

import { awayOf, curvatureOf, expOf, lossOf, slopeOf } from "./calibrator";
import { at, multiplyAdd, sumLanes } from "./simd";
import { loadPart } from "./math";
import { parallel, popFrame, pushFrame } from "./parallel";

// @ts-ignore: decorator
@unmanaged
class EffectFrame {
  labels: i32;
  start: usize;
  z: usize;
  signedWeight: usize;
  precision: f64;
  mean: usize;
  offset: usize;
  variance: usize;
}

const LABELS_A_TASK: i32 = 8;
const MOST_STEPS: i32 = 60;
const MOST_HALVINGS: i32 = 40;
/** A fall of the sum that is no longer worth another look. */
const SMALL_FALL: f64 = 1e-7;

/** Value, slope and curvature at the offset last asked for. Globals are private to a thread. */
let value: f64 = 0;
let slope: f64 = 0;
let curvature: f64 = 0;

function evaluate(f: EffectFrame, k: i32, u: f64): void {
  const begin = load<i32>(at<i32>(f.start, k)), end = load<i32>(at<i32>(f.start, k + 1));
  const offset = v128.splat<f64>(u);
  let loss = v128.splat<f64>(0), pull = loss, bend = loss;
  for (let pair = begin; pair < end; pair += 2) {
    const whole = pair + 1 < end;
    const zAt = at<f64>(f.z, pair), weightAt = at<f64>(f.signedWeight, pair);
    const z = whole ? v128.load(zAt) : loadPart<f64>(zAt, 1);
    const signed = whole ? v128.load(weightAt) : loadPart<f64>(weightAt, 1);
    const away = awayOf(v128.add<f64>(z, offset), signed), e = expOf(away);
    const weight = v128.abs<f64>(signed);
    loss = multiplyAdd<f64>(weight, lossOf(away, e), loss);
    pull = v128.sub<f64>(pull, v128.mul<f64>(signed, slopeOf(away, e)));
    bend = multiplyAdd<f64>(weight, curvatureOf(e), bend);
  }
  const from = u - load<f64>(at<f64>(f.mean, k));
  value = sumLanes<f64>(loss) + 0.5 * f.precision * from * from;
  slope = sumLanes<f64>(pull) + f.precision * from;
  curvature = sumLanes<f64>(bend) + f.precision;
}

function fitLabel(f: EffectFrame, k: i32): void {
  let u = load<f64>(at<f64>(f.offset, k));
  evaluate(f, k, u);
  for (let step = 0; step < MOST_STEPS; step++) {
    const move = -slope / curvature, fall = -slope * move;
    if (!(fall > SMALL_FALL)) {
      // The last step is taken on trust: the model is exact to far less than what it promises.
      u += move;
      break;
    }
    const before = value;
    let share: f64 = 1;
    let halvings = 0;
    for (; halvings < MOST_HALVINGS; halvings++, share *= 0.5) {
      evaluate(f, k, u + share * move);
      if (value <= before - 1e-4 * share * fall) break;
    }
    if (halvings == MOST_HALVINGS) break;
    u += share * move;
  }
  store<f64>(at<f64>(f.offset, k), u);
  store<f64>(at<f64>(f.variance, k), 1 / curvature);
}

/**
 * Pairs lie by labels, those of label k from start[k] to start[k + 1]. `offset` is where to begin, and gets the offsets;
 * `variance` gets their variances by the curvature there. @kernel
 */
export function labelOffsets(
  labels: i32, start: usize, z: usize, signedWeight: usize, precision: f64, mean: usize, offset: usize, variance: usize,
): void {
  const frame = pushFrame(offsetof<EffectFrame>());
  const f = changetype<EffectFrame>(frame);
  f.labels = labels; f.start = start; f.z = z; f.signedWeight = signedWeight; f.precision = precision;
  f.mean = mean; f.offset = offset; f.variance = variance;
  const task: (frame: usize, task: i32) => void = offsetsTask;
  parallel(task.index, frame, (labels + LABELS_A_TASK - 1) / LABELS_A_TASK);
  popFrame(frame);
}
function offsetsTask(frame: usize, task: i32): void {
  const f = changetype<EffectFrame>(frame);
  for (let k = task * LABELS_A_TASK, end = min(f.labels, k + LABELS_A_TASK); k < end; k++) fitLabel(f, k);
}
