// What a device cannot do of the closed form is done on the core, and it is said once why.

import { describe, expect, test } from "vitest";
import { type OpenDevice, openDevice } from "../../../../src/backend/devices.ts";
import { matrixFrom, scoped } from "../../../../src/core/index.ts";
import { type ExactOptions, fitExact } from "../../../../src/parts/gpr/exact.ts";
import { ClosedDevice } from "../../../../src/parts/regression/device.ts";
import { inducingFeatures } from "../../../../src/parts/regression/inducing.ts";
import { featuresOf } from "../../../../src/parts/regression/sparse.ts";
import { Placed, randomProblem } from "../../../support/closed.ts";
import {
  closedKinds,
  exactNumbers,
  expectClose,
  oneThread,
  ridgeNumbers,
  sparseNumbers,
  withClosedDevice,
} from "../../../support/closeddevices.ts";
import { withCore } from "../../../support/cores.ts";
import { newDevice } from "../../../support/devices.ts";
import { difference } from "../../../support/lists.ts";

const se: ExactOptions = { noise: 0.3, kernel: { name: "se" } };

/** A device whose backend tells `heard` of each operation before it is done. */
function watched(device: OpenDevice, heard: (operation: PropertyKey) => void): OpenDevice {
  const backend = new Proxy(device.backend, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === "free") return value;
      return (...given: unknown[]) => {
        heard(name);
        return value.apply(target, given);
      };
    },
  });
  return { ...device, backend };
}

describe("parts that a device cannot do", () => {
  const f32 = closedKinds[0];
  const wide = randomProblem(9, { points: 60, features: 120, labels: 3, rank: 4, inducing: 5 });
  const narrow = randomProblem(9, { points: 60, features: 7, labels: 3, rank: 4, inducing: 5 });

  /** Both forms, twice each, are the core's on a device that was changed. */
  async function expectAnswers(
    { X, Y }: Pick<typeof wide, "X" | "Y">,
    change: (device: OpenDevice) => OpenDevice,
  ): Promise<string[]> {
    const notes: string[] = [];
    await withCore(oneThread, (core) =>
      scoped(async (scope) => {
        const opened = await f32.open(core);
        const device = new ClosedDevice(change(opened), (text) => notes.push(text));
        const placed = new Placed(core, "f32", X, Y, scope);
        const z = new Placed(core, "f32", X.slice(10, 20), Y.slice(10, 20), scope);
        const inducing = scope.keep(await inducingFeatures(z.points, { name: "se" }));
        const posterior = await exactNumbers(placed, se);
        const sums = await sparseNumbers(core, placed, inducing);
        const ridge = await ridgeNumbers(placed, true);
        for (let i = 0; i < 2; i++) {
          expectClose(await exactNumbers(placed, { ...se, device }), posterior, f32.tolerance);
          expectClose(await sparseNumbers(core, placed, inducing, device), sums, f32.tolerance);
          expectClose(await ridgeNumbers(placed, true, device), ridge, f32.tolerance);
        }
        opened.dispose();
      }),
    );
    return notes;
  }

  /** The same on a device that takes tensors of so many numbers; what it was asked for. */
  async function within(problem: typeof wide, numbers: number) {
    const used = new Set<PropertyKey>();
    const notes = await expectAnswers(problem, (device) => ({
      ...watched(device, (operation) => used.add(operation)),
      largestTensor: 4 * numbers,
    }));
    return { notes, used };
  }

  for (const failing of ["sparseTimes", "covariance", "factorise", "syrk", "gemm"]) {
    test(`whatever follows an operation that failed (${failing}), which is said once`, async () => {
      const notes = await expectAnswers(narrow, (device) =>
        watched(device, (operation) => {
          if (operation === failing) throw new Error("it is too hot");
        }),
      );
      expect(notes).toHaveLength(1);
      expect(notes[0]).toMatch(/ computed on WASM, as is all that follows: it is too hot$/);
    });
  }

  test("the weights of labels, where their product with the inverse failed", async () => {
    await withCore(oneThread, (core) =>
      scoped(async (scope) => {
        const placed = new Placed(core, "f32", narrow.X, narrow.Y, scope);
        for (const inverse of [true, false]) {
          const opened = await f32.open(core);
          const hot = watched(opened, (operation) => {
            if (operation === "gemm") throw new Error("it is too hot");
          });
          const notes: string[] = [];
          const device = new ClosedDevice(hot, (text) => notes.push(text));
          const found = await ridgeNumbers(placed, inverse, device);
          expect(found).toEqual(await ridgeNumbers(placed, inverse));
          expect(notes).toEqual([
            "products with the inverse are computed on WASM, as is all that follows: it is too hot",
          ]);
          opened.dispose();
        }
      }),
    );
  });

  test("a matrix that is too large: the device makes kernel rows and the core the rest, which is said once", async () => {
    const { notes, used } = await within(narrow, 1000);
    expect(notes).toEqual([
      "the factorisation is computed on WASM: 14400 bytes of a matrix are more than the 4000 that the GPU takes",
    ]);
    expect(used).toContain("covariance");
    // Factorised are only the seven features of the linear form; C of the exact form is the core's.
    expect(used).not.toContain("diagonal");
  });

  test("rows that are too large: the device multiplies what the core gives it", async () => {
    const { notes, used } = await within(wide, 3700);
    const [rows, features, ...more] = notes;
    expect(rows).toMatch(/^kernel rows are computed on WASM: \d+ bytes of the rows are more than the 14800/);
    expect(features).toMatch(/^kernel features are computed on WASM: \d+ bytes of a tensor are more than/);
    expect(more).toEqual([
      "the factorisation is computed on WASM: 57600 bytes of a matrix are more than the 14800 that the GPU takes",
    ]);
    expect(used).toContain("factorise");
    expect(used).toContain("syrk");
    expect(used).not.toContain("covariance");
  });

  test("all of it: the core computes, and says of each part why", async () => {
    const { notes, used } = await within(wide, 5);
    expect(notes.map((text) => text.split(" computed")[0])).toEqual([
      "kernel rows are",
      "the factorisation is",
      "kernel features are",
      "products of kernel features are",
    ]);
    expect([...used]).toEqual([]);
  });

  for (const kind of closedKinds) {
    test(`a matrix that is not positive definite, or only with a greater diagonal, on ${kind.name}`, async () => {
      await withClosedDevice(kind, async (core, device) => {
        for (const values of [
          [1, 2, 2, 1],
          [1, 1, 1, 1],
        ]) {
          const a = matrixFrom(core, 2, 2, values, device.precision);
          expect(await device.invert(a, {})).toBe(undefined);
          expect([...a.toArray()]).toEqual(values);
          a.free();
        }
      });
    });

    test(`work that was cancelled, on ${kind.name}: nobody goes on with it`, async () => {
      await withClosedDevice(kind, async (core, device, { backend: { precision } }) => {
        await scoped(async (scope) => {
          const { points, labels } = new Placed(core, precision, narrow.X, narrow.Y, scope);
          const cancelled = new AbortController();
          const onProgress = ({ stage }: { stage: string }): void => {
            if (stage === "dual weights") cancelled.abort(new Error("stop"));
          };
          const options = { ...se, device, onProgress, signal: cancelled.signal };
          await expect(fitExact(points, labels, { ...options, by: "inverse" })).rejects.toThrow("stop");
        });
      });
    });
  }

  test("points in another precision than its own", async () => {
    const note = "kernel rows are computed on WASM: the device computes in f32, and the numbers are in f64";
    await withClosedDevice(
      f32,
      async (core, device) => {
        await scoped(async (scope) => {
          const placed = new Placed(core, "f64", narrow.X, narrow.Y, scope);
          const options = { ...se, by: "factor" } as const;
          const found = await exactNumbers(placed, { ...options, device });
          expectClose(found, await exactNumbers(placed, options), 1e-12);
        });
      },
      [note],
    );
  });

  test("anything, once it is lost: the core computes, which is said once", { tags: "long" }, async () => {
    await withCore(oneThread, (core) =>
      scoped(async (scope) => {
        const gpu = await newDevice();
        const opened = await openDevice(core, gpu, "f32");
        const notes: string[] = [];
        const device = new ClosedDevice(opened, (text) => notes.push(text));
        const placed = new Placed(core, "f32", narrow.X, narrow.Y, scope);
        const inducing = scope.keep(await inducingFeatures(placed.points, { name: "se" }));
        // Lost in the middle of a walk: what was made before stays.
        let blocks = 0;
        const walk = featuresOf(inducing, placed.points, device);
        const ranges = [
          { from: 0, to: 30 },
          { from: 30, to: 60 },
        ];
        const phis: number[] = [];
        await walk.forBlocks(
          "",
          ({ f }) => {
            phis.push(...f.toArray());
            if (blocks++ === 0) gpu.destroy();
          },
          { ranges },
        );
        const { phi } = await sparseNumbers(core, placed, inducing);
        expect(difference([phis], [phi as number[]])).toBeLessThan(1e-4);
        const found = await exactNumbers(placed, { ...se, device });
        expectClose(found, await exactNumbers(placed, se), 1e-4);
        expect(notes).toHaveLength(1);
        expect(notes[0]).toMatch(/^kernel features are computed on WASM, as is all that follows: the GPU was lost/);
        opened.dispose();
      }),
    );
  });
});
