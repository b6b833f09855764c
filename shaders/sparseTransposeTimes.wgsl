// out += sum_i x[chosen[i]]' b_i, from X by columns: a workgroup has a column of X (a row of out) and a strip of out's
// columns. It reads the column's entries a tile at a time and adds those whose rows are in the batch (markRows.wgsl).
// import strips

struct Parameters {
  rows: u32,
  columns: u32,
  // where in `entries` the starts of X's columns and the rows of entries begin
  starts: u32,
  places: u32,
}

const SIZE = 64u;

@group(0) @binding(1) var<storage, read> entries: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<f32>; // one for each entry
@group(0) @binding(3) var<storage, read> position: array<u32>; // [rows of X]
@group(0) @binding(4) var<storage, read> following: array<u32>; // [batch]
@group(0) @binding(5) var<storage, read> b: array<f32>; // [batch, columns]
@group(0) @binding(6) var<storage, read_write> out: array<f32>; // [rows, columns]

/** The tile's entries: place in the batch plus 1, and value. */
var<workgroup> place: array<u32, SIZE>;
var<workgroup> value: array<f32, SIZE>;
/** A bit for each entry that is in the batch; two words for the tile at work, two for the next one. */
var<workgroup> hits: array<atomic<u32>, 4>;

fn cell(row: u32, column: u32, local: u32) {
  if (row >= p.rows) {
    return;
  }
  let end = entries[p.starts + row + 1u];
  var sum = 0.0;
  var words = 0u;
  for (var first = entries[p.starts + row]; first < end; first += SIZE) {
    let e = first + local;
    if (e < end) {
      let found = position[entries[p.places + e]];
      if (found != 0u) {
        place[local] = found;
        value[local] = values[e];
        atomicOr(&hits[words + local / 32u], 1u << (local % 32u));
      }
    }
    workgroupBarrier();
    for (var word = 0u; word < 2u; word++) {
      for (var bits = atomicLoad(&hits[words + word]); bits != 0u; bits &= bits - 1u) {
        let k = 32u * word + firstTrailingBit(bits);
        for (var i = place[k]; i != 0u; i = following[i - 1u]) {
          sum += value[k] * b[p.bOffset + (i - 1u) * p.columns + column];
        }
      }
    }
    words = 2u - words;
    if (local < 2u) {
      atomicStore(&hits[words + local], 0u);
    }
    workgroupBarrier();
  }
  if (column < p.columns) {
    let at = p.outOffset + row * p.columns + column;
    out[at] = out[at] + sum;
  }
}
