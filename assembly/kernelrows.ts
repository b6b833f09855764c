// Inner products of sparse rows with many other sparse rows at once, through an inverted index of the others: for
// each column the rows z that have it (its postings). A column that most of them have is also kept in full, where a
// vector takes several rows at once; the zeros it adds change no sum. A task owns rows of the output.

import { at, integerAt, lanes, multiplyAdd } from "./simd";
import { panelA, parallel, popFrame, pushFrame } from "./parallel";

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

/** Rows of a task go through their columns together: a column of z in full is read once for all of them. */
const ROWS_A_TASK: i32 = 16;
/** Behind the last entry of a row. */
const NO_COLUMN: i32 = i32.MAX_VALUE;

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
  const base = task * ROWS_A_TASK;
  const rows = min(ROWS_A_TASK, f.rows - base);
  // The next entry of each row, and its column.
  const entries = panelA();
  const heads = entries + 4 * ROWS_A_TASK;
  for (let k = 0; k < ROWS_A_TASK; k++) store<i32>(heads + (k << 2), NO_COLUMN);
  for (let k = 0; k < rows; k++) {
    memory.fill(at<T>(f.out, (base + k) * f.outRow), 0, <usize>wantedOf(f, base + k) << alignof<T>());
    goTo(f, base + k, k, integerAt(f.start, f.first + base + k), entries, heads);
  }
  for (let column = least(heads); column < NO_COLUMN; column = least(heads)) {
    const number = integerAt(f.fullNumber, column);
    const z = number < 0 ? 0 : at<T>(f.full, number * f.fullRow);
    for (let k = 0; k < rows; k++) {
      if (load<i32>(heads + (k << 2)) != column) continue;
      const e = load<i32>(entries + (k << 2));
      const x = load<T>(at<T>(f.value, e));
      const wanted = wantedOf(f, base + k);
      const out = at<T>(f.out, (base + k) * f.outRow);
      if (number >= 0) addFull<T>(x, z, wanted, out);
      else addPostings<T>(f, x, column, wanted, out);
      goTo(f, base + k, k, e + 1, entries, heads);
    }
  }
}

/** How many z a row of the output has. */
// @ts-ignore: decorator
@inline
function wantedOf(f: ProductsFrame, i: i32): i32 {
  return f.lower ? min(f.others, f.first + i + 1) : f.others;
}

/** Row i, the k-th of its task, stands at entry e. */
// @ts-ignore: decorator
@inline
function goTo(f: ProductsFrame, i: i32, k: i32, e: i32, entries: usize, heads: usize): void {
  store<i32>(entries + (k << 2), e);
  store<i32>(heads + (k << 2), e < integerAt(f.start, f.first + i + 1) ? integerAt(f.column, e) : NO_COLUMN);
}

/** The least of the next columns. */
// @ts-ignore: decorator
@inline
function least(heads: usize): i32 {
  let all = v128.load(heads);
  for (let k = 4; k < ROWS_A_TASK; k += 4) all = i32x4.min_s(all, v128.load(heads + (k << 2)));
  return min(
    min(i32x4.extract_lane(all, 0), i32x4.extract_lane(all, 1)),
    min(i32x4.extract_lane(all, 2), i32x4.extract_lane(all, 3)),
  );
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
