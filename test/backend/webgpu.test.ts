// What only the GPU backend has: shaders that are valid on any device, buffers that are kept and not lost, a start-up
// check that finds a device which computes wrong.
// @module-tag long

import { describe, expect, test } from "vitest";
import { type WasmBackend, wasmBackend } from "../../src/backend/wasm.ts";
import { type WebGpuBackend, webGpuBackend } from "../../src/backend/webgpu/backend.ts";
import { checkShaders } from "../../src/backend/webgpu/check.ts";
import type { GpuTensor } from "../../src/backend/webgpu/tensors.ts";
import { createCore } from "../../src/core/index.ts";
import { type ShaderName, shaders } from "../../src/generated/shaders.ts";
import { Bound } from "../../src/parts/svgp/bound.ts";
import { allocateParameters, type ModelShape, type Parameters, parameterNames } from "../../src/parts/svgp/shape.ts";
import { sharedDevice, withGpu } from "../support/backends.ts";
import { flatErrors } from "../support/boundcheck.ts";
import { boundCases } from "../support/cases.ts";
import { countBuffers, workOn } from "../support/devices.ts";
import { randomNumbers } from "../support/numbers.ts";

const names = Object.keys(shaders) as ShaderName[];

/** One wrong number in each shader. */
const faults: Record<ShaderName, [string, string]> = {
  adam: ["p.beta1 * first", "0.99 * p.beta1 * first"],
  addDiagonal: ["out[at] + x", "out[at] - x"],
  blend: ["value += p.beta", "value -= p.beta"],
  cholesky: ["sum -= left[local * WIDTH + j]", "sum += left[local * WIDTH + j]"],
  columnSums: ["i += LANES", "i += LANES + 1u"],
  combine: ["value = a - b", "value = b - a"],
  covariance: ["value += stationary", "value -= stationary"],
  covarianceGradient: ["change * distance", "change * change"],
  diagonal: ["i * (p.size + 1u)", "i * p.size"],
  fill: ["= p.value", "= p.value + 1e-3"],
  gatherRows: ["i % p.columns", "(i + 1u) % p.columns"],
  gemm: ["sum2 += l.z", "sum2 += l.w"],
  likelihood: ["p.scale * e.slope", "p.scale * e.value"],
  logDeterminant: ["2.0 * total", "2.001 * total"],
  map: ["value = logOf(a)", "value = logOf(a) + 1e-3"],
  markRows: ["following[last] = j + 1u", "following[last] = 0u"],
  patternTransposeTimes: ["out[at] + sum", "sum"],
  probability: ["closedExpectation(meanAt(i)", "closedExpectation(-meanAt(i)"],
  rowSums: ["partial[local + half * stride]", "partial[local]"],
  sampledProducts: ["j += LANES", "j += LANES + 1u"],
  solveLower: ["sum -= left[r * WIDTH + j]", "sum -= right[r * WIDTH + j]"],
  sparseTimes: ["sum += values", "sum = values"],
  sparseTransposeTimes: ["sum += value[k]", "sum -= value[k]"],
  transpose: ["tile[local.x][local.y]", "tile[local.y][local.x]"],
};

async function withReference(body: (reference: WasmBackend) => Promise<void>): Promise<void> {
  const core = await createCore({ threads: 1 });
  await body(wasmBackend(core, "f32"));
  core.dispose();
}

describe("shaders", () => {
  test("compile without a word on a device with default limits, and ask for no feature", async () => {
    const device = await sharedDevice();
    expect([device.limits.maxStorageBuffersPerShaderStage, device.limits.maxComputeWorkgroupStorageSize]).toEqual([
      8, 16384,
    ]);
    for (const name of names) {
      const { source } = shaders[name];
      expect(source, name).not.toContain("enable ");
      expect(source, name).not.toContain("requires ");
      device.pushErrorScope("validation");
      const info = await device.createShaderModule({ code: source }).getCompilationInfo();
      expect(
        info.messages.map(({ message }) => message),
        name,
      ).toEqual([]);
      expect(await device.popErrorScope(), name).toBe(null);
    }
  });

  test("pass the start-up check", async () => {
    await withGpu((backend) => withReference((reference) => checkShaders(backend, reference)));
  });

  test("a wrong one is refused by its name, whichever it is", async () => {
    const device = await sharedDevice();
    await withReference(async (reference) => {
      for (const name of names) {
        const [right, wrong] = faults[name];
        const { source } = shaders[name];
        expect(source, name).toContain(right);
        const backend = await webGpuBackend(device, { [name]: source.replace(right, wrong) });
        let message = "";
        await checkShaders(backend, reference).catch((error: Error) => {
          message = error.message;
        });
        expect(message).toMatch(new RegExp(`^shader .*\\b${name}\\b.*: found `));
        backend.dispose();
      }
    });
  });

  test("one that does not compile is refused by its name", async () => {
    const device = await sharedDevice();
    let message = "";
    await webGpuBackend(device, { gemm: `${shaders.gemm.source}\nnonsense` }).catch((error: Error) => {
      message = error.message;
    });
    expect(message).toContain("shader gemm: found ");
  });
});

/** A little of everything, with tensors that come and go. */
function work(backend: WebGpuBackend, length: number): GpuTensor {
  const a = backend.tensor(length, 20, randomNumbers(20 * length, length));
  const b = backend.tensor(20, length);
  const out = backend.tensor(length, length);
  backend.transpose(a, b);
  backend.gemm(a, b, out);
  backend.combine("multiply", out, backend.rowRange(out, 0, 1), out);
  backend.free(a, b);
  return out;
}

const STEP: ModelShape = {
  points: 30,
  features: 12,
  labels: 9,
  factors: 3,
  inducingPoints: 5,
  rank: 0,
  batch: 8,
  kernel: "linear",
  inducing: "free",
  posterior: "perFactor",
  mean: "features",
  minSigma: 1e-6,
  quadrature: "closed",
};

/** One step after another: a batch goes up, the bound's gradients, Adam. */
function trainingStep(backend: WebGpuBackend): () => void {
  const { points, features, batch: size, labels } = STEP;
  const [parameters, first, second] = [0, 1, 2].map(() => allocateParameters(backend, STEP)) as Parameters[];
  const x = backend.sparse({
    rows: points,
    columns: features,
    rowStart: Int32Array.from({ length: points + 1 }, (_, i) => i),
    columnIndex: Int32Array.from({ length: points }, (_, i) => i % features),
    values: new Float32Array(points).fill(1),
  });
  const rows = backend.indices(size);
  const squares = backend.tensor(1, size, new Float32Array(size).fill(1));
  const bound = new Bound(backend, STEP);
  let step = 0;
  return () => {
    step++;
    backend.writeIndices(
      rows,
      Int32Array.from({ length: size }, (_, i) => (i * step) % points),
    );
    const lists = {
      rowStart: Int32Array.from({ length: size + 1 }, (_, i) => i),
      labelIndex: Int32Array.from({ length: size }, (_, i) => (i + step) % labels),
    };
    const options = { klWeight: 1, learnInducing: true, learnHyper: true };
    bound.evaluate(parameters as Parameters, { x, rows, squares, labels: lists }, options);
    for (const name of parameterNames) {
      const [p, m, v] = [parameters, first, second].map((one) => (one as Parameters)[name]);
      backend.adam(p, bound.gradient[name], { first: m, second: v }, { rate: 0.01, step });
    }
    backend.flush();
  };
}

describe("the GPU's memory", () => {
  test("repeated work makes no new buffer and uploads only its data", async () => {
    await withGpu(async (backend) => {
      const round = async (): Promise<void> => {
        for (let i = 0; i < 30; i++) {
          backend.free(work(backend, 20 + (i % 10)));
          backend.flush();
        }
      };
      await round();
      const seen = workOn(backend.device);
      const { count, bytes, uploadedBytes } = seen();
      await round();
      await round();
      expect(seen()).toMatchObject({ count, bytes });
      const data = 3 * 2 * Array.from({ length: 10 }, (_, i) => 4 * 20 * (20 + i)).reduce((sum, x) => sum + x, 0);
      expect(seen().uploadedBytes - uploadedBytes).toBe(data);
    });
  });

  test("the bound, over and over, makes no new buffer", async () => {
    await withGpu(async (backend) => {
      const evaluate = async (): Promise<void> => {
        for (const problem of boundCases) await flatErrors(backend, problem, "closed");
      };
      await evaluate();
      const seen = countBuffers(backend.device);
      const before = seen();
      await evaluate();
      expect(seen()).toEqual(before);
    });
  });

  test("a training step is one submission: its batch goes up, nothing comes down, no buffer is made", async () => {
    await withGpu(async (backend) => {
      const step = trainingStep(backend);
      for (let i = 0; i < 3; i++) step();
      const seen = workOn(backend.device);
      const before = seen();
      step();
      const { count, bytes, submits, readBytes, uploadedBytes } = seen();
      expect([count, bytes, readBytes]).toEqual([before.count, before.bytes, before.readBytes]);
      expect(submits - before.submits).toBe(1);
      // Rows, starts of lists and labels; the step's length, new each time, for each parameter.
      const adamFields = 11;
      expect(uploadedBytes - before.uploadedBytes).toBeLessThan(4 * (STEP.batch * 3 + 1 + 6 * adamFields) + 1);
    });
  });

  test("what is written between operations is seen by those that follow, and by no earlier one", async () => {
    await withGpu(async (backend) => {
      const x = backend.tensor(1, 1);
      const sum = backend.tensor(1, 1);
      for (let i = 1; i <= 5; i++) {
        backend.write(x, [i]);
        backend.blend(10, sum, 1, x, sum);
      }
      expect([...(await backend.read(sum))]).toEqual([12345]);
      backend.free(x, sum);
    });
  });

  test("a new tensor is zero, whatever its buffer held before", async () => {
    await withGpu(async (backend) => {
      for (let i = 0; i < 3; i++) {
        const x = backend.tensor(5, 5);
        expect((await backend.read(x)).every((value) => value === 0)).toBe(true);
        backend.fill(x, 7);
        backend.free(x);
        const rows = backend.indices(25);
        const table = backend.tensor(2, 1, [1, 2]);
        const out = backend.tensor(25, 1);
        backend.gatherRows(table, rows, out);
        expect((await backend.read(out)).every((value) => value === 1)).toBe(true);
        backend.free(rows, table, out);
      }
    });
  });

  test("a tensor larger than the device can hold is an error that says what would fit", async () => {
    await withGpu(async (backend) => {
      const { maxBufferSize } = backend.device.limits;
      const rows = Math.floor(maxBufferSize / 4) + 1;
      expect(() => backend.tensor(rows, 1)).toThrow(`expected at most ${maxBufferSize} bytes`);
    });
  });

  test("a tensor larger than a binding is worked on in blocks of rows", async () => {
    await withGpu(async (backend) => {
      const most = backend.device.limits.maxStorageBufferBindingSize;
      const columns = 4099;
      const rows = Math.floor(most / 4 / columns) + 40;
      const x = backend.tensor(rows, columns);
      const row = backend.tensor(1, columns);
      const sums = backend.tensor(rows, 1);
      backend.fill(row, 0.5);
      backend.combine("add", x, row, x);
      backend.rowSums(x, sums);
      expect((await backend.read(sums)).every((value) => value === 0.5 * columns)).toBe(true);
      for (const at of [0, rows - 1])
        expect((await backend.read(backend.rowRange(x, at, at + 1))).every((value) => value === 0.5)).toBe(true);
      expect(() => backend.columnSums(x, row)).toThrow(`expected at most ${most}, which this device can bind`);
      backend.free(x, row, sums);
    });
  });

  test("numbers in memory that threads share arrive as they are", async () => {
    await withGpu(async (backend) => {
      const values = new Float32Array(new SharedArrayBuffer(16));
      values.set([1, 2, 3, 4]);
      const x = backend.tensor(1, 4, values);
      expect([...(await backend.read(x))]).toEqual([1, 2, 3, 4]);
      backend.free(x);
    });
  });

  test("dispose frees the buffers and leaves the device alone", async () => {
    const device = await sharedDevice();
    const left = countBuffers(device);
    const before = left();
    const backend = await webGpuBackend(device);
    work(backend, 30);
    backend.dispose();
    expect(left()).toEqual(before);
    const again = await webGpuBackend(device);
    const out = work(again, 3);
    expect((await again.read(out)).length).toBe(9);
    again.dispose();
  });
});
