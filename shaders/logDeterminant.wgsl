// out = log|L L'| of each factor of a stack. A workgroup a factor.
// import workgroups
// import sum
// import math

struct Parameters {
  count: u32,
  size: u32,
}

const SIZE = 64u;
alias Sum = f32;

@group(0) @binding(1) var<storage, read> factor: array<f32>; // [count, size, size]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [count]

fn work(matrix: u32, local: u32) {
  if (matrix >= p.count) {
    return;
  }
  let start = p.factorOffset + matrix * p.size * p.size;
  var sum = 0.0;
  for (var i = local; i < p.size; i += SIZE) {
    sum += logOf(factor[start + i * (p.size + 1u)]);
  }
  let total = sumOverLanes(sum, local, SIZE, 1u);
  if (local == 0u) {
    out[p.outOffset + matrix] = 2.0 * total;
  }
}
