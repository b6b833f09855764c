// All eigenvalues and the leading eigenvectors of a symmetric matrix: A = Q T Q' (tridiagonal.ts), T = S L S'
// by divide and conquer, V = Q S.
//
// T is halved until the parts are small: T = diag(T_1, T_2) + |t| u u', t the entry that joins them. Parts
// are solved by QL and joined in pairs, level by level (divide.ts). All of it works on -T, so that ascending
// order, in which the secular equation is solved, puts the largest eigenvalues of A first. Eigenvectors are
// rows throughout.

import {
  BOTH, BOTTOM, COLUMNS, Merge, ROOT_TASKS, TOP,
  deflate, index, insertionSort, loewnerTask, rootTask, setIndex, vectorTask, widen,
} from "./divide";
import { FULL, gemm } from "./gemm";
import { parallel, popFrame, pushFrame } from "./parallel";
import { at, cell } from "./simd";
import { applyReflectors, areaRows, item, solveLeaf, tridiagonalise } from "./tridiagonal";

/** Parts of T up to this size are leaves; up to TASK_ROWS two parts are joined as one task. */
const LEAF_ROWS: i32 = 32;
const TASK_ROWS: i32 = 128;

/** Failures that eigenSymmetric returns. */
const NOT_FINITE: i32 = 1;
const LEAF_FAILED: i32 = 2;
const ROOT_FAILED: i32 = 3;

/** Numbers and indices of work memory for each row: see the fields of Tree and Merge. */
const NUMBERS: i32 = 7 + ROOT_TASKS;
const INDICES: i32 = 6;

// @ts-ignore: decorator
@unmanaged
class Tree {
  n: i32;
  /** Part s of level l is rows n s >> l to n (s + 1) >> l. */
  level: i32;
  status: i32;
  diagonal: usize;
  offDiagonal: usize;
  /** n rows of `pitch`: eigenvectors, as blocks on the diagonal; and as much space for joining them. */
  q: usize;
  space: usize;
  pitch: i32;
  /** 4 + ROOT_TASKS numbers and 5 indices for each row. */
  numbers: usize;
  indices: usize;
  /** Rows of each part by ascending eigenvalue. */
  order: usize;
  /** Where the last step puts its first `wanted` eigenvectors. */
  vectors: usize;
  vectorStride: i32;
  wanted: i32;
}

/** First row of part s of the level in work. */
function part(tree: Tree, s: i32): i32 {
  return <i32>((<i64>tree.n * s) >> tree.level);
}

/** Task: one leaf of the tree. */
function leafTask(frame: usize, task: i32): void {
  const tree = changetype<Tree>(frame);
  const first = part(tree, task), n = part(tree, task + 1) - first;
  const q = cell<f64>(tree.q, tree.pitch, first, first);
  for (let i = 0; i < n; i++) {
    memory.fill(cell<f64>(q, tree.pitch, i, 0), 0, <usize>n << 3);
    store<f64>(cell<f64>(q, tree.pitch, i, i), 1);
  }
  // QL writes one entry past the subdiagonal, which belongs to the neighbour: it works on a copy.
  const e = at<f64>(tree.numbers, first);
  memory.copy(e, at<f64>(tree.offDiagonal, first), <usize>(n - 1) << 3);
  const d = at<f64>(tree.diagonal, first);
  if (!solveLeaf(n, d, e, q, tree.pitch)) tree.status = LEAF_FAILED;
  const order = at<i32>(tree.order, first);
  for (let i = 0; i < n; i++) setIndex(order, i, i);
  insertionSort(n, order, d);
}

/** z, normalised, and the rows of both parts by ascending eigenvalue. */
function prepare(m: Merge, coupling: f64): void {
  const n = m.size, top = m.top;
  m.rho = 2 * abs(coupling);
  const half = 0.7071067811865476; // sqrt(1/2): z consists of two unit vectors
  const sign = coupling < 0 ? -half : half;
  for (let i = 0; i < n; i++) {
    const entry = load<f64>(cell<f64>(m.q, m.pitch, i, i < top ? top - 1 : top));
    store<f64>(at<f64>(m.z, i), entry * (i < top ? half : sign));
    setIndex(m.extent, i, i < top ? TOP : BOTTOM);
  }
  mergeLists(m.diagonal, top, m.order, 0, n - top, at<i32>(m.order, top), top, m.sorted);
}

/** Two lists of rows, each ascending by `keys`, as one; `base` is added to the rows of a list. */
function mergeLists(
  keys: usize, n1: i32, list1: usize, base1: i32, n2: i32, list2: usize, base2: i32, merged: usize,
): void {
  for (let i = 0, j = 0; i + j < n1 + n2; ) {
    const row1 = i < n1 ? index(list1, i) + base1 : -1;
    const row2 = j < n2 ? index(list2, j) + base2 : -1;
    const first = row2 < 0 || (row1 >= 0 && item(keys, row1) <= item(keys, row2));
    setIndex(merged, i + j, first ? row1 : row2);
    if (first) i++;
    else j++;
  }
}

/** Copies the old eigenvectors out of Q: the kept grouped by extent, halves apart, then the dropped whole. */
function gather(m: Merge, space: usize): void {
  const top = m.top, bottom = m.size - m.top;
  m.packedTop = space;
  m.packedBottom = at<f64>(space, (m.inTop + m.inBoth) * top);
  m.packedDropped = at<f64>(m.packedBottom, (m.inBoth + m.inBottom) * bottom);
  let nextTop = 0, nextBoth = m.inTop, nextBottom = m.inTop + m.inBoth;
  for (let k = 0; k < m.kept; k++) {
    const row = index(m.rows, k);
    const extent = index(m.extent, row);
    const to = extent == TOP ? nextTop++ : extent == BOTH ? nextBoth++ : nextBottom++;
    setIndex(m.group, k, to);
    const q = cell<f64>(m.q, m.pitch, row, 0);
    if (extent != BOTTOM) memory.copy(cell<f64>(m.packedTop, top, to, 0), q, <usize>top << 3);
    if (extent != TOP) {
      memory.copy(cell<f64>(m.packedBottom, bottom, to - m.inTop, 0), at<f64>(q, top), <usize>bottom << 3);
    }
  }
  for (let k = 0; k < m.dropped; k++) {
    const row = index(m.droppedRows, k);
    widen(m, row);
    const q = cell<f64>(m.q, m.pitch, row, 0);
    memory.copy(cell<f64>(m.packedDropped, m.size, k, 0), q, <usize>m.size << 3);
  }
}

/**
 * Roots, and the order of all eigenvalues. Kept rows come first, ascending, then the dropped ones, ascending;
 * those not among the first `wanted` eigenvalues are left out. Returns how many of the dropped are wanted.
 */
function findEigenvalues(m: Merge, wanted: i32): i32 {
  const roots: (frame: usize, task: i32) => void = rootTask;
  parallel(roots.index, changetype<usize>(m), min(ROOT_TASKS, m.kept));
  // z is free until the Loewner products: it takes the eigenvalues of the dropped, whose places roots need.
  for (let k = 0; k < m.dropped; k++) store<f64>(at<f64>(m.z, k), item(m.diagonal, index(m.droppedRows, k)));
  memory.copy(m.diagonal, m.roots, <usize>m.kept << 3);
  memory.copy(at<f64>(m.diagonal, m.kept), m.z, <usize>m.dropped << 3);
  for (let k = 0; k < m.size; k++) setIndex(m.sorted, k, k);
  mergeLists(m.diagonal, m.kept, m.sorted, 0, m.dropped, m.sorted, m.kept, m.order);
  m.keptWanted = 0;
  for (let i = 0; i < wanted; i++) if (index(m.order, i) < m.kept) m.keptWanted++;
  return wanted - m.keptWanted;
}

/** Puts all eigenvalues into ascending order; `order` still tells whose they are. */
function sortEigenvalues(tree: Tree): void {
  const sorted = tree.numbers;
  for (let i = 0; i < tree.n; i++) store<f64>(at<f64>(sorted, i), item(tree.diagonal, index(tree.order, i)));
  memory.copy(tree.diagonal, sorted, <usize>tree.n << 3);
}

/** Joins the parts on both sides of row `middle`. The last step of all writes to the caller's matrix. */
function join(tree: Tree, first: i32, middle: i32, last: i32): void {
  const frame = pushFrame(offsetof<Merge>());
  const m = changetype<Merge>(frame);
  const n = last - first;
  const final = n == tree.n;
  m.size = n; m.top = middle - first; m.failed = 0;
  m.diagonal = at<f64>(tree.diagonal, first);
  m.order = at<i32>(tree.order, first);
  m.q = cell<f64>(tree.q, tree.pitch, first, first); m.pitch = tree.pitch;
  m.z = at<f64>(tree.numbers, first);
  m.poles = at<f64>(tree.numbers, tree.n + first);
  m.weights = at<f64>(tree.numbers, 2 * tree.n + first);
  m.roots = at<f64>(tree.numbers, 3 * tree.n + first);
  m.temporary = at<f64>(tree.numbers, 4 * tree.n + ROOT_TASKS * first);
  m.rows = at<i32>(tree.indices, first);
  m.group = at<i32>(tree.indices, tree.n + first);
  m.droppedRows = at<i32>(tree.indices, 2 * tree.n + first);
  m.extent = at<i32>(tree.indices, 3 * tree.n + first);
  m.sorted = at<i32>(tree.indices, 4 * tree.n + first);

  prepare(m, item(tree.offDiagonal, middle - 1));
  deflate(m);
  // n rows of space hold s and the packed Q while n is at most half of all rows; in the last step s takes
  // the place of Q, which is packed by then.
  const space = cell<f64>(tree.space, tree.pitch, first, 0);
  m.s = final ? tree.q : space;
  m.sStride = final ? tree.pitch : m.kept;
  gather(m, final ? space : at<f64>(space, m.kept * m.kept));

  const droppedWanted = findEigenvalues(m, final ? tree.wanted : n);
  if (m.failed != 0) tree.status = ROOT_FAILED;
  const loewner: (frame: usize, task: i32) => void = loewnerTask;
  const vectors: (frame: usize, task: i32) => void = vectorTask;
  parallel(loewner.index, frame, (m.kept + COLUMNS - 1) / COLUMNS);
  parallel(vectors.index, frame, min(ROOT_TASKS, m.keptWanted));

  const rows = m.keptWanted;
  const withTop = m.inTop + m.inBoth, withBottom = m.inBoth + m.inBottom;
  const bottom = n - m.top;
  const to = final ? tree.vectors : m.q;
  const toStride = final ? tree.vectorStride : tree.pitch;
  gemm<f64>(rows, m.top, withTop, 1, m.s, m.sStride, 1, m.packedTop, m.top, 1, 0, 0, to, toStride, FULL);
  gemm<f64>(
    rows, bottom, withBottom, 1, at<f64>(m.s, m.inTop), m.sStride, 1,
    m.packedBottom, bottom, 1, 0, 0, at<f64>(to, m.top), toStride, FULL,
  );
  for (let k = 0; k < droppedWanted; k++) {
    memory.copy(cell<f64>(to, toStride, rows + k, 0), cell<f64>(m.packedDropped, n, k, 0), <usize>n << 3);
  }
  if (final) {
    sortEigenvalues(tree);
    // Rows that were left out close the gap between the kept and the dropped.
    for (let i = 0; i < tree.wanted; i++) {
      const row = index(m.order, i);
      if (row >= m.kept) setIndex(m.order, i, row - m.kept + rows);
    }
  }
  popFrame(frame);
}

/** Task: joins two parts of the level below. */
function joinTask(frame: usize, task: i32): void {
  const tree = changetype<Tree>(frame);
  const first = part(tree, task), last = part(tree, task + 1);
  join(tree, first, <i32>((<i64>tree.n * (2 * task + 1)) >> (tree.level + 1)), last);
}

/**
 * Solves the tree: tears T at all boundaries of leaves, solves these, and joins level by level. Leaves the
 * eigenvalues ascending in `diagonal`, and in `order` the rows of `vectors` that belong to the first of them.
 */
function conquer(tree: Tree): void {
  const n = tree.n;
  tree.level = 0;
  while (((n - 1) >> tree.level) + 1 > LEAF_ROWS) tree.level++;
  const leaves = 1 << tree.level;
  for (let s = 1; s < leaves; s++) {
    const row = part(tree, s);
    const coupling = abs(item(tree.offDiagonal, row - 1));
    store<f64>(at<f64>(tree.diagonal, row - 1), item(tree.diagonal, row - 1) - coupling);
    store<f64>(at<f64>(tree.diagonal, row), item(tree.diagonal, row) - coupling);
  }
  const frame = changetype<usize>(tree);
  const solve: (frame: usize, task: i32) => void = leafTask;
  parallel(solve.index, frame, leaves);
  if (leaves == 1) {
    sortEigenvalues(tree);
    for (let i = 0; i < tree.wanted; i++) {
      const row = cell<f64>(tree.q, tree.pitch, index(tree.order, i), 0);
      memory.copy(cell<f64>(tree.vectors, tree.vectorStride, i, 0), row, <usize>n << 3);
      setIndex(tree.order, i, i);
    }
  }
  const joinTwo: (frame: usize, task: i32) => void = joinTask;
  while (tree.level > 0) {
    tree.level--;
    // Small parts go side by side; large ones one after the other, each on all threads.
    if (n >> tree.level <= TASK_ROWS) parallel(joinTwo.index, frame, 1 << tree.level);
    else for (let s = 0; s < 1 << tree.level; s++) joinTask(frame, s);
  }
}

/** Row i of z becomes its row order[i], in place; `order` is used up. */
function permuteRows(rows: i32, n: i32, z: usize, stride: i32, order: usize, buffer: usize): void {
  const bytes = <usize>n << 3;
  for (let i = 0; i < rows; i++) {
    if (index(order, i) == i) continue;
    memory.copy(buffer, cell<f64>(z, stride, i, 0), bytes);
    let to = i;
    for (;;) {
      const from = index(order, to);
      setIndex(order, to, to);
      if (from == i) break;
      memory.copy(cell<f64>(z, stride, to, 0), cell<f64>(z, stride, from, 0), bytes);
      to = from;
    }
    memory.copy(cell<f64>(z, stride, to, 0), buffer, bytes);
  }
}

/** The largest |a_ij| of the lower triangle; NaN if any of them is not finite. */
function largestEntry(n: i32, a: usize, stride: i32): f64 {
  let largest: f64 = 0, check: f64 = 0;
  for (let i = 0; i < n; i++) {
    const row = cell<f64>(a, stride, i, 0);
    for (let j = 0; j <= i; j++) {
      const entry = item(row, j);
      largest = max(largest, abs(entry));
      check += 0 * entry;
    }
  }
  return largest + check;
}

function scaleLower(n: i32, a: usize, stride: i32, scale: f64): void {
  for (let i = 0; i < n; i++) {
    const row = cell<f64>(a, stride, i, 0);
    for (let j = 0; j <= i; j++) store<f64>(at<f64>(row, j), item(row, j) * scale);
  }
}

/** Distance of rows in work memory; not a multiple of 4096 bytes, lest a column fall into one cache set. */
function rowPitch(n: i32): i32 {
  const pitch = (n + 23) & ~7;
  return (pitch & 511) == 0 ? pitch + 8 : pitch;
}
function areaBytes(n: i32): usize {
  return (<usize>areaRows(n) * <usize>rowPitch(n)) << 3;
}

/** Bytes of `work` for a matrix of n rows. @kernel */
export function eigenWorkBytes(n: i32): usize {
  return 2 * areaBytes(n) + <usize>n * (NUMBERS * 8 + INDICES * 4) + 64;
}

/**
 * Eigenvalues of A, descending, into `values` (n of them), and eigenvectors of the first `wanted` as rows of
 * `vectors` (wanted x n, orthonormal). Only the lower triangle of A is read; all of it is destroyed.
 *
 * Returns 0, or 1 where A has an entry that is not finite, 2 where QL did not converge on a leaf, 3 where the
 * secular equation did not; nothing is valid then.
 * @kernel
 */
export function eigenSymmetric(
  n: i32, a: usize, aStride: i32, values: usize, vectors: usize, vectorStride: i32, wanted: i32, work: usize,
): i32 {
  if (n == 0) return 0;
  const largest = largestEntry(n, a, aStride);
  if (largest != largest) return NOT_FINITE;
  // Powers of two, which are exact, bring the largest entry near 1: squares neither overflow nor vanish, and
  // the tolerances may be absolute. Very small matrices need two.
  const lift: f64 = largest < 1e-290 ? 1.6069380442589903e60 : 1; // 2^200
  const exponent = min<i64>(1022, <i64>(reinterpret<u64>(largest * lift) >> 52) - 1023);
  const scale = reinterpret<f64>(<u64>(1023 - exponent) << 52);
  if (lift != 1) scaleLower(n, a, aStride, lift);
  if (scale != 1) scaleLower(n, a, aStride, scale);

  const pitch = rowPitch(n);
  const area1 = (work + 63) & ~63;
  const area2 = area1 + areaBytes(n);
  const numbers = area2 + areaBytes(n);
  const diagonal = numbers;
  const offDiagonal = at<f64>(numbers, n);
  const tau = at<f64>(numbers, 2 * n);
  const rest = at<f64>(numbers, 3 * n);
  const indices = at<f64>(numbers, NUMBERS * n);
  tridiagonalise(n, a, aStride, diagonal, offDiagonal, tau, area1, area2, pitch);

  for (let i = 0; i < 2 * n; i++) store<f64>(at<f64>(numbers, i), -item(numbers, i));
  const frame = pushFrame(offsetof<Tree>());
  const tree = changetype<Tree>(frame);
  tree.n = n; tree.status = 0;
  tree.diagonal = diagonal; tree.offDiagonal = offDiagonal;
  tree.q = area1; tree.space = area2; tree.pitch = pitch;
  tree.numbers = rest; tree.order = indices; tree.indices = at<i32>(indices, n);
  tree.vectors = vectors; tree.vectorStride = vectorStride; tree.wanted = wanted;
  conquer(tree);
  const status = tree.status;
  popFrame(frame);
  if (status != 0) return status;

  for (let i = 0; i < n; i++) store<f64>(at<f64>(values, i), (0 - item(diagonal, i)) / scale / lift);
  permuteRows(wanted, n, vectors, vectorStride, indices, rest);
  applyReflectors(n, a, aStride, tau, wanted, vectors, vectorStride, area1, area2, pitch);
  return 0;
}
