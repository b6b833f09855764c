// C = beta C + alpha A diag(w) B, the kernel under all dense algebra.
//
// A and B are addressed by a row and a column stride (in elements), so that transposed and reversed operands cost
// nothing but their packing; C is row-major. Blocks of B and A are packed into panels, zero padded to whole tiles,
// and a register tile of MR rows by NV vectors runs over them. The sum over k is cut at multiples of KC and each cut
// is summed from its first to its last term: no result depends on how rows and columns are shared out.

import { at, cell, lanes, multiplyAdd, transposeBlock } from "./simd";
import { panelA, panelB, parallel, popFrame, pushFrame, threads } from "./parallel";

/**
 * Register tile. The rows of a tile decide how solves are summed: the wide build (WIDE) only has more columns. 3 x 3 vectors with separate multiply and add need 15 of the 16 registers; the fused form needs no
 * temporary and was faster as 6 x 2. The loop over k is written once: unrolled by hand, the sums become dependent
 * chains and spill (30 instead of 45 GFLOP/s).
 */
export const MR: i32 = ASC_FEATURE_RELAXED_SIMD ? 6 : 3;
const NV: i32 = WIDE ? 6 : ASC_FEATURE_RELAXED_SIMD ? 2 : 3;
export const KC: i32 = 256;
const MC: i32 = 96;
const NC: i32 = 2040;

/** Columns of a register tile. */
// @ts-ignore: decorator
@inline
export function NR<T extends number>(): i32 {
  return NV * lanes<T>();
}

/** Which part of C is wanted. */
export const FULL: i32 = 0;
export const LOWER: i32 = 1;

// @ts-ignore: decorator
@unmanaged
class GemmFrame<T> {
  m: i32;
  n: i32;
  k: i32;
  a: usize;
  aRow: isize;
  aColumn: isize;
  b: usize;
  bRow: isize;
  bColumn: isize;
  c: usize;
  cRow: isize;
  w: usize;
  alpha: T;
  part: i32;
  /** The block in work: columns from column0, depth from depth0, panels at packed. */
  column0: i32;
  columns: i32;
  depth0: i32;
  depth: i32;
  packed: usize;
  accumulate: bool;
  rowBlock: i32;
  columnGroups: i32;
  panelsPerGroup: i32;
}

// @ts-ignore: decorator
@inline
function tile3x3<T extends number>(ap: usize, bp: usize, bStep: usize, depth: i32, c: usize, cRow: usize, accumulate: bool): void {
  let c00 = v128.splat<T>(0), c01 = v128.splat<T>(0), c02 = v128.splat<T>(0);
  let c10 = v128.splat<T>(0), c11 = v128.splat<T>(0), c12 = v128.splat<T>(0);
  let c20 = v128.splat<T>(0), c21 = v128.splat<T>(0), c22 = v128.splat<T>(0);
  const end = ap + <usize>depth * (3 * sizeof<T>());
  while (ap < end) {
    const b0 = v128.load(bp, 0), b1 = v128.load(bp, 16), b2 = v128.load(bp, 32);
    const a0 = v128.load_splat<T>(ap, 0);
    c00 = multiplyAdd<T>(a0, b0, c00); c01 = multiplyAdd<T>(a0, b1, c01); c02 = multiplyAdd<T>(a0, b2, c02);
    const a1 = v128.load_splat<T>(ap, sizeof<T>());
    c10 = multiplyAdd<T>(a1, b0, c10); c11 = multiplyAdd<T>(a1, b1, c11); c12 = multiplyAdd<T>(a1, b2, c12);
    const a2 = v128.load_splat<T>(ap, 2 * sizeof<T>());
    c20 = multiplyAdd<T>(a2, b0, c20); c21 = multiplyAdd<T>(a2, b1, c21); c22 = multiplyAdd<T>(a2, b2, c22);
    ap += 3 * sizeof<T>(); bp += bStep;
  }
  if (accumulate) {
    v128.store(c, v128.add<T>(v128.load(c, 0), c00), 0);
    v128.store(c, v128.add<T>(v128.load(c, 16), c01), 16);
    v128.store(c, v128.add<T>(v128.load(c, 32), c02), 32);
    c += cRow;
    v128.store(c, v128.add<T>(v128.load(c, 0), c10), 0);
    v128.store(c, v128.add<T>(v128.load(c, 16), c11), 16);
    v128.store(c, v128.add<T>(v128.load(c, 32), c12), 32);
    c += cRow;
    v128.store(c, v128.add<T>(v128.load(c, 0), c20), 0);
    v128.store(c, v128.add<T>(v128.load(c, 16), c21), 16);
    v128.store(c, v128.add<T>(v128.load(c, 32), c22), 32);
  } else {
    v128.store(c, c00, 0); v128.store(c, c01, 16); v128.store(c, c02, 32);
    c += cRow;
    v128.store(c, c10, 0); v128.store(c, c11, 16); v128.store(c, c12, 32);
    c += cRow;
    v128.store(c, c20, 0); v128.store(c, c21, 16); v128.store(c, c22, 32);
  }
}

/** Six vectors, stored or added. Each pair is loaded before it is stored: only such pairs become one wide vector. */
// @ts-ignore: decorator
@inline
function putPairs<T extends number>(c: usize, x0: v128, x1: v128, x2: v128, x3: v128, x4: v128, x5: v128, accumulate: bool): void {
  if (accumulate) {
    const y0 = v128.load(c, 0), y1 = v128.load(c, 16), y2 = v128.load(c, 32);
    const y3 = v128.load(c, 48), y4 = v128.load(c, 64), y5 = v128.load(c, 80);
    v128.store(c, v128.add<T>(y0, x0), 0); v128.store(c, v128.add<T>(y1, x1), 16);
    v128.store(c, v128.add<T>(y2, x2), 32); v128.store(c, v128.add<T>(y3, x3), 48);
    v128.store(c, v128.add<T>(y4, x4), 64); v128.store(c, v128.add<T>(y5, x5), 80);
  } else {
    v128.store(c, x0, 0); v128.store(c, x1, 16); v128.store(c, x2, 32);
    v128.store(c, x3, 48); v128.store(c, x4, 64); v128.store(c, x5, 80);
  }
}

/** Neighbouring vectors are three pairs a row, 13 of 16 wide registers; without wide registers it spills. */
// @ts-ignore: decorator
@inline
function tile3x6<T extends number>(ap: usize, bp: usize, depth: i32, c: usize, cRow: usize, accumulate: bool): void {
  let c00 = v128.splat<T>(0), c01 = v128.splat<T>(0), c02 = v128.splat<T>(0), c03 = v128.splat<T>(0), c04 = v128.splat<T>(0), c05 = v128.splat<T>(0);
  let c10 = v128.splat<T>(0), c11 = v128.splat<T>(0), c12 = v128.splat<T>(0), c13 = v128.splat<T>(0), c14 = v128.splat<T>(0), c15 = v128.splat<T>(0);
  let c20 = v128.splat<T>(0), c21 = v128.splat<T>(0), c22 = v128.splat<T>(0), c23 = v128.splat<T>(0), c24 = v128.splat<T>(0), c25 = v128.splat<T>(0);
  const end = ap + <usize>depth * (3 * sizeof<T>());
  while (ap < end) {
    const b0 = v128.load(bp, 0), b1 = v128.load(bp, 16), b2 = v128.load(bp, 32);
    const b3 = v128.load(bp, 48), b4 = v128.load(bp, 64), b5 = v128.load(bp, 80);
    const a0 = v128.load_splat<T>(ap, 0);
    c00 = multiplyAdd<T>(a0, b0, c00); c01 = multiplyAdd<T>(a0, b1, c01); c02 = multiplyAdd<T>(a0, b2, c02);
    c03 = multiplyAdd<T>(a0, b3, c03); c04 = multiplyAdd<T>(a0, b4, c04); c05 = multiplyAdd<T>(a0, b5, c05);
    const a1 = v128.load_splat<T>(ap, sizeof<T>());
    c10 = multiplyAdd<T>(a1, b0, c10); c11 = multiplyAdd<T>(a1, b1, c11); c12 = multiplyAdd<T>(a1, b2, c12);
    c13 = multiplyAdd<T>(a1, b3, c13); c14 = multiplyAdd<T>(a1, b4, c14); c15 = multiplyAdd<T>(a1, b5, c15);
    const a2 = v128.load_splat<T>(ap, 2 * sizeof<T>());
    c20 = multiplyAdd<T>(a2, b0, c20); c21 = multiplyAdd<T>(a2, b1, c21); c22 = multiplyAdd<T>(a2, b2, c22);
    c23 = multiplyAdd<T>(a2, b3, c23); c24 = multiplyAdd<T>(a2, b4, c24); c25 = multiplyAdd<T>(a2, b5, c25);
    ap += 3 * sizeof<T>(); bp += 96;
  }
  putPairs<T>(c, c00, c01, c02, c03, c04, c05, accumulate);
  putPairs<T>(c + cRow, c10, c11, c12, c13, c14, c15, accumulate);
  putPairs<T>(c + 2 * cRow, c20, c21, c22, c23, c24, c25, accumulate);
}

// @ts-ignore: decorator
@inline
function putRow<T extends number>(c: usize, x0: v128, x1: v128, accumulate: bool): void {
  v128.store(c, accumulate ? v128.add<T>(v128.load(c, 0), x0) : x0, 0);
  v128.store(c, accumulate ? v128.add<T>(v128.load(c, 16), x1) : x1, 16);
}

// @ts-ignore: decorator
@inline
function tile6x2<T extends number>(ap: usize, bp: usize, depth: i32, c: usize, cRow: usize, accumulate: bool): void {
  let c00 = v128.splat<T>(0), c01 = v128.splat<T>(0), c10 = v128.splat<T>(0), c11 = v128.splat<T>(0);
  let c20 = v128.splat<T>(0), c21 = v128.splat<T>(0), c30 = v128.splat<T>(0), c31 = v128.splat<T>(0);
  let c40 = v128.splat<T>(0), c41 = v128.splat<T>(0), c50 = v128.splat<T>(0), c51 = v128.splat<T>(0);
  const end = ap + <usize>depth * (6 * sizeof<T>());
  while (ap < end) {
    const b0 = v128.load(bp, 0), b1 = v128.load(bp, 16);
    const a0 = v128.load_splat<T>(ap, 0);
    c00 = multiplyAdd<T>(a0, b0, c00); c01 = multiplyAdd<T>(a0, b1, c01);
    const a1 = v128.load_splat<T>(ap, sizeof<T>());
    c10 = multiplyAdd<T>(a1, b0, c10); c11 = multiplyAdd<T>(a1, b1, c11);
    const a2 = v128.load_splat<T>(ap, 2 * sizeof<T>());
    c20 = multiplyAdd<T>(a2, b0, c20); c21 = multiplyAdd<T>(a2, b1, c21);
    const a3 = v128.load_splat<T>(ap, 3 * sizeof<T>());
    c30 = multiplyAdd<T>(a3, b0, c30); c31 = multiplyAdd<T>(a3, b1, c31);
    const a4 = v128.load_splat<T>(ap, 4 * sizeof<T>());
    c40 = multiplyAdd<T>(a4, b0, c40); c41 = multiplyAdd<T>(a4, b1, c41);
    const a5 = v128.load_splat<T>(ap, 5 * sizeof<T>());
    c50 = multiplyAdd<T>(a5, b0, c50); c51 = multiplyAdd<T>(a5, b1, c51);
    ap += 6 * sizeof<T>(); bp += 32;
  }
  putRow<T>(c, c00, c01, accumulate); c += cRow;
  putRow<T>(c, c10, c11, accumulate); c += cRow;
  putRow<T>(c, c20, c21, accumulate); c += cRow;
  putRow<T>(c, c30, c31, accumulate); c += cRow;
  putRow<T>(c, c40, c41, accumulate); c += cRow;
  putRow<T>(c, c50, c51, accumulate);
}

/**
 * MR x NR tile of (packed rows)(packed columns) over `depth` terms, stored to or added to c. No factor alpha here: it
 * is packed into the rows, because one more live register makes the loop spill (20 instead of 37 GFLOP/s).
 */
export function tile<T extends number>(ap: usize, bp: usize, depth: i32, c: usize, cRow: usize, accumulate: bool): void {
  if (WIDE) tile3x6<T>(ap, bp, depth, c, cRow, accumulate);
  else if (ASC_FEATURE_RELAXED_SIMD) tile6x2<T>(ap, bp, depth, c, cRow, accumulate);
  else tile3x3<T>(ap, bp, 48, depth, c, cRow, accumulate);
}

/** Adds a tile of 3 x 6 vectors to c, as one wide tile or as two narrow ones: createCore times and compares them. @kernel */
export function probeTile<T extends number>(wide: bool, ap: usize, bp: usize, depth: i32, c: usize): void {
  if (!WIDE) return;
  if (wide) tile3x6<T>(ap, bp, depth, c, 96, true);
  else {
    tile3x3<T>(ap, bp, 96, depth, c, 96, true);
    tile3x3<T>(ap, bp + 48, 96, depth, c + 48, 96, true);
  }
}

/**
 * Two runs of numbers side by side: to[k step] = alpha a[k], to[k step + 1] = alpha b[k]. Runs come a vector at a time; number by
 * number, packing took a tenth of a product with a few hundred columns.
 */
function packPair<T extends number>(a: usize, b: usize, depth: i32, alpha: T, to: usize, step: usize): void {
  const whole = depth - depth % lanes<T>();
  const alphas = v128.splat<T>(alpha);
  const end = a + (<usize>whole << alignof<T>());
  while (a < end) {
    const x = v128.mul<T>(alphas, v128.load(a)), y = v128.mul<T>(alphas, v128.load(b));
    if (sizeof<T>() == 4) {
      const low = v128.shuffle<f32>(x, y, 0, 4, 1, 5), high = v128.shuffle<f32>(x, y, 2, 6, 3, 7);
      v128.store64_lane(to, low, 0); v128.store64_lane(to + step, low, 1);
      to += 2 * step;
      v128.store64_lane(to, high, 0); v128.store64_lane(to + step, high, 1);
    } else {
      v128.store(to, v128.shuffle<f64>(x, y, 0, 2));
      v128.store(to + step, v128.shuffle<f64>(x, y, 1, 3));
    }
    to += 2 * step; a += 16; b += 16;
  }
  for (let k = whole; k < depth; k++) {
    store<T>(to, alpha * load<T>(a));
    store<T>(to, alpha * load<T>(b), sizeof<T>());
    to += step; a += sizeof<T>(); b += sizeof<T>();
  }
}

/** MR numbers that lie side by side, for each k. */
function copyRuns<T extends number>(from: usize, fromStep: isize, depth: i32, panel: usize): void {
  const bytes = <usize>MR * sizeof<T>();
  for (let k = 0; k < depth; k++) {
    for (let at: usize = 0; at + 8 <= bytes; at += 8) store<u64>(panel + at, load<u64>(from + at));
    if (bytes % 8 != 0) store<u32>(panel + bytes - 4, load<u32>(from + bytes - 4));
    from += fromStep;
    panel += bytes;
  }
}

/** Rows of alpha A, `rows` <= MR of them, as a panel: for each k the MR entries side by side. */
export function packRows<T extends number>(a: usize, rowStride: isize, columnStride: isize, rows: i32, depth: i32, alpha: T, panel: usize): void {
  const step = columnStride << alignof<T>();
  if (rowStride == 1 && rows == MR && alpha == 1) {
    copyRuns<T>(a, step, depth, panel);
    return;
  }
  for (let r = 0; r < MR; r++) {
    let to = at<T>(panel, r);
    let from = a + ((<isize>r * rowStride) << alignof<T>());
    if (columnStride == 1 && r + 1 < rows) {
      packPair<T>(from, from + (rowStride << alignof<T>()), depth, alpha, to, <usize>MR * sizeof<T>());
      r++;
    } else if (r < rows) {
      for (let k = 0; k < depth; k++) {
        store<T>(to, alpha * load<T>(from));
        from += step;
        to += <usize>MR * sizeof<T>();
      }
    } else {
      for (let k = 0; k < depth; k++) {
        store<T>(to, 0);
        to += <usize>MR * sizeof<T>();
      }
    }
  }
}

/** Columns of B, `columns` <= NR of them, as a panel: for each k the NR entries side by side, times w[k] where given. */
export function packColumns<T extends number>(b: usize, rowStride: isize, columnStride: isize, columns: i32, depth: i32, w: usize, panel: usize): void {
  const width = NR<T>();
  const rowStep = rowStride << alignof<T>();
  if (columns == width && columnStride == 1) {
    for (let k = 0; k < depth; k++) {
      for (let v = 0; v < NV; v++) v128.store(panel + (<usize>v << 4), v128.load(b + (<usize>v << 4)));
      b += rowStep;
      panel += <usize>NV << 4;
    }
    panel -= <usize>depth * (<usize>NV << 4);
  } else {
    const columnStep = columnStride << alignof<T>();
    for (let j = 0; j < width; j++) {
      let to = at<T>(panel, j);
      let from = b + <isize>j * columnStep;
      if (rowStride == 1 && j + 1 < columns) {
        packPair<T>(from, from + columnStep, depth, 1, to, <usize>width * sizeof<T>());
        j++;
      } else if (j < columns) {
        for (let k = 0; k < depth; k++) {
          store<T>(to, load<T>(from));
          from += rowStep;
          to += <usize>width * sizeof<T>();
        }
      } else {
        for (let k = 0; k < depth; k++) {
          store<T>(to, 0);
          to += <usize>width * sizeof<T>();
        }
      }
    }
  }
  if (w != 0) {
    for (let k = 0; k < depth; k++) {
      const scale = v128.load_splat<T>(at<T>(w, k));
      for (let v = 0; v < NV; v++) {
        v128.store(panel, v128.mul<T>(v128.load(panel), scale));
        panel += 16;
      }
    }
  }
}

/** Task: pack one panel of the block of B in work. */
function packTask<T extends number>(frame: usize, panel: i32): void {
  const f = changetype<GemmFrame<T>>(frame);
  const j = panel * NR<T>();
  const from = f.b + ((<isize>f.depth0 * f.bRow + <isize>(f.column0 + j) * f.bColumn) << alignof<T>());
  const w = f.w != 0 ? at<T>(f.w, f.depth0) : 0;
  packColumns<T>(from, f.bRow, f.bColumn, min(NR<T>(), f.columns - j), f.depth, w, f.packed + ((<usize>j * <usize>f.depth) << alignof<T>()));
}

/** Task: a block of rows of C against a group of packed panels. */
function multiplyTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<GemmFrame<T>>(frame);
  const width = NR<T>();
  const row0 = (task / f.columnGroups) * f.rowBlock;
  const rows = min(f.rowBlock, f.m - row0);
  const group = task % f.columnGroups;
  const first = group * f.panelsPerGroup * width;
  let last = min(first + f.panelsPerGroup * width, f.columns);
  // In the lower triangle nothing is wanted right of the block's last row.
  if (f.part == LOWER) last = min(last, row0 + rows - f.column0);
  if (last <= first) return;

  const depth = f.depth;
  const packedRows = panelA();
  const panelBytes = (<usize>MR * <usize>depth) << alignof<T>();
  for (let r = 0, to = packedRows; r < rows; r += MR, to += panelBytes) {
    const from = f.a + ((<isize>(row0 + r) * f.aRow + <isize>f.depth0 * f.aColumn) << alignof<T>());
    packRows<T>(from, f.aRow, f.aColumn, min(MR, rows - r), depth, f.alpha, to);
  }
  for (let j = first; j < last; j += width) {
    const bp = f.packed + ((<usize>j * <usize>depth) << alignof<T>());
    const columns = min(width, f.columns - j);
    for (let r = 0, ap = packedRows; r < rows; r += MR, ap += panelBytes) {
      const i = row0 + r;
      const column = f.column0 + j;
      if (f.part == LOWER && column > i + MR - 1) continue;
      const c = f.c + ((<isize>i * f.cRow + <isize>column) << alignof<T>());
      const wholeTile = columns == width && rows - r >= MR && (f.part == FULL || column + width - 1 <= i);
      if (wholeTile) tile<T>(ap, bp, depth, c, <usize>(f.cRow << alignof<T>()), f.accumulate);
      else partTile<T>(f, ap, bp, c, i, column, min(MR, rows - r), columns);
    }
  }
}

/** A tile that reaches over the edge or the diagonal: computed whole, copied in part. */
function partTile<T extends number>(f: GemmFrame<T>, ap: usize, bp: usize, c: usize, i: i32, column: i32, rows: i32, columns: i32): void {
  const width = NR<T>();
  const buffer = pushFrame((<usize>MR * <usize>width) << alignof<T>());
  tile<T>(ap, bp, f.depth, buffer, <usize>width << alignof<T>(), false);
  for (let r = 0; r < rows; r++) {
    const wanted = f.part == LOWER ? min(columns, i + r - column + 1) : columns;
    const to = c + ((<isize>r * f.cRow) << alignof<T>());
    const from = at<T>(buffer, r * width);
    for (let j = 0; j < wanted; j++) {
      const value = load<T>(at<T>(from, j));
      store<T>(at<T>(to, j), f.accumulate ? load<T>(at<T>(to, j)) + value : value);
    }
  }
  popFrame(buffer);
}

function packTaskF32(frame: usize, task: i32): void { packTask<f32>(frame, task); }
function packTaskF64(frame: usize, task: i32): void { packTask<f64>(frame, task); }
function multiplyTaskF32(frame: usize, task: i32): void { multiplyTask<f32>(frame, task); }
function multiplyTaskF64(frame: usize, task: i32): void { multiplyTask<f64>(frame, task); }

/** C = beta C, in the wanted part. beta = 0 overwrites whatever was there. */
export function scaleMatrix<T extends number>(m: i32, n: i32, beta: T, c: usize, cRow: isize, part: i32): void {
  for (let i = 0; i < m; i++) {
    const row = c + ((<isize>i * cRow) << alignof<T>());
    const columns = part == LOWER ? min(n, i + 1) : n;
    if (beta == 0) memory.fill(row, 0, <usize>columns << alignof<T>());
    else for (let j = 0; j < columns; j++) store<T>(at<T>(row, j), beta * load<T>(at<T>(row, j)));
  }
}

/** C = beta C + alpha A diag(w) B; w = 0 stands for ones; part FULL or LOWER of C. @kernel */
export function gemm<T extends number>(
  m: i32, n: i32, k: i32, alpha: T,
  a: usize, aRow: isize, aColumn: isize,
  b: usize, bRow: isize, bColumn: isize, w: usize,
  beta: T, c: usize, cRow: isize, part: i32,
): void {
  if (m == 0 || n == 0) return;
  if (k == 0 || alpha == 0) {
    if (beta != 1) scaleMatrix<T>(m, n, beta, c, cRow, part);
    return;
  }
  if (beta != 0 && beta != 1) scaleMatrix<T>(m, n, beta, c, cRow, part);
  const frame = pushFrame(offsetof<GemmFrame<T>>());
  const f = changetype<GemmFrame<T>>(frame);
  f.m = m; f.n = n; f.k = k; f.alpha = alpha; f.part = part; f.w = w;
  f.a = a; f.aRow = aRow; f.aColumn = aColumn;
  f.b = b; f.bRow = bRow; f.bColumn = bColumn;
  f.c = c; f.cRow = cRow;
  f.packed = panelB();
  const pack: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? packTaskF32 : packTaskF64;
  const multiply: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? multiplyTaskF32 : multiplyTaskF64;
  // A few rows against many columns are shared out over the columns as well.
  const crew = <i64>m * n * k > 100000 ? threads() : 1;
  f.rowBlock = MC;
  const width = NR<T>();
  for (let column0 = 0; column0 < n; column0 += NC) {
    f.column0 = column0;
    f.columns = min(NC, n - column0);
    const panels = (f.columns + width - 1) / width;
    const rowBlocks = (m + MC - 1) / MC;
    f.columnGroups = crew == 1 ? 1 : max(1, min(panels, (4 * crew) / rowBlocks));
    f.panelsPerGroup = (panels + f.columnGroups - 1) / f.columnGroups;
    for (let depth0 = 0; depth0 < k; depth0 += KC) {
      f.depth0 = depth0;
      f.depth = min(KC, k - depth0);
      f.accumulate = depth0 > 0 || beta != 0;
      if (crew == 1) {
        for (let p = 0; p < panels; p++) packTask<T>(frame, p);
        for (let t = 0; t < rowBlocks; t++) multiplyTask<T>(frame, t);
      } else {
        parallel(pack.index, frame, panels);
        parallel(multiply.index, frame, rowBlocks * f.columnGroups);
      }
    }
  }
  popFrame(frame);
}

// @ts-ignore: decorator
@unmanaged
class MirrorFrame {
  n: i32;
  c: usize;
  cRow: i32;
}

const MIRROR: i32 = 32;

/** The mirror image of some rows. */
function mirrorTask<T extends number>(frame: usize, task: i32): void {
  const f = changetype<MirrorFrame>(frame);
  const c = f.c, cRow = f.cRow, i0 = task * MIRROR;
  const rows = min(MIRROR, f.n - i0);
  for (let j0 = 0; j0 < i0; j0 += MIRROR) transposeBlock<T>(rows, MIRROR, cell<T>(c, cRow, i0, j0), cRow, cell<T>(c, cRow, j0, i0), cRow);
  for (let i = i0; i < i0 + rows; i++) {
    for (let j = i0; j < i; j++) store<T>(cell<T>(c, cRow, j, i), load<T>(cell<T>(c, cRow, i, j)));
  }
}

function mirrorTaskF32(frame: usize, task: i32): void {
  mirrorTask<f32>(frame, task);
}
function mirrorTaskF64(frame: usize, task: i32): void {
  mirrorTask<f64>(frame, task);
}

/** The upper triangle as the mirror image of the lower one. @kernel */
export function mirrorLower<T extends number>(n: i32, c: usize, cRow: i32): void {
  const frame = pushFrame(offsetof<MirrorFrame>());
  const f = changetype<MirrorFrame>(frame);
  f.n = n; f.c = c; f.cRow = cRow;
  const mirror: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? mirrorTaskF32 : mirrorTaskF64;
  const tasks = (n + MIRROR - 1) / MIRROR;
  if (n < 256) for (let task = 0; task < tasks; task++) mirrorTask<T>(frame, task);
  else parallel(mirror.index, frame, tasks);
  popFrame(frame);
}
