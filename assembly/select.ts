// The largest and the nearest: top-k of each row of scores, and the closest centre of each row of products.

import { at, lanes } from "./simd";
import { parallel, popFrame, pushFrame } from "./parallel";

// @ts-ignore: decorator
@unmanaged
class SelectFrame {
  rows: i32;
  columns: i32;
  x: usize;
  xRow: i32;
  k: i32;
  indices: usize;
  values: usize;
  offsets: usize;
}

const ROWS_A_TASK: i32 = 8;

/** For each row the k largest, falling; of equals the one with the smaller index first. NaN counts as smallest. @kernel */
export function topK<T extends number>(rows: i32, columns: i32, x: usize, xRow: i32, k: i32, indices: usize, values: usize): void {
  const frame = pushFrame(offsetof<SelectFrame>());
  const f = changetype<SelectFrame>(frame);
  f.rows = rows; f.columns = columns; f.x = x; f.xRow = xRow; f.k = k; f.indices = indices; f.values = values;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? topKTaskF32 : topKTaskF64;
  parallel(task.index, frame, (rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function topKTaskF32(frame: usize, task: i32): void { topKTask<f32>(frame, task); }
function topKTaskF64(frame: usize, task: i32): void { topKTask<f64>(frame, task); }
function topKTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SelectFrame>(frame);
  for (let i = task * ROWS_A_TASK, end = min(f.rows, i + ROWS_A_TASK); i < end; i++) {
    topKRow<T>(f.columns, at<T>(f.x, i * f.xRow), f.k, f.indices + (<usize>(i * f.k) << 2), at<T>(f.values, i * f.k));
  }
}

/** Insertion into a short sorted list; a vector none of whose lanes beats the list's last is passed over at once. */
function topKRow<T extends number>(n: i32, x: usize, k: i32, indices: usize, values: usize): void {
  let held = 0;
  let j = 0;
  for (; j < n && held < k; j++) held = insert<T>(load<T>(at<T>(x, j)), j, held, k, indices, values);
  if (k == 0) return;
  while (j < n) {
    if (j + lanes<T>() <= n) {
      const last = v128.load_splat<T>(at<T>(values, k - 1));
      if (!v128.any_true(v128.gt<T>(v128.load(at<T>(x, j)), last))) {
        j += lanes<T>();
        continue;
      }
    }
    const end = min(n, j + lanes<T>());
    for (; j < end; j++) {
      const value = load<T>(at<T>(x, j));
      if (value > load<T>(at<T>(values, k - 1))) insert<T>(value, j, k, k, indices, values);
    }
  }
}

function insert<T extends number>(value: T, index: i32, held: i32, k: i32, indices: usize, values: usize): i32 {
  if (value != value) value = <T>-Infinity;
  let p = held < k ? held : k - 1;
  while (p > 0 && value > load<T>(at<T>(values, p - 1))) {
    store<T>(at<T>(values, p), load<T>(at<T>(values, p - 1)));
    store<i32>(indices + (<usize>p << 2), load<i32>(indices + (<usize>(p - 1) << 2)));
    p--;
  }
  store<T>(at<T>(values, p), value);
  store<i32>(indices + (<usize>p << 2), index);
  return min(held + 1, k);
}

/**
 * For each row of products x_i . c_j the centre that is nearest, given half the squared norms of the centres:
 * |x - c|^2 / 2 = |x|^2 / 2 - (x . c - |c|^2 / 2). Of equals the first. values gets the greatest x . c - |c|^2 / 2.
 * @kernel
 */
export function nearest<T extends number>(rows: i32, columns: i32, x: usize, xRow: i32, halfNorms: usize, indices: usize, values: usize): void {
  const frame = pushFrame(offsetof<SelectFrame>());
  const f = changetype<SelectFrame>(frame);
  f.rows = rows; f.columns = columns; f.x = x; f.xRow = xRow; f.offsets = halfNorms; f.indices = indices; f.values = values;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? nearestTaskF32 : nearestTaskF64;
  parallel(task.index, frame, (rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function nearestTaskF32(frame: usize, task: i32): void { nearestTask<f32>(frame, task); }
function nearestTaskF64(frame: usize, task: i32): void { nearestTask<f64>(frame, task); }
function nearestTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SelectFrame>(frame);
  for (let i = task * ROWS_A_TASK, end = min(f.rows, i + ROWS_A_TASK); i < end; i++) {
    const x = at<T>(f.x, i * f.xRow);
    let best: T = <T>-Infinity;
    let which = 0;
    for (let j = 0; j < f.columns; j++) {
      const value: T = load<T>(at<T>(x, j)) - load<T>(at<T>(f.offsets, j));
      if (value > best) {
        best = value;
        which = j;
      }
    }
    store<i32>(f.indices + (<usize>i << 2), which);
    store<T>(at<T>(f.values, i), best);
  }
}

/** out[target[i]] += x[number[i]] for dense rows; a task owns a slab of columns. @kernel */
export function addDenseRows<T extends number>(count: i32, columns: i32, x: usize, xRow: i32, number: usize, target: usize, out: usize, outRow: i32): void {
  const frame = pushFrame(offsetof<AddFrame>());
  const f = changetype<AddFrame>(frame);
  f.count = count; f.columns = columns; f.x = x; f.xRow = xRow; f.number = number; f.target = target; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? addTaskF32 : addTaskF64;
  parallel(task.index, frame, (columns + COLUMNS_A_TASK - 1) / COLUMNS_A_TASK);
  popFrame(frame);
}

// @ts-ignore: decorator
@unmanaged
class AddFrame {
  count: i32;
  columns: i32;
  x: usize;
  xRow: i32;
  number: usize;
  target: usize;
  out: usize;
  outRow: i32;
}

const COLUMNS_A_TASK: i32 = 256;

function addTaskF32(frame: usize, task: i32): void { addTask<f32>(frame, task); }
function addTaskF64(frame: usize, task: i32): void { addTask<f64>(frame, task); }
function addTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<AddFrame>(frame);
  const first = task * COLUMNS_A_TASK;
  const columns = min(COLUMNS_A_TASK, f.columns - first);
  for (let i = 0; i < f.count; i++) {
    const x = at<T>(f.x, load<i32>(f.number + (<usize>i << 2)) * f.xRow + first);
    const out = at<T>(f.out, load<i32>(f.target + (<usize>i << 2)) * f.outRow + first);
    for (let j = 0; j < columns; j++) store<T>(at<T>(out, j), load<T>(at<T>(out, j)) + load<T>(at<T>(x, j)));
  }
}

/** out[target[i]] += x[number[i]] for sparse rows. @kernel */
export function addSparseRows<T extends number>(count: i32, start: usize, column: usize, value: usize, number: usize, target: usize, out: usize, outRow: i32): void {
  for (let i = 0; i < count; i++) {
    const row = <usize>load<i32>(number + (<usize>i << 2));
    const to = at<T>(out, load<i32>(target + (<usize>i << 2)) * outRow);
    for (let e = load<i32>(start + (row << 2)), end = load<i32>(start + ((row + 1) << 2)); e < end; e++) {
      const p = at<T>(to, load<i32>(column + (<usize>e << 2)));
      store<T>(p, load<T>(p) + load<T>(at<T>(value, e)));
    }
  }
}
