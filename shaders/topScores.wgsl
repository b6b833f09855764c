// The k greatest of each row, greatest first; of equals the smaller column first, NaN counts as the least. A workgroup a
// row: each round finds the greatest that comes after the one before.
// import workgroups
// import math

struct Parameters {
  rows: u32,
  columns: u32,
  k: u32,
}

const SIZE = 64u;
const LEAST = -3.4028234663852886e38;
const NONE = 0xffffffffu;

@group(0) @binding(1) var<storage, read> scores: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read_write> columns: array<u32>; // [rows, k]
@group(0) @binding(3) var<storage, read_write> values: array<f32>; // [rows, k]

var<workgroup> bestValue: array<f32, SIZE>;
var<workgroup> bestColumn: array<u32, SIZE>;

fn isNaN(x: f32) -> bool {
  return !isFinite(x) && (bitcast<u32>(x) & 0x007fffffu) != 0u;
}

/** Whether (value, column) comes before (otherValue, otherColumn). */
fn before(value: f32, column: u32, otherValue: f32, otherColumn: u32) -> bool {
  return value > otherValue || (value == otherValue && column < otherColumn);
}

fn work(row: u32, local: u32) {
  if (row >= p.rows) {
    return;
  }
  let start = p.scoresOffset + row * p.columns;
  for (var round = 0u; round < p.k; round++) {
    let previousColumn = bestColumn[0];
    let previousValue = bestValue[0];
    workgroupBarrier();
    var best = LEAST;
    var which = NONE;
    for (var j = local; j < p.columns; j += SIZE) {
      let score = scores[start + j];
      let value = select(score, LEAST, isNaN(score));
      let open = round == 0u || before(previousValue, previousColumn, value, j);
      if (open && (which == NONE || before(value, j, best, which))) {
        best = value;
        which = j;
      }
    }
    bestValue[local] = best;
    bestColumn[local] = which;
    for (var half = SIZE / 2u; half > 0u; half /= 2u) {
      workgroupBarrier();
      if (local < half && before(bestValue[local + half], bestColumn[local + half], bestValue[local], bestColumn[local])) {
        bestValue[local] = bestValue[local + half];
        bestColumn[local] = bestColumn[local + half];
      }
    }
    workgroupBarrier();
    if (local == 0u) {
      columns[row * p.k + round] = bestColumn[0];
      values[row * p.k + round] = bestValue[0];
    }
  }
}
