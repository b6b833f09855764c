// out_j = sum_i x_ij y_ij; y may be a column for all, or missing. A workgroup has a strip of columns and walks down it.
// import grid

struct Parameters {
  rows: u32,
  columns: u32,
  // 1 where there is a y
  weighted: u32,
  yRow: u32,
  yColumn: u32,
  xOffset: u32,
  yOffset: u32,
  outOffset: u32,
}

const STRIP = 32u;
const LANES = 8u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> y: array<f32>; // [rows, columns or 1]
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [columns]

var<workgroup> partial: array<array<f32, STRIP>, LANES>;

@compute @workgroup_size(STRIP, LANES)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let column = workgroupNumber(workgroup, counts) * STRIP + local.x;
  var sum = 0.0;
  if (column < p.columns) {
    for (var i = local.y; i < p.rows; i += LANES) {
      var value = x[p.xOffset + i * p.columns + column];
      if (p.weighted == 1u) {
        value *= y[p.yOffset + i * p.yRow + column * p.yColumn];
      }
      sum += value;
    }
  }
  partial[local.y][local.x] = sum;
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local.y < half) {
      partial[local.y][local.x] += partial[local.y + half][local.x];
    }
  }
  if (local.y == 0u && column < p.columns) {
    out[p.outOffset + column] = partial[0][local.x];
  }
}
