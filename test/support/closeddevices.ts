// Devices that the closed form is tested on: WASM in both precisions, through the same operations as a GPU, and the GPU.

import { expect } from "vitest";
import { type OpenDevice, openDevice } from "../../src/backend/devices.ts";
import { type Core, createCore, type Precision } from "../../src/core/index.ts";
import { type ExactOptions, fitExact } from "../../src/parts/gpr/exact.ts";
import { ClosedDevice } from "../../src/parts/regression/device.ts";
import type { InducingFeatures } from "../../src/parts/regression/inducing.ts";
import { solveRidge } from "../../src/parts/regression/ridge.ts";
import { featuresOf, learnPoints } from "../../src/parts/regression/sparse.ts";
import { PointSums, Statistics } from "../../src/parts/regression/totals.ts";
import { hasGpu, sharedDevice } from "./backends.ts";
import type { Placed } from "./closed.ts";
import { type CoreKind, withCore } from "./cores.ts";
import { difference, rowsOf } from "./lists.ts";

/** Devices that the same tests run on. */
export interface ClosedKind {
  name: string;
  precision: Precision;
  tolerance: number;
  open(core: Core): Promise<OpenDevice>;
}
export const closedKinds: readonly ClosedKind[] = [
  { name: "wasm f32", precision: "f32", tolerance: 1e-4, open: (core) => openDevice(core, "wasm", "f32") },
  { name: "wasm f64", precision: "f64", tolerance: 1e-9, open: (core) => openDevice(core, "wasm", "f64") },
  ...(hasGpu
    ? [
        {
          name: "webgpu",
          precision: "f32" as const,
          tolerance: 1e-4,
          open: async (core: Core) => openDevice(core, await sharedDevice(), "f32"),
        },
      ]
    : []),
];

export const oneThread: CoreKind = { name: "one thread", create: () => createCore({ threads: 1 }) };

/** Runs the body with a device; fails where that says something else, or where anything is left on the core. */
export async function withClosedDevice(
  kind: ClosedKind,
  body: (core: Core, device: ClosedDevice, opened: OpenDevice) => Promise<void>,
  expectedNotes: string[] = [],
): Promise<void> {
  await withCore(oneThread, async (core) => {
    const opened = await kind.open(core);
    const notes: string[] = [];
    await body(core, new ClosedDevice(opened, (text) => notes.push(text)), opened);
    expect(notes).toEqual(expectedNotes);
    opened.dispose();
  });
}

/** The exact form of points: a and C_ii. */
export async function exactNumbers(
  { points, labels }: Placed,
  options: ExactOptions,
): Promise<Record<string, number[]>> {
  const form = await fitExact(points, labels, { by: "inverse", ...options });
  const numbers = { dual: [...form.dual.toArray()], pivots: [...form.pivots.toArray()] };
  form.free();
  return numbers;
}

/** phi of all points, A and B' of all of them, and A of the last point alone. */
export async function sparseNumbers(
  core: Core,
  { points, labels }: Placed,
  inducing: InducingFeatures,
  device?: ClosedDevice,
): Promise<Record<string, number[]>> {
  const walk = featuresOf(inducing, points, device);
  const phis: number[] = [];
  await walk.forBlocks("", ({ f }) => void phis.push(...f.toArray()));
  const sums = new Statistics(core, { features: inducing.count, labels: labels.columns });
  await learnPoints(sums, walk, labels);
  // Sums grow with the points: they are compared in units of a point.
  const perPoint = (values: ArrayLike<number>): number[] => Array.from(values, (value) => value / points.rows);
  const gramOf = (): number[] =>
    perPoint(rowsOf(sums.gram.toArray(), sums.features).flatMap((row, i) => row.slice(0, i + 1)));
  const [gram, cross] = [gramOf(), perPoint(sums.cross.toArray())];
  await learnPoints(sums, walk, labels, { ranges: [{ from: 0, to: points.rows - 1 }], sign: -1 });
  const forgotten = gramOf();
  sums.free();
  return { phi: phis, gram, cross, forgotten };
}

/** W and C of the linear form, which is solved in the precision of its points. */
export async function ridgeNumbers(
  { points, labels }: Placed,
  inverse: boolean,
  device?: ClosedDevice,
): Promise<Record<string, number[]>> {
  const sums = new PointSums(points.x, labels);
  const { precision } = points.x;
  const way = { working: precision, inverse, device };
  const solution = await solveRidge(sums, { noise: 0.3 }, precision, way);
  const numbers = {
    weights: [...solution.weights.toArray()],
    inverse: [...(solution.inverse?.toArray() ?? [])],
  };
  solution.free();
  sums.free();
  return numbers;
}

export function expectClose(found: Record<string, number[]>, expected: Record<string, number[]>, most: number): void {
  for (const [name, values] of Object.entries(expected))
    expect(difference([found[name]], [values]), name).toBeLessThan(most);
}
