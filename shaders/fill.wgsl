// Every element of out becomes the value.
// import elements

struct Parameters {
  count: u32,
  value: f32,
}

const SIZE = 256u;

@group(0) @binding(1) var<storage, read_write> out: array<f32>; // [count]

fn element(i: u32) {
  if (i < p.count) {
    out[p.outOffset + i] = p.value;
  }
}
