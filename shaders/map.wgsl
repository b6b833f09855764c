// out = f(x), element by element.
// import grid
// import math

struct Parameters {
  count: u32,
  operation: u32,
  xOffset: u32,
  outOffset: u32,
  // 1 where x lies in out's buffer
  xIsOut: u32,
}

const SIZE = 256u;
const EXP = 0u;
const LOG = 1u;
const SQUARE = 2u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>; // [count]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [count]

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
  var a: f32;
  if (p.xIsOut == 1u) {
    a = out[p.xOffset + i];
  } else {
    a = x[p.xOffset + i];
  }
  var value = 1.0 / a;
  if (p.operation == EXP) {
    value = exp(a);
  } else if (p.operation == LOG) {
    value = logOf(a);
  } else if (p.operation == SQUARE) {
    value = a * a;
  }
  out[p.outOffset + i] = value;
}
