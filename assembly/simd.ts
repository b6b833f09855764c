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
