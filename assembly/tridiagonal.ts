// A = Q T Q' with T tridiagonal, the eigenvectors of a small T, and the way back: rows of them times Q'.
//
// Rows are reduced from the last to the first. Reflector i, H_i = I - tau_i v v', clears row i left of its
// subdiagonal; v has i entries, the last of them 1, and takes the place of the row. Q = H_{n-1} ... H_1. A
// panel of rows is reduced before the rest of the matrix hears of it: with V and W the reflectors and their
// images, A <- A - V W' - W V' is one gemm. What stays outside it is one product of the symmetric matrix and
// a vector a row.

import { FULL, LOWER, gemm } from "./gemm";
import { parallel, popFrame, pushFrame } from "./parallel";
import { at, cell, multiplyAdd, sumLanes } from "./simd";

/** Rows reduced between two updates of the matrix. */
const PANEL: i32 = 32;
/** Rows of the symmetric product that form one task: they share a vector of partial sums. A multiple of 4. */
const STRIP: i32 = 128;
/** Squares below this lose digits; next to a matrix of size one such a row is zero. */
const NOTHING: f64 = 1e-280;
export const EPSILON: f64 = 1.1102230246251565e-16; // 2^-53
const QL_SWEEPS: i32 = 60;
/** Numbers below this may have lost digits to underflow: no rotation is made from them. */
const UNDERFLOW: f64 = 1e-290;

/**
 * Reflectors applied together on the way back: whole register tiles in either build of gemm, and more of them
 * the larger the matrix is next to the work of putting them together (measured at n = 200, 500, 1000, 2500).
 */
function blockSize(n: i32): i32 {
  return n <= 800 ? 48 : n <= 1600 ? 96 : 144;
}

/** Rows, of at least n elements each, in either of the two areas of work memory. */
export function areaRows(n: i32): i32 {
  return max(n, max(3 * PANEL, 3 * blockSize(n)));
}

// @ts-ignore: decorator
@unmanaged
class SymmetricProduct {
  a: usize;
  stride: i32;
  size: i32;
  strips: i32;
  v: usize;
  partial: usize;
  pitch: i32;
}

/** Element i of an array of f64. */
// @ts-ignore: decorator
@inline
export function item(base: usize, i: i32): f64 {
  return load<f64>(at<f64>(base, i));
}

/** Sum of x[i] y[i]. */
function dot(n: i32, x: usize, y: usize): f64 {
  let s0 = f64x2.splat(0), s1 = f64x2.splat(0);
  const end = at<f64>(x, n & ~3);
  while (x < end) {
    s0 = multiplyAdd<f64>(v128.load(x, 0), v128.load(y, 0), s0);
    s1 = multiplyAdd<f64>(v128.load(x, 16), v128.load(y, 16), s1);
    x += 32; y += 32;
  }
  let sum = sumLanes<f64>(f64x2.add(s0, s1));
  for (let i = 0; i < (n & 3); i++) sum += item(x, i) * item(y, i);
  return sum;
}

/** y += p x. */
function addMultiple(n: i32, p: f64, x: usize, y: usize): void {
  const factor = f64x2.splat(p);
  const end = at<f64>(x, n & ~1);
  while (x < end) {
    v128.store(y, multiplyAdd<f64>(v128.load(x), factor, v128.load(y)));
    x += 16; y += 16;
  }
  if (n & 1) store<f64>(y, load<f64>(y) + p * load<f64>(x));
}

/** y -= p0 x0 + q0 u0 + p1 x1 + q1 u1, where x1 and u1 lie `step` bytes behind x0 and u0. */
function subtractFour(
  n: i32, p0: f64, q0: f64, p1: f64, q1: f64, x: usize, u: usize, step: usize, y: usize,
): void {
  const f0 = f64x2.splat(-p0), g0 = f64x2.splat(-q0), f1 = f64x2.splat(-p1), g1 = f64x2.splat(-q1);
  const end = at<f64>(x, n & ~1);
  while (x < end) {
    let sum = multiplyAdd<f64>(v128.load(x), f0, v128.load(y));
    sum = multiplyAdd<f64>(v128.load(u), g0, sum);
    sum = multiplyAdd<f64>(v128.load(x + step), f1, sum);
    sum = multiplyAdd<f64>(v128.load(u + step), g1, sum);
    v128.store(y, sum);
    x += 16; u += 16; y += 16;
  }
  if (n & 1) {
    let sum = load<f64>(y) - p0 * load<f64>(x) - q0 * load<f64>(u);
    sum = sum - p1 * load<f64>(x + step) - q1 * load<f64>(u + step);
    store<f64>(y, sum);
  }
}

/**
 * Four rows of the lower triangle left of their diagonal block, n a multiple of 4 entries each: their
 * products with v go to `sums`, and v_r times row r is added to y. Every entry of A is read once for both;
 * six running pointers and constant offsets, because V8 computes each address anew (up to 1.4 times faster
 * than one running index).
 */
function fourRows(n: i32, row0: usize, step: usize, v: usize, vr: usize, y: usize, sums: usize): void {
  let s0 = f64x2.splat(0), s1 = f64x2.splat(0), s2 = f64x2.splat(0), s3 = f64x2.splat(0);
  const v0 = v128.load64_splat(vr, 0), v1 = v128.load64_splat(vr, 8);
  const v2 = v128.load64_splat(vr, 16), v3 = v128.load64_splat(vr, 24);
  let row1 = row0 + step, row2 = row1 + step, row3 = row2 + step;
  const end = at<f64>(v, n);
  while (v < end) {
    let x = v128.load(v, 0), sum = v128.load(y, 0);
    let a = v128.load(row0, 0);
    s0 = multiplyAdd<f64>(a, x, s0); sum = multiplyAdd<f64>(a, v0, sum);
    a = v128.load(row1, 0);
    s1 = multiplyAdd<f64>(a, x, s1); sum = multiplyAdd<f64>(a, v1, sum);
    a = v128.load(row2, 0);
    s2 = multiplyAdd<f64>(a, x, s2); sum = multiplyAdd<f64>(a, v2, sum);
    a = v128.load(row3, 0);
    s3 = multiplyAdd<f64>(a, x, s3); sum = multiplyAdd<f64>(a, v3, sum);
    v128.store(y, sum, 0);
    x = v128.load(v, 16); sum = v128.load(y, 16);
    a = v128.load(row0, 16);
    s0 = multiplyAdd<f64>(a, x, s0); sum = multiplyAdd<f64>(a, v0, sum);
    a = v128.load(row1, 16);
    s1 = multiplyAdd<f64>(a, x, s1); sum = multiplyAdd<f64>(a, v1, sum);
    a = v128.load(row2, 16);
    s2 = multiplyAdd<f64>(a, x, s2); sum = multiplyAdd<f64>(a, v2, sum);
    a = v128.load(row3, 16);
    s3 = multiplyAdd<f64>(a, x, s3); sum = multiplyAdd<f64>(a, v3, sum);
    v128.store(y, sum, 16);
    v += 32; y += 32; row0 += 32; row1 += 32; row2 += 32; row3 += 32;
  }
  store<f64>(sums, sumLanes<f64>(s0), 0);
  store<f64>(sums, sumLanes<f64>(s1), 8);
  store<f64>(sums, sumLanes<f64>(s2), 16);
  store<f64>(sums, sumLanes<f64>(s3), 24);
}

/** Task: what the rows of one strip of the lower triangle give to A v. The longest strip comes first. */
function stripTask(frame: usize, task: i32): void {
  const f = changetype<SymmetricProduct>(frame);
  const strip = f.strips - 1 - task;
  const first = strip * STRIP;
  const last = min(first + STRIP, f.size);
  const y = cell<f64>(f.partial, f.pitch, strip, 0);
  memory.fill(y, 0, <usize>last << 3);
  const step = <usize>f.stride << 3;
  const sums = pushFrame(32);
  for (let r = first; r < last; r += 4) {
    const rows = min(4, last - r);
    const row = cell<f64>(f.a, f.stride, r, 0);
    let diagonalFrom = r;
    if (rows == 4) fourRows(r, row, step, f.v, at<f64>(f.v, r), y, sums);
    else {
      memory.fill(sums, 0, 32);
      diagonalFrom = 0;
    }
    for (let k = 0; k < rows; k++) {
      const i = r + k;
      const entries = row + <usize>k * step;
      const vi = item(f.v, i);
      let sum = item(sums, k) + item(entries, i) * vi;
      for (let j = diagonalFrom; j < i; j++) {
        const entry = item(entries, j);
        sum += entry * item(f.v, j);
        store<f64>(at<f64>(y, j), item(y, j) + entry * vi);
      }
      store<f64>(at<f64>(y, i), item(y, i) + sum);
    }
  }
  popFrame(sums);
}

/** y = A v for the leading lower triangle of A: strips of rows on all threads, then their sums in order. */
function symmetricTimesVector(f: SymmetricProduct, y: usize): void {
  f.strips = (f.size + STRIP - 1) / STRIP;
  const task: (frame: usize, task: i32) => void = stripTask;
  parallel(task.index, changetype<usize>(f), f.strips);
  memory.copy(y, cell<f64>(f.partial, f.pitch, f.strips - 1, 0), <usize>f.size << 3);
  for (let strip = f.strips - 2; strip >= 0; strip--) {
    addMultiple((strip + 1) * STRIP, 1, cell<f64>(f.partial, f.pitch, strip, 0), y);
  }
}

/**
 * Turns row (i entries) into the reflector v that maps it to beta e_last, and returns tau; beta replaces the
 * entry at `subdiagonal`. tau = (beta - alpha) / beta, v = row / (alpha - beta) with last entry 1.
 */
function makeReflector(i: i32, row: usize, subdiagonal: usize): f64 {
  const lastEntry = at<f64>(row, i - 1);
  const alpha = load<f64>(lastEntry);
  const rest = dot(i - 1, row, row);
  store<f64>(lastEntry, 1);
  if (rest < NOTHING) {
    store<f64>(subdiagonal, alpha);
    return 0;
  }
  const length = sqrt<f64>(alpha * alpha + rest);
  const beta = alpha > 0 ? -length : length;
  store<f64>(subdiagonal, beta);
  const scale = 1 / (alpha - beta);
  for (let j = 0; j < i - 1; j++) store<f64>(at<f64>(row, j), item(row, j) * scale);
  return (beta - alpha) / beta;
}

/** w = tau (A - V W' - W V') v, then w -= (tau / 2) (w' v) v, for the reflector v in row `pairs`. */
function makeImage(f: SymmetricProduct, panel: usize, pitch: i32, pairs: i32, tau: f64): void {
  const i = f.size;
  const v = cell<f64>(panel, pitch, pairs, 0);
  const w = cell<f64>(panel, pitch, PANEL + pairs, 0);
  if (tau == 0) {
    memory.fill(w, 0, <usize>i << 3);
    return;
  }
  f.v = v;
  symmetricTimesVector(f, w);
  const step = <usize>pitch << 3;
  for (let t = 0; t < pairs; t += 2) {
    const x = cell<f64>(panel, pitch, t, 0), u = cell<f64>(panel, pitch, PANEL + t, 0);
    const p0 = dot(i, u, v), q0 = dot(i, x, v);
    if (t + 1 < pairs) subtractFour(i, p0, q0, dot(i, u + step, v), dot(i, x + step, v), x, u, step, w);
    else subtractFour(i, p0, q0, 0, 0, x, u, 0, w);
  }
  const half = -0.5 * tau * (tau * dot(i, w, v));
  for (let j = 0; j < i; j++) {
    store<f64>(at<f64>(w, j), tau * item(w, j) + half * item(v, j));
  }
}

/**
 * Reduces the lower triangle of A. Row i of A becomes reflector i; `diagonal` and `tau` receive n numbers,
 * `subdiagonal` n - 1. `panel` and `partial` are areas of work memory, rows of `pitch` >= n each.
 */
export function tridiagonalise(
  n: i32, a: usize, stride: i32, diagonal: usize, subdiagonal: usize, tau: usize,
  panel: usize, partial: usize, pitch: i32,
): void {
  const frame = pushFrame(offsetof<SymmetricProduct>());
  const f = changetype<SymmetricProduct>(frame);
  f.a = a; f.stride = stride; f.partial = partial; f.pitch = pitch;
  const step = <usize>pitch << 3;
  let first = n;
  while (first > 0) {
    const last = first;
    first = max(0, last - PANEL);
    for (let i = last - 1; i >= first; i--) {
      const pairs = last - 1 - i;
      const row = cell<f64>(a, stride, i, 0);
      for (let t = 0; t < pairs; t += 2) {
        const x = cell<f64>(panel, pitch, t, 0), u = cell<f64>(panel, pitch, PANEL + t, 0);
        const xi = item(x, i), ui = item(u, i);
        if (t + 1 < pairs) subtractFour(i + 1, ui, xi, item(u + step, i), item(x + step, i), x, u, step, row);
        else subtractFour(i + 1, ui, xi, 0, 0, x, u, 0, row);
      }
      store<f64>(at<f64>(diagonal, i), item(row, i));
      if (i == 0) break;
      const scale = makeReflector(i, row, at<f64>(subdiagonal, i - 1));
      store<f64>(at<f64>(tau, i), scale);
      memory.copy(cell<f64>(panel, pitch, pairs, 0), row, <usize>i << 3);
      f.size = i;
      makeImage(f, panel, pitch, pairs, scale);
    }
    if (first > 0) {
      // [V W] [W V]' is one product of depth 2 PANEL when V stands on both sides of W.
      const images = cell<f64>(panel, pitch, PANEL, 0);
      memory.copy(cell<f64>(panel, pitch, 2 * PANEL, 0), panel, <usize>PANEL * step);
      gemm<f64>(first, first, 2 * PANEL, -1, panel, 1, pitch, images, pitch, 1, 0, 1, a, stride, LOWER);
    }
  }
  popFrame(frame);
}

/** Length of (a, b) without underflow. */
export function hypotenuse(a: f64, b: f64): f64 {
  const x = abs(a), y = abs(b);
  const large = max(x, y), small = min(x, y);
  if (large == 0) return 0;
  const ratio = small / large;
  return large * sqrt<f64>(1 + ratio * ratio);
}

/** (x, y) <- (c x + s y, c y - s x) for two rows. */
export function rotate(n: i32, x: usize, y: usize, c: f64, s: f64): void {
  const cc = f64x2.splat(c), ss = f64x2.splat(s);
  const end = at<f64>(x, n & ~1);
  while (x < end) {
    const p = v128.load(x), q = v128.load(y);
    v128.store(x, f64x2.add(f64x2.mul(cc, p), f64x2.mul(ss, q)));
    v128.store(y, f64x2.sub(f64x2.mul(cc, q), f64x2.mul(ss, p)));
    x += 16; y += 16;
  }
  if (n & 1) {
    const p = load<f64>(x), q = load<f64>(y);
    store<f64>(x, c * p + s * q);
    store<f64>(y, c * q - s * p);
  }
}

/** Implicit QL on a leaf: diagonal d, subdiagonal e (n entries, the last is scratch), q = I on entry. */
export function solveLeaf(n: i32, d: usize, e: usize, q: usize, pitch: i32): bool {
  store<f64>(at<f64>(e, n - 1), 0);
  for (let l = 0; l < n; l++) {
    for (let sweep = 0; ; sweep++) {
      let m = l;
      for (; m < n - 1; m++) {
        if (abs(item(e, m)) <= EPSILON * (abs(item(d, m)) + abs(item(d, m + 1))) + UNDERFLOW) break;
      }
      if (m == l) break;
      if (sweep == QL_SWEEPS) return false;
      const el = item(e, l);
      let g = (item(d, l + 1) - item(d, l)) / (2 * el);
      const r0 = hypotenuse(g, 1);
      g = item(d, m) - item(d, l) + el / (g + (g < 0 ? -r0 : r0));
      let s: f64 = 1, c: f64 = 1, p: f64 = 0;
      let i = m - 1;
      for (; i >= l; i--) {
        const h = s * item(e, i), b = c * item(e, i);
        const r = hypotenuse(h, g);
        store<f64>(at<f64>(e, i + 1), r);
        if (r <= UNDERFLOW) {
          // The matrix falls apart here: start over on its pieces.
          store<f64>(at<f64>(d, i + 1), item(d, i + 1) - p);
          break;
        }
        s = h / r;
        c = g / r;
        g = item(d, i + 1) - p;
        const t = (item(d, i) - g) * s + 2 * c * b;
        p = s * t;
        store<f64>(at<f64>(d, i + 1), g + p);
        g = c * t - b;
        rotate(n, cell<f64>(q, pitch, i + 1, 0), cell<f64>(q, pitch, i, 0), c, s);
      }
      store<f64>(at<f64>(e, m), 0);
      if (i >= l) continue;
      store<f64>(at<f64>(d, l), item(d, l) - p);
      store<f64>(at<f64>(e, l), g);
    }
  }
  return true;
}

/** T of H_first H_first+1 ... = I - V' T V for reflectors in rows of V, from the lower triangle of V V'. */
function makeTriangle(count: i32, products: usize, tau: usize, triangle: usize): void {
  memory.fill(triangle, 0, <usize>(count * count) << 3);
  for (let j = 0; j < count; j++) {
    const tauJ = item(tau, j);
    const productsJ = cell<f64>(products, count, j, 0);
    for (let i = 0; i < j; i++) {
      const sum = dot(j - i, cell<f64>(triangle, count, i, i), at<f64>(productsJ, i));
      store<f64>(cell<f64>(triangle, count, i, j), -tauJ * sum);
    }
    store<f64>(cell<f64>(triangle, count, j, j), tauJ);
  }
}

/**
 * Rows of eigenvectors of T become rows of eigenvectors of A: z <- z Q' = z H_1 ... H_{n-1}, a block of
 * reflectors at a time: z -= (z V') (T V). `left` and `right` are areas of work memory, of row pitch >= n.
 */
export function applyReflectors(
  n: i32, a: usize, stride: i32, tau: usize, rows: i32, z: usize, zStride: i32,
  left: usize, right: usize, pitch: i32,
): void {
  if (rows == 0) return;
  const block = blockSize(n);
  for (let first = 1; first < n; first += block) {
    const last = min(first + block, n);
    const count = last - first;
    const length = last - 1;
    const v = cell<f64>(a, stride, first, 0);
    for (let i = first; i < last; i++) memory.fill(cell<f64>(a, stride, i, i), 0, <usize>(length - i) << 3);
    const products = at<f64>(left, rows * count);
    const triangle = at<f64>(products, count * count);
    gemm<f64>(count, count, length, 1, v, stride, 1, v, 1, stride, 0, 0, products, count, LOWER);
    makeTriangle(count, products, at<f64>(tau, first), triangle);
    gemm<f64>(count, length, count, 1, triangle, count, 1, v, stride, 1, 0, 0, right, pitch, FULL);
    gemm<f64>(rows, count, length, 1, z, zStride, 1, v, 1, stride, 0, 0, left, count, FULL);
    gemm<f64>(rows, length, count, -1, left, count, 1, right, pitch, 1, 0, 1, z, zStride, FULL);
  }
}
