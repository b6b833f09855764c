// T X = B with T lower triangular: all sides, triangles and transposes are this one solve seen through other strides
// (a right-hand side from the right is its transpose from the left; an upper triangle is a lower one read backwards).
//
// A diagonal block of T and a panel of columns of X are packed as for gemm. The part left of each MR rows runs in the
// gemm tile, what remains is an MR x MR triangle; rows below the block are one gemm.

import { FULL, gemm, KC, MR, NR, packColumns, packRows, tile } from "./gemm";
import { at } from "./simd";
import { panelA, panelB, parallel, popFrame, pushFrame, threads } from "./parallel";

// @ts-ignore: decorator
@unmanaged
class SolveFrame {
  /** Order of the diagonal block, columns of X. */
  n: i32;
  m: i32;
  packed: usize;
  x: usize;
  xRow: isize;
  xColumn: isize;
}

/**
 * Solves T X = B in place of B. T is n x n, X is n x m; strides in elements, of either sign. Calls for rows from to to, cut at multiples
 * of KC and one after another, come to the same as one for all. @kernel
 */
export function solveLower<T extends number>(
  n: i32, m: i32, t: usize, tRow: isize, tColumn: isize, x: usize, xRow: isize, xColumn: isize, from: i32, to: i32,
): void {
  if (n == 0 || m == 0) return;
  const frame = pushFrame(offsetof<SolveFrame>());
  const f = changetype<SolveFrame>(frame);
  f.m = m;
  f.xRow = xRow;
  f.xColumn = xColumn;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? solveTaskF32 : solveTaskF64;
  const panels = (m + NR<T>() - 1) / NR<T>();
  for (let first = from; first < to; first += KC) {
    const block = min(KC, n - first);
    const diagonal = t + ((<isize>first * (tRow + tColumn)) << alignof<T>());
    f.n = block;
    f.x = x + ((<isize>first * xRow) << alignof<T>());
    f.packed = panelB();
    packTriangle<T>(block, diagonal, tRow, tColumn, f.packed);
    if (threads() > 1 && <i64>block * block * m > 100000) parallel(task.index, frame, panels);
    else for (let p = 0; p < panels; p++) solveTask<T>(frame, p);
    const rest = n - first - block;
    if (rest > 0) subtractBelow<T>(rest, block, m, diagonal, tRow, tColumn, f.x, xRow, xColumn);
  }
  popFrame(frame);
}

/** Panels of MR rows of the block, each as deep as the triangle reaches and spaced as if it were full. */
function packTriangle<T extends number>(n: i32, t: usize, tRow: isize, tColumn: isize, packed: usize): void {
  for (let i = 0; i < n; i += MR) {
    const rows = min(MR, n - i);
    const from = t + ((<isize>i * tRow) << alignof<T>());
    packRows<T>(from, tRow, tColumn, rows, i + rows, 1, at<T>(packed, i * n));
  }
}

function solveTaskF32(frame: usize, task: i32): void { solveTask<f32>(frame, task); }
function solveTaskF64(frame: usize, task: i32): void { solveTask<f64>(frame, task); }

/** Task: one panel of columns of X against the packed triangle. */
function solveTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<SolveFrame>(frame);
  const width = NR<T>();
  const rowBytes = <usize>width << alignof<T>();
  const columns = min(width, f.m - task * width);
  const x = f.x + ((<isize>(task * width) * f.xColumn) << alignof<T>());
  const panel = panelA();
  packColumns<T>(x, f.xRow, f.xColumn, columns, f.n, 0, panel);
  const known = pushFrame(<usize>MR * rowBytes);
  for (let i = 0; i < f.n; i += MR) {
    const rows = min(MR, f.n - i);
    const triangle = at<T>(f.packed, i * f.n);
    tile<T>(triangle, panel, i, known, rowBytes, false);
    for (let r = 0; r < rows; r++) {
      const row = panel + <usize>(i + r) * rowBytes;
      for (let v: usize = 0; v < rowBytes; v += 16) {
        let sum = v128.sub<T>(v128.load(row + v), v128.load(known + <usize>r * rowBytes + v));
        for (let q = 0; q < r; q++) {
          const factor = v128.load_splat<T>(at<T>(triangle, (i + q) * MR + r));
          sum = v128.sub<T>(sum, v128.mul<T>(factor, v128.load(panel + <usize>(i + q) * rowBytes + v)));
        }
        v128.store(row + v, v128.div<T>(sum, v128.load_splat<T>(at<T>(triangle, (i + r) * MR + r))));
      }
    }
  }
  popFrame(known);
  unpackColumns<T>(panel, f.n, columns, x, f.xRow, f.xColumn);
}

function unpackColumns<T extends number>(panel: usize, n: i32, columns: i32, x: usize, xRow: isize, xColumn: isize): void {
  const width = NR<T>();
  if (xColumn == 1) {
    for (let i = 0; i < n; i++) {
      const to = x + ((<isize>i * xRow) << alignof<T>());
      const from = at<T>(panel, i * width);
      for (let j = 0; j < columns; j++) store<T>(at<T>(to, j), load<T>(at<T>(from, j)));
    }
  } else {
    for (let j = 0; j < columns; j++) {
      let to = x + ((<isize>j * xColumn) << alignof<T>());
      for (let i = 0; i < n; i++) {
        store<T>(to, load<T>(at<T>(panel, i * width + j)));
        to += xRow << alignof<T>();
      }
    }
  }
}

/** X_below -= T_below X_block. gemm wants C row-major, so a transposed X is updated as its transpose, forwards. */
function subtractBelow<T extends number>(
  rest: i32, block: i32, m: i32, diagonal: usize, tRow: isize, tColumn: isize, x: usize, xRow: isize, xColumn: isize,
): void {
  const below = diagonal + ((<isize>block * tRow) << alignof<T>());
  const target = x + ((<isize>block * xRow) << alignof<T>());
  const minusOne = <T>-1;
  if (xColumn == 1) {
    gemm<T>(rest, m, block, minusOne, below, tRow, tColumn, x, xRow, 1, 0, 1, target, xRow, FULL);
  } else if (xRow == 1) {
    gemm<T>(m, rest, block, minusOne, x, xColumn, xRow, below, tColumn, tRow, 0, 1, target, xColumn, FULL);
  } else {
    const last = <isize>(rest - 1);
    gemm<T>(
      m, rest, block, minusOne, x, xColumn, xRow,
      below + ((last * tRow) << alignof<T>()), tColumn, -tRow, 0, 1,
      target + ((last * xRow) << alignof<T>()), xColumn, FULL,
    );
  }
}

/** inverse of T in place, T lower triangular and row-major: halves, each side solved against the other's factor. */
export function invertLower<T extends number>(n: i32, t: usize, stride: i32): void {
  const BASE = 32;
  if (n <= BASE) {
    invertLowerBase<T>(n, t, stride);
    return;
  }
  const half = n >> 1;
  const rest = n - half;
  const below = at<T>(t, half * stride);
  const corner = at<T>(below, half);
  // inverse(T)_21 = -inverse(T_22) T_21 inverse(T_11); the solve from the right is X' seen from the left, upwards.
  const lastOf11 = at<T>(t, (half - 1) * (stride + 1));
  solveLower<T>(half, rest, lastOf11, -1, -<isize>stride, at<T>(below, half - 1), -1, stride, 0, half);
  for (let i = 0; i < rest; i++) {
    for (let j = 0; j < half; j++) {
      const c = at<T>(below, i * stride + j);
      store<T>(c, -load<T>(c));
    }
  }
  solveLower<T>(rest, half, corner, stride, 1, below, stride, 1, 0, rest);
  invertLower<T>(half, t, stride);
  invertLower<T>(rest, corner, stride);
}

/** Row i of the inverse is -(T_i,0..i-1 times the rows above) / T_ii. */
function invertLowerBase<T extends number>(n: i32, t: usize, stride: i32): void {
  const saved = pushFrame(<usize>n << alignof<T>());
  for (let i = 0; i < n; i++) {
    const row = at<T>(t, i * stride);
    const scale: T = <T>1 / load<T>(at<T>(row, i));
    memory.copy(saved, row, <usize>i << alignof<T>());
    memory.fill(row, 0, <usize>i << alignof<T>());
    for (let k = 0; k < i; k++) {
      const factor = load<T>(at<T>(saved, k)) * scale;
      const above = at<T>(t, k * stride);
      for (let j = 0; j <= k; j++) {
        const c = at<T>(row, j);
        store<T>(c, load<T>(c) - factor * load<T>(at<T>(above, j)));
      }
    }
    store<T>(at<T>(row, i), scale);
  }
  popFrame(saved);
}
