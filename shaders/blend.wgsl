// out = alpha x + beta y; a factor of 0 means that the operand does not count, whatever it holds.
// import elements

struct Parameters {
  count: u32,
  alpha: f32,
  beta: f32,
}

const SIZE = 256u;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [count]
@group(0) @binding(2) var<storage, read> y: array<f32>; // [count]
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [count]

fn element(i: u32) {
  if (i >= p.count) {
    return;
  }
  var value = 0.0;
  if (p.alpha != 0.0) {
    value = p.alpha * xAt(i);
  }
  if (p.beta != 0.0) {
    value += p.beta * yAt(i);
  }
  out[p.outOffset + i] = value;
}
