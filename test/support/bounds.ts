// The bound at given parameters, for free inducing inputs: value and every gradient as plain arrays.

import { expect } from "vitest";
import type { Backend } from "../../src/backend/backend.ts";
import { type WasmBackend, wasmBackend } from "../../src/backend/wasm.ts";
import { createCore } from "../../src/core/index.ts";
import { Bound } from "../../src/parts/svgp/bound.ts";
import {
  allocateParameters,
  freeParameters,
  type GradientDraw,
  type ModelShape,
  type ParameterName,
  parameterNames,
} from "../../src/parts/svgp/shape.ts";
import { worst } from "./reference.ts";

export type ParameterValues = Record<ParameterName, number[]>;

/** The points of a batch in full, and the labels that each has. */
export interface BatchValues {
  X: number[][];
  labels: number[][];
  gradientDraw?: GradientDraw;
}

export async function boundAt(
  backend: Backend,
  shape: ModelShape,
  values: ParameterValues,
  { X, labels, gradientDraw }: BatchValues,
  klWeight = 1,
): Promise<{ bound: number; gradient: ParameterValues }> {
  const { batch, features } = shape;
  const x = backend.sparse({
    rows: batch,
    columns: features,
    rowStart: Int32Array.from({ length: batch + 1 }, (_, i) => i * features),
    columnIndex: Int32Array.from({ length: batch * features }, (_, e) => e % features),
    values: Float64Array.from(X.flat()),
  });
  const rows = backend.indices(batch);
  backend.writeIndices(rows, Int32Array.from(X.keys()));
  const lengths = X.map((row) => row.reduce((sum, value) => sum + value * value, 0));
  const squares = backend.tensor(1, batch, lengths);
  const rowStart = Int32Array.from({ length: batch + 1 }, (_, i) => labels.slice(0, i).flat().length);
  const parameters = allocateParameters(backend, shape);
  for (const name of parameterNames) backend.write(parameters[name], values[name]);
  const bound = new Bound(backend, shape);
  bound.evaluate(
    parameters,
    {
      x,
      rows,
      squares,
      labels: { rowStart, labelIndex: Int32Array.from(labels.flat()) },
      ...(gradientDraw && { gradientDraw }),
    },
    { klWeight, learnInducing: true, learnHyper: true },
  );
  const { dataTerm, divergence } = await bound.value();
  const gradient: Partial<ParameterValues> = {};
  for (const name of parameterNames) gradient[name] = Array.from(await backend.read(bound.gradient[name]));
  bound.free();
  freeParameters(backend, parameters);
  backend.free(x, rows, squares);
  return { bound: dataTerm - klWeight * divergence, gradient: gradient as ParameterValues };
}

/** Runs a test body with a backend in double precision, and fails if the body leaves memory behind. */
export async function withBackend(body: (backend: WasmBackend) => Promise<void>): Promise<void> {
  const core = await createCore({ threads: 1 });
  const backend = wasmBackend(core, "f64");
  const before = core.arena.used;
  await body(backend);
  backend.dispose();
  expect(core.arena.used).toBe(before);
  core.dispose();
}

/** Equal to `tolerance` of the greatest element. */
export function expectClose(
  found: ArrayLike<number>,
  wanted: ArrayLike<number>,
  what: string,
  tolerance = 1e-11,
): void {
  const scale = Math.max(...Array.from(wanted, Math.abs), 1e-3);
  expect(worst(found, wanted) / scale, what).toBeLessThan(tolerance);
}
