// out_i = x_ii
// import elements

struct Parameters {
  size: u32,
}

const SIZE = 64u;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [size, size]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [size]

fn element(i: u32) {
  if (i < p.size) {
    out[p.outOffset + i] = x[p.xOffset + i * (p.size + 1u)];
  }
}
