// From inner products to covariances, and back for gradients.
//
//   k(x, z) = a x.z + v g(|x - z|^2 / l^2),   |x - z|^2 = |x|^2 + |z|^2 - 2 x.z
//
// kind says which terms there are: 1 for the linear one, twice the number of the stationary one (stationary.ts). The
// hyper-parameters come as their logarithms: log a, log v, log l.

import { exp, loadPart, storePart } from "./math";
import { at, lanes, sumLanes } from "./simd";
import { parallel, popFrame, pushFrame } from "./parallel";
import { stationarySlope, stationaryValue } from "./stationary";

const LINEAR: i32 = 1;

// @ts-ignore: decorator
@unmanaged
class CovarianceFrame {
  rows: i32;
  columns: i32;
  kind: i32;
  /** Inner products, and squared lengths of what stands in the rows and in the columns. */
  products: usize;
  productsRow: i32;
  rowSquares: usize;
  columnSquares: usize;
  hyper: usize;
  out: usize;
  outRow: i32;
  stationaryPart: usize;
  stationaryPartRow: i32;
  sums: usize;
}

const ROWS_A_TASK: i32 = 16;

// @ts-ignore: decorator
@inline
function hyperParameter<T extends number>(hyper: usize, i: i32): v128 {
  return exp<T>(v128.load_splat<T>(at<T>(hyper, i)));
}

/** out = covariances of the rows with the columns. @kernel */
export function covariance<T extends number>(
  kind: i32, rows: i32, columns: i32, products: usize, productsRow: i32, rowSquares: usize, columnSquares: usize, hyper: usize,
  out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<CovarianceFrame>());
  const f = changetype<CovarianceFrame>(frame);
  f.kind = kind; f.rows = rows; f.columns = columns;
  f.products = products; f.productsRow = productsRow; f.rowSquares = rowSquares; f.columnSquares = columnSquares;
  f.hyper = hyper; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? covarianceTaskF32 : covarianceTaskF64;
  parallel(task.index, frame, (rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function covarianceTaskF32(frame: usize, task: i32): void { covarianceTask<f32>(frame, task); }
function covarianceTaskF64(frame: usize, task: i32): void { covarianceTask<f64>(frame, task); }
function covarianceTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<CovarianceFrame>(frame);
  const slope = hyperParameter<T>(f.hyper, 0);
  const logVariance = v128.load_splat<T>(at<T>(f.hyper, 1));
  const family = f.kind >> 1;
  for (let i = task * ROWS_A_TASK, end = min(f.rows, i + ROWS_A_TASK); i < end; i++) {
    const products = at<T>(f.products, i * f.productsRow);
    const out = at<T>(f.out, i * f.outRow);
    const square = v128.load_splat<T>(at<T>(f.rowSquares, i));
    for (let j = 0; j < f.columns; j += lanes<T>()) {
      const left = f.columns - j;
      const product = loadSome<T>(at<T>(products, j), left);
      let value = v128.splat<T>(0);
      if (f.kind & LINEAR) value = v128.mul<T>(slope, product);
      if (family) {
        const distance = scaledDistance<T>(f, square, loadSome<T>(at<T>(f.columnSquares, j), left), product);
        value = v128.add<T>(value, stationaryValue<T>(family, logVariance, distance));
      }
      storeSome<T>(at<T>(out, j), value, left);
    }
  }
}

/** |x - z|^2 / l^2, never negative. */
// @ts-ignore: decorator
@inline
function scaledDistance<T extends number>(f: CovarianceFrame, rowSquare: v128, columnSquares: v128, product: v128): v128 {
  const distance = v128.sub<T>(v128.add<T>(rowSquare, columnSquares), v128.add<T>(product, product));
  const length = hyperParameter<T>(f.hyper, 2);
  return v128.div<T>(v128.max<T>(distance, v128.splat<T>(0)), v128.mul<T>(length, length));
}

/**
 * d becomes the gradient with respect to the inner products, given (in d) the one with respect to the covariances.
 * stationaryPart gets what of it comes from the stationary term: with respect to |x|^2 and |z|^2 the gradients are
 * -1/2 of its row and column sums. sums[i] gets row i's share of the gradients by log a, log v, log l.
 * @kernel
 */
export function covarianceGradient<T extends number>(
  kind: i32, rows: i32, columns: i32, products: usize, productsRow: i32, rowSquares: usize, columnSquares: usize, hyper: usize,
  d: usize, dRow: i32, stationaryPart: usize, stationaryPartRow: i32, sums: usize,
): void {
  const frame = pushFrame(offsetof<CovarianceFrame>());
  const f = changetype<CovarianceFrame>(frame);
  f.kind = kind; f.rows = rows; f.columns = columns;
  f.products = products; f.productsRow = productsRow; f.rowSquares = rowSquares; f.columnSquares = columnSquares;
  f.hyper = hyper; f.out = d; f.outRow = dRow; f.stationaryPart = stationaryPart; f.stationaryPartRow = stationaryPartRow; f.sums = sums;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? gradientTaskF32 : gradientTaskF64;
  parallel(task.index, frame, (rows + ROWS_A_TASK - 1) / ROWS_A_TASK);
  popFrame(frame);
}
function gradientTaskF32(frame: usize, task: i32): void { gradientTask<f32>(frame, task); }
function gradientTaskF64(frame: usize, task: i32): void { gradientTask<f64>(frame, task); }
function gradientTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<CovarianceFrame>(frame);
  const slope = hyperParameter<T>(f.hyper, 0);
  const length = hyperParameter<T>(f.hyper, 2);
  const lengthSquare = v128.mul<T>(length, length);
  const logVariance = v128.load_splat<T>(at<T>(f.hyper, 1));
  const family = f.kind >> 1;
  for (let i = task * ROWS_A_TASK, end = min(f.rows, i + ROWS_A_TASK); i < end; i++) {
    const products = at<T>(f.products, i * f.productsRow);
    const d = at<T>(f.out, i * f.outRow);
    const stationaryPart = at<T>(f.stationaryPart, i * f.stationaryPartRow);
    const square = v128.load_splat<T>(at<T>(f.rowSquares, i));
    let bySlope = v128.splat<T>(0), byVariance = v128.splat<T>(0), byLength = v128.splat<T>(0);
    for (let j = 0; j < f.columns; j += lanes<T>()) {
      const left = f.columns - j;
      const product = loadSome<T>(at<T>(products, j), left);
      const given = loadSome<T>(at<T>(d, j), left);
      let gradient = v128.splat<T>(0);
      if (f.kind & LINEAR) {
        gradient = v128.mul<T>(slope, given);
        bySlope = v128.add<T>(bySlope, v128.mul<T>(gradient, product));
      }
      if (family) {
        const distance = scaledDistance<T>(f, square, loadSome<T>(at<T>(f.columnSquares, j), left), product);
        const value = stationaryValue<T>(family, logVariance, distance);
        const change = v128.mul<T>(given, stationarySlope<T>(family, logVariance, distance, value));
        const part = v128.div<T>(change, lengthSquare);
        byVariance = v128.add<T>(byVariance, v128.mul<T>(given, value));
        byLength = v128.add<T>(byLength, v128.mul<T>(change, distance));
        gradient = v128.add<T>(gradient, part);
        storeSome<T>(at<T>(stationaryPart, j), part, left);
      }
      storeSome<T>(at<T>(d, j), gradient, left);
    }
    store<T>(at<T>(f.sums, 3 * i), sumLanes<T>(bySlope));
    store<T>(at<T>(f.sums, 3 * i + 1), sumLanes<T>(byVariance));
    store<T>(at<T>(f.sums, 3 * i + 2), sumLanes<T>(byLength));
  }
}

/** A vector, or its first `left` lanes with zeros behind. */
// @ts-ignore: decorator
@inline
function loadSome<T extends number>(x: usize, left: i32): v128 {
  return left >= lanes<T>() ? v128.load(x) : loadPart<T>(x, left);
}
// @ts-ignore: decorator
@inline
function storeSome<T extends number>(x: usize, v: v128, left: i32): void {
  if (left >= lanes<T>()) v128.store(x, v);
  else storePart<T>(x, v, left);
}
