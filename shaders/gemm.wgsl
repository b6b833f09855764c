// out = beta out + alpha A diag(w) B, for each of a stack of problems (workgroup.z). Operands have a row and a column
// stride, so that transposed ones are only read in another order. A workgroup makes a tile of out, an invocation 4 x 4
// elements of it. `symmetric` makes only tiles on and below the diagonal and writes their mirror images too.
// A stack may also be one long product in parts, to be added up afterwards: each has `depth` of its `totalDepth` terms.

struct Parameters {
  rows: u32,
  columns: u32,
  depth: u32,
  totalDepth: u32,
  alpha: f32,
  beta: f32,
  aRow: u32,
  aColumn: u32,
  aStack: u32,
  bRow: u32,
  bColumn: u32,
  bStack: u32,
  weightsStack: u32,
  outStack: u32,
  // 1 where there are weights
  weighted: u32,
  symmetric: u32,
  // 1 where terms before the tile's first row are 0: A' A of a lower triangle
  fromRow: u32,
}

const TILE = 32u;
/** Terms at a time. Sixteen are no faster on SwiftShader, which compiles for a millisecond a word of workgroup memory. */
const DEPTH = 8u;
/** Invocations along a side of the tile; each has a vector of 4 rows and one of 4 columns. */
const SIDE = 8u;
const SIZE = SIDE * SIDE;

@group(0) @binding(1) var<storage, read> a: array<f32>; // [rows, depth]
@group(0) @binding(2) var<storage, read> b: array<f32>; // [depth, columns]
@group(0) @binding(3) var<storage, read> weights: array<f32>; // [depth], or nothing
@group(0) @binding(4) var<storage, read_write> out: array<f32>; // [rows, columns]

/** The tile's part of A and B: four rows or four columns of each term in a vector. */
var<workgroup> left: array<vec4f, DEPTH * SIDE>;
var<workgroup> right: array<vec4f, DEPTH * SIDE>;

// Reading beyond an end is safe in WGSL, and a choice between two values is quicker than a branch around each.
fn aAt(row: u32, k: u32, depth: u32, stack: u32) -> f32 {
  let value = a[p.aOffset + stack * p.aStack + row * p.aRow + k * p.aColumn];
  return select(0.0, value, row < p.rows && k < depth);
}

fn bAt(k: u32, column: u32, depth: u32, stack: u32) -> f32 {
  let value = b[p.bOffset + stack * p.bStack + k * p.bRow + column * p.bColumn];
  return select(0.0, value, column < p.columns && k < depth);
}

fn weightAt(k: u32, stack: u32) -> f32 {
  if (p.weighted == 0u) {
    return 1.0;
  }
  return weights[p.weightsOffset + stack * p.weightsStack + k];
}

fn loadTiles(row: u32, column: u32, first: u32, depth: u32, stack: u32, local: u32) {
  for (var slot = local; slot < DEPTH * SIDE; slot += SIZE) {
    let k = first + slot % DEPTH;
    let r = row + 4u * (slot / DEPTH);
    let a4 = vec4f(
      aAt(r, k, depth, stack), aAt(r + 1u, k, depth, stack), aAt(r + 2u, k, depth, stack), aAt(r + 3u, k, depth, stack));
    left[(slot % DEPTH) * SIDE + slot / DEPTH] = select(vec4f(), weightAt(k, stack) * a4, k < depth);
    let term = first + slot / SIDE;
    let c = column + 4u * (slot % SIDE);
    right[slot] = vec4f(
      bAt(term, c, depth, stack),
      bAt(term, c + 1u, depth, stack),
      bAt(term, c + 2u, depth, stack),
      bAt(term, c + 3u, depth, stack),
    );
  }
}

fn store(row: u32, column: u32, stack: u32, sum: f32) {
  if (row >= p.rows || column >= p.columns || (p.symmetric == 1u && column > row)) {
    return;
  }
  let start = p.outOffset + stack * p.outStack;
  let at = start + row * p.columns + column;
  var value = p.alpha * sum;
  if (p.beta != 0.0) {
    value += p.beta * out[at];
  }
  out[at] = value;
  if (p.symmetric == 1u && column < row) {
    out[start + column * p.columns + row] = value;
  }
}

@compute @workgroup_size(SIDE, SIDE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) index: u32,
) {
  if (p.symmetric == 1u && workgroup.x > workgroup.y) {
    return;
  }
  let row = workgroup.y * TILE;
  let column = workgroup.x * TILE;
  let depth = min(p.depth, p.totalDepth - workgroup.z * p.depth);
  var sum0 = vec4f();
  var sum1 = vec4f();
  var sum2 = vec4f();
  var sum3 = vec4f();
  for (var first = select(0u, row, p.fromRow == 1u); first < depth; first += DEPTH) {
    loadTiles(row, column, first, depth, workgroup.z, index);
    workgroupBarrier();
    for (var k = 0u; k < DEPTH; k++) {
      let l = left[k * SIDE + local.y];
      let r = right[k * SIDE + local.x];
      sum0 += l.x * r;
      sum1 += l.y * r;
      sum2 += l.z * r;
      sum3 += l.w * r;
    }
    workgroupBarrier();
  }
  let r = row + 4u * local.y;
  let c = column + 4u * local.x;
  for (var j = 0u; j < 4u; j++) {
    store(r, c + j, workgroup.z, sum0[j]);
    store(r + 1u, c + j, workgroup.z, sum1[j]);
    store(r + 2u, c + j, workgroup.z, sum2[j]);
    store(r + 3u, c + j, workgroup.z, sum3[j]);
  }
}
