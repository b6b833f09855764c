// A = L L', batched, and what follows from a factor: the inverse and the log-determinant.

import { FULL, gemm, LOWER, mirrorLower } from "./gemm";
import { log } from "./math";
import { at } from "./simd";
import { panelA, parallel, popFrame, pushFrame, thread } from "./parallel";
import { invertLower, solveLower } from "./triangular";

/** Status of a factorisation that went through; any other is the index of the first pivot that was not positive. */
const FACTORED: i32 = -1;
const BASE: i32 = 64;

/** Lower factor in place of the lower triangle. On failure the rows before the bad pivot hold the factor so far. */
function factor<T extends number>(n: i32, a: usize, stride: i32): i32 {
  if (n <= BASE) return factorBase<T>(n, a, stride);
  const half = (n >> 1) - (n >> 1) % 12;
  const rest = n - half;
  const upperLeft = factor<T>(half, a, stride);
  if (upperLeft != FACTORED) return upperLeft;
  const below = at<T>(a, half * stride);
  const corner = at<T>(below, half);
  solveLower<T>(half, rest, a, stride, 1, below, 1, stride, 0, half);
  gemm<T>(rest, rest, half, <T>-1, below, stride, 1, below, 1, stride, 0, 1, corner, stride, LOWER);
  const status = factor<T>(rest, corner, stride);
  return status == FACTORED ? FACTORED : half + status;
}

/** A small block, transposed into scratch so that its rows are the columns of L: one vector update a row and pivot. */
function factorBase<T extends number>(n: i32, a: usize, stride: i32): i32 {
  const u = panelA();
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) store<T>(at<T>(u, j * BASE + i), load<T>(at<T>(a, i * stride + j)));
  }
  let status = FACTORED;
  for (let k = 0; k < n; k++) {
    const pivotRow = at<T>(u, k * BASE);
    const pivot = load<T>(at<T>(pivotRow, k));
    if (!(pivot > 0 && pivot < Infinity)) {
      status = k;
      break;
    }
    const root = sqrt<T>(pivot);
    for (let j = k; j < n; j++) store<T>(at<T>(pivotRow, j), load<T>(at<T>(pivotRow, j)) / root);
    for (let i = k + 1; i < n; i++) {
      const row = at<T>(u, i * BASE);
      const scale = v128.splat<T>(load<T>(at<T>(pivotRow, i)));
      // From the vector that holds the diagonal on; what it touches left of the diagonal is never read.
      const end = <usize>n << alignof<T>();
      for (let v = (<usize>i << alignof<T>()) & ~15; v < end; v += 16) {
        v128.store(row + v, v128.sub<T>(v128.load(row + v), v128.mul<T>(scale, v128.load(pivotRow + v))));
      }
    }
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) store<T>(at<T>(a, i * stride + j), load<T>(at<T>(u, j * BASE + i)));
  }
  return status;
}

// @ts-ignore: decorator
@unmanaged
class BatchFrame {
  n: i32;
  factor: usize;
  stride: i32;
  /** Elements from one matrix to the next. */
  step: i32;
  status: usize;
  out: usize;
  outStride: i32;
  outStep: i32;
  work: usize;
}

/** Factors `count` matrices; the strict upper triangles become zero. status: i32 a matrix, -1 or the bad pivot. @kernel */
export function cholesky<T extends number>(count: i32, n: i32, a: usize, stride: i32, step: i32, status: usize): void {
  const frame = pushFrame(offsetof<BatchFrame>());
  const f = changetype<BatchFrame>(frame);
  f.n = n;
  f.factor = a;
  f.stride = stride;
  f.step = step;
  f.status = status;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? choleskyTaskF32 : choleskyTaskF64;
  parallel(task.index, frame, count);
  popFrame(frame);
}
function choleskyTaskF32(frame: usize, task: i32): void { choleskyTask<f32>(frame, task); }
function choleskyTaskF64(frame: usize, task: i32): void { choleskyTask<f64>(frame, task); }
function choleskyTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<BatchFrame>(frame);
  const a = at<T>(f.factor, task * f.step);
  store<i32>(f.status + (<usize>task << 2), factor<T>(f.n, a, f.stride));
  for (let i = 0; i < f.n - 1; i++) memory.fill(at<T>(a, i * f.stride + i + 1), 0, <usize>(f.n - 1 - i) << alignof<T>());
}

/** inverse(A) from the factors of A, both triangles. work: n n elements a thread. out may be the factor itself. @kernel */
export function inverseFromFactor<T extends number>(
  count: i32, n: i32, l: usize, stride: i32, step: i32, out: usize, outStride: i32, outStep: i32, work: usize,
): void {
  const frame = pushFrame(offsetof<BatchFrame>());
  const f = changetype<BatchFrame>(frame);
  f.n = n;
  f.factor = l;
  f.stride = stride;
  f.step = step;
  f.out = out;
  f.outStride = outStride;
  f.outStep = outStep;
  f.work = work;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? inverseTaskF32 : inverseTaskF64;
  parallel(task.index, frame, count);
  popFrame(frame);
}
function inverseTaskF32(frame: usize, task: i32): void { inverseTask<f32>(frame, task); }
function inverseTaskF64(frame: usize, task: i32): void { inverseTask<f64>(frame, task); }
function inverseTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<BatchFrame>(frame);
  const n = f.n;
  const x = at<T>(f.work, thread() * n * n);
  const l = at<T>(f.factor, task * f.step);
  for (let i = 0; i < n; i++) {
    memory.copy(at<T>(x, i * n), at<T>(l, i * f.stride), <usize>(i + 1) << alignof<T>());
    memory.fill(at<T>(x, i * n + i + 1), 0, <usize>(n - 1 - i) << alignof<T>());
  }
  invertLower<T>(n, x, n);
  // inverse(A)_ij = sum of X_ki X_kj over k >= i: a block of rows of it needs only the rows of X from there on.
  const out = at<T>(f.out, task * f.outStep);
  const BLOCK = 96;
  for (let i = 0; i < n; i += BLOCK) {
    const rows = min(BLOCK, n - i);
    const depth = n - i;
    const from = at<T>(x, i * n);
    const to = at<T>(out, i * f.outStride);
    gemm<T>(rows, i, depth, 1, at<T>(from, i), 1, n, from, n, 1, 0, 0, to, f.outStride, FULL);
    gemm<T>(rows, rows, depth, 1, at<T>(from, i), 1, n, at<T>(from, i), n, 1, 0, 0, at<T>(to, i), f.outStride, LOWER);
  }
  mirrorLower<T>(n, out, f.outStride);
}

/** log|A| = 2 sum log L_ii of each factor, summed in double precision. @kernel */
export function logDeterminant<T extends number>(count: i32, n: i32, l: usize, stride: i32, step: i32, out: usize): void {
  for (let c = 0; c < count; c++) {
    const factor = at<T>(l, c * step);
    let sum: f64 = 0;
    for (let i = 0; i < n; i++) sum += f64x2.extract_lane(log<f64>(f64x2.splat(<f64>load<T>(at<T>(factor, i * (stride + 1))))), 0);
    store<T>(at<T>(out, c), <T>(2 * sum));
  }
}
