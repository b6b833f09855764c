// Adam (Kingma & Ba 2015), as ascent: the gradient is that of the bound, which is to grow.

import { at, lanes } from "./simd";
import { parallel, popFrame, pushFrame } from "./parallel";

// @ts-ignore: decorator
@unmanaged
class AdamFrame {
  n: i32;
  parameter: usize;
  gradient: usize;
  first: usize;
  second: usize;
  step: f64;
  beta1: f64;
  beta2: f64;
  epsilon: f64;
}

const SHARE: i32 = 16384;

/**
 * first = beta1 first + (1 - beta1) g,  second = beta2 second + (1 - beta2) g^2,
 * parameter += step first / (sqrt(second) + epsilon).
 * The caller puts the bias corrections into step and epsilon: step = rate sqrt(1 - beta2^t) / (1 - beta1^t),
 * epsilon = eps sqrt(1 - beta2^t). A gradient that is not finite leaves its parameter and moments as they are.
 * @kernel
 */
export function adam<T extends number>(
  n: i32, parameter: usize, gradient: usize, first: usize, second: usize, step: f64, beta1: f64, beta2: f64, epsilon: f64,
): void {
  const frame = pushFrame(offsetof<AdamFrame>());
  const f = changetype<AdamFrame>(frame);
  f.n = n; f.parameter = parameter; f.gradient = gradient; f.first = first; f.second = second;
  f.step = step; f.beta1 = beta1; f.beta2 = beta2; f.epsilon = epsilon;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? adamTaskF32 : adamTaskF64;
  parallel(task.index, frame, (n + SHARE - 1) / SHARE);
  popFrame(frame);
}
function adamTaskF32(frame: usize, task: i32): void { adamTask<f32>(frame, task); }
function adamTaskF64(frame: usize, task: i32): void { adamTask<f64>(frame, task); }

function adamTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<AdamFrame>(frame);
  const begin = task * SHARE;
  const end = min(f.n, begin + SHARE);
  const whole = end - (end - begin) % lanes<T>();
  for (let i = begin; i < whole; i += lanes<T>()) {
    const g = v128.load(at<T>(f.gradient, i));
    moveVector<T>(at<T>(f.parameter, i), at<T>(f.first, i), at<T>(f.second, i), g, f.step, f.beta1, f.beta2, f.epsilon);
  }
  for (let i = whole; i < end; i++) {
    const g = load<T>(at<T>(f.gradient, i));
    moveOne<T>(at<T>(f.parameter, i), at<T>(f.first, i), at<T>(f.second, i), g, f.step, f.beta1, f.beta2, f.epsilon);
  }
}

/** One step of as many parameters as a vector holds, at these addresses. */
// @ts-ignore: decorator
@inline
export function moveVector<T extends number>(
  parameter: usize, first: usize, second: usize, g: v128, step: f64, beta1: f64, beta2: f64, epsilon: f64,
): void {
  const m = v128.load(first);
  const v = v128.load(second);
  const p = v128.load(parameter);
  const finite = v128.eq<T>(v128.sub<T>(g, g), v128.splat<T>(0));
  const m1 = moved<T>(m, g, beta1);
  const v1 = moved<T>(v, v128.mul<T>(g, g), beta2);
  const p1 = v128.add<T>(p, change<T>(m1, v1, step, epsilon));
  v128.store(first, v128.bitselect(m1, m, finite));
  v128.store(second, v128.bitselect(v1, v, finite));
  v128.store(parameter, v128.bitselect(p1, p, finite));
}

/** The same of two vectors of parameters, side by side: each pair is loaded and stored together, so that it becomes one wide vector. */
// @ts-ignore: decorator
@inline
export function movePair<T extends number>(
  parameter: usize, first: usize, second: usize, g: v128, h: v128, step: f64, beta1: f64, beta2: f64, epsilon: f64,
): void {
  const m = v128.load(first), n = v128.load(first, 16);
  const v = v128.load(second), w = v128.load(second, 16);
  const p = v128.load(parameter), q = v128.load(parameter, 16);
  const finiteG = v128.eq<T>(v128.sub<T>(g, g), v128.splat<T>(0)), finiteH = v128.eq<T>(v128.sub<T>(h, h), v128.splat<T>(0));
  const m1 = moved<T>(m, g, beta1), n1 = moved<T>(n, h, beta1);
  const v1 = moved<T>(v, v128.mul<T>(g, g), beta2), w1 = moved<T>(w, v128.mul<T>(h, h), beta2);
  const p1 = v128.add<T>(p, change<T>(m1, v1, step, epsilon)), q1 = v128.add<T>(q, change<T>(n1, w1, step, epsilon));
  v128.store(first, v128.bitselect(m1, m, finiteG));
  v128.store(first, v128.bitselect(n1, n, finiteH), 16);
  v128.store(second, v128.bitselect(v1, v, finiteG));
  v128.store(second, v128.bitselect(w1, w, finiteH), 16);
  v128.store(parameter, v128.bitselect(p1, p, finiteG));
  v128.store(parameter, v128.bitselect(q1, q, finiteH), 16);
}

/** The same of one parameter. */
// @ts-ignore: decorator
@inline
export function moveOne<T extends number>(
  parameter: usize, first: usize, second: usize, g: T, step: f64, beta1: f64, beta2: f64, epsilon: f64,
): void {
  if (g - g != 0) return;
  const m1 = moved<T>(v128.load_splat<T>(first), v128.splat<T>(g), beta1);
  const v1 = moved<T>(v128.load_splat<T>(second), v128.splat<T>(g * g), beta2);
  const p1 = v128.add<T>(v128.load_splat<T>(parameter), change<T>(m1, v1, step, epsilon));
  store<T>(first, v128.extract_lane<T>(m1, 0));
  store<T>(second, v128.extract_lane<T>(v1, 0));
  store<T>(parameter, v128.extract_lane<T>(p1, 0));
}

// @ts-ignore: decorator
@inline
function moved<T extends number>(old: v128, value: v128, beta: f64): v128 {
  return v128.add<T>(v128.mul<T>(v128.splat<T>(<T>beta), old), v128.mul<T>(v128.splat<T>(<T>(1 - beta)), value));
}

// @ts-ignore: decorator
@inline
function change<T extends number>(first: v128, second: v128, step: f64, epsilon: f64): v128 {
  const root = v128.add<T>(v128.sqrt<T>(second), v128.splat<T>(<T>epsilon));
  return v128.div<T>(v128.mul<T>(v128.splat<T>(<T>step), first), root);
}
