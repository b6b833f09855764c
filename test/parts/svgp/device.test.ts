// Training on a GPU: the same as on WASM up to rounding, without growth, and through the loss of the device.
// Opening a software GPU takes seconds (its shaders are compiled), so most tests share one.
// @module-tag long

import { describe, expect, test } from "vitest";
import { type OpenDevice, openDevice } from "../../../src/backend/devices.ts";
import { wasmBackend } from "../../../src/backend/wasm.ts";
import { joined } from "../../../src/base/safetensors.ts";
import { type Core, createCore } from "../../../src/core/index.ts";
import type { Dataset } from "../../../src/data/dataset.ts";
import type { TrainOptions } from "../../../src/parts/options.ts";
import type { Fit, ModelSchema } from "../../../src/parts/part.ts";
import type { StepProgress, TrainProgress } from "../../../src/parts/progress.ts";
import type { RunOptions } from "../../../src/parts/run.ts";
import { checkpointFromBytes } from "../../../src/parts/svgp/checkpoint.ts";
import { fitOn } from "../../../src/parts/svgp/fit.ts";
import { SvgpPredictor, uploadModel } from "../../../src/parts/svgp/predictor.ts";
import { Copies } from "../../../src/parts/svgp/session.ts";
import type { SvgpPart } from "../../../src/parts/svgp/shape.ts";
import { freePrepared, prepare } from "../../../src/parts/svgp/start.ts";
import { evaluatePredictor } from "../../../src/predict/evaluate.ts";
import { countBuffers, type LiveBuffers, newDevice, seeingDevices, works } from "../../support/devices.ts";
import { fitContext, modelDigest, tinyData, tinyOptions, tinyTraining, withFastClock } from "../../support/training.ts";

/** A software GPU takes 20 ms for the smallest of steps: all 2,000 in one runtime are enough. */
const PARTS = "Deno" in globalThis || "document" in globalThis ? 1 : 2;
const identity = { options: "", data: "" };

interface Shared {
  core: Core;
  wasm: OpenDevice;
  /** Given to the library, so that its buffers can be counted. */
  device: GPUDevice;
  gpu: OpenDevice;
  live: () => LiveBuffers;
}
let opened: Promise<Shared> | undefined;

async function open(): Promise<Shared> {
  const core = await createCore({ threads: 1 });
  const device = await newDevice();
  const live = countBuffers(device);
  const gpu = await openDevice(core, device, "f32");
  return { core, wasm: await openDevice(core, "wasm", "f32"), device, gpu, live };
}
function shared(): Promise<Shared> {
  opened ??= open();
  return opened;
}

interface Watched {
  fit: Fit<SvgpPart>;
  schema: ModelSchema;
  steps: StepProgress[];
}

/** What train() does, on a device that is open already. */
async function trained(
  on: "gpu" | "wasm",
  options: TrainOptions,
  given: Omit<RunOptions, "validation"> & { validation?: Dataset } = {},
): Promise<Watched> {
  const { core, ...devices } = await shared();
  const device = devices[on];
  const steps: StepProgress[] = [];
  const context = fitContext(
    core,
    tinyData,
    { ...tinyOptions, ...options },
    {
      ...given,
      onProgress: (each) => {
        if (each.stage === "training") steps.push(each);
        given.onProgress?.(each);
      },
    },
  );
  const { run, schema } = context;
  const prepared = await prepare(context, device.largestTensor);
  const copies = new Copies(run.resume && checkpointFromBytes(run.resume, identity));
  const fit = await fitOn(device, prepared, context, copies, identity);
  freePrepared(prepared);
  return { fit, schema, steps };
}

/** The same with a report after every step. */
const watched: typeof trained = (...args) => withFastClock(() => trained(...args));

async function figures({ fit, schema }: Watched): Promise<Record<string, number>> {
  const { core } = await shared();
  const backend = wasmBackend(core, "f32");
  const predictor = new SvgpPredictor(backend, uploadModel(backend, fit.part, schema));
  const { ranking } = await evaluatePredictor(predictor, tinyData);
  predictor.free();
  return ranking.metrics;
}

const apart = (found: number | undefined, wanted: number | undefined): number =>
  Math.abs((found as number) / (wanted as number) - 1);

const forms: [name: string, options: TrainOptions][] = [
  ["linear, mean through the features, shared", {}],
  ["linear, mean through the features, perFactor, free inducing inputs", { posterior: "perFactor", inducing: "free" }],
  [
    "linear, mean through the inducing inputs, perFactor, sampled negatives",
    { mean: "inducing", posterior: "perFactor", negatives: 4 },
  ],
  ["se, shared, sampled negatives", { kernel: "se", mean: "inducing", negatives: 4 }],
  ["se, perFactor", { kernel: "se", mean: "inducing", posterior: "perFactor" }],
  [
    "linear+se, basis of centroids, Gauss-Hermite nodes",
    { kernel: "linear+se", mean: "inducing", basis: "kmeans", quadrature: 12 },
  ],
];

describe("a training on a GPU", () => {
  for (const [name, options] of forms) {
    test(`${name}: follows the one on WASM`, async () => {
      const few = { ...options, epochs: 10 };
      const [onGpu, onWasm] = [await watched("gpu", few), await watched("wasm", few)];
      expect(onGpu.fit.summary?.device).toBe("webgpu");
      expect(onGpu.steps.length).toBe(40);
      onGpu.steps.forEach(({ bound }, i) => {
        expect(apart(bound, onWasm.steps[i]?.bound), `bound at step ${i + 1}`).toBeLessThan(1e-3);
      });
      const [found, wanted] = [await figures(onGpu), await figures(onWasm)];
      for (const figure of ["P@1", "P@3", "P@5"])
        expect(Math.abs(found[figure] - wanted[figure]), figure).toBeLessThan(0.5001);
    });
  }

  test("makes projections step by step where they are not kept", async () => {
    const [kept, made] = [
      await watched("gpu", { epochs: 3 }),
      await watched("gpu", { epochs: 3 }, { memoryBudget: 0 }),
    ];
    expect(apart(made.steps.at(-1)?.bound, kept.steps.at(-1)?.bound)).toBeLessThan(1e-5);
  });

  test("measures on validation data, saves checkpoints, and goes on from them on WASM", async () => {
    const saved: Uint8Array[] = [];
    const onCheckpoint = (chunks: Uint8Array[]): void => void saved.push(joined(chunks));
    const few = { epochs: 5 };
    const onGpu = await watched("gpu", few, { validation: tinyData, checkpointSeconds: 8, onCheckpoint });
    const { fit, steps } = onGpu;
    expect(fit.summary?.validation).toEqual(steps.at(-1)?.validation);
    const found = await figures(onGpu);
    for (const figure of ["P@1", "P@3", "P@5"])
      expect(fit.summary?.validation?.[figure], figure).toBeCloseTo(found[figure], 0);
    const resumed = await watched("wasm", few, { resume: saved.at(-1) as Uint8Array });
    expect(resumed.steps.length).toBeLessThan(steps.length);
    for (const each of resumed.steps) expect(apart(each.bound, steps[each.step - 1]?.bound)).toBeLessThan(1e-3);
  });

  let most: LiveBuffers | undefined;
  for (let part = 1; part <= PARTS; part++) {
    test(`makes no more buffers after a while: steps ${500 * (part - 1)} to ${500 * part}`, async () => {
      const { live } = await shared();
      // Sampled labels, in lists of changing length: what a step makes and frees must balance.
      const tiny = {
        factors: 2,
        inducingPoints: 4,
        rank: 4,
        batch: 5,
        epochs: 12.5,
        negatives: 3,
        seed: part,
      };
      const seen: LiveBuffers[] = [];
      const { fit } = await trained("gpu", tiny, {
        validation: tinyData,
        onProgress: (each) => {
          if (each.stage === "training") seen.push(live());
        },
      });
      expect(fit.summary?.steps).toBe(500);
      // How many copies are on their way differs from moment to moment, so that the highest says little; where steps lose buffers,
      // the lowest of the end lies above the highest of the beginning.
      const [start, end] = [seen.slice(0, seen.length * 0.4), seen.slice(seen.length * 0.8)];
      for (const what of ["count", "bytes"] as const) {
        const lowest = Math.min(...end.map((each) => each[what]));
        const highest = Math.max(...start.map((each) => each[what]));
        expect(lowest, what).toBeLessThanOrEqual(most?.[what] ?? highest);
      }
      most ??= { count: Math.max(...seen.map((s) => s.count)), bytes: Math.max(...seen.map((s) => s.bytes)) };
    });
  }
});

describe("a GPU that is lost", () => {
  test("whether it was given or our own, is replaced, and in the end by WASM; no step is another for it", async () => {
    const options = { epochs: 20, negatives: 4 } as const;
    const validation = tinyData;
    const whole = await watched("gpu", options, { validation });
    const given = await newDevice();
    const live = countBuffers(given);
    await seeingDevices(async (devices) => {
      const steps: StepProgress[] = [];
      const notes: string[] = [];
      // Given, our own, our own again: each is destroyed in the middle.
      const ends = [20, 37, 61];
      await withFastClock(() =>
        tinyTraining({
          ...options,
          device: given,
          validation,
          onProgress: (each) => {
            if (each.stage === "note") notes.push(each.text);
            if (each.stage !== "training") return;
            steps.push(each);
            if (each.step === ends[devices.length]) (devices.at(-1) ?? given).destroy();
          },
        }),
      );
      expect(devices.length).toBe(2);
      for (const device of devices) expect(await works(device)).toBe(false);
      expect(live()).toEqual({ count: 0, bytes: 0 });
      const losses = notes.filter((text) => text.startsWith("The GPU was lost"));
      const found = losses.map((text) => /resuming from step (\d+) on (.*)$/.exec(text) as RegExpExecArray);
      expect(found.map((match) => match[2]?.replace(/GPU \(.*\)/, "GPU"))).toEqual([
        "GPU",
        "GPU",
        "WASM (the GPU was lost too often)",
      ]);
      found.forEach((match, i) => {
        const end = ends[i];
        // On this clock a copy is made every eight steps; each has arrived when the next is made.
        expect(Number(match[1])).toBeGreaterThanOrEqual(end - 16);
        expect(Number(match[1])).toBeLessThanOrEqual(end);
      });
      const onWasm = steps.findIndex(
        ({ step }, i) => step <= (steps[i - 1]?.step ?? 0) && (steps[i - 1]?.step ?? 0) >= 61,
      );
      expect(steps.at(-1)?.step).toBe(80);
      steps.forEach(({ step, bound, validation }, i) => {
        const wanted = whole.steps[step - 1];
        if (i < onWasm) {
          expect(bound, `step ${step}`).toBe(wanted.bound);
          if (validation) expect(validation["P@1"]).toBe(wanted.validation?.["P@1"]);
        } else expect(apart(bound, wanted.bound), `step ${step}`).toBeLessThan(1e-3);
      });
    });
  });

  test("before it is given is refused", async () => {
    const device = await newDevice();
    device.destroy();
    await expect(tinyTraining({ device })).rejects.toThrow("device: found a GPU that is lost");
  });
});

describe("the choice of a device", () => {
  test("auto takes no software GPU: WASM, to the same bytes, and says why", async () => {
    const notes: string[] = [];
    const onProgress = (each: TrainProgress): void => void (each.stage === "note" && notes.push(each.text));
    const model = await tinyTraining({ epochs: 2, device: "auto", onProgress });
    expect(notes.join("\n")).toMatch(/Training on WASM \(.* is no hardware\)/);
    expect(await modelDigest(model)).toBe(await modelDigest(await tinyTraining({ epochs: 2 })));
    await tinyTraining({ epochs: 1, device: "auto", precision: "f64", onProgress });
    expect(notes).toContain("Training on WASM (a GPU computes in single precision)");
  });

  test("what cannot be is refused in a sentence", async () => {
    await expect(tinyTraining({ device: "webgpu", precision: "f64" })).rejects.toThrow(
      "device: found a GPU with the precision f64, expected wasm",
    );
    for (const device of ["cuda", 3, {}])
      await expect(tinyTraining({ device: device as "wasm" })).rejects.toThrow(
        /^device: found .*, expected wasm, webgpu, auto or a GPUDevice$/,
      );
  });

  test("a GPU that computes wrong is refused, with the name of the shader", async () => {
    const device = await newDevice();
    const make = device.createShaderModule.bind(device);
    device.createShaderModule = (descriptor) =>
      make({ ...descriptor, code: descriptor.code.replaceAll("sqrt(", "1.01 * sqrt(") });
    const live = countBuffers(device);
    await expect(tinyTraining({ device })).rejects.toThrow(
      /^device: found the GPU given, which cannot be used: .*(adam|cholesky)/,
    );
    expect(live()).toEqual({ count: 0, bytes: 0 });
    expect(await works(device)).toBe(true);
    device.destroy();
  });

  test("a GPU that was given keeps nothing of ours and goes on working", async () => {
    const { gpu, live, device, core } = await shared();
    gpu.dispose();
    expect(live()).toEqual({ count: 0, bytes: 0 });
    expect(await works(device)).toBe(true);
    device.destroy();
    core.dispose();
  });
});
