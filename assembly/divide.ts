// One step of divide and conquer: eigenvalues and eigenvectors of Q (D + rho z z') Q', where D and Q belong
// to the two halves of a torn tridiagonal matrix and z is the last row of Q_1 beside the first row of Q_2
// (Cuppen).
//
// Entries of z that are negligible and poles that coincide are deflated: their eigenvectors stay as they are.
// The others give the secular equation f(x) = 1/rho + sum z_i^2 / (d_i - x) = 0, one root right of each pole,
// and from the roots, with z made anew to fit them (Gu and Eisenstat), the new eigenvectors in terms of the
// old. Eigenvectors are rows.

import { popFrame, pushFrame } from "./parallel";
import { at, cell, sumLanes } from "./simd";
import { EPSILON, hypotenuse, item, rotate } from "./tridiagonal";

/** Roots are dealt to this many tasks, columns of the Loewner products to tasks of this width. */
export const ROOT_TASKS: i32 = 16;
export const COLUMNS: i32 = 64;
const ITERATIONS: i32 = 200;

/** Which rows of Q an eigenvector has entries in. */
export const TOP: i32 = 0;
export const BOTH: i32 = 1;
export const BOTTOM: i32 = 2;

/** A step in work. */
// @ts-ignore: decorator
@unmanaged
export class Merge {
  size: i32;
  top: i32;
  rho: f64;
  diagonal: usize;
  order: usize;
  q: usize;
  pitch: i32;
  failed: i32;
  z: usize;
  /** The kept: poles ascending, their z, the roots, the row each came from, its column among the grouped. */
  kept: i32;
  poles: usize;
  weights: usize;
  roots: usize;
  rows: usize;
  group: usize;
  dropped: i32;
  droppedRows: usize;
  extent: usize;
  sorted: usize;
  temporary: usize;
  /** How many of the kept have entries in the top only, in both, in the bottom only; old vectors, packed. */
  inTop: i32;
  inBoth: i32;
  inBottom: i32;
  packedTop: usize;
  packedBottom: usize;
  packedDropped: usize;
  /** Rows d_i - root_j, then the new eigenvectors in terms of the old: the first `keptWanted` of them. */
  s: usize;
  sStride: i32;
  keptWanted: i32;
}

// @ts-ignore: decorator
@inline
export function index(base: usize, i: i32): i32 {
  return load<i32>(at<i32>(base, i));
}
// @ts-ignore: decorator
@inline
export function setIndex(base: usize, i: i32, value: i32): void {
  store<i32>(at<i32>(base, i), value);
}

/** Sorts a list of rows by their eigenvalue; meant for short or nearly sorted lists. */
export function insertionSort(n: i32, list: usize, keys: usize): void {
  for (let i = 1; i < n; i++) {
    const row = index(list, i);
    const key = item(keys, row);
    let j = i;
    for (; j > 0 && item(keys, index(list, j - 1)) > key; j--) setIndex(list, j, index(list, j - 1));
    setIndex(list, j, row);
  }
}

/** Gives a row entries in both halves. */
export function widen(m: Merge, row: i32): void {
  const extent = index(m.extent, row);
  const q = cell<f64>(m.q, m.pitch, row, 0);
  if (extent == TOP) memory.fill(at<f64>(q, m.top), 0, <usize>(m.size - m.top) << 3);
  else if (extent == BOTTOM) memory.fill(q, 0, <usize>m.top << 3);
  setIndex(m.extent, row, BOTH);
}

/** Turns rows i and j, whose poles are neighbours, so that z_i = 0, if this changes D negligibly. */
function coincide(m: Merge, i: i32, j: i32, tolerance: f64): bool {
  const length = hypotenuse(item(m.z, i), item(m.z, j));
  const c = item(m.z, j) / length, s = -item(m.z, i) / length;
  const di = item(m.diagonal, i), dj = item(m.diagonal, j);
  if (abs((dj - di) * c * s) > tolerance) return false;
  store<f64>(at<f64>(m.z, j), length);
  store<f64>(at<f64>(m.z, i), 0);
  store<f64>(at<f64>(m.diagonal, i), di * c * c + dj * s * s);
  store<f64>(at<f64>(m.diagonal, j), di * s * s + dj * c * c);
  if (index(m.extent, i) != index(m.extent, j)) {
    widen(m, i);
    widen(m, j);
  }
  const extent = index(m.extent, i);
  const from = extent == BOTTOM ? m.top : 0;
  const to = extent == TOP ? m.top : m.size;
  rotate(to - from, cell<f64>(m.q, m.pitch, i, from), cell<f64>(m.q, m.pitch, j, from), c, s);
  return true;
}

/** Enters a row into the secular equation. */
function keep(m: Merge, row: i32): void {
  const k = m.kept++;
  setIndex(m.rows, k, row);
  store<f64>(at<f64>(m.poles, k), item(m.diagonal, row));
  store<f64>(at<f64>(m.weights, k), item(m.z, row));
  const extent = index(m.extent, row);
  if (extent == TOP) m.inTop++;
  else if (extent == BOTH) m.inBoth++;
  else m.inBottom++;
}

/** Sorts rows into the kept, which enter the secular equation, and the dropped, eigenvectors as they are. */
export function deflate(m: Merge): void {
  let largest: f64 = 0;
  for (let i = 0; i < m.size; i++) largest = max(largest, max(abs(item(m.diagonal, i)), abs(item(m.z, i))));
  const tolerance = 8 * EPSILON * largest;
  m.kept = m.dropped = m.inTop = m.inBoth = m.inBottom = 0;
  let pending = -1;
  for (let i = 0; i < m.size; i++) {
    const row = index(m.sorted, i);
    if (m.rho * abs(item(m.z, row)) <= tolerance) {
      setIndex(m.droppedRows, m.dropped++, row);
      continue;
    }
    if (pending >= 0) {
      if (coincide(m, pending, row, tolerance)) setIndex(m.droppedRows, m.dropped++, pending);
      else keep(m, pending);
    }
    pending = row;
  }
  if (pending >= 0) keep(m, pending);
  insertionSort(m.dropped, m.droppedRows, m.diagonal);
}

/** Task: some of the roots; row j of s receives d_i - root_j. */
export function rootTask(frame: usize, task: i32): void {
  const m = changetype<Merge>(frame);
  for (let j = task; j < m.kept; j += ROOT_TASKS) {
    const root = solveRoot(m.kept, j, m.poles, m.weights, m.rho, cell<f64>(m.s, m.sStride, j, 0));
    if (root != root) m.failed = 1;
    store<f64>(at<f64>(m.roots, j), root);
  }
}

/**
 * Task: the z for which the computed roots are exact (Loewner), in some columns. It replaces the given z;
 * eigenvectors made from it are orthogonal however close the roots lie.
 * z_i^2 ~ prod_j (root_j - d_i) / prod_{j != i} (d_j - d_i), the factor 1/rho falls out with their norm.
 */
export function loewnerTask(frame: usize, task: i32): void {
  const m = changetype<Merge>(frame);
  const first = task * COLUMNS, last = min(first + COLUMNS, m.kept);
  const product = m.z;
  for (let i = first; i < last; i++) {
    store<f64>(at<f64>(product, i), -load<f64>(cell<f64>(m.s, m.sStride, i, i)));
  }
  for (let j = 0; j < m.kept; j++) {
    const pole = item(m.poles, j);
    const row = cell<f64>(m.s, m.sStride, j, 0);
    let i = first;
    if (j < first || j >= last) {
      const poles = f64x2.splat(pole);
      for (; i + 2 <= last; i += 2) {
        const ratio = f64x2.div(v128.load(at<f64>(row, i)), f64x2.sub(v128.load(at<f64>(m.poles, i)), poles));
        v128.store(at<f64>(product, i), f64x2.mul(v128.load(at<f64>(product, i)), ratio));
      }
    }
    for (; i < last; i++) {
      const gap = item(m.poles, i) - pole;
      if (i != j) store<f64>(at<f64>(product, i), item(product, i) * (item(row, i) / gap));
    }
  }
  for (let i = first; i < last; i++) {
    store<f64>(at<f64>(m.weights, i), copysign<f64>(sqrt<f64>(item(product, i)), item(m.weights, i)));
  }
}

/** Task: some rows of s become eigenvectors z_i / (d_i - root_j), normalised, with columns as grouped. */
export function vectorTask(frame: usize, task: i32): void {
  const m = changetype<Merge>(frame);
  const entries = at<f64>(m.temporary, task * m.size);
  for (let j = task; j < m.keptWanted; j += ROOT_TASKS) {
    const row = cell<f64>(m.s, m.sStride, j, 0);
    let sum: f64 = 0;
    for (let i = 0; i < m.kept; i++) {
      const entry = item(m.weights, i) / item(row, i);
      store<f64>(at<f64>(entries, i), entry);
      sum += entry * entry;
    }
    const scale = 1 / sqrt<f64>(sum);
    for (let i = 0; i < m.kept; i++) store<f64>(at<f64>(row, index(m.group, i)), item(entries, i) * scale);
  }
}

/** The two halves of f and f' at the last point, and a bound of the rounding error of f. */
// @ts-ignore: decorator
@unmanaged
class Sums {
  value: f64;
  slope: f64;
  left: f64;
  leftSlope: f64;
  right: f64;
  rightSlope: f64;
  error: f64;
}

/** Adds `count` poles, from `first` upwards (step 1) or downwards (step -1), to f and f'. */
function addPoles(
  first: i32, count: i32, step: i32, poles: usize, z: usize,
  origin: f64, shift: f64, deltas: usize, sums: Sums,
): void {
  const origins = f64x2.splat(origin), shifts = f64x2.splat(shift);
  let value = f64x2.splat(0), slope = f64x2.splat(0), error = f64x2.splat(0);
  let i = step > 0 ? first : first - 1;
  for (let pairs = count >> 1; pairs > 0; pairs--) {
    const delta = f64x2.sub(f64x2.sub(v128.load(at<f64>(poles, i)), origins), shifts);
    v128.store(at<f64>(deltas, i), delta);
    const weight = v128.load(at<f64>(z, i));
    const ratio = f64x2.div(weight, delta);
    value = f64x2.add(value, f64x2.mul(weight, ratio));
    slope = f64x2.add(slope, f64x2.mul(ratio, ratio));
    error = f64x2.add(error, f64x2.abs(value));
    i += 2 * step;
  }
  sums.value = sumLanes<f64>(value);
  sums.slope = sumLanes<f64>(slope);
  sums.error += sumLanes<f64>(error);
  if (count & 1) {
    i = first + step * (count - 1);
    const delta = item(poles, i) - origin - shift;
    store<f64>(at<f64>(deltas, i), delta);
    const ratio = item(z, i) / delta;
    sums.value += item(z, i) * ratio;
    sums.slope += ratio * ratio;
    sums.error += abs(sums.value);
  }
}

/**
 * f at x = origin + shift, the poles up to `split` apart from those behind it; deltas receive d_i - x. Sums
 * run from the far poles to the near ones, and the sum of their partial sums bounds their rounding error.
 */
function evaluate(
  k: i32, split: i32, poles: usize, z: usize, origin: f64, shift: f64, deltas: usize, sums: Sums,
): void {
  sums.error = 0;
  addPoles(0, split + 1, 1, poles, z, origin, shift, deltas, sums);
  sums.left = sums.value;
  sums.leftSlope = sums.slope;
  addPoles(k - 1, k - 1 - split, -1, poles, z, origin, shift, deltas, sums);
  sums.right = sums.value;
  sums.rightSlope = sums.slope;
}

/**
 * The root of c x^2 - a x + b that lies between low and high; something outside, or NaN, if there is none.
 */
function quadraticRoot(c: f64, a: f64, b: f64, low: f64, high: f64): f64 {
  const root = sqrt<f64>(max<f64>(0, a * a - 4 * b * c));
  const q = 0.5 * (a < 0 ? a - root : a + root);
  const x = b / q;
  return x > low && x < high ? x : q / c;
}

/** A point that cuts the bracket well: in the middle of its logarithms while its ends differ in size. */
function middle(low: f64, high: f64): f64 {
  if (low == 0) return 0.125 * high;
  if (high == 0) return 0.125 * low;
  const ratio = low / high;
  if (ratio > 4) return -sqrt<f64>(low * high);
  if (ratio > 0 && ratio < 0.25) return sqrt<f64>(low * high);
  return 0.5 * (low + high);
}

/**
 * Root j of the secular equation, and d_i - root for all i, exact to the last digits. Returns NaN where it
 * does not converge.
 *
 * f climbs from -inf to +inf between two poles, and to 1/rho right of the last one. The poles left of the
 * root and those right of it (for the last root: all but the last, and the last) are each replaced by one
 * pole of the right value and slope, r + s / (d - x), and the root of this is the next guess (Bunch, Nielsen,
 * Sorensen). A bracket always encloses the root; it is cut where that guess leaves it or makes too little
 * progress.
 */
function solveRoot(k: i32, j: i32, poles: usize, z: usize, rho: f64, deltas: usize): f64 {
  if (k == 1) {
    const shift = rho * item(z, 0) * item(z, 0);
    store<f64>(deltas, -shift);
    return item(poles, 0) + shift;
  }
  const inner = j < k - 1;
  const split = inner ? j : k - 2;
  const inverse = 1 / rho;
  let width = item(poles, split + 1) - item(poles, split);
  if (!inner) {
    width = 0;
    for (let i = 0; i < k; i++) width += item(z, i) * item(z, i);
    width *= rho;
  }
  const frame = pushFrame(offsetof<Sums>());
  const sums = changetype<Sums>(frame);

  // The nearer pole is the origin: distances to it keep all their digits.
  let origin = item(poles, j);
  evaluate(k, split, poles, z, origin, 0.5 * width, deltas, sums);
  let value = inverse + sums.left + sums.right;
  let low: f64 = value < 0 ? 0.5 * width : 0;
  let high: f64 = value < 0 ? width : 0.5 * width;
  if (inner && value < 0) {
    origin = item(poles, j + 1);
    low = -0.5 * width;
    high = 0;
  }

  // First guess: the other poles count as they did in the middle.
  const zLeft = item(z, split) * item(z, split), zRight = item(z, split + 1) * item(z, split + 1);
  const poleLeft = item(poles, split) - origin, poleRight = item(poles, split + 1) - origin;
  const rest = value - zLeft / item(deltas, split) - zRight / item(deltas, split + 1);
  let shift = quadraticRoot(
    rest, rest * (poleLeft + poleRight) + zLeft + zRight, zLeft * poleRight + zRight * poleLeft, low, high,
  );
  if (!(shift > low && shift < high)) shift = middle(low, high);

  let found = false;
  let slow = 0;
  let before = abs(value);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    evaluate(k, split, poles, z, origin, shift, deltas, sums);
    value = inverse + sums.left + sums.right;
    const slope = sums.leftSlope + sums.rightSlope;
    const error = 8 * (abs(sums.left) + abs(sums.right)) + sums.error + 2 * inverse + abs(shift) * slope;
    if (abs(value) <= EPSILON * error) {
      found = true;
      break;
    }
    if (value < 0) low = shift;
    else high = shift;
    if (abs(value) > 0.5 * before) slow++;
    before = abs(value);

    let next = low;
    if (slow < 2) {
      const left = item(deltas, split), right = item(deltas, split + 1);
      const rest = value - left * sums.leftSlope - right * sums.rightSlope;
      next = shift + quadraticRoot(
        rest, (left + right) * value - left * right * slope, left * right * value, low - shift, high - shift,
      );
    }
    if (!(next > low && next < high)) {
      slow = 0;
      next = middle(low, high);
      if (!(next > low && next < high)) {
        // The ends of the bracket are neighbours.
        found = low != high;
        break;
      }
    }
    shift = next;
  }
  popFrame(frame);
  return found ? origin + shift : NaN;
}
