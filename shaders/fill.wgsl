// Every element of out becomes the value.
// import grid

struct Parameters {
  count: u32,
  value: f32,
  outOffset: u32,
}

const SIZE = 256u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read_write> out: array<f32>; // [count]

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = workgroupNumber(workgroup, counts) * SIZE + local;
  if (i < p.count) {
    out[p.outOffset + i] = p.value;
  }
}
