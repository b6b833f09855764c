// A training step on the GPU beside the same step on WASM: what it takes, what it sends and what it starts.

import { spawnSync } from "node:child_process";
import { vulkanEnvironment } from "../scripts/vulkan.ts";
import { type FoundAdapter, findAdapter, NoGpu, requestDevice } from "../src/backend/adapter.ts";
import type { Backend } from "../src/backend/backend.ts";
import { wasmBackend } from "../src/backend/wasm.ts";
import { webGpuBackend } from "../src/backend/webgpu/backend.ts";
import { createCore } from "../src/core/index.ts";
import { Bound } from "../src/parts/svgp/bound.ts";
import { allocateParameters, type LabelledBatch, type ModelShape, parameterNames } from "../src/parts/svgp/shape.ts";
import { type DeviceWork, workOn } from "../test/support/devices.ts";
import { type BenchOptions, clocked, clockedAsync, report } from "./harness.ts";
import { randomMatrix, textLikeCsr } from "./problems.ts";

const POSITIVES = 5;
const WORDS_A_ROW = 60;

const forms = [
  { posterior: "shared", mean: "features", inducing: "free", sampled: 0 },
  { posterior: "shared", mean: "inducing", inducing: "subspace", sampled: 0 },
  { posterior: "perFactor", mean: "inducing", inducing: "subspace", sampled: 0 },
  { posterior: "shared", mean: "features", inducing: "free", sampled: 20 },
] as const;

/** A software adapter does about a GFLOP/s. */
const sizesOf = (software: boolean): Omit<ModelShape, "posterior" | "mean" | "inducing"> => ({
  points: software ? 1000 : 10_000,
  features: software ? 1000 : 5000,
  labels: software ? 400 : 4000,
  factors: software ? 10 : 30,
  inducingPoints: software ? 64 : 500,
  rank: software ? 100 : 1000,
  batch: software ? 64 : 500,
  kernel: "linear",
  minSigma: 1e-6,
  quadrature: "closed",
});

/** One step: a batch goes up, the bound's gradient, Adam for every parameter. */
function makeStep(backend: Backend, shape: ModelShape, sampled: number): () => void {
  const { points, batch: size, labels, rank } = shape;
  const parameters = allocateParameters(backend, shape);
  const moments = [allocateParameters(backend, shape), allocateParameters(backend, shape)] as const;
  parameterNames.forEach((name, i) => {
    const { rows, columns } = parameters[name];
    const values = randomMatrix(rows, columns, i + 1).map((value) => value / 20);
    if (name !== "logSigma" && name !== "hyper") backend.write(parameters[name], values);
  });
  backend.fill(parameters.bias, -5);
  const data = textLikeCsr(points, shape.features, WORDS_A_ROW);
  const x = backend.sparse(data);
  const rows = backend.indices(size);
  const squares = backend.tensor(1, size);
  backend.fill(squares, 1);
  const projected = backend.tensor(
    size,
    rank,
    randomMatrix(size, rank, 9).map((value) => value / Math.sqrt(rank)),
  );
  const bound = new Bound(backend, shape);
  let step = 0;
  return () => {
    const first = (step * size) % (points - size + 1);
    backend.writeIndices(
      rows,
      Int32Array.from({ length: size }, (_, i) => first + i),
    );
    const perRow = POSITIVES + sampled;
    const lists = {
      rowStart: Int32Array.from({ length: size + 1 }, (_, i) => i * perRow),
      labelIndex: Int32Array.from({ length: size * perRow }, (_, e) => (e * 7 + step) % labels),
    };
    const batch: LabelledBatch = { x, rows, projected, squares, labels: lists };
    const listed = sampled > 0 ? backend.pattern(labels, lists) : undefined;
    const weights = listed && randomMatrix(1, listed.entries, 5);
    if (listed && weights) batch.labels = { pattern: listed, signedWeight: weights };
    bound.evaluate(parameters, batch, { klWeight: 1, learnInducing: true, learnHyper: false });
    step++;
    for (const name of parameterNames) {
      const state = { first: moments[0][name], second: moments[1][name] };
      if (name !== "hyper") backend.adam(parameters[name], bound.gradient[name], state, { rate: 1e-3, step });
    }
    if (listed) backend.free(listed);
    backend.flush?.();
  };
}

/** What one step asks of a device of its own, once everything that can be kept is there. */
async function stepCosts(shape: ModelShape, sampled: number): Promise<Record<string, number>> {
  const device = await requestDevice((await findAdapter()) as FoundAdapter);
  const work: () => DeviceWork = workOn(device);
  const run = makeStep(await webGpuBackend(device), shape, sampled);
  for (let i = 0; i < 3; i++) run();
  const before = work();
  const rounds = 10;
  for (let i = 0; i < rounds; i++) run();
  const after = work();
  const each = (name: keyof typeof before): number => (after[name] - before[name]) / rounds;
  device.destroy();
  return {
    buffers: after.count,
    bytes: after.bytes,
    dispatches: each("dispatches"),
    submits: each("submits"),
    uploadedBytes: each("uploadedBytes"),
    readBytes: each("readBytes"),
    newBuffers: each("count"),
  };
}

/** Where there is no GPU: once more with Chromium's software adapter, which a process must be started for. */
function onSwiftShader(): boolean {
  const environment = vulkanEnvironment();
  if (process.env.VK_ICD_FILENAMES !== undefined || environment.VK_ICD_FILENAMES === undefined) return false;
  const args = ["scripts/ts.mjs", "bench/index.ts", ...process.argv.slice(2)];
  const options = { stdio: "inherit", env: { ...process.env, ...environment } } as const;
  return spawnSync(process.execPath, args, options).status === 0;
}

export async function gpuBench(options: BenchOptions): Promise<void> {
  const found = await findAdapter();
  if (found instanceof NoGpu) {
    if (onSwiftShader()) return;
    console.log(`nothing to measure: ${found.why}`);
    return;
  }
  console.log(
    `adapter: ${found.name}${found.software ? " (software: these times say nothing about a GPU; sizes are small)" : ""}`,
  );
  for (const { sampled, ...form } of forms) {
    const shape: ModelShape = { ...sizesOf(found.software), ...form };
    // An adapter gives one device only.
    const device = await requestDevice((await findAdapter()) as FoundAdapter);
    const backend = await webGpuBackend(device);
    const core = await createCore({ threads: 1 });
    const run = makeStep(backend, shape, sampled);
    const onWasm = makeStep(wasmBackend(core, "f32"), shape, sampled);
    const costs = await stepCosts(shape, sampled);
    await report(
      {
        name:
          `step, ${form.posterior}, mean through ${form.mean}, ${sampled > 0 ? `${sampled} sampled labels` : "all labels"}, ` +
          `M = ${shape.inducing}, B = ${shape.batch}, P = ${shape.factors}, K = ${shape.labels}`,
        contenders: [
          {
            name: "webgpu",
            run: clockedAsync(async () => {
              run();
              await device.queue.onSubmittedWorkDone();
            }),
          },
          { name: "wasm, one thread", run: clocked(onWasm) },
        ],
        note: () => costs,
      },
      options,
    );
    backend.dispose();
    device.destroy();
    core.dispose();
  }
}
