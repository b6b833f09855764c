// out_i = x[chosen[i]]
// import elements

struct Parameters {
  rows: u32,
  columns: u32,
}

const SIZE = 256u;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [all rows, columns]
@group(0) @binding(2) var<storage, read> chosen: array<u32>; // [rows]
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [rows, columns]

fn element(i: u32) {
  if (i < p.rows * p.columns) {
    out[p.outOffset + i] = x[p.xOffset + chosen[i / p.columns] * p.columns + i % p.columns];
  }
}
