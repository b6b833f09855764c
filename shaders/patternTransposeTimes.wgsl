// out += V' B, V having the values at the entries of a pattern. A workgroup has one of the labels that occur (a row of
// out) and a strip of columns; the pattern lists the entries of each such label in order.
// import strips

struct Parameters {
  // labels that occur
  labels: u32,
  columns: u32,
  // where in `entries` each part begins
  rowsOfEntries: u32,
  labelNames: u32,
  labelStarts: u32,
  byLabel: u32,
}

const SIZE = 64u;

@group(0) @binding(1) var<storage, read> entries: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<f32>; // one for each entry
@group(0) @binding(3) var<storage, read> b: array<f32>; // [rows of V, columns]
@group(0) @binding(4) var<storage, read_write> out: array<f32>; // [columns of V, columns]

fn cell(label: u32, column: u32, local: u32) {
  if (label >= p.labels || column >= p.columns) {
    return;
  }
  let end = entries[p.labelStarts + label + 1u];
  var sum = 0.0;
  for (var i = entries[p.labelStarts + label]; i < end; i++) {
    let e = entries[p.byLabel + i];
    sum += values[p.valuesOffset + e] * b[p.bOffset + entries[p.rowsOfEntries + e] * p.columns + column];
  }
  let at = p.outOffset + entries[p.labelNames + label] * p.columns + column;
  out[at] = out[at] + sum;
}
