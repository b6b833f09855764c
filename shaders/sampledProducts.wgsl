// out_e = a_i . b_k for each entry e = (i, k) of a pattern. A workgroup takes ENTRIES of them, with LANES invocations each.
// import grid

struct Parameters {
  count: u32,
  columns: u32,
  // where in `entries` the labels and the rows begin
  places: u32,
  rowsOfEntries: u32,
  aOffset: u32,
  bOffset: u32,
  outOffset: u32,
}

const LANES = 8u;
const ENTRIES = 8u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> entries: array<u32>;
@group(0) @binding(2) var<storage, read> a: array<f32>; // [rows, columns]
@group(0) @binding(3) var<storage, read> b: array<f32>; // [labels, columns]
@group(0) @binding(4) var<storage, read_write> out: array<f32>; // [count]

var<workgroup> partial: array<array<f32, LANES>, ENTRIES>;

@compute @workgroup_size(LANES, ENTRIES)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let e = workgroupNumber(workgroup, counts) * ENTRIES + local.y;
  var sum = 0.0;
  if (e < p.count) {
    let aStart = p.aOffset + entries[p.rowsOfEntries + e] * p.columns;
    let bStart = p.bOffset + entries[p.places + e] * p.columns;
    for (var j = local.x; j < p.columns; j += LANES) {
      sum += a[aStart + j] * b[bStart + j];
    }
  }
  partial[local.y][local.x] = sum;
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local.x < half) {
      partial[local.y][local.x] += partial[local.y][local.x + half];
    }
  }
  if (local.x == 0u && e < p.count) {
    out[p.outOffset + e] = partial[local.y][0];
  }
}
