// What the build makes of shaders/: texts that are whole, and names that the compiler knows.

import { expect, test } from "vitest";
import { shaderModule } from "../../scripts/shaders.ts";
import type { Recorder } from "../../src/backend/webgpu/recorder.ts";
import type { Operand } from "../../src/backend/webgpu/tensors.ts";

const scaled = `// out = factor x + y
// import once
struct Parameters {
  // a comment
  factor: f32,
  count: u32,
}

const SIZE = 64u;
@group(0) @binding(1) var<storage, read> x: array<f32>; // [count]
@group(0) @binding(2) var<storage, read> y: array<f32>; // [count], or nothing
@group(0) @binding(3) var<storage, read_write> out: array<f32>; // [count]
fn element(i: u32) {
  out[p.outOffset + i] = p.factor * xAt(i) + y[i];
}
`;
const made = (text: string): string => shaderModule(new Map(Object.entries({ scaled: text, once: "fn once() {}\n" })));

test("a shader gets its imports, its readers and the parameters that the recorder fills in, and no more", () => {
  const text = made(scaled);
  const { source } = JSON.parse(/^ {2}scaled: (\{.*\}),$/m.exec(text)?.[1] as string);
  expect(source).toBe(`fn once() {}
struct Parameters {
factor: f32,
count: u32,
xOffset: u32,
xIsOut: u32,
outOffset: u32,
}
@group(0) @binding(0) var<uniform> p: Parameters;
const SIZE = 64u;
@group(0) @binding(1) var<storage, read> x: array<f32>; 
@group(0) @binding(2) var<storage, read> y: array<f32>; 
@group(0) @binding(3) var<storage, read_write> out: array<f32>; 
fn element(i: u32) {
out[p.outOffset + i] = p.factor * xAt(i) + y[i];
}
fn xAt(i: u32) -> f32 {
if (p.xIsOut == 1u) {
return out[p.xOffset + i];
}
return x[p.xOffset + i];
}
`);
  expect(text).toContain(`operand: "x" | "out";
    optional: "y";
    parameter: "factor" | "count";
    constant: "SIZE";`);
});

test("an input with a derivative is read from the derivative's buffer", () => {
  const text = made(scaled.replace("read_write> out", "read_write> dX").replace("out[p.outOffset", "dX[p.dXOffset"));
  expect(text).toContain("return dX[p.xOffset + i];");
});

test("mistakes are refused by name", () => {
  expect(() => made(scaled.replace("import once", "import twice"))).toThrow("an import of twice");
  expect(() => made(scaled.replace("binding(2)", "binding(4)"))).toThrow(
    "shader scaled: found binding 4 for y, expected 2",
  );
});

test("names that a shader does not have are errors of types", () => {
  // Only compiled, never called.
  function misspelt(recorder: Recorder, x: Operand, y: Operand, out: Operand): void {
    const all = { x, y, out };
    const numbers = { count: 1, alpha: 1, beta: 1 };
    recorder.run("blend", [1, 1, 1], all, numbers);
    recorder.run("rowSums", [1, 1, 1], { x, out }, { rows: 1, columns: 1, lanes: 1, weighted: 0, yRow: 0 });
    // @ts-expect-error there is no such shader
    recorder.run("blnd", [1, 1, 1], all, numbers);
    // @ts-expect-error an operand is missing
    recorder.run("blend", [1, 1, 1], { x, out }, numbers);
    // @ts-expect-error an operand has another name
    recorder.run("blend", [1, 1, 1], { ...all, z: y }, numbers);
    const misnamed = { x, out, weights: y };
    // @ts-expect-error an operand that may be missing has another name
    recorder.run("rowSums", [1, 1, 1], misnamed, { rows: 1, columns: 1, lanes: 1, weighted: 0, yRow: 0 });
    // @ts-expect-error a parameter is missing
    recorder.run("blend", [1, 1, 1], all, { count: 1, alpha: 1 });
    // @ts-expect-error a parameter has another name
    recorder.run("blend", [1, 1, 1], all, { ...numbers, gamma: 1 });
    // @ts-expect-error there is no such size
    recorder.constant("blend", "TILE");
  }
  expect(misspelt).toBeTypeOf("function");
});
