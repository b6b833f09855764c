// out_j = sum_i x_ij y_ij; y may be a column for all, or missing. A workgroup has a strip of columns and walks down it.
// import workgroups
// import sum

struct Parameters {
  rows: u32,
  columns: u32,
  // 1 where there is a y
  weighted: u32,
  yRow: u32,
  yColumn: u32,
}

const STRIP = 32u;
const LANES = 8u;
const SIZE = STRIP * LANES;
alias Sum = f32;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> y: array<f32>; // [rows, columns or 1], or nothing
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [columns]

fn work(number: u32, local: u32) {
  let column = number * STRIP + local % STRIP;
  let lane = local / STRIP;
  var sum = 0.0;
  if (column < p.columns) {
    for (var i = lane; i < p.rows; i += LANES) {
      var value = x[p.xOffset + i * p.columns + column];
      if (p.weighted == 1u) {
        value *= y[p.yOffset + i * p.yRow + column * p.yColumn];
      }
      sum += value;
    }
  }
  let total = sumOverLanes(sum, local, LANES, STRIP);
  if (lane == 0u && column < p.columns) {
    out[p.outOffset + column] = total;
  }
}
