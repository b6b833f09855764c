// Training from one call: it learns, it can be stopped and gone on with, every option works, wrong ones are refused.

import { describe, expect, test } from "vitest";
import { wasmBackend } from "../../src/backend/wasm.ts";
import { joined, readSafetensors } from "../../src/base/safetensors.ts";
import { createCore, hasRelaxedSimd } from "../../src/core/index.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import type { TrainOptions } from "../../src/parts/options.ts";
import type { NoteProgress, StepProgress, TrainProgress } from "../../src/parts/progress.ts";
import { checkpointChunks, checkpointFromBytes } from "../../src/parts/svgp/checkpoint.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { evaluatePredictor } from "../../src/predict/evaluate.ts";
import { openPredictor, precisionOf } from "../../src/predict/open.ts";
import { type RunOptions, train } from "../../src/train/train.ts";
import { topicData } from "../support/problems.ts";
import { modelDigest, tinyData, tinyOptions, tinyTraining, withFastClock } from "../support/training.ts";

/** P@k and the like of a model on data. */
async function figures(model: Model, data: Dataset): Promise<Record<string, number>> {
  const core = await createCore({ threads: 1 });
  const backend = wasmBackend(core, precisionOf(model));
  const { ranking } = await evaluatePredictor(openPredictor(core, backend, model), data);
  core.dispose();
  return ranking.metrics;
}

const partOf = ({ parts }: Model): SvgpPart => parts[0] as SvgpPart;
const arraysOf = (model: Model): ArrayLike<number>[] => {
  const { inducingInputs, mu, sigma, phi, bias, hyper } = partOf(model);
  return [inducingInputs, mu, sigma, phi, bias, hyper];
};
const allFinite = (model: Model): boolean =>
  arraysOf(model).every((values) => Array.from(values).every(Number.isFinite)) &&
  Number.isFinite(model.summary.dataTerm) &&
  Number.isFinite(model.summary.divergence);
const steps = (progress: TrainProgress[]): StepProgress[] => progress.filter((each) => each.stage === "training");
const notes = (progress: TrainProgress[]): string =>
  progress
    .filter((each): each is NoteProgress => each.stage === "note")
    .map(({ text }) => text)
    .join("\n");

describe("a training", () => {
  test("raises the bound and beats the labels' frequencies", async () => {
    const progress: TrainProgress[] = [];
    const model = await withFastClock(() =>
      tinyTraining({ batch: 200, epochs: 60, klStart: 1, onProgress: (each) => progress.push(each) }),
    );
    const seen = steps(progress);
    expect(seen.map(({ step }) => step)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    const [first, middle, last] = [seen[0], seen[29], seen[59]] as [StepProgress, StepProgress, StepProgress];
    // All points in one batch: these are the bound itself, not estimates.
    expect(middle.bound).toBeGreaterThan(first.bound);
    expect(last.bound).toBeGreaterThan(middle.bound);
    expect(last.bound).toBeCloseTo(last.dataTerm - last.divergence, 8);
    expect(last.epoch).toBe(60);
    expect(last.secondsLeft).toBe(0);
    expect(last.pointsPerSecond).toBeGreaterThan(0);
    expect(model.schema.points).toBe(200);
    expect(model.summary).toMatchObject({
      droppedPoints: 0,
      steps: 60,
      epochs: 60,
      raisedFactorisations: 0,
      dataTerm: last.dataTerm,
      divergence: last.divergence,
    });

    const counts = Array.from(model.schema.labelCounts).sort((a, b) => b - a);
    const found = await figures(model, tinyData);
    expect(found["P@1"]).toBeGreaterThan(75);
    expect(found["P@1"]).toBeGreaterThan(2 * ((100 * counts[0]) / 200));
    const threeMost = counts[0] + counts[1] + counts[2];
    expect(found["P@3"]).toBeGreaterThan((1.3 * (100 * threeMost)) / 600);
  });

  test("measures on a validation part while it runs", async () => {
    const progress: TrainProgress[] = [];
    const validation = topicData({ points: 40, features: 60, labels: 15 }, 1);
    const model = await withFastClock(() => tinyTraining({ validation, onProgress: (each) => progress.push(each) }));
    expect(steps(progress).filter((each) => each.validation).length).toBeGreaterThan(40);
    const { logLoss, ...measured } = model.summary.validation as Record<string, number>;
    expect(measured).toEqual(await figures(model, validation));
    expect(logLoss).toBeGreaterThan(0);
    // Looking at it changes nothing else.
    const { validation: _, ...summary } = model.summary;
    expect(await modelDigest({ ...model, summary })).toBe(await modelDigest(await tinyTraining()));
  });

  test("gives other bytes for another seed and the same for the same", async () => {
    const [one, same, other] = [await tinyTraining(), await tinyTraining(), await tinyTraining({ seed: 4 })];
    expect(await modelDigest(one)).toBe(await modelDigest(same));
    expect(partOf(one).phi).not.toEqual(partOf(other).phi);
  });

  test("says when it was with fused multiply-adds", async () => {
    const { summary } = await tinyTraining({ relaxed: true, epochs: 1 });
    expect(summary.relaxed).toBe(hasRelaxedSimd() ? true : undefined);
    expect((await tinyTraining({ epochs: 1 })).summary).not.toHaveProperty("relaxed");
  });

  test("gives the same bytes whether projections are kept or made step by step", async () => {
    const said: TrainProgress[] = [];
    const kept = await tinyTraining({ onProgress: (each) => said.push(each) });
    expect(notes(said)).toContain("Projections of all points are kept");
    const made = await tinyTraining({ memoryBudget: 0, onProgress: (each) => said.push(each) });
    expect(notes(said)).toContain("Projections are made step by step");
    expect(await modelDigest(made)).toBe(await modelDigest(kept));
  });

  test("leaves unlabelled points out and counts them, and learns from points with no label", async () => {
    const some = topicData({ points: 100, features: 30, labels: 8, unlabelledEvery: 5 }, 2);
    const empty = some.labels.rowStart.slice(0, 100).map((start, i) => Number(start === some.labels.rowStart[i + 1]));
    expect((await train(some, { ...tinyOptions, threads: 1, epochs: 2 })).schema.points).toBe(100);
    const data = { ...some, unlabelled: Uint8Array.from(empty) };
    const model = await train(data, { ...tinyOptions, threads: 1, epochs: 2 });
    expect(model.schema.points).toBe(80);
    expect(model.summary.droppedPoints).toBe(20);
    expect(model.schema.labelCounts.reduce((sum, count) => sum + count, 0)).toBe(data.labels.labelIndex.length);
  });

  test("refuses a data set without labels", async () => {
    const data = topicData({ points: 10, features: 30, labels: 8, unlabelledEvery: 1 }, 2);
    await expect(train(data, { threads: 1 })).rejects.toThrow(
      "dataset: found no row with a label, expected at least one",
    );
  });
});

describe("a training that is stopped", () => {
  const settings = { kernel: "linear+se", mean: "inducing", negatives: 5 } as const;

  /** Cancels at a step; the checkpoint that was saved then. */
  async function stopAt(step: number, options: TrainOptions & RunOptions = settings): Promise<Uint8Array> {
    const controller = new AbortController();
    const saved: Uint8Array[] = [];
    const stopped = withFastClock(() =>
      tinyTraining({
        ...options,
        signal: controller.signal,
        onProgress: (each) => {
          if (each.stage === "training" && each.step === step) controller.abort(new Error("enough for today"));
        },
        onCheckpoint: (chunks) => void saved.push(joined(chunks)),
        checkpointSeconds: 1e9,
      }),
    );
    await expect(stopped).rejects.toThrow("enough for today");
    expect(saved.length).toBe(1);
    return saved[0];
  }

  test("keeps a checkpoint, and goes on from it to the same bytes", async () => {
    const whole = await modelDigest(await tinyTraining(settings));
    for (const step of [1, 31, 59])
      expect(await modelDigest(await tinyTraining({ ...settings, resume: await stopAt(step) }))).toBe(whole);
  });

  test("goes on to the same bytes with drawn labels, with any number of threads", async () => {
    const drawn = { ...settings, negatives: "all", gradientLabels: 6 } as const;
    const whole = await modelDigest(await tinyTraining(drawn));
    const resume = await stopAt(31, drawn);
    expect(await modelDigest(await tinyTraining({ ...drawn, threads: 2, resume }))).toBe(whole);
    expect(whole).not.toBe(await modelDigest(await tinyTraining({ ...drawn, gradientLabels: "all" })));
  });

  test("may be stopped twice", async () => {
    const first = await stopAt(20);
    const second = await stopAt(40, { ...settings, resume: first });
    const whole = await modelDigest(await tinyTraining(settings));
    expect(await modelDigest(await tinyTraining({ ...settings, resume: second }))).toBe(whole);
  });

  test("is finished when it is cancelled at its last step", async () => {
    const controller = new AbortController();
    const model = await withFastClock(() =>
      tinyTraining({
        ...settings,
        signal: controller.signal,
        onProgress: (each) => {
          if (each.stage === "training" && each.step === each.steps) controller.abort();
        },
      }),
    );
    expect(await modelDigest(model)).toBe(await modelDigest(await tinyTraining(settings)));
  });

  test("goes on from the checkpoints made every so often, with any number of threads", async () => {
    const longer = { ...settings, epochs: 30 };
    const saved: Uint8Array[] = [];
    const whole = await withFastClock(() =>
      tinyTraining({
        ...longer,
        checkpointSeconds: 10,
        onCheckpoint: (chunks) => void saved.push(joined(chunks)),
      }),
    );
    expect(saved.length).toBeGreaterThan(3);
    expect(saved.length).toBeLessThan(10);
    const last = saved.at(-1) as Uint8Array;
    const resumed = await tinyTraining({ ...longer, threads: 2, resume: last, memoryBudget: 0 });
    expect(await modelDigest(resumed)).toBe(await modelDigest(whole));
  });

  test("spends at most about a twentieth of its time on checkpoints", async () => {
    const seconds = { all: 0, saving: 0 };
    let saves = 0;
    await withFastClock(async () => {
      const begin = performance.now();
      await tinyTraining({
        ...settings,
        epochs: 60,
        checkpointSeconds: 1,
        onCheckpoint: () => {
          saves++;
          const from = performance.now();
          while (performance.now() < from + 4000);
          seconds.saving += 4;
        },
      });
      seconds.all = (performance.now() - begin) / 1000;
    });
    expect(saves).toBeGreaterThan(1);
    // The first one is made before it is known what one takes.
    expect((seconds.saving - 4) / seconds.all).toBeLessThan(0.06);
  });

  test("says how many points have no labels, and what the closed form will take", async () => {
    const progress: TrainProgress[] = [];
    const rows = Array.from({ length: 20 }, (_, i) => ({
      features: { [`word ${i % 4}`]: 1, [`word ${(i * 3) % 7}`]: 1 },
      labels: i < 4 ? [] : [i % 2 ? "odd" : "even"],
    }));
    const model = await train(rows, { threads: 1, onProgress: (each) => progress.push(each) });
    expect(model.schema.points).toBe(20);
    expect(notes(progress)).toContain("4 of 20 rows have an empty set of labels and are learned as such");
    expect(notes(progress)).toMatch(/^This will take a few seconds and \d+ MB$/m);
    expect(notes(progress)).not.toContain("The GPU is not used");
    const same = await train(rows, { threads: 1, device: "webgpu", onProgress: (each) => progress.push(each) });
    expect(same.summary.device).toBe(undefined);
    expect(notes(progress)).toContain("The GPU is not used: exact GP regression is computed on WASM");
  });

  test("ends where it is when asked to, with the model of that step", async () => {
    const finish = new AbortController();
    const progress: TrainProgress[] = [];
    const values: number[][] = [];
    const options = { batch: 50, epochs: 6, calibration: false } as const;
    const whole = await tinyTraining(options);
    const early = await tinyTraining({
      ...options,
      finish: finish.signal,
      onProgress: (each) => progress.push(each),
      onStep: ({ step, bound }) => {
        values.push([step, bound]);
        if (step === 5) finish.abort();
      },
    });
    expect(whole.summary.steps).toBeGreaterThan(6);
    expect(early.summary.steps).toBe(6);
    expect(values.at(-1)).toEqual([6, (early.summary.dataTerm ?? 0) - (early.summary.divergence ?? 0)]);
    expect(notes(progress)).toContain(`Ended at step 6 of ${whole.summary.steps}, as asked`);
    expect(allFinite(early)).toBe(true);
  });

  test("is refused before it starts when it is cancelled before", async () => {
    const signal = AbortSignal.abort(new Error("never mind"));
    await expect(tinyTraining({ signal })).rejects.toThrow("never mind");
  });

  test("does not go on with other data, other options or another file", async () => {
    const resume = await stopAt(10);
    const other = topicData({ points: 200, features: 60, labels: 15 }, 9);
    await expect(train(other, { threads: 1, ...tinyOptions, ...settings, resume })).rejects.toThrow(
      "the checkpoint: found a checkpoint of other data, expected one of the data given",
    );
    await expect(tinyTraining({ ...settings, seed: 5, resume })).rejects.toThrow(
      "the checkpoint: found one made with `seed` 3, expected `seed` 5",
    );
    await expect(tinyTraining({ resume: resume.slice(0, 400) })).rejects.toThrow("the checkpoint: found");
  });

  test("does not go on from a checkpoint with a bit changed, wherever it is", async () => {
    const resume = await stopAt(10);
    for (let i = 0; i < 40; i++) {
      const altered = resume.slice();
      const at = Math.floor(((i + 0.5) / 40) * altered.length);
      altered[at] = altered[at] ^ (1 << (i % 8));
      await expect(tinyTraining({ ...settings, resume: altered })).rejects.toThrow(/^the checkpoint: found /);
    }
  });

  test("does not go on from a state that cannot be, whoever wrote it", async () => {
    for (const changes of [
      { step: "" },
      { step: "0x10" },
      { step: "1e1" },
      { step: -1 },
      { step: 61 },
      { step: Number.MAX_SAFE_INTEGER },
      { extra: { raised: "x" } },
      { extra: { raised: -1 } },
    ] as const) {
      const resume = await stopAt(10, settings);
      const { metadata } = readSafetensors(resume);
      const identity = { options: metadata.options as string, data: metadata.data as string };
      const state = checkpointFromBytes(resume, identity);
      const forged = joined(checkpointChunks({ ...state, ...changes } as typeof state, identity));
      await expect(tinyTraining({ ...settings, resume: forged })).rejects.toThrow(
        /^the checkpoint: found (step|raised)/,
      );
    }
  });
});

describe("a training that goes wrong", () => {
  for (const posterior of ["shared", "perFactor"] as const) {
    test(`ends with a sentence and saves nothing, ${posterior}`, async () => {
      let saved = 0;
      const lost = withFastClock(() =>
        tinyTraining({
          posterior,
          learningRate: 1e30,
          checkpointSeconds: 0,
          onCheckpoint: () => void saved++,
        }),
      );
      await expect(lost).rejects.toThrow(
        /^found .* at step \d+, expected finite numbers: lower `learningRate` or raise `minSigma`$/,
      );
      expect(saved).toBeLessThan(2);
    });
  }
});

describe("a training whose numbers run away while its bound is still one", () => {
  for (const kernel of ["se", "linear+matern32"] as const) {
    test(`names the option, and what it saved before can be gone on from, ${kernel}`, async () => {
      const saved: Uint8Array[] = [];
      const wild = { kernel, mean: "inducing", learningRate: 50 } as const;
      const lost = withFastClock(() =>
        tinyTraining({
          ...wild,
          checkpointSeconds: 0,
          onCheckpoint: (chunks) => void saved.push(joined(chunks)),
        }),
      );
      const sentence =
        /^found hyper-parameters .* at step \d+, expected logarithms from -80 to 80: lower `learningRate` or /;
      await expect(lost).rejects.toThrow(sentence);
      await expect(tinyTraining({ ...wild, resume: saved.at(-1) as Uint8Array })).rejects.toThrow(sentence);
    });
  }
});

describe("rows of any length", () => {
  test("that are next to nothing give a model that can be opened", async () => {
    const signs = ["+..-.-+", "--..--.", "-.-.-.-", ".++.+-.", ".-+.--.", "..-.-+-"];
    const entries = signs.map((row) => [...row].flatMap((sign, column) => (sign === "." ? [] : [{ sign, column }])));
    const rowStart = Int32Array.from([0, 1, 2, 3, 4, 5, 6], (row) => entries.slice(0, row).flat().length);
    const columnIndex = Int32Array.from(entries.flat(), ({ column }) => column);
    const values = Float32Array.from(entries.flat(), ({ sign }) => (sign === "-" ? -1e-30 : 1e-30));
    const labels = {
      rows: 6,
      labels: 3,
      rowStart: Int32Array.from([0, 1, 2, 3, 4, 5, 6]),
      labelIndex: Int32Array.from([0, 1, 2, 0, 1, 2]),
    };
    const features = { rows: 6, columns: 7, rowStart, columnIndex, values };
    const options = { model: "gpr", normalise: false, threads: 1 } as const;
    for (const kernel of ["linear", "se"] as const) {
      const model = await train({ features, labels }, { ...options, kernel });
      expect(modelFromBytes(modelToBytes(model)).schema.labels).toBe(3);
    }
  });

  const scaled = (factor: number): Dataset => ({
    ...tinyData,
    features: { ...tinyData.features, values: tinyData.features.values.map((value) => value * factor) },
  });

  test("train when they are scaled, and are refused in one sentence when not", async () => {
    const few = { threads: 1, ...tinyOptions, epochs: 2 };
    for (const family of ["svgp", "gpr"] as const)
      for (const factor of [1e20, 1e37]) {
        const data = scaled(factor);
        const model = await train(data, { ...few, model: family, normalise: true });
        expect(model.schema.labels).toBe(tinyData.labels.labels);
        await expect(train(data, { ...few, model: family, normalise: false })).rejects.toThrow(
          /^features: found row 0 of values too large .*, expected a row of length 1000000000 at most: `normalise` the rows, or scale /,
        );
      }
    const largest = scaled(1);
    largest.features.values.fill(3e38);
    await expect(train(largest, { ...few, normalise: true, idf: true })).rejects.toThrow(
      "features: found row 0 of values too large for the model to compute with, expected smaller values",
    );
  });
});

describe("the options", () => {
  const data = topicData({ points: 60, features: 25, labels: 9 }, 4);
  const few = {
    model: "svgp",
    factors: 3,
    inducingPoints: 7,
    rank: 6,
    batch: 20,
    epochs: 1,
    threads: 1,
  } as const;

  for (const kernel of ["linear", "se", "linear+se"] as const) {
    for (const posterior of ["shared", "perFactor"] as const) {
      test(`${kernel} and ${posterior} train with every basis, inducing inputs and negatives`, async () => {
        for (const fixedInducing of [false, true]) {
          for (const negatives of ["all", 3] as const) {
            const common = { ...few, kernel, posterior, fixedInducing, negatives };
            const models = [await train(data, { ...common, inducing: "free" })];
            for (const basis of ["svd", "kmeans"] as const)
              models.push(await train(data, { ...common, inducing: "subspace", basis }));
            if (kernel === "linear") models.push(await train(data, { ...common, inducing: "free", mean: "inducing" }));
            for (const model of models) {
              expect(allFinite(model)).toBe(true);
              const part = partOf(model);
              expect(part.posterior).toBe(posterior);
              expect(part.sigma.length).toBe((posterior === "shared" ? 1 : 3) * part.inducingPoints);
              expect(model.summary.steps).toBe(3);
            }
          }
        }
      });
    }
  }

  test("double precision and Gauss-Hermite nodes give nearly the same model", async () => {
    const single = await train(data, few);
    const double = await train(data, { ...few, precision: "f64", quadrature: 40 });
    expect(partOf(double).phi).toBeInstanceOf(Float64Array);
    expect(allFinite(double)).toBe(true);
    expect(Math.abs((single.summary.dataTerm ?? 0) / (double.summary.dataTerm ?? 0) - 1)).toBeLessThan(1e-3);
  });

  test("what is fixed stays where it was", async () => {
    const common = { ...few, kernel: "linear+se", inducing: "free" } as const;
    const trained = async (epochs: number, options: TrainOptions): Promise<SvgpPart> =>
      partOf(await train(data, { ...common, ...options, epochs, model: "svgp" }));
    const pairs = async (options: TrainOptions): Promise<[SvgpPart, SvgpPart]> => [
      await trained(1, options),
      await trained(3, options),
    ];
    const [z1, z3] = await pairs({ fixedInducing: true });
    expect(Array.from(z3.inducingInputs)).toEqual(Array.from(z1.inducingInputs));
    expect(Array.from(z3.hyper)).not.toEqual(Array.from(z1.hyper));
    const [k1, k3] = await pairs({ fixedKernel: true });
    expect(Array.from(k3.hyper)).toEqual([0, 2, 1]);
    expect(Array.from(k3.inducingInputs)).not.toEqual(Array.from(k1.inducingInputs));
  });

  const wrong: [name: string, options: Record<string, unknown>, message: string][] = [
    ["model", { model: "forest" }, "found forest, expected parts among gpr, sgpr, linear, svgp"],
    ["model", { model: "coupling" }, "found coupling, expected parts among gpr, sgpr, linear, svgp"],
    ["model", { model: "gpr+svgp" }, "found gpr+svgp, expected auto, gpr, sgpr, linear, svgp or linear+svgp"],
    ["kernel", { kernel: "cubic" }, "found cubic, expected linear, se"],
    ["inducing", { inducing: "none" }, "found none, expected subspace or free"],
    ["posterior", { posterior: "full" }, "found full, expected shared or perFactor"],
    ["mean", { mean: "median" }, "found median, expected inducing or features"],
    ["mean", { mean: "features", kernel: "se" }, "found features, expected inducing with the kernel se"],
    ["basis", { basis: "pca" }, "found pca, expected svd or kmeans"],
    ["negatives", { negatives: 0 }, "found 0, expected all or a whole number from 1 to 9"],
    ["negatives", { negatives: 10 }, "found 10, expected all or a whole number from 1 to 9"],
    ["gradientLabels", { gradientLabels: 0 }, "found 0, expected all or a whole number of at least 1"],
    ["factors", { factors: 0 }, "found 0, expected a whole number of at least 1"],
    ["inducingPoints", { inducingPoints: 61 }, "found 61, expected a whole number from 1 to 60"],
    ["rank", { rank: 26 }, "found 26, expected a whole number from 1 to 25"],
    ["batch", { batch: 2.5 }, "found 2.5, expected a whole number"],
    ["epochs", { epochs: 0 }, "found 0, expected a number above 0"],
    ["epochs", { epochs: Number.NaN }, "found NaN, expected a finite number"],
    ["learningRate", { learningRate: Number.POSITIVE_INFINITY }, "found Infinity, expected a finite number"],
    ["klWeight", { klWeight: Number.NaN }, "found NaN, expected a finite number"],
    ["minSigma", { minSigma: 0 }, "found 0, expected a number above 0"],
    ["minSigma", { minSigma: 1 }, "found 1, expected a number above 0 and at most 0.5"],
    ["quadrature", { quadrature: 0 }, "found 0, expected closed or a whole number from 1 to 256"],
    ["precision", { precision: "f16" }, "found f16, expected f32 or f64"],
    ["seed", { seed: -1 }, "found -1, expected a whole number from 0"],
    ["memoryBudget", { memoryBudget: Number.NaN }, "found NaN, expected a finite number"],
    ["threads", { threads: 0 }, "found 0, expected"],
  ];
  for (const [name, options, message] of wrong) {
    test(`${name}: ${message.split(", ")[0]} is refused`, async () => {
      await expect(train(data, { ...few, ...options })).rejects.toThrow(`${name}: ${message}`);
    });
  }
});
