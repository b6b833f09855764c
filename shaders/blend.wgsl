// out = alpha x + beta y; a factor of 0 means that the operand does not count, whatever it holds.
// import grid

struct Parameters {
  count: u32,
  alpha: f32,
  beta: f32,
  xOffset: u32,
  yOffset: u32,
  outOffset: u32,
  // 1 where the operand lies in out's buffer
  xIsOut: u32,
  yIsOut: u32,
}

const SIZE = 256u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>; // [count]
@group(0) @binding(2) var<storage, read> y: array<f32>; // [count]
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
  var value = 0.0;
  if (p.alpha != 0.0) {
    if (p.xIsOut == 1u) {
      value = p.alpha * out[p.xOffset + i];
    } else {
      value = p.alpha * x[p.xOffset + i];
    }
  }
  if (p.beta != 0.0) {
    if (p.yIsOut == 1u) {
      value += p.beta * out[p.yOffset + i];
    } else {
      value += p.beta * y[p.yOffset + i];
    }
  }
  out[p.outOffset + i] = value;
}
