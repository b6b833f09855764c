// Sums over points for the closed form: rows of either precision, sums in double precision. A task owns outputs, and
// each of them is summed in the order of the points. `sign` is 1 to learn points and -1 to forget them.

import { at, integerAt } from "./simd";
import { parallel, popFrame, pushFrame } from "./parallel";

// @ts-ignore: decorator
@unmanaged
class SumsFrame {
  sign: f64;
  rows: i32;
  start: usize;
  column: usize;
  value: usize;
  /** The columns in work. */
  first: i32;
  columns: i32;
  /** The other operand: dense (b) or a second list of entries. */
  b: usize;
  bRow: i32;
  n: i32;
  otherStart: usize;
  otherColumn: usize;
  out: usize;
  outRow: i32;
  part: i32;
}

/** Columns of out that a task of a product with a dense operand owns: their sums are eight vectors. */
const SLAB: i32 = 16;
const ROWS_A_TASK: i32 = 64;

/** The first entry from `begin` on whose column is not below `wanted`; columns rise within a row. */
function firstFrom(column: usize, begin: i32, end: i32, wanted: i32): i32 {
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (integerAt(column, middle) < wanted) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

// @ts-ignore: decorator
@inline
function addTo(p: usize, term: f64): void {
  store<f64>(p, load<f64>(p) + term);
}

/** out (double) += rows `first` to first + columns - 1 of sign X'X, up to the diagonal. A task owns a block of them. @kernel */
export function addSparseGram<T extends number>(
  sign: f64, rows: i32, start: usize, column: usize, value: usize, first: i32, columns: i32, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<SumsFrame>());
  const f = changetype<SumsFrame>(frame);
  f.sign = sign; f.rows = rows; f.start = start; f.column = column; f.value = value;
  f.first = first; f.columns = columns; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? gramTaskF32 : gramTaskF64;
  parallel(task.index, frame, (columns + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function gramTaskF32(frame: usize, task: i32): void { gramTask<f32>(frame, task); }
function gramTaskF64(frame: usize, task: i32): void { gramTask<f64>(frame, task); }
function gramTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SumsFrame>(frame);
  const first = f.first + task * ROWS_A_TASK;
  const last = min(f.first + f.columns, first + ROWS_A_TASK);
  for (let i = 0; i < f.rows; i++) {
    const begin = integerAt(f.start, i), end = integerAt(f.start, i + 1);
    for (let e = firstFrom(f.column, begin, end, first); e < end; e++) {
      const j = integerAt(f.column, e);
      if (j >= last) break;
      const x = f.sign * <f64>load<T>(at<T>(f.value, e));
      const to = at<f64>(f.out, (j - f.first) * f.outRow);
      for (let g = begin; g <= e; g++) addTo(at<f64>(to, integerAt(f.column, g)), x * <f64>load<T>(at<T>(f.value, g)));
    }
  }
}

/** out (double) += sign X'B, X by entries (value = 0 stands for ones) and B dense. A task owns a slab of columns. @kernel */
export function addTransposeTimes<T extends number>(
  sign: f64, rows: i32, start: usize, column: usize, value: usize, n: i32, b: usize, bRow: i32, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<SumsFrame>());
  const f = changetype<SumsFrame>(frame);
  f.sign = sign; f.rows = rows; f.start = start; f.column = column; f.value = value;
  f.n = n; f.b = b; f.bRow = bRow; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? transposeTaskF32 : transposeTaskF64;
  parallel(task.index, frame, (n + SLAB - 1) / SLAB);
  popFrame(frame);
}
function transposeTaskF32(frame: usize, task: i32): void { transposeTask<f32>(frame, task); }
function transposeTaskF64(frame: usize, task: i32): void { transposeTask<f64>(frame, task); }
function transposeTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SumsFrame>(frame);
  const first = task * SLAB;
  const width = min(SLAB, f.n - first);
  for (let i = 0; i < f.rows; i++) {
    const begin = integerAt(f.start, i), end = integerAt(f.start, i + 1);
    const y = at<T>(f.b, i * f.bRow + first);
    if (width == SLAB) addSlab<T>(f, begin, end, y, at<f64>(f.out, first));
    else {
      for (let e = begin; e < end; e++) {
        const x = entry<T>(f, e);
        const to = at<f64>(f.out, integerAt(f.column, e) * f.outRow + first);
        for (let j = 0; j < width; j++) addTo(at<f64>(to, j), x * <f64>load<T>(at<T>(y, j)));
      }
    }
  }
}

/** sign times the value of an entry. */
// @ts-ignore: decorator
@inline
function entry<T extends number>(f: SumsFrame, e: i32): f64 {
  return f.value != 0 ? f.sign * <f64>load<T>(at<T>(f.value, e)) : f.sign;
}

/** Two numbers of T as doubles. */
// @ts-ignore: decorator
@inline
function pair<T extends number>(y: usize, j: i32): v128 {
  if (sizeof<T>() == 4) return f64x2.promote_low_f32x4(v128.load64_zero(at<T>(y, j)));
  return v128.load(at<T>(y, j));
}

// @ts-ignore: decorator
@inline
function addPair(p: usize, x: v128, y: v128): void {
  v128.store(p, f64x2.add(v128.load(p), f64x2.mul(x, y)));
}

/** One row of X times one slab of a row of B. */
// @ts-ignore: decorator
@inline
function addSlab<T extends number>(f: SumsFrame, begin: i32, end: i32, y: usize, out: usize): void {
  const y0 = pair<T>(y, 0), y1 = pair<T>(y, 2), y2 = pair<T>(y, 4), y3 = pair<T>(y, 6);
  const y4 = pair<T>(y, 8), y5 = pair<T>(y, 10), y6 = pair<T>(y, 12), y7 = pair<T>(y, 14);
  for (let e = begin; e < end; e++) {
    const x = f64x2.splat(entry<T>(f, e));
    const to = at<f64>(out, integerAt(f.column, e) * f.outRow);
    addPair(to, x, y0); addPair(to + 16, x, y1); addPair(to + 32, x, y2); addPair(to + 48, x, y3);
    addPair(to + 64, x, y4); addPair(to + 80, x, y5); addPair(to + 96, x, y6); addPair(to + 112, x, y7);
  }
}

/** out (double) += sign Y'X, Y a list of labels a row, X sparse. A task owns some columns of X. @kernel */
export function addLabelSums<T extends number>(
  sign: f64, rows: i32, labelStart: usize, label: usize, start: usize, column: usize, value: usize, columns: i32, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<SumsFrame>());
  const f = changetype<SumsFrame>(frame);
  f.sign = sign; f.rows = rows; f.otherStart = labelStart; f.otherColumn = label;
  f.start = start; f.column = column; f.value = value; f.columns = columns; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? labelTaskF32 : labelTaskF64;
  parallel(task.index, frame, (columns + COLUMNS_A_TASK - 1) / COLUMNS_A_TASK);
  popFrame(frame);
}
const COLUMNS_A_TASK: i32 = 1024;
function labelTaskF32(frame: usize, task: i32): void { labelTask<f32>(frame, task); }
function labelTaskF64(frame: usize, task: i32): void { labelTask<f64>(frame, task); }
function labelTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SumsFrame>(frame);
  const first = task * COLUMNS_A_TASK;
  const last = min(f.columns, first + COLUMNS_A_TASK);
  for (let i = 0; i < f.rows; i++) {
    const rowEnd = integerAt(f.start, i + 1);
    const begin = firstFrom(f.column, integerAt(f.start, i), rowEnd, first);
    const end = firstFrom(f.column, begin, rowEnd, last);
    for (let g = integerAt(f.otherStart, i), labels = integerAt(f.otherStart, i + 1); g < labels; g++) {
      const to = at<f64>(f.out, integerAt(f.otherColumn, g) * f.outRow);
      for (let e = begin; e < end; e++) addTo(at<f64>(to, integerAt(f.column, e)), entry<T>(f, e));
    }
  }
}

/** out (double) += sign X; part 0: all of it, 1: its lower triangle. @kernel */
export function addMatrix<T extends number>(sign: f64, rows: i32, columns: i32, x: usize, xRow: i32, out: usize, outRow: i32, part: i32): void {
  const frame = pushFrame(offsetof<SumsFrame>());
  const f = changetype<SumsFrame>(frame);
  f.sign = sign; f.rows = rows; f.n = columns; f.b = x; f.bRow = xRow; f.out = out; f.outRow = outRow; f.part = part;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? addTaskF32 : addTaskF64;
  parallel(task.index, frame, (rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function addTaskF32(frame: usize, task: i32): void { addTask<f32>(frame, task); }
function addTaskF64(frame: usize, task: i32): void { addTask<f64>(frame, task); }
function addTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SumsFrame>(frame);
  const sign = f64x2.splat(f.sign);
  for (let i = task * ROWS_A_TASK, last = min(f.rows, i + ROWS_A_TASK); i < last; i++) {
    const columns = f.part != 0 ? min(f.n, i + 1) : f.n;
    const x = at<T>(f.b, i * f.bRow);
    const out = at<f64>(f.out, i * f.outRow);
    const pairs = columns & ~1;
    for (let j = 0; j < pairs; j += 2) addPair(at<f64>(out, j), sign, pair<T>(x, j));
    if (pairs < columns) addTo(at<f64>(out, pairs), f.sign * <f64>load<T>(at<T>(x, pairs)));
  }
}

/** out (double) += sign times the column sums of a dense X. @kernel */
export function addColumnSums<T extends number>(sign: f64, rows: i32, columns: i32, x: usize, xRow: i32, out: usize): void {
  for (let i = 0; i < rows; i++) {
    const row = at<T>(x, i * xRow);
    for (let j = 0; j < columns; j++) addTo(at<f64>(out, j), sign * <f64>load<T>(at<T>(row, j)));
  }
}

/** out (double) += sign times the sums by column of entries begin to end. @kernel */
export function addEntrySums<T extends number>(sign: f64, begin: i32, end: i32, column: usize, value: usize, out: usize): void {
  for (let e = begin; e < end; e++) addTo(at<f64>(out, integerAt(column, e)), sign * <f64>load<T>(at<T>(value, e)));
}

/** out_i = x_i' C x_i for sparse rows and a symmetric C, of which the lower triangle is read; in double precision. @kernel */
export function sparseQuadratic<T extends number>(
  rows: i32, start: usize, column: usize, value: usize, c: usize, cRow: i32, out: usize,
): void {
  const frame = pushFrame(offsetof<SumsFrame>());
  const f = changetype<SumsFrame>(frame);
  f.rows = rows; f.start = start; f.column = column; f.value = value; f.b = c; f.bRow = cRow; f.out = out;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? quadraticTaskF32 : quadraticTaskF64;
  parallel(task.index, frame, (rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function quadraticTaskF32(frame: usize, task: i32): void { quadraticTask<f32>(frame, task); }
function quadraticTaskF64(frame: usize, task: i32): void { quadraticTask<f64>(frame, task); }
function quadraticTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SumsFrame>(frame);
  for (let i = task * ROWS_A_TASK, last = min(f.rows, i + ROWS_A_TASK); i < last; i++) {
    const begin = integerAt(f.start, i), end = integerAt(f.start, i + 1);
    let sum: f64 = 0;
    for (let e = begin; e < end; e++) {
      const row = at<T>(f.b, integerAt(f.column, e) * f.bRow);
      const x = <f64>load<T>(at<T>(f.value, e));
      let left: f64 = 0;
      for (let g = begin; g < e; g++) left += <f64>load<T>(at<T>(row, integerAt(f.column, g))) * <f64>load<T>(at<T>(f.value, g));
      sum += x * (left + left + x * <f64>load<T>(at<T>(row, integerAt(f.column, e))));
    }
    store<T>(at<T>(f.out, i), <T>sum);
  }
}
