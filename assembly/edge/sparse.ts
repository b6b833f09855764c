// Sparse matrices of mlgpf/edge: rows of whole numbers, times a factor each, added to one row of sums in double precision, in the
// order in which they are given. Plain TypeScript does the same, to the last bit.

/** Gaps of two bytes begin with it, and the longest leads one column less far and has no number (src/edge/sparse.ts). */
const WIDE_GAP: i32 = 192;
const STEP: i32 = WIDE_GAP + 0x3fff;

/**
 * Columns of rows from their gaps: where the numbers of each row begin and their columns, or with a width the numbers themselves in
 * rows that have the zeros too. False where the bytes are not what they should be.
 */
export function unpack(
  gaps: usize, bytes: i32, rows: i32, columns: i32, numbers: usize, count: i32, width: i32, starts: usize, out: usize,
): bool {
  const end = gaps + bytes;
  let found = 0;
  for (let row = 0; row < rows; row++) {
    let column = -1;
    for (;;) {
      if (gaps >= end) return false;
      let gap = <i32>load<u8>(gaps++);
      if (gap == 0) break;
      if (gap >= WIDE_GAP) {
        if (gaps >= end) return false;
        gap = WIDE_GAP + ((gap - WIDE_GAP) << 8) + <i32>load<u8>(gaps++);
      }
      column += gap;
      if (gap == STEP) column--;
      if (column > columns) return false;
      if (gap == STEP) continue;
      if (column >= columns || found >= count) return false;
      if (width > 0) store<i8>(out + <usize>row * width + column, load<i8>(numbers + found));
      else store<u16>(out + (<usize>found << 1), <u16>column);
      found++;
    }
    if (column >= columns) return false;
    if (width == 0) store<i32>(starts + (<usize>row << 2), found, 4);
  }
  return gaps == end && found == count;
}

/** Adds a number times the factor to the sum of its column. */
// @ts-ignore: decorator
@inline
function addOne(columns: usize, values: usize, factor: f64, into: usize): void {
  const target = into + (<usize>load<u16>(columns) << 3);
  store<f64>(target, load<f64>(target) + factor * <f64>load<i8>(values));
}

/**
 * into[columns[i]] += factor[e] scale[row] values[i], for the elements starts[row] to starts[row + 1] of each of `count` rows; no
 * column is twice in a row.
 */
export function addSparse(
  count: i32, rows: usize, factors: usize, starts: usize, scale: usize, columns: usize, values: usize, into: usize,
): void {
  for (let e: usize = 0; e < <usize>count; e++) {
    const row = <usize>load<u32>(rows + (e << 2)) << 2;
    const factor = load<f64>(factors + (e << 3)) * <f64>load<f32>(scale + row);
    const from = <usize>load<u32>(starts + row);
    const to = <usize>load<u32>(starts + row, 4);
    let column = columns + (from << 1);
    let value = values + from;
    const end = values + to;
    for (; value + 4 <= end; value += 4, column += 8) {
      addOne(column, value, factor, into);
      addOne(column + 2, value + 1, factor, into);
      addOne(column + 4, value + 2, factor, into);
      addOne(column + 6, value + 3, factor, into);
    }
    for (; value < end; value++, column += 2) addOne(column, value, factor, into);
  }
}

/** Two whole numbers times a factor. */
// @ts-ignore: decorator
@inline
function pair(wide: v128, factor: v128): v128 {
  return f64x2.mul(f64x2.convert_low_i32x4_s(wide), factor);
}

/**
 * The same of a matrix with few zeros: rows of `width` numbers of 8 bits, a multiple of eight. The sums of eight columns stay at
 * hand while all rows pass. Overwrites `rows` and `factors`.
 */
export function addDense(
  count: i32, rows: usize, factors: usize, width: i32, scale: usize, values: usize, into: usize,
): void {
  // Factors and rows become what the sums need of them: the factor with its scale, the address of the row.
  for (let e: usize = 0; e < <usize>count; e++) {
    const row = <usize>load<u32>(rows + (e << 2));
    const factor = factors + (e << 3);
    store<f64>(factor, load<f64>(factor) * <f64>load<f32>(scale + (row << 2)));
    store<u32>(rows + (e << 2), <u32>(values + row * <usize>width));
  }
  for (let first: usize = 0; first < <usize>width; first += 8) {
    const sums = into + (first << 3);
    let a = v128.load(sums), b = v128.load(sums, 16), c = v128.load(sums, 32), d = v128.load(sums, 48);
    for (let e: usize = 0; e < <usize>count; e++) {
      const factor = v128.load64_splat(factors + (e << 3));
      const numbers = i16x8.extend_low_i8x16_s(v128.load64_zero(first + <usize>load<u32>(rows + (e << 2))));
      const low = i32x4.extend_low_i16x8_s(numbers);
      const high = i32x4.extend_high_i16x8_s(numbers);
      a = f64x2.add(a, pair(low, factor));
      b = f64x2.add(b, pair(v128.shuffle<i32>(low, low, 2, 3, 2, 3), factor));
      c = f64x2.add(c, pair(high, factor));
      d = f64x2.add(d, pair(v128.shuffle<i32>(high, high, 2, 3, 2, 3), factor));
    }
    v128.store(sums, a);
    v128.store(sums, b, 16);
    v128.store(sums, c, 32);
    v128.store(sums, d, 48);
  }
}
