// out = x', a tile at a time through workgroup memory, so that both sides are read and written along rows.

struct Parameters {
  rows: u32,
  columns: u32,
}

const TILE = 16u;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [columns, rows]

var<workgroup> tile: array<array<f32, TILE + 1>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = workgroup.y * TILE + local.y;
  let column = workgroup.x * TILE + local.x;
  if (row < p.rows && column < p.columns) {
    tile[local.y][local.x] = x[p.xOffset + row * p.columns + column];
  }
  workgroupBarrier();
  let outRow = workgroup.x * TILE + local.y;
  let outColumn = workgroup.y * TILE + local.x;
  if (outRow < p.columns && outColumn < p.rows) {
    out[p.outOffset + outRow * p.rows + outColumn] = tile[local.x][local.y];
  }
}
