// X = L^-1 for each lower triangle of a stack (workgroup.z): L X = I by forward substitution, a block of rows at a time.
// A workgroup has a block of columns of X, which needs no other:
//   T_ij = I_ij - sum_{j <= k < i} L_ik X_kj,   X_ij = L_ii^-1 T_ij

struct Parameters {
  size: u32,
}

const TILE = 16u;
const WIDTH = TILE + 1u;
/** Vectors of 4 columns in a row of a tile; an invocation has one. */
const VECTORS = TILE / 4u;
const SIZE = 64u;

@group(0) @binding(1) var<storage, read> factor: array<f32>; // L [stack, size, size]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // X [stack, size, size]

var<workgroup> left: array<f32, TILE * WIDTH>;
var<workgroup> right: array<f32, TILE * WIDTH>;

/** L, with 1 on the diagonal beyond its end. */
fn factorAt(matrix: u32, row: u32, column: u32) -> f32 {
  let value = factor[p.factorOffset + (matrix * p.size + row) * p.size + column];
  return select(select(0.0, 1.0, row == column), value, row < p.size && column < p.size);
}

fn solvedAt(matrix: u32, row: u32, column: u32) -> f32 {
  return select(0.0, out[p.outOffset + (matrix * p.size + row) * p.size + column], row < p.size && column < p.size);
}

fn put(matrix: u32, row: u32, column: u32, value: f32) {
  if (row < p.size && column < p.size) {
    out[p.outOffset + (matrix * p.size + row) * p.size + column] = value;
  }
}

/** right = T_ij, left = L_ii. */
fn updatedTile(matrix: u32, i: u32, j: u32, local: u32) {
  let y = local / VECTORS;
  let x = 4u * (local % VECTORS);
  var sum = vec4f();
  for (var k = j; k < i; k++) {
    for (var slot = local; slot < TILE * TILE; slot += SIZE) {
      let row = slot / TILE;
      let column = slot % TILE;
      left[row * WIDTH + column] = factorAt(matrix, i * TILE + row, k * TILE + column);
      right[row * WIDTH + column] = solvedAt(matrix, k * TILE + row, j * TILE + column);
    }
    workgroupBarrier();
    for (var c = 0u; c < TILE; c++) {
      let at = c * WIDTH + x;
      sum += left[y * WIDTH + c] * vec4f(right[at], right[at + 1u], right[at + 2u], right[at + 3u]);
    }
    workgroupBarrier();
  }
  for (var t = 0u; t < 4u; t++) {
    right[y * WIDTH + x + t] = select(0.0, 1.0, i == j && y == x + t) - sum[t];
    left[y * WIDTH + x + t] = factorAt(matrix, i * TILE + y, i * TILE + x + t);
  }
  workgroupBarrier();
}

/** right = L_ii^-1 T_ij, an invocation a column. */
fn solveTile(local: u32) {
  if (local < TILE) {
    for (var r = 0u; r < TILE; r++) {
      var sum = right[r * WIDTH + local];
      for (var j = 0u; j < r; j++) {
        sum -= left[r * WIDTH + j] * right[j * WIDTH + local];
      }
      right[r * WIDTH + local] = sum / left[r * WIDTH + r];
    }
  }
  workgroupBarrier();
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let matrix = workgroup.z;
  let j = workgroup.x;
  let blocks = (p.size + TILE - 1u) / TILE;
  for (var i = 0u; i < j; i++) {
    for (var slot = local; slot < TILE * TILE; slot += SIZE) {
      put(matrix, i * TILE + slot / TILE, j * TILE + slot % TILE, 0.0);
    }
  }
  for (var i = j; i < blocks; i++) {
    updatedTile(matrix, i, j, local);
    solveTile(local);
    for (var slot = local; slot < TILE * TILE; slot += SIZE) {
      put(matrix, i * TILE + slot / TILE, j * TILE + slot % TILE, right[(slot / TILE) * WIDTH + slot % TILE]);
    }
    storageBarrier();
    workgroupBarrier();
  }
}
