// The closed form with its heavy parts on a device: the same answers on each.

import { describe, expect, test } from "vitest";
import { openDevice } from "../../../../src/backend/devices.ts";
import { webGpuBackend } from "../../../../src/backend/webgpu/backend.ts";
import { scoped } from "../../../../src/core/index.ts";
import { type ShaderName, shaders } from "../../../../src/generated/shaders.ts";
import type { Model } from "../../../../src/model/model.ts";
import type { ExactOptions } from "../../../../src/parts/gpr/exact.ts";
import type { GprPart } from "../../../../src/parts/gpr/fit.ts";
import { ClosedDevice } from "../../../../src/parts/regression/device.ts";
import { inducingFeatures } from "../../../../src/parts/regression/inducing.ts";
import { train } from "../../../../src/train/train.ts";
import { sharedDevice } from "../../../support/backends.ts";
import { closedCases } from "../../../support/cases.ts";
import { Placed, randomProblem } from "../../../support/closed.ts";
import { closedForms, worstClosedErrors } from "../../../support/closedcheck.ts";
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
import { difference } from "../../../support/lists.ts";
import { topicData } from "../../../support/problems.ts";
import { tinyData } from "../../../support/training.ts";

/** More points than are made together, one of them a row of zeros. */
const sizes = { features: 30, labels: 5, rank: 6, inducing: 20 };
const large = randomProblem(7, { points: 300, ...sizes });
const larger = randomProblem(8, { points: 1100, ...sizes });

const exactWays: Record<string, ExactOptions> = {
  se: { noise: 0.3, kernel: { name: "se" } },
  "linear+matern52": {
    noise: 0.3,
    kernel: { name: "linear+matern52", lengthScale: 0.8, linearVariance: 0.4 },
  },
  "weighted points": {
    noise: 0.3,
    kernel: { name: "matern32" },
    weights: large.X.map((_, i) => 1 + (i % 3)),
  },
  "the factor": { noise: 0.3, kernel: { name: "se" }, by: "factor", leftOut: 50 },
};

for (const kind of closedKinds) {
  describe(`closed form on ${kind.name}`, () => {
    for (const problem of closedCases) {
      for (const [form, errorsOf] of Object.entries(closedForms)) {
        test(`${form} form of "${problem.name}" has the reference values`, async () => {
          await withClosedDevice(kind, async (core, device, { backend }) => {
            const errors = await errorsOf(core, backend.precision, problem, device);
            for (const [name, error] of Object.entries(errors)) expect(error, name).toBeLessThan(kind.tolerance);
          });
        });
      }
    }

    for (const [name, options] of Object.entries(exactWays)) {
      test(`many points have the core's exact posterior (${name})`, async () => {
        await withClosedDevice(kind, async (core, device, { backend }) => {
          await scoped(async (scope) => {
            const placed = new Placed(core, backend.precision, large.X, large.Y, scope);
            const expected = await exactNumbers(placed, options);
            const found = await exactNumbers(placed, { ...options, device });
            expectClose(found, expected, kind.tolerance);
          });
        });
      });
    }

    test("many points have the core's features and sums", async () => {
      await withClosedDevice(kind, async (core, device, { backend: { precision } }) => {
        await scoped(async (scope) => {
          const placed = new Placed(core, precision, larger.X, larger.Y, scope);
          const z = new Placed(core, precision, larger.X.slice(0, 20), larger.Y.slice(0, 20), scope);
          const inducing = scope.keep(await inducingFeatures(z.points, { name: "se" }));
          const expected = await sparseNumbers(core, placed, inducing);
          expectClose(await sparseNumbers(core, placed, inducing, device), expected, kind.tolerance);
        });
      });
    });
  });
}

/** More labels than are solved for together. */
const labelled = randomProblem(10, { points: 60, features: 12, labels: 300, rank: 3, inducing: 4 });

for (const kind of closedKinds) {
  test(`many labels have the core's weights on ${kind.name}`, async () => {
    await withClosedDevice(kind, async (core, device, { backend: { precision } }) => {
      await scoped(async (scope) => {
        const placed = new Placed(core, precision, labelled.X, labelled.Y, scope);
        const options = exactWays.se as ExactOptions;
        const found = await exactNumbers(placed, { ...options, device });
        expectClose(found, await exactNumbers(placed, options), kind.tolerance);
        for (const inverse of [true, false]) {
          const expected = await ridgeNumbers(placed, inverse);
          expectClose(await ridgeNumbers(placed, inverse, device), expected, kind.tolerance);
        }
      });
    });
  });
}

/** A wrong number in what makes kernel rows. */
const faults: [ShaderName, string, string][] = [
  ["sparseTimes", "sum += values", "sum = values"],
  ["patternTransposeTimes", "out[at] + sum", "out[at] - sum"],
  ["covariance", "value += stationary", "value += 1.001 * stationary"],
];

describe("a shader that is wrong", () => {
  for (const [shader, right, wrong] of faults) {
    test(`shows in the kernel matrix and the dual weights (${shader})`, { tags: "long" }, async () => {
      const source = shaders[shader].source;
      expect(source).toContain(right);
      const gpu = await sharedDevice();
      const faulty = await webGpuBackend(gpu, { [shader]: source.replace(right, wrong) });
      await withCore(oneThread, async (core) => {
        const opened = await openDevice(core, gpu, "f32");
        const device = new ClosedDevice({ ...opened, backend: faulty }, () => {});
        const worst = await worstClosedErrors(core, "f32", closedCases, device);
        expect(worst["exact (inverse): K"]).toBeGreaterThan(1e-4);
        expect(worst["exact (inverse): dual"]).toBeGreaterThan(1e-4);
        opened.dispose();
      });
      faulty.dispose();
    });
  }
});

describe("training on a GPU", () => {
  const fast = { factors: 2, inducingPoints: 4, rank: 4, batch: 1000, epochs: 1, threads: 1 } as const;
  const ways = {
    gpr: { data: tinyData, options: { model: "gpr", threads: 1 } },
    linear: {
      data: topicData({ points: 2300, features: 60, labels: 10 }, 7),
      options: { ...fast, model: "linear+svgp" },
    },
  } as const;

  for (const [family, { data, options }] of Object.entries(ways)) {
    test(`in closed form gives the core's model (${family})`, { tags: "long" }, async () => {
      const device = await sharedDevice();
      const numbersOf = ({ parts: [part] }: Model): Float32Array => {
        expect(part.family).toBe(family);
        return part.family === "linear" ? part.weights : (part as GprPart).dual;
      };
      const onCore = await train(data, options);
      const onGpu = await train(data, { ...options, device });
      expect(onGpu.summary.device).toContain("GPU");
      expect(difference([[...numbersOf(onGpu)]], [[...numbersOf(onCore)]])).toBeLessThan(1e-4);
    });
  }
});
