// out_i = sum_j x_ij y_ij; y may be a row for all, or missing. A row has `lanes` invocations of a
// workgroup (a power of two): many where rows are long, few where they are short.
// import grid

struct Parameters {
  rows: u32,
  columns: u32,
  lanes: u32,
  // 1 where there is a y
  weighted: u32,
  yRow: u32,
  xOffset: u32,
  yOffset: u32,
  outOffset: u32,
}

const SIZE = 64u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> y: array<f32>; // [rows or 1, columns]
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [rows]

var<workgroup> partial: array<f32, SIZE>;

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = workgroupNumber(workgroup, counts) * (SIZE / p.lanes) + local / p.lanes;
  let lane = local % p.lanes;
  var sum = 0.0;
  if (row < p.rows) {
    let xStart = p.xOffset + row * p.columns;
    let yStart = p.yOffset + row * p.yRow;
    for (var j = lane; j < p.columns; j += p.lanes) {
      var value = x[xStart + j];
      if (p.weighted == 1u) {
        value *= y[yStart + j];
      }
      sum += value;
    }
  }
  partial[local] = sum;
  for (var half = p.lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[local] += partial[local + half];
    }
  }
  if (lane == 0u && row < p.rows) {
    out[p.outOffset + row] = partial[local];
  }
}
