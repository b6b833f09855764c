// A = L L' for each matrix of a stack (workgroup.z), from the lower triangle of `start`; L goes to `out`, zeros above it.
//
// Panel by panel, looking left: the tiles of block column k are those of A less what the columns before give,
//   T_ik = A_ik - sum_{j < k} L_ij L_kj',   L_kk L_kk' = T_kk,   L_ik = T_ik L_kk'^-1
// Small and middle matrices have one workgroup for all panels. For large ones a dispatch makes one panel and the
// workgroups share its tiles out; each factors the tile on the diagonal for itself.
//
// One workgroup alone tries again where a pivot is not positive: the diagonal is raised by 1e-6 of its mean, then by
// 1e-5, then by 1e-4. `tally` counts matrices that needed it and holds the number (plus 1) of one that failed even so;
// its factor becomes I. NaN and Infinity are pivots that are not positive.
// import math

struct Parameters {
  size: u32,
  firstPanel: u32,
  endPanel: u32,
  // attempts: 0 as it is, 1 to 3 raised
  firstAttempt: u32,
  endAttempt: u32,
}

const TILE = 16u;
const WIDTH = TILE + 1u;
/** Vectors of 4 columns in a row of a tile; an invocation has one. */
const VECTORS = TILE / 4u;
const SIZE = 64u;

@group(0) @binding(1) var<storage, read> start: array<f32>; // [stack, size, size]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [stack, size, size]
@group(0) @binding(3) var<storage, read_write> status: array<u32>; // [stack]: 0, or the first bad pivot plus 1
@group(0) @binding(4) var<storage, read_write> tally: array<atomic<u32>, 2>; // raised, failed + 1

/** L_kk, and two tiles at work. */
var<workgroup> pivotTile: array<f32, TILE * WIDTH>;
var<workgroup> left: array<f32, TILE * WIDTH>;
var<workgroup> right: array<f32, TILE * WIDTH>;
/** First bad pivot plus 1. */
var<workgroup> bad: u32;

fn factorAt(matrix: u32, row: u32, column: u32) -> f32 {
  return select(0.0, out[p.outOffset + (matrix * p.size + row) * p.size + column], row < p.size && column < p.size);
}

/** A, with its diagonal raised and 1 on the diagonal beyond its end. */
fn elementAt(matrix: u32, row: u32, column: u32, jitter: f32) -> f32 {
  if (row >= p.size || column >= p.size) {
    return select(0.0, 1.0, row == column);
  }
  let value = start[p.startOffset + (matrix * p.size + max(row, column)) * p.size + min(row, column)];
  return value + select(0.0, jitter, row == column);
}

/** left = T_ik. */
fn updatedTile(matrix: u32, i: u32, k: u32, jitter: f32, local: u32) {
  let y = local / VECTORS;
  let x = 4u * (local % VECTORS);
  var sum = vec4f();
  for (var j = 0u; j < k; j++) {
    for (var slot = local; slot < TILE * TILE; slot += SIZE) {
      let row = slot / TILE;
      let column = slot % TILE;
      left[row * WIDTH + column] = factorAt(matrix, i * TILE + row, j * TILE + column);
      right[row * WIDTH + column] = factorAt(matrix, k * TILE + row, j * TILE + column);
    }
    workgroupBarrier();
    for (var c = 0u; c < TILE; c++) {
      sum += left[y * WIDTH + c] * vec4f(
        right[x * WIDTH + c], right[(x + 1u) * WIDTH + c], right[(x + 2u) * WIDTH + c], right[(x + 3u) * WIDTH + c]);
    }
    workgroupBarrier();
  }
  for (var t = 0u; t < 4u; t++) {
    left[y * WIDTH + x + t] = elementAt(matrix, i * TILE + y, k * TILE + x + t, jitter) - sum[t];
  }
  workgroupBarrier();
}

/** pivotTile = L_kk from left = T_kk, a column at a time, an invocation a row. */
fn factorTile(k: u32, local: u32) {
  for (var c = 0u; c < TILE; c++) {
    if (local >= c && local < TILE) {
      var sum = left[local * WIDTH + c];
      for (var j = 0u; j < c; j++) {
        sum -= pivotTile[local * WIDTH + j] * pivotTile[c * WIDTH + j];
      }
      left[local * WIDTH + c] = sum;
    }
    workgroupBarrier();
    let square = left[c * WIDTH + c];
    let good = isFinite(square) && square > 0.0;
    if (local == 0u && !good && bad == 0u) {
      bad = k * TILE + c + 1u;
    }
    if (local < TILE) {
      let root = sqrt(select(1.0, square, good));
      pivotTile[local * WIDTH + c] = select(select(0.0, left[local * WIDTH + c] / root, local > c), root, local == c);
    }
    workgroupBarrier();
  }
}

/** L_ik from left = T_ik, an invocation a row. */
fn solveTile(local: u32) {
  if (local < TILE) {
    for (var c = 0u; c < TILE; c++) {
      var sum = left[local * WIDTH + c];
      for (var j = 0u; j < c; j++) {
        sum -= left[local * WIDTH + j] * pivotTile[c * WIDTH + j];
      }
      left[local * WIDTH + c] = sum / pivotTile[c * WIDTH + c];
    }
  }
  workgroupBarrier();
}

fn put(matrix: u32, row: u32, column: u32, value: f32) {
  if (row < p.size && column < p.size) {
    out[p.outOffset + (matrix * p.size + row) * p.size + column] = value;
  }
}

/** Panels of one matrix; true where all pivots are positive. */
fn factorPanels(matrix: u32, share: u32, shares: u32, jitter: f32, local: u32) -> bool {
  let blocks = (p.size + TILE - 1u) / TILE;
  for (var k = p.firstPanel; k < p.endPanel; k++) {
    updatedTile(matrix, k, k, jitter, local);
    factorTile(k, local);
    if (workgroupUniformLoad(&bad) != 0u) {
      return false;
    }
    if (share == 0u) {
      for (var slot = local; slot < TILE * TILE; slot += SIZE) {
        put(matrix, k * TILE + slot / TILE, k * TILE + slot % TILE, pivotTile[(slot / TILE) * WIDTH + slot % TILE]);
      }
    }
    for (var i = k + 1u + share; i < blocks; i += shares) {
      updatedTile(matrix, i, k, jitter, local);
      solveTile(local);
      for (var slot = local; slot < TILE * TILE; slot += SIZE) {
        let row = slot / TILE;
        let column = slot % TILE;
        put(matrix, i * TILE + row, k * TILE + column, left[row * WIDTH + column]);
        put(matrix, k * TILE + row, i * TILE + column, 0.0);
      }
      workgroupBarrier();
    }
    storageBarrier();
  }
  return true;
}

/** Mean of the diagonal of A. */
fn meanDiagonal(matrix: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < p.size; i++) {
    sum += start[p.startOffset + (matrix * p.size + i) * p.size + i];
  }
  return sum / f32(p.size);
}

/** 1e-6, 1e-5, 1e-4 of the mean of the diagonal; nothing at first. */
fn jitterOf(attempt: u32, mean: f32) -> f32 {
  if (attempt == 0u) {
    return 0.0;
  }
  return mean * select(select(1e-4, 1e-5, attempt == 2u), 1e-6, attempt == 1u);
}

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let matrix = workgroup.z;
  let continues = p.firstPanel > 0u;
  let retries = p.firstAttempt > 0u;
  if (continues || retries) {
    if (local == 0u) {
      bad = status[matrix];
    }
    // A failed matrix has no further panels; one that did not fail needs no further attempt.
    if ((workgroupUniformLoad(&bad) != 0u) != retries) {
      return;
    }
  }
  for (var attempt = p.firstAttempt; attempt < p.endAttempt; attempt++) {
    var jitter = 0.0;
    if (attempt > 0u) {
      jitter = jitterOf(attempt, meanDiagonal(matrix));
    }
    if (local == 0u) {
      bad = 0u;
    }
    workgroupBarrier();
    if (factorPanels(matrix, workgroup.x, counts.x, jitter, local)) {
      if (local == 0u && workgroup.x == 0u) {
        status[matrix] = 0u;
        if (attempt > 0u) {
          atomicAdd(&tally[0], 1u);
        }
      }
      return;
    }
    workgroupBarrier();
  }
  if (local == 0u && workgroup.x == 0u) {
    status[matrix] = bad;
  }
  if (p.endAttempt > 1u) {
    if (local == 0u) {
      atomicMax(&tally[1], matrix + 1u);
    }
    for (var i = local; i < p.size * p.size; i += SIZE) {
      out[p.outOffset + matrix * p.size * p.size + i] = select(0.0, 1.0, i / p.size == i % p.size);
    }
  }
}
