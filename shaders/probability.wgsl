// out = E sigmoid(f), f ~ N(mean, variance)
// import elements
// import expectation

struct Parameters {
  count: u32,
}

const SIZE = 64u;

@group(0) @binding(1) var<storage, read> mean: array<f32>; // [count]
@group(0) @binding(2) var<storage, read> variance: array<f32>; // [count]
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [count]

fn element(i: u32) {
  if (i >= p.count) {
    return;
  }
  out[p.outOffset + i] = closedExpectation(meanAt(i), varianceAt(i)).probability;
}
