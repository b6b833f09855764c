// Products with a sparse matrix in CSR form: start i32[rows + 1], column i32[nonzeros], value T[nonzeros].
// Tasks own a slab of output columns (or a block of output rows), so each sum runs in the order of the entries.

import { dot } from "./dense";
import { at, lanes, multiplyAdd } from "./simd";
import { parallel, popFrame, pushFrame } from "./parallel";

// @ts-ignore: decorator
@unmanaged
class SparseFrame {
  rows: i32;
  start: usize;
  column: usize;
  value: usize;
  /** Numbers of the rows taken, or 0 for all. */
  chosen: usize;
  b: usize;
  bRow: i32;
  n: i32;
  out: usize;
  outRow: i32;
  accumulate: bool;
  slabs: i32;
  columns: i32;
}

/** Vectors of one slab: as many sums as fit the registers beside the operands. */
export const SLAB_VECTORS: i32 = 8;
const ROWS_A_TASK: i32 = 128;

// @ts-ignore: decorator
@inline
function entryColumn(column: usize, e: i32): i32 {
  return load<i32>(column + (<usize>e << 2));
}

// @ts-ignore: decorator
@inline
function rowBegin(f: SparseFrame, row: i32): i32 {
  return load<i32>(f.start + (<usize>row << 2));
}

// @ts-ignore: decorator
@inline
function setUp(
  frame: usize, rows: i32, start: usize, column: usize, value: usize, chosen: usize, n: i32, b: usize, bRow: i32, out: usize, outRow: i32,
): SparseFrame {
  const f = changetype<SparseFrame>(frame);
  f.rows = rows; f.start = start; f.column = column; f.value = value; f.chosen = chosen;
  f.n = n; f.b = b; f.bRow = bRow; f.out = out; f.outRow = outRow;
  return f;
}

/** out = X B (or += where accumulate), for all rows of X or for the chosen ones; B is columns x n. @kernel */
export function sparseTimes<T extends number>(
  rows: i32, start: usize, column: usize, value: usize, chosen: usize, n: i32, b: usize, bRow: i32, accumulate: bool, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<SparseFrame>());
  const f = setUp(frame, rows, start, column, value, chosen, n, b, bRow, out, outRow);
  f.accumulate = accumulate;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? timesTaskF32 : timesTaskF64;
  parallel(task.index, frame, (rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function timesTaskF32(frame: usize, task: i32): void { timesTask<f32>(frame, task); }
function timesTaskF64(frame: usize, task: i32): void { timesTask<f64>(frame, task); }
function timesTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SparseFrame>(frame);
  const wide = SLAB_VECTORS * lanes<T>();
  for (let i = task * ROWS_A_TASK, last = min(f.rows, i + ROWS_A_TASK); i < last; i++) {
    const row = f.chosen != 0 ? load<i32>(f.chosen + (<usize>i << 2)) : i;
    const begin = rowBegin(f, row), end = rowBegin(f, row + 1);
    const out = at<T>(f.out, i * f.outRow);
    let j = 0;
    for (; j + wide <= f.n; j += wide) wideSlab<T>(f, begin, end, at<T>(f.b, j), at<T>(out, j));
    for (; j + lanes<T>() <= f.n; j += lanes<T>()) {
      let sum = f.accumulate ? v128.load(at<T>(out, j)) : v128.splat<T>(0);
      for (let e = begin; e < end; e++) {
        const b = v128.load(at<T>(f.b, entryColumn(f.column, e) * f.bRow + j));
        sum = multiplyAdd<T>(v128.load_splat<T>(at<T>(f.value, e)), b, sum);
      }
      v128.store(at<T>(out, j), sum);
    }
    for (; j < f.n; j++) {
      let sum: T = f.accumulate ? load<T>(at<T>(out, j)) : 0;
      for (let e = begin; e < end; e++) {
        sum += load<T>(at<T>(f.value, e)) * load<T>(at<T>(f.b, entryColumn(f.column, e) * f.bRow + j));
      }
      store<T>(at<T>(out, j), sum);
    }
  }
}

/** Eight vectors of one row of X B, summed in registers. */
function wideSlab<T extends number>(f: SparseFrame, begin: i32, end: i32, b: usize, out: usize): void {
  let s0 = v128.splat<T>(0), s1 = v128.splat<T>(0), s2 = v128.splat<T>(0), s3 = v128.splat<T>(0);
  let s4 = v128.splat<T>(0), s5 = v128.splat<T>(0), s6 = v128.splat<T>(0), s7 = v128.splat<T>(0);
  if (f.accumulate) {
    s0 = v128.load(out, 0); s1 = v128.load(out, 16); s2 = v128.load(out, 32); s3 = v128.load(out, 48);
    s4 = v128.load(out, 64); s5 = v128.load(out, 80); s6 = v128.load(out, 96); s7 = v128.load(out, 112);
  }
  const bRow = f.bRow;
  const last = f.column + (<usize>end << 2);
  let value = at<T>(f.value, begin);
  for (let column = f.column + (<usize>begin << 2); column < last; column += 4) {
    const p = at<T>(b, load<i32>(column) * bRow);
    const x = v128.load_splat<T>(value);
    s0 = multiplyAdd<T>(x, v128.load(p, 0), s0); s1 = multiplyAdd<T>(x, v128.load(p, 16), s1);
    s2 = multiplyAdd<T>(x, v128.load(p, 32), s2); s3 = multiplyAdd<T>(x, v128.load(p, 48), s3);
    s4 = multiplyAdd<T>(x, v128.load(p, 64), s4); s5 = multiplyAdd<T>(x, v128.load(p, 80), s5);
    s6 = multiplyAdd<T>(x, v128.load(p, 96), s6); s7 = multiplyAdd<T>(x, v128.load(p, 112), s7);
    value += sizeof<T>();
  }
  v128.store(out, s0, 0); v128.store(out, s1, 16); v128.store(out, s2, 32); v128.store(out, s3, 48);
  v128.store(out, s4, 64); v128.store(out, s5, 80); v128.store(out, s6, 96); v128.store(out, s7, 112);
}

/** out += X' B over all rows of X or the chosen ones; out is columns x n, B has a row for each row taken. @kernel */
export function sparseTransposeTimes<T extends number>(
  rows: i32, start: usize, column: usize, value: usize, chosen: usize, n: i32, b: usize, bRow: i32, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<SparseFrame>());
  setUp(frame, rows, start, column, value, chosen, n, b, bRow, out, outRow);
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? transposeTaskF32 : transposeTaskF64;
  const wide = SLAB_VECTORS * lanes<T>();
  parallel(task.index, frame, (n + wide - 1) / wide);
  popFrame(frame);
}
function transposeTaskF32(frame: usize, task: i32): void { transposeTask<f32>(frame, task); }
function transposeTaskF64(frame: usize, task: i32): void { transposeTask<f64>(frame, task); }
function transposeTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SparseFrame>(frame);
  const first = task * SLAB_VECTORS * lanes<T>();
  const width = min(SLAB_VECTORS * lanes<T>(), f.n - first);
  for (let i = 0; i < f.rows; i++) {
    const row = f.chosen != 0 ? load<i32>(f.chosen + (<usize>i << 2)) : i;
    scatterRow<T>(f, rowBegin(f, row), rowBegin(f, row + 1), at<T>(f.b, i * f.bRow + first), first, width);
  }
}

/** out[column of each entry, slab] += entry * y. */
// @ts-ignore: decorator
@inline
function scatterRow<T extends number>(f: SparseFrame, begin: i32, end: i32, y: usize, first: i32, width: i32): void {
  if (width == SLAB_VECTORS * lanes<T>()) {
    const y0 = v128.load(y, 0), y1 = v128.load(y, 16), y2 = v128.load(y, 32), y3 = v128.load(y, 48);
    const y4 = v128.load(y, 64), y5 = v128.load(y, 80), y6 = v128.load(y, 96), y7 = v128.load(y, 112);
    const outRow = f.outRow;
    const out = at<T>(f.out, first);
    for (let e = begin; e < end; e++) {
      const x = v128.load_splat<T>(at<T>(f.value, e));
      const p = at<T>(out, entryColumn(f.column, e) * outRow);
      v128.store(p, multiplyAdd<T>(x, y0, v128.load(p, 0)), 0); v128.store(p, multiplyAdd<T>(x, y1, v128.load(p, 16)), 16);
      v128.store(p, multiplyAdd<T>(x, y2, v128.load(p, 32)), 32); v128.store(p, multiplyAdd<T>(x, y3, v128.load(p, 48)), 48);
      v128.store(p, multiplyAdd<T>(x, y4, v128.load(p, 64)), 64); v128.store(p, multiplyAdd<T>(x, y5, v128.load(p, 80)), 80);
      v128.store(p, multiplyAdd<T>(x, y6, v128.load(p, 96)), 96); v128.store(p, multiplyAdd<T>(x, y7, v128.load(p, 112)), 112);
    }
  } else {
    for (let e = begin; e < end; e++) {
      const x = load<T>(at<T>(f.value, e));
      const p = at<T>(f.out, entryColumn(f.column, e) * f.outRow + first);
      for (let j = 0; j < width; j++) store<T>(at<T>(p, j), load<T>(at<T>(p, j)) + x * load<T>(at<T>(y, j)));
    }
  }
}

/** out += X' (X B): one sweep over the rows, holding one slab of one row of X B at a time. @kernel */
export function sparseGramTimes<T extends number>(
  rows: i32, start: usize, column: usize, value: usize, n: i32, b: usize, bRow: i32, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<SparseFrame>());
  const f = setUp(frame, rows, start, column, value, 0, n, b, bRow, out, outRow);
  f.accumulate = false;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? gramTimesTaskF32 : gramTimesTaskF64;
  const wide = SLAB_VECTORS * lanes<T>();
  parallel(task.index, frame, (n + wide - 1) / wide);
  popFrame(frame);
}
function gramTimesTaskF32(frame: usize, task: i32): void { gramTimesTask<f32>(frame, task); }
function gramTimesTaskF64(frame: usize, task: i32): void { gramTimesTask<f64>(frame, task); }
function gramTimesTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SparseFrame>(frame);
  const wide = SLAB_VECTORS * lanes<T>();
  const first = task * wide;
  const width = min(wide, f.n - first);
  const y = pushFrame(<usize>wide << alignof<T>());
  for (let i = 0; i < f.rows; i++) {
    const begin = rowBegin(f, i), end = rowBegin(f, i + 1);
    if (width == wide) wideSlab<T>(f, begin, end, at<T>(f.b, first), y);
    else {
      for (let j = 0; j < width; j++) {
        let sum: T = 0;
        for (let e = begin; e < end; e++) {
          sum += load<T>(at<T>(f.value, e)) * load<T>(at<T>(f.b, entryColumn(f.column, e) * f.bRow + first + j));
        }
        store<T>(at<T>(y, j), sum);
      }
    }
    scatterRow<T>(f, begin, end, y, first, width);
  }
  popFrame(y);
}

/** out += X' X, dense and full, out is columns x columns. A task owns a block of rows of out. @kernel */
export function sparseGram<T extends number>(rows: i32, columns: i32, start: usize, column: usize, value: usize, out: usize, outRow: i32): void {
  const frame = pushFrame(offsetof<SparseFrame>());
  const f = setUp(frame, rows, start, column, value, 0, 0, 0, 0, out, outRow);
  f.columns = columns;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? gramTaskF32 : gramTaskF64;
  parallel(task.index, frame, (columns + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function gramTaskF32(frame: usize, task: i32): void { gramTask<f32>(frame, task); }
function gramTaskF64(frame: usize, task: i32): void { gramTask<f64>(frame, task); }
function gramTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SparseFrame>(frame);
  const first = task * ROWS_A_TASK;
  const last = min(f.columns, first + ROWS_A_TASK);
  for (let i = 0; i < f.rows; i++) {
    const begin = rowBegin(f, i), end = rowBegin(f, i + 1);
    for (let e = begin; e < end; e++) {
      const j = entryColumn(f.column, e);
      if (j < first || j >= last) continue;
      const x = load<T>(at<T>(f.value, e));
      const to = at<T>(f.out, j * f.outRow);
      for (let g = begin; g < end; g++) {
        const p = at<T>(to, entryColumn(f.column, g));
        store<T>(p, load<T>(p) + x * load<T>(at<T>(f.value, g)));
      }
    }
  }
}

/** out_e = a_i . b_k for each entry e = (i, k) of a pattern; each sum in double precision. @kernel */
export function sampledProducts<T extends number>(
  rows: i32, start: usize, column: usize, n: i32, a: usize, aRow: i32, b: usize, bRow: i32, out: usize,
): void {
  const frame = pushFrame(offsetof<SparseFrame>());
  const f = setUp(frame, rows, start, column, a, 0, n, b, bRow, out, aRow);
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? sampledTaskF32 : sampledTaskF64;
  parallel(task.index, frame, (f.rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function sampledTaskF32(frame: usize, task: i32): void { sampledTask<f32>(frame, task); }
function sampledTaskF64(frame: usize, task: i32): void { sampledTask<f64>(frame, task); }
function sampledTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SparseFrame>(frame);
  for (let i = task * ROWS_A_TASK, last = min(f.rows, i + ROWS_A_TASK); i < last; i++) {
    const a = at<T>(f.value, i * f.outRow);
    for (let e = rowBegin(f, i), end = rowBegin(f, i + 1); e < end; e++) {
      store<T>(at<T>(f.out, e), <T>dot<T>(f.n, a, at<T>(f.b, entryColumn(f.column, e) * f.bRow)));
    }
  }
}

/** out_i = sum of the squares of row i, in double precision. @kernel */
export function sparseRowSquares<T extends number>(rows: i32, start: usize, value: usize, out: usize): void {
  for (let i = 0; i < rows; i++) {
    let sum: f64 = 0;
    for (let e = load<i32>(start + (<usize>i << 2)), end = load<i32>(start + (<usize>(i + 1) << 2)); e < end; e++) {
      const x = <f64>load<T>(at<T>(value, e));
      sum += x * x;
    }
    store<T>(at<T>(out, i), <T>sum);
  }
}

/** Row i times scale_i, in place. @kernel */
export function sparseScaleRows<T extends number>(rows: i32, start: usize, value: usize, scale: usize): void {
  for (let i = 0; i < rows; i++) {
    const factor = load<T>(at<T>(scale, i));
    for (let e = load<i32>(start + (<usize>i << 2)), end = load<i32>(start + (<usize>(i + 1) << 2)); e < end; e++) {
      store<T>(at<T>(value, e), factor * load<T>(at<T>(value, e)));
    }
  }
}
