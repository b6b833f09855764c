// out_e = a_i . b_k for each entry e = (i, k) of a pattern. A workgroup takes ENTRIES of them, with LANES invocations each.
// import workgroups
// import sum

struct Parameters {
  count: u32,
  columns: u32,
  // where in `entries` the labels and the rows begin
  places: u32,
  rowsOfEntries: u32,
}

const LANES = 8u;
const ENTRIES = 8u;
const SIZE = LANES * ENTRIES;
alias Sum = f32;

@group(0) @binding(1) var<storage, read> entries: array<u32>;
@group(0) @binding(2) var<storage, read> a: array<f32>; // [rows, columns]
@group(0) @binding(3) var<storage, read> b: array<f32>; // [labels, columns]
@group(0) @binding(4) var<storage, read_write> out: array<f32>; // [count]

fn work(number: u32, local: u32) {
  let e = number * ENTRIES + local / LANES;
  let lane = local % LANES;
  var sum = 0.0;
  if (e < p.count) {
    let aStart = p.aOffset + entries[p.rowsOfEntries + e] * p.columns;
    let bStart = p.bOffset + entries[p.places + e] * p.columns;
    for (var j = lane; j < p.columns; j += LANES) {
      sum += a[aStart + j] * b[bStart + j];
    }
  }
  let total = sumOverLanes(sum, local, LANES, 1u);
  if (lane == 0u && e < p.count) {
    out[p.outOffset + e] = total;
  }
}
