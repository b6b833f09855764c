// Notes where in the batch each row of X stands: position[row] = i + 1, 0 for rows that are not in it. A row that is there
// more than once is noted at its first place, and following[i] leads on to the next one. `erase` sets positions back.

struct Parameters {
  rows: u32,
  erase: u32,
}

const SIZE = 64u;

@group(0) @binding(1) var<storage, read> chosen: array<u32>; // [rows]
@group(0) @binding(2) var<storage, read_write> position: array<u32>; // [all rows]
@group(0) @binding(3) var<storage, read_write> following: array<u32>; // [rows]

@compute @workgroup_size(SIZE)
fn main(@builtin(global_invocation_id) invocation: vec3u) {
  let i = invocation.x;
  if (i >= p.rows) {
    return;
  }
  let row = chosen[i];
  for (var j = 0u; j < i; j++) {
    if (chosen[j] == row) {
      return;
    }
  }
  position[row] = select(i + 1u, 0u, p.erase == 1u);
  if (p.erase == 1u) {
    return;
  }
  var last = i;
  for (var j = i + 1u; j < p.rows; j++) {
    if (chosen[j] == row) {
      following[last] = j + 1u;
      last = j;
    }
  }
  following[last] = 0u;
}
