// out = a x.z + v g(|x - z|^2 / l^2) from inner products; kind says which of the terms there are.
// import elements
// import covarianceOf

struct Parameters {
  rows: u32,
  columns: u32,
  kind: u32,
}

const SIZE = 256u;

@group(0) @binding(1) var<storage, read> products: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> rowSquares: array<f32>; // [rows]
@group(0) @binding(3) var<storage, read> columnSquares: array<f32>; // [columns]
@group(0) @binding(4) var<storage, read> hyper: array<f32>; // log a, log v, log l
@group(0) @binding(5) var<storage, read_write> out: array<f32>; // [rows, columns]

fn element(i: u32) {
  if (i >= p.rows * p.columns) {
    return;
  }
  let product = products[p.productsOffset + i];
  var value = 0.0;
  if ((p.kind & LINEAR) != 0u) {
    value = exp(hyper[p.hyperOffset]) * product;
  }
  if (p.kind > LINEAR) {
    let distance = scaledDistance(
      rowSquares[p.rowSquaresOffset + i / p.columns],
      columnSquares[p.columnSquaresOffset + i % p.columns],
      product,
      hyper[p.hyperOffset + 2u],
    );
    value += stationary(p.kind >> 1u, distance, hyper[p.hyperOffset + 1u]).value;
  }
  out[p.outOffset + i] = value;
}
