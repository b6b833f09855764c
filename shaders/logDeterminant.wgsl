// out = log|L L'| of each factor of a stack. A workgroup a factor.
// import grid
// import math

struct Parameters {
  count: u32,
  size: u32,
  factorOffset: u32,
  outOffset: u32,
}

const SIZE = 64u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> factor: array<f32>; // [count, size, size]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [count]

var<workgroup> partial: array<f32, SIZE>;

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let matrix = workgroupNumber(workgroup, counts);
  if (matrix >= p.count) {
    return;
  }
  let start = p.factorOffset + matrix * p.size * p.size;
  var sum = 0.0;
  for (var i = local; i < p.size; i += SIZE) {
    sum += logOf(factor[start + i * (p.size + 1u)]);
  }
  partial[local] = sum;
  for (var half = SIZE / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local < half) {
      partial[local] += partial[local + half];
    }
  }
  if (local == 0u) {
    out[p.outOffset + matrix] = 2.0 * partial[0];
  }
}
