// d, the gradient by the covariances, becomes the one by the inner products; stationaryPart gets what of it comes from the
// stationary term, sums each row's share of the gradient by log a, log v, log l. A workgroup a row.
// import workgroups
// import sum
// import covarianceOf

struct Parameters {
  rows: u32,
  columns: u32,
  kind: u32,
}

const SIZE = 64u;
alias Sum = vec3f;

@group(0) @binding(1) var<storage, read> products: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> rowSquares: array<f32>; // [rows]
@group(0) @binding(3) var<storage, read> columnSquares: array<f32>; // [columns]
@group(0) @binding(4) var<storage, read> hyper: array<f32>; // log a, log v, log l
@group(0) @binding(5) var<storage, read_write> d: array<f32>; // [rows, columns]
@group(0) @binding(6) var<storage, read_write> stationaryPart: array<f32>; // [rows, columns]
@group(0) @binding(7) var<storage, read_write> sums: array<f32>; // [rows, 3]

fn work(row: u32, local: u32) {
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
  let total = sumOverLanes(sum, local, SIZE, 1u);
  if (local == 0u) {
    for (var k = 0u; k < 3u; k++) {
      sums[p.sumsOffset + 3u * row + k] = total[k];
    }
  }
}
