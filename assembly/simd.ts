// Vectors of either precision: every kernel is written once against these, with T = f32 or f64.

/** Elements of T in one 128-bit vector. */
// @ts-ignore: decorator
@inline
export function lanes<T extends number>(): i32 {
  return 16 / sizeof<T>();
}

/** Address of element i of an array of T. */
// @ts-ignore: decorator
@inline
export function at<T extends number>(base: usize, i: i32): usize {
  return base + (<usize>i << alignof<T>());
}

/** Address of element (i, j) of a row-major matrix whose rows lie `stride` elements apart. */
// @ts-ignore: decorator
@inline
export function cell<T extends number>(base: usize, stride: i32, i: i32, j: i32): usize {
  return base + ((<usize>i * <usize>stride + <usize>j) << alignof<T>());
}

/** Element i of an array of whole numbers. */
// @ts-ignore: decorator
@inline
export function integerAt(base: usize, i: i32): i32 {
  return load<i32>(base + (<usize>i << 2));
}

/** a b + c: one rounding in the relaxed build where the CPU has it, two (and the same everywhere) in the others. */
// @ts-ignore: decorator
@inline
export function multiplyAdd<T extends number>(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return v128.relaxed_madd<T>(a, b, c);
  return v128.add<T>(c, v128.mul<T>(a, b));
}

/** out = x', a block that stays in the cache: singles four by four. */
export function transposeBlock<T extends number>(rows: i32, columns: i32, x: usize, xRow: i32, out: usize, outRow: i32): void {
  const fours = sizeof<T>() == 4;
  const wholeRows = fours ? rows & ~3 : 0, wholeColumns = fours ? columns & ~3 : 0;
  for (let i = 0; i < wholeRows; i += 4) {
    for (let j = 0; j < wholeColumns; j += 4) {
      const a = v128.load(cell<T>(x, xRow, i, j)), b = v128.load(cell<T>(x, xRow, i + 1, j));
      const c = v128.load(cell<T>(x, xRow, i + 2, j)), d = v128.load(cell<T>(x, xRow, i + 3, j));
      const ab = i32x4.shuffle(a, b, 0, 4, 1, 5), cd = i32x4.shuffle(c, d, 0, 4, 1, 5);
      const abHigh = i32x4.shuffle(a, b, 2, 6, 3, 7), cdHigh = i32x4.shuffle(c, d, 2, 6, 3, 7);
      v128.store(cell<T>(out, outRow, j, i), i64x2.shuffle(ab, cd, 0, 2));
      v128.store(cell<T>(out, outRow, j + 1, i), i64x2.shuffle(ab, cd, 1, 3));
      v128.store(cell<T>(out, outRow, j + 2, i), i64x2.shuffle(abHigh, cdHigh, 0, 2));
      v128.store(cell<T>(out, outRow, j + 3, i), i64x2.shuffle(abHigh, cdHigh, 1, 3));
    }
  }
  for (let i = 0; i < rows; i++) {
    for (let j = i < wholeRows ? wholeColumns : 0; j < columns; j++) store<T>(cell<T>(out, outRow, j, i), load<T>(cell<T>(x, xRow, i, j)));
  }
}

/** Sum of the lanes, always in the same order. */
// @ts-ignore: decorator
@inline
export function sumLanes<T extends number>(v: v128): T {
  if (sizeof<T>() == 4) {
    return <T>(
      (f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 2)) + (f32x4.extract_lane(v, 1) + f32x4.extract_lane(v, 3))
    );
  }
  return <T>(f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1));
}
