// Adam (Kingma & Ba 2015), as ascent:
//   first = beta1 first + (1 - beta1) g,  second = beta2 second + (1 - beta2) g^2,
//   parameter += rate first / (sqrt(second) + epsilon)
// The bias corrections are in rate and epsilon. A gradient that is not finite leaves its parameter and moments as they are.
// import elements
// import math

struct Parameters {
  count: u32,
  rate: f32,
  beta1: f32,
  beta2: f32,
  // 1 - beta, rounded once
  rest1: f32,
  rest2: f32,
  epsilon: f32,
}

const SIZE = 256u;

@group(0) @binding(1) var<storage, read> gradient: array<f32>; // [count]
@group(0) @binding(2) var<storage, read_write> parameter: array<f32>; // [count]
@group(0) @binding(3) var<storage, read_write> first: array<f32>; // [count]
@group(0) @binding(4) var<storage, read_write> second: array<f32>; // [count]

fn element(i: u32) {
  if (i >= p.count) {
    return;
  }
  let g = gradient[p.gradientOffset + i];
  if (!isFinite(g)) {
    return;
  }
  let m = p.beta1 * first[p.firstOffset + i] + p.rest1 * g;
  let v = p.beta2 * second[p.secondOffset + i] + p.rest2 * (g * g);
  first[p.firstOffset + i] = m;
  second[p.secondOffset + i] = v;
  parameter[p.parameterOffset + i] += p.rate * m / (sqrt(v) + p.epsilon);
}
