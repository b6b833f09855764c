// The same for listed labels: weighted value and derivatives of each entry. The sign of its weight says whether the
// label is present.
// import elements
// import expectation
// import rule

struct Parameters {
  count: u32,
  nodes: u32,
  scale: f32,
}

const SIZE = 64u;

@group(0) @binding(1) var<storage, read> mean: array<f32>; // [count], as are all others
@group(0) @binding(2) var<storage, read> variance: array<f32>;
@group(0) @binding(3) var<storage, read> signedWeight: array<f32>;
@group(0) @binding(4) var<storage, read> rule: array<f32>; // nodes, then weights, or nothing
@group(0) @binding(5) var<storage, read_write> value: array<f32>;
@group(0) @binding(6) var<storage, read_write> dMean: array<f32>;
@group(0) @binding(7) var<storage, read_write> dVariance: array<f32>;

fn element(i: u32) {
  if (i >= p.count) {
    return;
  }
  let weight = signedWeight[p.signedWeightOffset + i];
  let sign = select(1.0, -1.0, weight > 0.0);
  let e = expectation(sign * meanAt(i), varianceAt(i));
  value[p.valueOffset + i] = abs(weight) * e.value;
  dMean[p.dMeanOffset + i] = p.scale * abs(weight) * sign * e.probability;
  dVariance[p.dVarianceOffset + i] = p.scale * abs(weight) * e.slope;
}
