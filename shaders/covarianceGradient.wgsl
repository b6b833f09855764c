// d, the gradient by the covariances, becomes the one by the inner products; stationaryPart gets what of it comes from the
// stationary term, sums each row's share of the gradient by log a, log v, log l. A workgroup a row.
// import grid
// import covarianceOf

struct Parameters {
  rows: u32,
  columns: u32,
  kind: u32,
  productsOffset: u32,
  rowSquaresOffset: u32,
  columnSquaresOffset: u32,
  hyperOffset: u32,
  dOffset: u32,
  stationaryPartOffset: u32,
  sumsOffset: u32,
}

const SIZE = 64u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> products: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> rowSquares: array<f32>; // [rows]
@group(0) @binding(3) var<storage, read> columnSquares: array<f32>; // [columns]
@group(0) @binding(4) var<storage, read> hyper: array<f32>; // log a, log v, log l
@group(0) @binding(5) var<storage, read_write> d: array<f32>; // [rows, columns]
@group(0) @binding(6) var<storage, read_write> stationaryPart: array<f32>; // [rows, columns]
@group(0) @binding(7) var<storage, read_write> sums: array<f32>; // [rows, 3]

var<workgroup> partial: array<vec3f, SIZE>;

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = workgroupNumber(workgroup, counts);
  if (row >= p.rows) {
    return;
  }
  let slope = exp(hyper[p.hyperOffset]);
  let logVariance = hyper[p.hyperOffset + 1u];
  let logLength = hyper[p.hyperOffset + 2u];
  let length = exp(logLength);
  let square = rowSquares[p.rowSquaresOffset + row];
  var sum = vec3f();
  for (var j = local; j < p.columns; j += SIZE) {
    let at = row * p.columns + j;
    let product = products[p.productsOffset + at];
    let given = d[p.dOffset + at];
    var gradient = 0.0;
    if ((p.kind & LINEAR) != 0u) {
      gradient = slope * given;
      sum.x += gradient * product;
    }
    if (p.kind > LINEAR) {
      let distance = scaledDistance(square, columnSquares[p.columnSquaresOffset + j], product, logLength);
      let term = stationary(p.kind >> 1u, distance, logVariance);
      let change = given * term.slope;
      let part = change / (length * length);
      sum.y += given * term.value;
      sum.z += change * distance;
      gradient += part;
      stationaryPart[p.stationaryPartOffset + at] = part;
    }
    d[p.dOffset + at] = gradient;
  }
  partial[local] = sum;
  for (var half = SIZE / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local < half) {
      partial[local] += partial[local + half];
    }
  }
  if (local == 0u) {
    for (var k = 0u; k < 3u; k++) {
      sums[p.sumsOffset + 3u * row + k] = partial[0][k];
    }
  }
}
