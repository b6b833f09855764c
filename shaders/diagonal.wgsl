// out_i = x_ii
// import grid

struct Parameters {
  size: u32,
  xOffset: u32,
  outOffset: u32,
}

const SIZE = 64u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>; // [size, size]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [size]

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = workgroupNumber(workgroup, counts) * SIZE + local;
  if (i < p.size) {
    out[p.outOffset + i] = x[p.xOffset + i * (p.size + 1u)];
  }
}
