// Element-wise work and reductions on row-major matrices. Sums are carried in double precision in both builds, each
// output summed in one order by one task.

import { at, cell, lanes, transposeBlock } from "./simd";
import { panelA, parallel, popFrame, pushFrame } from "./parallel";

/** Arguments of every job here: up to three matrices of the same shape, each with a row step; what is not needed is 0. */
// @ts-ignore: decorator
@unmanaged
class DenseFrame {
  rows: i32;
  columns: i32;
  op: i32;
  x: usize;
  xRow: i32;
  y: usize;
  yRow: i32;
  /** 1: y has a value a column; 0: one value for the whole row. */
  yColumn: i32;
  out: usize;
  outRow: i32;
  alpha: f64;
  beta: f64;
  /** Rows (or columns) of one task. */
  share: i32;
}

const SHARE_ELEMENTS: i32 = 16384;
/** Columns one task sums: its sums fit the first-level cache. */
const COLUMN_SHARE: i32 = 256;

// @ts-ignore: decorator
@inline
function byRows(f: DenseFrame, fn: u32): void {
  if (f.rows == 0) return;
  f.share = max(1, SHARE_ELEMENTS / max(1, f.columns));
  parallel(fn, changetype<usize>(f), (f.rows + f.share - 1) / f.share);
}

export const ADD: i32 = 0;
export const SUBTRACT: i32 = 1;
export const MULTIPLY: i32 = 2;
export const DIVIDE: i32 = 3;
export const MAXIMUM: i32 = 4;
export const MINIMUM: i32 = 5;

// @ts-ignore: decorator
@inline
function apply<T extends number>(op: i32, x: v128, y: v128): v128 {
  if (op == ADD) return v128.add<T>(x, y);
  if (op == SUBTRACT) return v128.sub<T>(x, y);
  if (op == MULTIPLY) return v128.mul<T>(x, y);
  if (op == DIVIDE) return v128.div<T>(x, y);
  if (op == MAXIMUM) return v128.max<T>(x, y);
  return v128.min<T>(x, y);
}

/** out = x op y, y of the same shape or broadcast: a row (yRow = 0), a column (yColumn = 0), a single value (both). @kernel */
export function combine<T extends number>(
  op: i32, rows: i32, columns: i32, x: usize, xRow: i32, y: usize, yRow: i32, yColumn: i32, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<DenseFrame>());
  const f = changetype<DenseFrame>(frame);
  f.op = op; f.rows = rows; f.columns = columns;
  f.x = x; f.xRow = xRow; f.y = y; f.yRow = yRow; f.yColumn = yColumn; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? combineTaskF32 : combineTaskF64;
  byRows(f, task.index);
  popFrame(frame);
}
function combineTaskF32(frame: usize, task: i32): void { combineTask<f32>(frame, task); }
function combineTaskF64(frame: usize, task: i32): void { combineTask<f64>(frame, task); }
function combineTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<DenseFrame>(frame);
  const op = f.op;
  const whole = f.columns - f.columns % lanes<T>();
  for (let i = task * f.share, end = min(f.rows, i + f.share); i < end; i++) {
    const x = at<T>(f.x, i * f.xRow);
    const y = at<T>(f.y, i * f.yRow);
    const out = at<T>(f.out, i * f.outRow);
    const single = v128.load_splat<T>(y);
    const perColumn = f.yColumn != 0;
    for (let j = 0; j < whole; j += lanes<T>()) {
      v128.store(at<T>(out, j), apply<T>(op, v128.load(at<T>(x, j)), perColumn ? v128.load(at<T>(y, j)) : single));
    }
    for (let j = whole; j < f.columns; j++) {
      const right = perColumn ? v128.load_splat<T>(at<T>(y, j)) : single;
      store<T>(at<T>(out, j), v128.extract_lane<T>(apply<T>(op, v128.load_splat<T>(at<T>(x, j)), right), 0));
    }
  }
}

/** out = alpha x + beta y; with beta = 0, y is not read. @kernel */
export function blend<T extends number>(
  rows: i32, columns: i32, alpha: f64, x: usize, xRow: i32, beta: f64, y: usize, yRow: i32, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<DenseFrame>());
  const f = changetype<DenseFrame>(frame);
  f.rows = rows; f.columns = columns; f.alpha = alpha; f.beta = beta;
  f.x = x; f.xRow = xRow; f.y = y; f.yRow = yRow; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? blendTaskF32 : blendTaskF64;
  byRows(f, task.index);
  popFrame(frame);
}
function blendTaskF32(frame: usize, task: i32): void { blendTask<f32>(frame, task); }
function blendTaskF64(frame: usize, task: i32): void { blendTask<f64>(frame, task); }
function blendTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<DenseFrame>(frame);
  const alpha: T = <T>f.alpha, beta: T = <T>f.beta;
  const alphas = v128.splat<T>(alpha), betas = v128.splat<T>(beta);
  const whole = f.columns - f.columns % lanes<T>();
  for (let i = task * f.share, end = min(f.rows, i + f.share); i < end; i++) {
    const x = at<T>(f.x, i * f.xRow);
    const y = at<T>(f.y, i * f.yRow);
    const out = at<T>(f.out, i * f.outRow);
    if (f.beta == 0) {
      for (let j = 0; j < whole; j += lanes<T>()) v128.store(at<T>(out, j), v128.mul<T>(alphas, v128.load(at<T>(x, j))));
      for (let j = whole; j < f.columns; j++) store<T>(at<T>(out, j), alpha * load<T>(at<T>(x, j)));
    } else {
      for (let j = 0; j < whole; j += lanes<T>()) {
        const left = v128.mul<T>(alphas, v128.load(at<T>(x, j)));
        v128.store(at<T>(out, j), v128.add<T>(left, v128.mul<T>(betas, v128.load(at<T>(y, j)))));
      }
      for (let j = whole; j < f.columns; j++) {
        store<T>(at<T>(out, j), alpha * load<T>(at<T>(x, j)) + beta * load<T>(at<T>(y, j)));
      }
    }
  }
}

/** out = x' @kernel */
export function transpose<T extends number>(rows: i32, columns: i32, x: usize, xRow: i32, out: usize, outRow: i32): void {
  const BLOCK = 32;
  for (let i0 = 0; i0 < rows; i0 += BLOCK) {
    for (let j0 = 0; j0 < columns; j0 += BLOCK) {
      transposeBlock<T>(min(BLOCK, rows - i0), min(BLOCK, columns - j0), cell<T>(x, xRow, i0, j0), xRow, cell<T>(out, outRow, j0, i0), outRow);
    }
  }
}

/** out (double) = x (single). @kernel */
export function toDouble(rows: i32, columns: i32, x: usize, xRow: i32, out: usize, outRow: i32): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) store<f64>(at<f64>(out, i * outRow + j), <f64>load<f32>(at<f32>(x, i * xRow + j)));
  }
}

/** out (single) = x (double), rounded to nearest. @kernel */
export function toSingle(rows: i32, columns: i32, x: usize, xRow: i32, out: usize, outRow: i32): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) store<f32>(at<f32>(out, i * outRow + j), <f32>load<f64>(at<f64>(x, i * xRow + j)));
  }
}

/** Lanes 0 and 1 (high = false) or 2 and 3 of four singles as doubles; a pair of doubles as it is. */
// @ts-ignore: decorator
@inline
function widen<T extends number>(v: v128, high: bool): v128 {
  if (sizeof<T>() == 4) {
    return f64x2.promote_low_f32x4(high ? i64x2.shuffle(v, v, 1, 1) : v);
  }
  return v;
}

/** sum_j x_j y_j; y = 0 stands for ones. */
// @ts-ignore: decorator
@inline
export function dot<T extends number>(n: i32, x: usize, y: usize): f64 {
  let low = f64x2.splat(0), high = f64x2.splat(0);
  const whole = n - n % lanes<T>();
  for (let j = 0; j < whole; j += lanes<T>()) {
    const xs = v128.load(at<T>(x, j));
    let xLow = widen<T>(xs, false);
    if (y != 0) {
      const ys = v128.load(at<T>(y, j));
      xLow = f64x2.mul(xLow, widen<T>(ys, false));
      if (sizeof<T>() == 4) high = f64x2.add(high, f64x2.mul(widen<T>(xs, true), widen<T>(ys, true)));
    } else if (sizeof<T>() == 4) high = f64x2.add(high, widen<T>(xs, true));
    low = f64x2.add(low, xLow);
  }
  const both = f64x2.add(low, high);
  let sum = f64x2.extract_lane(both, 0) + f64x2.extract_lane(both, 1);
  for (let j = whole; j < n; j++) sum += <f64>load<T>(at<T>(x, j)) * (y != 0 ? <f64>load<T>(at<T>(y, j)) : 1);
  return sum;
}

/** out_i = sum_j x_ij y_ij (y = 0: sum_j x_ij). @kernel */
export function rowDots<T extends number>(rows: i32, columns: i32, x: usize, xRow: i32, y: usize, yRow: i32, out: usize): void {
  const frame = pushFrame(offsetof<DenseFrame>());
  const f = changetype<DenseFrame>(frame);
  f.rows = rows; f.columns = columns; f.x = x; f.xRow = xRow; f.y = y; f.yRow = yRow; f.out = out;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? rowDotsTaskF32 : rowDotsTaskF64;
  byRows(f, task.index);
  popFrame(frame);
}
function rowDotsTaskF32(frame: usize, task: i32): void { rowDotsTask<f32>(frame, task); }
function rowDotsTaskF64(frame: usize, task: i32): void { rowDotsTask<f64>(frame, task); }
function rowDotsTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<DenseFrame>(frame);
  for (let i = task * f.share, end = min(f.rows, i + f.share); i < end; i++) {
    const y = f.y != 0 ? at<T>(f.y, i * f.yRow) : 0;
    store<T>(at<T>(f.out, i), <T>dot<T>(f.columns, at<T>(f.x, i * f.xRow), y));
  }
}

/** out_j = sum_i x_ij y_ij (y = 0: sum_i x_ij); with yColumn = 0, y has one value a row. @kernel */
export function columnDots<T extends number>(rows: i32, columns: i32, x: usize, xRow: i32, y: usize, yRow: i32, yColumn: i32, out: usize): void {
  const frame = pushFrame(offsetof<DenseFrame>());
  const f = changetype<DenseFrame>(frame);
  f.rows = rows; f.columns = columns; f.x = x; f.xRow = xRow; f.y = y; f.yRow = yRow; f.yColumn = yColumn; f.out = out;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? columnDotsTaskF32 : columnDotsTaskF64;
  parallel(task.index, frame, (columns + COLUMN_SHARE - 1) / COLUMN_SHARE);
  popFrame(frame);
}
function columnDotsTaskF32(frame: usize, task: i32): void { columnDotsTask<f32>(frame, task); }
function columnDotsTaskF64(frame: usize, task: i32): void { columnDotsTask<f64>(frame, task); }
function columnDotsTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<DenseFrame>(frame);
  const first = task * COLUMN_SHARE;
  const columns = min(COLUMN_SHARE, f.columns - first);
  const sums = panelA();
  memory.fill(sums, 0, <usize>columns << 3);
  for (let i = 0; i < f.rows; i++) {
    const x = at<T>(f.x, i * f.xRow + first);
    if (f.y != 0 && f.yColumn != 0) {
      const y = at<T>(f.y, i * f.yRow + first);
      for (let j = 0; j < columns; j++) addTo(at<f64>(sums, j), <f64>load<T>(at<T>(x, j)) * <f64>load<T>(at<T>(y, j)));
    } else {
      const y: f64 = f.y != 0 ? <f64>load<T>(at<T>(f.y, i * f.yRow)) : 1;
      for (let j = 0; j < columns; j++) addTo(at<f64>(sums, j), <f64>load<T>(at<T>(x, j)) * y);
    }
  }
  for (let j = 0; j < columns; j++) store<T>(at<T>(f.out, first + j), <T>load<f64>(at<f64>(sums, j)));
}

// @ts-ignore: decorator
@inline
function addTo(sum: usize, term: f64): void {
  store<f64>(sum, load<f64>(sum) + term);
}

/** 1 where every element is finite. @kernel */
export function allFinite<T extends number>(rows: i32, columns: i32, x: usize, xRow: i32, part: i32): i32 {
  for (let i = 0; i < rows; i++) {
    const n = part != 0 ? min(columns, i + 1) : columns;
    const row = at<T>(x, i * xRow);
    // A sum of x - x is zero just where all are finite.
    let sum = v128.splat<T>(0);
    const whole = n - n % lanes<T>();
    for (let j = 0; j < whole; j += lanes<T>()) {
      const v = v128.load(at<T>(row, j));
      sum = v128.add<T>(sum, v128.sub<T>(v, v));
    }
    if (v128.any_true(v128.ne<T>(sum, v128.splat<T>(0)))) return 0;
    for (let j = whole; j < n; j++) {
      const v = load<T>(at<T>(row, j));
      if (v - v != 0) return 0;
    }
  }
  return 1;
}

/** out_i = rows[i]-th row of x. @kernel */
export function gatherRows<T extends number>(count: i32, columns: i32, x: usize, xRow: i32, rows: usize, out: usize, outRow: i32): void {
  for (let i = 0; i < count; i++) {
    const from = at<T>(x, load<i32>(rows + (<usize>i << 2)) * xRow);
    memory.copy(at<T>(out, i * outRow), from, <usize>columns << alignof<T>());
  }
}

/** @kernel */
export function getDiagonal<T extends number>(n: i32, x: usize, xRow: i32, out: usize): void {
  for (let i = 0; i < n; i++) store<T>(at<T>(out, i), load<T>(at<T>(x, i * (xRow + 1))));
}

/** @kernel */
export function addDiagonal<T extends number>(n: i32, x: usize, xRow: i32, values: usize): void {
  for (let i = 0; i < n; i++) {
    const d = at<T>(x, i * (xRow + 1));
    store<T>(d, load<T>(d) + load<T>(at<T>(values, i)));
  }
}

/** x = value @kernel */
export function fill<T extends number>(rows: i32, columns: i32, value: f64, x: usize, xRow: i32): void {
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) store<T>(at<T>(x, i * xRow + j), <T>value);
}
