// Adam on the weights of features, one row a feature, of which a batch holds few. The gradient of a row is
//
//   g = -pull w / a + sum over the batch's points that have the feature of x G_point
//
// and a row that the batch does not hold would still move: the prior pulls, the moments decay. It is left where it is, and
// takes the steps that it missed when it is next looked at, number by number as if it had taken them in time: the bytes are
// those of the dense step. A row stays in the first-level cache meanwhile, so that only the arithmetic of a missed step is
// left, and none of its traffic to memory (AmazonCat's size: 61 million weights, twelve passes over them a step).

import { moveOne, movePair, moveVector } from "./adam";
import { panelA, parallel, popFrame, pushFrame } from "./parallel";
import { at, integerAt, lanes, multiplyAdd } from "./simd";
import { SLAB_VECTORS } from "./sparse";

// @ts-ignore: decorator
@unmanaged
class RowFrame {
  count: i32;
  /** Numbers of the rows, or 0 for all. */
  rows: usize;
  columns: i32;
  parameter: usize;
  first: usize;
  second: usize;
  /** i32 a row: the steps it has taken. */
  taken: usize;
  /** Steps that are to have been taken. */
  upTo: i32;
  /** Three f64 a step: -pull, the step's length and epsilon, both with Adam's corrections. */
  schedule: usize;
  /** 1 / a */
  inverse: usize;
  beta1: f64;
  beta2: f64;
  /** Entries of the batch by listed row: start i32[count + 1], point i32 (in the batch), entry i32 (of value). */
  start: usize;
  point: usize;
  entry: usize;
  value: usize;
  g: usize;
  gRow: i32;
}

const ROWS_A_TASK: i32 = 8;
const STEP_BYTES: usize = 24;

// @ts-ignore: decorator
@inline
function setUp(
  frame: usize, count: i32, rows: usize, columns: i32, parameter: usize, first: usize, second: usize, taken: usize, upTo: i32,
  schedule: usize, inverse: usize, beta1: f64, beta2: f64,
): RowFrame {
  const f = changetype<RowFrame>(frame);
  f.count = count; f.rows = rows; f.columns = columns;
  f.parameter = parameter; f.first = first; f.second = second; f.taken = taken; f.upTo = upTo;
  f.schedule = schedule; f.inverse = inverse; f.beta1 = beta1; f.beta2 = beta2;
  return f;
}

/** Rows, all or those listed, take the steps they missed until they have taken `upTo`. @kernel */
export function adamCatchUp<T extends number>(
  count: i32, rows: usize, columns: i32, parameter: usize, first: usize, second: usize, taken: usize, upTo: i32,
  schedule: usize, inverse: usize, beta1: f64, beta2: f64,
): void {
  const frame = pushFrame(offsetof<RowFrame>());
  setUp(frame, count, rows, columns, parameter, first, second, taken, upTo, schedule, inverse, beta1, beta2);
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? catchUpTaskF32 : catchUpTaskF64;
  parallel(task.index, frame, (count + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function catchUpTaskF32(frame: usize, task: i32): void { catchUpTask<f32>(frame, task); }
function catchUpTaskF64(frame: usize, task: i32): void { catchUpTask<f64>(frame, task); }
function catchUpTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<RowFrame>(frame);
  const inverse = load<T>(f.inverse);
  const whole = f.columns - f.columns % lanes<T>();
  for (let i = task * ROWS_A_TASK, last = min(f.count, i + ROWS_A_TASK); i < last; i++) {
    const row = f.rows != 0 ? integerAt(f.rows, i) : i;
    const p = at<T>(f.parameter, row * f.columns), m = at<T>(f.first, row * f.columns), v = at<T>(f.second, row * f.columns);
    const taken = f.taken + (<usize>row << 2);
    for (let step = load<i32>(taken); step < f.upTo; step++) missedStep<T>(f, step, inverse, whole, p, m, v);
    store<i32>(taken, f.upTo);
  }
}

/** Columns that are worked on two vectors at a time: in a wide build, in single precision (double would be 2 kB more of code). */
// @ts-ignore: decorator
@inline
function inPairs<T extends number>(columns: i32): i32 {
  return WIDE && sizeof<T>() == 4 ? columns - columns % (2 * lanes<T>()) : 0;
}

/** A step in which only the prior pulled. */
function missedStep<T extends number>(f: RowFrame, number: i32, inverse: T, whole: i32, p: usize, m: usize, v: usize): void {
  const at3 = f.schedule + <usize>number * STEP_BYTES;
  const pull: T = <T>load<f64>(at3), step = load<f64>(at3, 8), epsilon = load<f64>(at3, 16);
  const beta1 = f.beta1, beta2 = f.beta2;
  const pulls = v128.splat<T>(pull), inverses = v128.splat<T>(inverse);
  const pairs = inPairs<T>(f.columns);
  for (let j = 0; j < pairs; j += 2 * lanes<T>()) {
    const g = v128.mul<T>(pulls, v128.mul<T>(v128.load(at<T>(p, j)), inverses));
    const h = v128.mul<T>(pulls, v128.mul<T>(v128.load(at<T>(p, j), 16), inverses));
    movePair<T>(at<T>(p, j), at<T>(m, j), at<T>(v, j), g, h, step, beta1, beta2, epsilon);
  }
  for (let j = pairs; j < whole; j += lanes<T>()) {
    const g = v128.mul<T>(pulls, v128.mul<T>(v128.load(at<T>(p, j)), inverses));
    moveVector<T>(at<T>(p, j), at<T>(m, j), at<T>(v, j), g, step, beta1, beta2, epsilon);
  }
  for (let j = whole; j < f.columns; j++) {
    const g: T = pull * (load<T>(at<T>(p, j)) * inverse);
    moveOne<T>(at<T>(p, j), at<T>(m, j), at<T>(v, j), g, step, beta1, beta2, epsilon);
  }
}

/** The listed rows, which have taken `upTo` - 1 steps, take the next one with what the batch says of them: g is G. @kernel */
export function adamListed<T extends number>(
  count: i32, rows: usize, columns: i32, parameter: usize, first: usize, second: usize, taken: usize, upTo: i32,
  schedule: usize, inverse: usize, beta1: f64, beta2: f64,
  start: usize, point: usize, entry: usize, value: usize, g: usize, gRow: i32,
): void {
  const frame = pushFrame(offsetof<RowFrame>());
  const f = setUp(frame, count, rows, columns, parameter, first, second, taken, upTo, schedule, inverse, beta1, beta2);
  f.start = start; f.point = point; f.entry = entry; f.value = value; f.g = g; f.gRow = gRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? listedTaskF32 : listedTaskF64;
  parallel(task.index, frame, (count + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function listedTaskF32(frame: usize, task: i32): void { listedTask<f32>(frame, task); }
function listedTaskF64(frame: usize, task: i32): void { listedTask<f64>(frame, task); }
function listedTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<RowFrame>(frame);
  const pairs = inPairs<T>(f.columns), whole = f.columns - f.columns % lanes<T>();
  const at3 = f.schedule + <usize>(f.upTo - 1) * STEP_BYTES;
  const step = load<f64>(at3, 8), epsilon = load<f64>(at3, 16);
  const beta1 = f.beta1, beta2 = f.beta2;
  const gradient = panelA();
  for (let i = task * ROWS_A_TASK, last = min(f.count, i + ROWS_A_TASK); i < last; i++) {
    const row = integerAt(f.rows, i);
    const p = at<T>(f.parameter, row * f.columns), m = at<T>(f.first, row * f.columns), v = at<T>(f.second, row * f.columns);
    rowGradient<T>(f, i, <T>load<f64>(at3), p, gradient);
    for (let j = 0; j < pairs; j += 2 * lanes<T>()) {
      const g = v128.load(at<T>(gradient, j)), h = v128.load(at<T>(gradient, j), 16);
      movePair<T>(at<T>(p, j), at<T>(m, j), at<T>(v, j), g, h, step, beta1, beta2, epsilon);
    }
    for (let j = pairs; j < whole; j += lanes<T>()) {
      moveVector<T>(at<T>(p, j), at<T>(m, j), at<T>(v, j), v128.load(at<T>(gradient, j)), step, beta1, beta2, epsilon);
    }
    for (let j = whole; j < f.columns; j++) {
      moveOne<T>(at<T>(p, j), at<T>(m, j), at<T>(v, j), load<T>(at<T>(gradient, j)), step, beta1, beta2, epsilon);
    }
    store<i32>(f.taken + (<usize>row << 2), f.upTo);
  }
}

/** out = -pull w / a, then + x G_point in the order of the points; fused just where the dense product X' G is. */
// @ts-ignore: decorator
@inline
function rowGradient<T extends number>(f: RowFrame, i: i32, pull: T, p: usize, out: usize): void {
  const inverse = load<T>(f.inverse);
  const inverses = v128.splat<T>(inverse), pulls = v128.splat<T>(pull);
  const slabs = f.columns - f.columns % (SLAB_VECTORS * lanes<T>()), whole = f.columns - f.columns % lanes<T>();
  const wide = WIDE && sizeof<T>() == 4 ? slabs : 0;
  for (let j = 0; j < whole; j += lanes<T>()) {
    v128.store(at<T>(out, j), v128.mul<T>(pulls, v128.mul<T>(v128.load(at<T>(p, j)), inverses)));
  }
  for (let j = whole; j < f.columns; j++) store<T>(at<T>(out, j), pull * (load<T>(at<T>(p, j)) * inverse));
  for (let e = integerAt(f.start, i), end = integerAt(f.start, i + 1); e < end; e++) {
    const g = at<T>(f.g, integerAt(f.point, e) * f.gRow);
    const x = load<T>(at<T>(f.value, integerAt(f.entry, e)));
    const xs = v128.splat<T>(x);
    for (let j = 0; j < wide; j += 2 * lanes<T>()) {
      const to = at<T>(out, j), source = at<T>(g, j);
      const a = multiplyAdd<T>(xs, v128.load(source), v128.load(to)), b = multiplyAdd<T>(xs, v128.load(source, 16), v128.load(to, 16));
      v128.store(to, a); v128.store(to, b, 16);
    }
    for (let j = wide; j < slabs; j += lanes<T>()) {
      const to = at<T>(out, j);
      v128.store(to, multiplyAdd<T>(xs, v128.load(at<T>(g, j)), v128.load(to)));
    }
    for (let j = slabs; j < whole; j += lanes<T>()) {
      const to = at<T>(out, j);
      v128.store(to, v128.add<T>(v128.load(to), v128.mul<T>(xs, v128.load(at<T>(g, j)))));
    }
    for (let j = whole; j < f.columns; j++) store<T>(at<T>(out, j), load<T>(at<T>(out, j)) + x * load<T>(at<T>(g, j)));
  }
}
