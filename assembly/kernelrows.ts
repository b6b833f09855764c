// Inner products of sparse rows with many other sparse rows at once, through an inverted index of the others: for
// each column the rows z that have it (its postings). A column that most of them have is also kept in full, where a
// vector takes several rows at once; the zeros it adds change no sum. A task owns rows of the output.

import { at, integerAt, lanes, multiplyAdd } from "./simd";
import { parallel, popFrame, pushFrame } from "./parallel";

// @ts-ignore: decorator
@unmanaged
class ProductsFrame {
  /** Rows x: numbers first to first + rows - 1. */
  first: i32;
  rows: i32;
  start: usize;
  column: usize;
  value: usize;
  /** Rows z, `others` of them, by column: postings, rising, and for some columns their number in `full`. */
  others: i32;
  postingStart: usize;
  postingRow: usize;
  postingValue: usize;
  fullNumber: usize;
  full: usize;
  fullRow: i32;
  lower: bool;
  out: usize;
  outRow: i32;
}

const ROWS_A_TASK: i32 = 8;

/**
 * out_ij = x_i . z_j for the rows x from `first` on. fullNumber: i32 a column, its row in `full`, or -1. With `lower`
 * only the z up to the number of x are taken, and what stands behind them in out is left alone.
 * @kernel
 */
export function sparseProducts<T extends number>(
  first: i32, rows: i32, start: usize, column: usize, value: usize,
  others: i32, postingStart: usize, postingRow: usize, postingValue: usize, fullNumber: usize, full: usize, fullRow: i32,
  lower: bool, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<ProductsFrame>());
  const f = changetype<ProductsFrame>(frame);
  f.first = first; f.rows = rows; f.start = start; f.column = column; f.value = value;
  f.others = others; f.postingStart = postingStart; f.postingRow = postingRow; f.postingValue = postingValue;
  f.fullNumber = fullNumber; f.full = full; f.fullRow = fullRow; f.lower = lower; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? productsTaskF32 : productsTaskF64;
  parallel(task.index, frame, (rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function productsTaskF32(frame: usize, task: i32): void { productsTask<f32>(frame, task); }
function productsTaskF64(frame: usize, task: i32): void { productsTask<f64>(frame, task); }
function productsTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<ProductsFrame>(frame);
  for (let i = task * ROWS_A_TASK, last = min(f.rows, i + ROWS_A_TASK); i < last; i++) {
    const row = f.first + i;
    const wanted = f.lower ? min(f.others, row + 1) : f.others;
    const out = at<T>(f.out, i * f.outRow);
    memory.fill(out, 0, <usize>wanted << alignof<T>());
    for (let e = integerAt(f.start, row), end = integerAt(f.start, row + 1); e < end; e++) {
      const column = integerAt(f.column, e);
      const number = integerAt(f.fullNumber, column);
      if (number >= 0) addFull<T>(load<T>(at<T>(f.value, e)), at<T>(f.full, number * f.fullRow), wanted, out);
      else addPostings<T>(f, load<T>(at<T>(f.value, e)), column, wanted, out);
    }
  }
}

/** out += x times a column of z in full. */
// @ts-ignore: decorator
@inline
function addFull<T extends number>(x: T, z: usize, wanted: i32, out: usize): void {
  const factor = v128.splat<T>(x);
  const vectors = wanted - wanted % lanes<T>();
  for (let j = 0; j < vectors; j += lanes<T>()) {
    v128.store(at<T>(out, j), multiplyAdd<T>(factor, v128.load(at<T>(z, j)), v128.load(at<T>(out, j))));
  }
  for (let j = vectors; j < wanted; j++) store<T>(at<T>(out, j), load<T>(at<T>(out, j)) + x * load<T>(at<T>(z, j)));
}

/** out_z += x times each posting of the column, for z below `wanted`. */
// @ts-ignore: decorator
@inline
function addPostings<T extends number>(f: ProductsFrame, x: T, column: i32, wanted: i32, out: usize): void {
  for (let p = integerAt(f.postingStart, column), end = integerAt(f.postingStart, column + 1); p < end; p++) {
    const z = integerAt(f.postingRow, p);
    if (z >= wanted) break;
    const to = at<T>(out, z);
    store<T>(to, load<T>(to) + x * load<T>(at<T>(f.postingValue, p)));
  }
}
