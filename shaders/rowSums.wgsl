// out_i = sum_j x_ij y_ij; y may be a row for all, or missing. A row has `lanes` invocations of a
// workgroup (a power of two): many where rows are long, few where they are short.
// import workgroups
// import sum

struct Parameters {
  rows: u32,
  columns: u32,
  lanes: u32,
  // 1 where there is a y
  weighted: u32,
  yRow: u32,
}

const SIZE = 64u;
alias Sum = f32;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> y: array<f32>; // [rows or 1, columns], or nothing
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [rows]

fn work(number: u32, local: u32) {
  let row = number * (SIZE / p.lanes) + local / p.lanes;
  var sum = 0.0;
  if (row < p.rows) {
    let xStart = p.xOffset + row * p.columns;
    let yStart = p.yOffset + row * p.yRow;
    for (var j = local % p.lanes; j < p.columns; j += p.lanes) {
      var value = x[xStart + j];
      if (p.weighted == 1u) {
        value *= y[yStart + j];
      }
      sum += value;
    }
  }
  let total = sumOverLanes(sum, local, p.lanes, 1u);
  if (local % p.lanes == 0u && row < p.rows) {
    out[p.outOffset + row] = total;
  }
}
