// out = f(x), element by element.
// import elements
// import math

struct Parameters {
  count: u32,
  operation: u32,
}

const SIZE = 256u;
const EXP = 0u;
const LOG = 1u;
const SQUARE = 2u;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [count]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [count]

fn element(i: u32) {
  if (i >= p.count) {
    return;
  }
  let a = xAt(i);
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
