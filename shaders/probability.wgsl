// out = E sigmoid(f), f ~ N(mean, variance)
// import grid
// import expectation

struct Parameters {
  count: u32,
  meanOffset: u32,
  varianceOffset: u32,
  outOffset: u32,
  // 1 where the operand lies in out's buffer
  meanIsOut: u32,
  varianceIsOut: u32,
}

const SIZE = 64u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> mean: array<f32>; // [count]
@group(0) @binding(2) var<storage, read> variance: array<f32>; // [count]
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [count]

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = workgroupNumber(workgroup, counts) * SIZE + local;
  if (i >= p.count) {
    return;
  }
  var m: f32;
  if (p.meanIsOut == 1u) {
    m = out[p.meanOffset + i];
  } else {
    m = mean[p.meanOffset + i];
  }
  var v: f32;
  if (p.varianceIsOut == 1u) {
    v = out[p.varianceOffset + i];
  } else {
    v = variance[p.varianceOffset + i];
  }
  out[p.outOffset + i] = closedExpectation(m, v).probability;
}
