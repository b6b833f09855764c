// out_i = x[chosen[i]]
// import grid

struct Parameters {
  rows: u32,
  columns: u32,
  xOffset: u32,
  outOffset: u32,
}

const SIZE = 256u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>; // [all rows, columns]
@group(0) @binding(2) var<storage, read> chosen: array<u32>; // [rows]
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [rows, columns]

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = workgroupNumber(workgroup, counts) * SIZE + local;
  if (i < p.rows * p.columns) {
    out[p.outOffset + i] = x[p.xOffset + chosen[i / p.columns] * p.columns + i % p.columns];
  }
}
