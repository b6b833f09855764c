// out_i = V[chosen[i]] B, V sparse by rows; or all its rows in order. A workgroup has a row and a strip of columns.
// import strips

struct Parameters {
  rows: u32,
  columns: u32,
  // 1 where rows are chosen
  choose: u32,
  // where in `entries` the starts of rows and the columns of entries begin
  starts: u32,
  places: u32,
}

const SIZE = 64u;

@group(0) @binding(1) var<storage, read> entries: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<f32>; // one for each entry
@group(0) @binding(3) var<storage, read> chosen: array<u32>; // [rows], or nothing
@group(0) @binding(4) var<storage, read> b: array<f32>; // [columns of V, columns]
@group(0) @binding(5) var<storage, read_write> out: array<f32>; // [rows, columns]

fn cell(row: u32, column: u32, local: u32) {
  if (row >= p.rows || column >= p.columns) {
    return;
  }
  var source = row;
  if (p.choose == 1u) {
    source = chosen[row];
  }
  let end = entries[p.starts + source + 1u];
  var sum = 0.0;
  for (var e = entries[p.starts + source]; e < end; e++) {
    sum += values[p.valuesOffset + e] * b[p.bOffset + entries[p.places + e] * p.columns + column];
  }
  out[p.outOffset + row * p.columns + column] = sum;
}
