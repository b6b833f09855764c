// out = x op y, element by element. y may be a row, a column or one value for all: its strides are then 0.
// import elements

struct Parameters {
  rows: u32,
  columns: u32,
  operation: u32,
  yRow: u32,
  yColumn: u32,
}

const SIZE = 256u;
const ADD = 0u;
const SUBTRACT = 1u;
const MULTIPLY = 2u;

@group(0) @binding(1) var<storage, read> x: array<f32>; // [rows, columns]
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [rows, columns]

fn element(i: u32) {
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
