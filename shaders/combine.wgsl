// out = x op y, element by element. y may be a row, a column or one value for all: its strides are then 0.
// import grid

struct Parameters {
  rows: u32,
  columns: u32,
  operation: u32,
  yRow: u32,
  yColumn: u32,
  xOffset: u32,
  yOffset: u32,
  outOffset: u32,
  // 1 where the operand lies in out's buffer
  xIsOut: u32,
  yIsOut: u32,
}

const SIZE = 256u;
const ADD = 0u;
const SUBTRACT = 1u;
const MULTIPLY = 2u;

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [rows, columns]

fn xAt(i: u32) -> f32 {
  if (p.xIsOut == 1u) {
    return out[p.xOffset + i];
  }
  return x[p.xOffset + i];
}

fn yAt(i: u32) -> f32 {
  if (p.yIsOut == 1u) {
    return out[p.yOffset + i];
  }
  return y[p.yOffset + i];
}

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = workgroupNumber(workgroup, counts) * SIZE + local;
  if (i >= p.rows * p.columns) {
    return;
  }
  let a = xAt(i);
  let b = yAt((i / p.columns) * p.yRow + (i % p.columns) * p.yColumn);
  var value = a / b;
  if (p.operation == ADD) {
    value = a + b;
  } else if (p.operation == SUBTRACT) {
    value = a - b;
  } else if (p.operation == MULTIPLY) {
    value = a * b;
  }
  out[p.outOffset + i] = value;
}
