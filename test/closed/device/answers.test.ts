// The closed form with its heavy parts on a device: the same answers on each.

import { describe, expect, test } from "vitest";
import { openDevice } from "../../../src/backend/devices.ts";
import { WebGpuBackend } from "../../../src/backend/webgpu/backend.ts";
import { closedCases } from "../../../src/closed/cases.ts";
import { closedOn } from "../../../src/closed/device/closed.ts";
import type { ExactOptions } from "../../../src/closed/exact.ts";
import { type InducingInputs, inducingFeatures } from "../../../src/closed/inducing.ts";
import { closedForms, worstClosedErrors } from "../../../src/closed/selfcheck.ts";
import { type Core, matrixFrom, type Precision, type Scope, scoped } from "../../../src/core/index.ts";
import { type ShaderName, shaders } from "../../../src/generated/shaders.ts";
import { isClosed, type TrainedModel } from "../../../src/model/model.ts";
import { difference, type Rows, transposed } from "../../../src/model/rows.ts";
import { train } from "../../../src/train/train.ts";
import { hasGpu, sharedDevice } from "../../support/backends.ts";
import { Placed, randomProblem, unit } from "../../support/closed.ts";
import {
  closedKinds,
  exactNumbers,
  expectClose,
  oneThread,
  ridgeNumbers,
  sparseNumbers,
  withClosedDevice,
} from "../../support/closeddevices.ts";
import { withCore } from "../../support/cores.ts";
import { topicData } from "../../support/problems.ts";
import { tinyData } from "../../support/training.ts";

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
  "no variances": { noise: 0.3, kernel: { name: "se" }, variances: false },
};

/** Inducing inputs of each kind. */
const inducingInputs: Record<string, (core: Core, precision: Precision, scope: Scope) => InducingInputs> = {
  "some of the points": (core, precision, scope) => ({
    points: new Placed(core, precision, larger.X.slice(0, 20), larger.Y.slice(0, 20), scope).points,
  }),
  "dense ones": (core, precision, scope) => ({
    inputs: given(core, precision, larger.X.slice(40, 60).map(unit), scope),
  }),
  "ones in a subspace": (core, precision, scope) => ({
    basis: given(core, precision, transposed(larger.V), scope),
    inputs: given(core, precision, larger.Z, scope),
  }),
};
const given = (core: Core, precision: Precision, rows: Rows, scope: Scope) =>
  scope.keep(matrixFrom(core, rows.length, (rows[0] as number[]).length, rows.flat(), precision));

for (const kind of closedKinds) {
  describe(`closed form on ${kind.name}`, () => {
    for (const problem of closedCases) {
      for (const [form, errorsOf] of Object.entries(closedForms)) {
        test(`${form} form of "${problem.name}" has the reference values`, async () => {
          await withClosedDevice(kind, async (core, device, { backend }) => {
            const errors = await errorsOf(core, backend.precision, problem, device);
            for (const [name, error] of Object.entries(errors))
              expect(error, name).toBeLessThan(kind.tolerance);
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

    for (const [name, inputs] of Object.entries(inducingInputs)) {
      test(`many points have the core's features and sums (inducing inputs: ${name})`, async () => {
        await withClosedDevice(kind, async (core, device, { backend: { precision } }) => {
          await scoped(async (scope) => {
            const placed = new Placed(core, precision, larger.X, larger.Y, scope);
            const z = inputs(core, precision, scope);
            const inducing = scope.keep(await inducingFeatures(z, { name: "se" }));
            const expected = await sparseNumbers(core, placed, { inducing, linear: true });
            const found = await sparseNumbers(core, placed, { inducing, linear: true, device });
            expectClose(found, expected, kind.tolerance);
          });
        });
      });
    }
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
    test.skipIf(!hasGpu)(`shows in the kernel matrix and the dual weights (${shader})`, async () => {
      const source = shaders[shader].source;
      expect(source).toContain(right);
      const gpu = await sharedDevice();
      const faulty = await WebGpuBackend.create(gpu, { [shader]: source.replace(right, wrong) });
      await withCore(oneThread, async (core) => {
        const opened = await openDevice(core, gpu, "f32");
        const device = closedOn({ ...opened, backend: faulty }, () => {});
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
    exact: { data: tinyData, options: { likelihood: "gaussian", threads: 1 } },
    linear: {
      data: topicData({ points: 2300, features: 60, labels: 10 }, 7),
      options: { ...fast, likelihood: "both" },
    },
  } as const;

  for (const [form, { data, options }] of Object.entries(ways)) {
    test.skipIf(!hasGpu)(`in closed form gives the core's model (${form})`, async () => {
      const device = await sharedDevice();
      const numbersOf = (model: TrainedModel): Float32Array => {
        if (!isClosed(model) || model.closed.form !== form) throw new Error(`expected the ${form} form`);
        return model.closed.form === "linear" ? model.closed.weights : model.closed.dual;
      };
      const onCore = await train(data, options);
      const onGpu = await train(data, { ...options, device });
      expect(onGpu.summary.device).toContain("GPU");
      expect(difference([[...numbersOf(onGpu)]], [[...numbersOf(onCore)]])).toBeLessThan(1e-4);
    });
  }
});
