// Expected negative log-likelihood of all labels of a batch, with both derivatives. Labels are absent (y = -1) but for
// those listed: a present one is an absent one with its mean reversed. A workgroup a row; it goes through the labels a
// tile at a time and first marks the tile's present ones.
// import workgroups
// import sum
// import expectation
// import rule

struct Parameters {
  rows: u32,
  columns: u32,
  // 1 where variance_ik = rowVariance_i variance_k
  outer: u32,
  nodes: u32,
  scale: f32,
}

const SIZE = 128u;
const TILE = 1024u;
const WORDS = TILE / 32u;
alias Sum = f32;

@group(0) @binding(1) var<storage, read> mean: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> variance: array<f32>; // [rows, columns] or [columns]
@group(0) @binding(3) var<storage, read> rowVariance: array<f32>; // [rows], or nothing
@group(0) @binding(4) var<storage, read> lists: array<u32>; // rows + 1 starts, then the labels
@group(0) @binding(5) var<storage, read> rule: array<f32>; // nodes, then weights, or nothing
@group(0) @binding(6) var<storage, read_write> rowValue: array<f32>; // [rows]
@group(0) @binding(7) var<storage, read_write> dMean: array<f32>; // [rows, columns]
@group(0) @binding(8) var<storage, read_write> dVariance: array<f32>; // [rows, columns]

var<workgroup> present: array<atomic<u32>, WORDS>;

fn varianceOf(row: u32, column: u32) -> f32 {
  if (p.outer == 1u) {
    return rowVariance[p.rowVarianceOffset + row] * variance[p.varianceOffset + column];
  }
  return varianceAt(row * p.columns + column);
}

/** Marks the row's labels among TILE from `first` on. */
fn mark(row: u32, first: u32, local: u32) {
  if (local < WORDS) {
    atomicStore(&present[local], 0u);
  }
  workgroupBarrier();
  let end = lists[row + 1u];
  for (var e = lists[row] + local; e < end; e += SIZE) {
    let label = lists[p.rows + 1u + e] - first;
    if (label < TILE) {
      atomicOr(&present[label / 32u], 1u << (label % 32u));
    }
  }
  workgroupBarrier();
}

/** Value of a label; its derivatives are stored. */
fn evaluate(row: u32, column: u32, isPresent: bool) -> f32 {
  let i = row * p.columns + column;
  let sign = select(1.0, -1.0, isPresent);
  let e = expectation(sign * meanAt(i), varianceOf(row, column));
  dMean[p.dMeanOffset + i] = p.scale * sign * e.probability;
  dVariance[p.dVarianceOffset + i] = p.scale * e.slope;
  return e.value;
}

fn work(row: u32, local: u32) {
  if (row >= p.rows) {
    return;
  }
  var sum = 0.0;
  for (var first = 0u; first < p.columns; first += TILE) {
    mark(row, first, local);
    let end = min(TILE, p.columns - first);
    for (var k = local; k < end; k += SIZE) {
      let isPresent = ((atomicLoad(&present[k / 32u]) >> (k % 32u)) & 1u) == 1u;
      sum += evaluate(row, first + k, isPresent);
    }
    workgroupBarrier();
  }
  let total = sumOverLanes(sum, local, SIZE, 1u);
  if (local == 0u) {
    rowValue[p.rowValueOffset + row] = total;
  }
}
