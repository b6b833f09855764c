// The exact form with its inverses on a GPU: the same answers, and the core where the GPU cannot.

import { describe, expect, test } from "vitest";
import { openDevice } from "../../src/backend/devices.ts";
import { closedCases } from "../../src/closed/cases.ts";
import { inverseOn } from "../../src/closed/device.ts";
import { exactErrors } from "../../src/closed/selfcheck.ts";
import { type Core, createCore, matrix } from "../../src/core/index.ts";
import { isClosed } from "../../src/model/model.ts";
import { train } from "../../src/train/train.ts";
import { hasGpu, sharedDevice } from "../support/backends.ts";
import { newDevice } from "../support/devices.ts";
import { generator } from "../support/numbers.ts";
import { tinyData } from "../support/training.ts";

/** A positive definite matrix in its lower triangle; what stands above is nothing to anybody. */
function square(core: Core, n: number) {
  const next = generator(5);
  const values = Float32Array.from({ length: n * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    return i === j ? 3 : j < i ? (next() - 0.5) / Math.sqrt(n) : 99;
  });
  return matrix(core, n, n, "f32").set(values);
}

async function withCore(body: (core: Core) => Promise<void>): Promise<void> {
  const core = await createCore({ threads: 1 });
  try {
    await body(core);
  } finally {
    core.dispose();
  }
}

describe("inverses on a GPU", () => {
  test.skipIf(!hasGpu)("give the reference values of the exact form", async () => {
    await withCore(async (core) => {
      const device = await openDevice(core, await sharedDevice(), "f32");
      const notes: string[] = [];
      const inverse = inverseOn(device, (text) => notes.push(text));
      for (const problem of closedCases) {
        const errors = await exactErrors(core, "f32", problem, { inverse });
        for (const [name, error] of Object.entries(errors)) expect(error, name).toBeLessThan(1e-4);
      }
      expect(notes).toEqual([]);
      device.dispose();
    });
  });

  test.skipIf(!hasGpu)(
    "are those of the core, both triangles, also where a matrix has several panels",
    async () => {
      await withCore(async (core) => {
        const device = await openDevice(core, await sharedDevice(), "f32");
        for (const n of [1, 33, 300]) {
          const found = await inverseOn(device, () => {})(square(core, n));
          // What the core computes instead, for the device is taken for one of tiny matrices.
          const expected = await inverseOn({ ...device, largestTensor: 0 }, () => {})(square(core, n));
          const other = expected.toArray();
          const apart = found.toArray().map((value, at) => Math.abs(value - (other[at] as number)));
          expect(Math.max(...apart)).toBeLessThan(1e-6);
          found.free();
          expected.free();
        }
        device.dispose();
      });
    },
  );

  test.skipIf(!hasGpu)(
    "are computed on the core, and that is said once, where the matrix is too large or the GPU is lost",
    async () => {
      await withCore(async (core) => {
        const gpu = await newDevice();
        const device = await openDevice(core, gpu, "f32");
        const notes: string[] = [];
        const small = inverseOn({ ...device, largestTensor: 1000 }, (text) => notes.push(text));
        for (let i = 0; i < 2; i++) (await small(square(core, 20))).free();
        expect(notes).toEqual([
          "the inverse is computed on WASM: 1600 bytes of a matrix are more than the 1000 that the GPU takes",
        ]);
        gpu.destroy();
        await gpu.lost;
        const a = await inverseOn(device, () => {})(square(core, 4));
        expect(a.toArray().every(Number.isFinite)).toBe(true);
        a.free();
        device.dispose();
      });
    },
  );

  test.skipIf(!hasGpu)("train a model with the core's labels", async () => {
    const options = { likelihood: "gaussian", threads: 1 } as const;
    const onCore = await train(tinyData, options);
    const onGpu = await train(tinyData, { ...options, device: await sharedDevice() });
    if (!isClosed(onCore) || !isClosed(onGpu)) throw new Error("expected closed models");
    if (onCore.closed.form !== "exact" || onGpu.closed.form !== "exact")
      throw new Error("expected exact ones");
    expect(onGpu.summary.device).toContain("GPU");
    const other = onCore.closed.dual;
    const apart = onGpu.closed.dual.map((value, at) => Math.abs(value - (other[at] as number)));
    expect(Math.max(...apart)).toBeLessThan(1e-4);
  });
});
