// out_ii += x_i
// import elements

struct Parameters {
  size: u32,
}

const SIZE = 64u;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [size]
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // [size, size]

fn element(i: u32) {
  if (i < p.size) {
    let at = p.outOffset + i * (p.size + 1u);
    out[at] = out[at] + x[p.xOffset + i];
  }
}
