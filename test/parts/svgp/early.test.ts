// Early stopping: it ends when the validation data say so, with the best parameters it has seen, and resumes to the same.

import { describe, expect, test } from "vitest";
import { joined, readSafetensors } from "../../../src/base/safetensors.ts";
import type { Dataset } from "../../../src/data/dataset.ts";
import type { Model } from "../../../src/model/model.ts";
import type { TrainOptions } from "../../../src/parts/options.ts";
import type { StepProgress, TrainProgress } from "../../../src/parts/progress.ts";
import { EarlyStopping } from "../../../src/parts/svgp/early.ts";
import { type Session, stateOf } from "../../../src/parts/svgp/session.ts";
import type { SvgpPart } from "../../../src/parts/svgp/shape.ts";
import type { RunOptions } from "../../../src/train/train.ts";
import { topicData } from "../../support/problems.ts";
import { modelDigest, tinyTraining, withFastClock } from "../../support/training.ts";

/** Other topics than the training's: learning them by heart helps for a while and then harms. */
const strange: Dataset = topicData({ points: 60, features: 60, labels: 15 }, 2);
const same: Dataset = topicData({ points: 60, features: 60, labels: 15 }, 1);
/** 60 steps, validated every third; the KL has its full weight from the first. */
const settings = { learningRate: 0.05, klWarmup: 0, earlyStopping: { patience: 4 } } as const;
const EVERY = 3;

interface Watched {
  model: Model;
  notes: string;
  /** The figure at each validation, by step. */
  figures: Map<number, number>;
  checkpoints: Map<number, Uint8Array>;
  lastStep: number;
}

async function watched(validation: Dataset, options: TrainOptions & RunOptions, metric = "logLoss"): Promise<Watched> {
  const progress: TrainProgress[] = [];
  const checkpoints = new Map<number, Uint8Array>();
  const model = await withFastClock(() =>
    tinyTraining({
      validation,
      ...options,
      onProgress: (each) => progress.push(each),
      checkpointSeconds: 0,
      onCheckpoint: (chunks) => {
        const bytes = joined(chunks);
        const step = Number(readSafetensors(bytes, "checkpoint").metadata.step);
        checkpoints.set(step, bytes);
      },
    }),
  );
  const steps = progress.filter((each): each is StepProgress => each.stage === "training");
  const figures = new Map(
    steps
      .filter(({ step, steps }) => step % EVERY === 0 || step === steps)
      .map(({ step, validation }) => [step, validation?.[metric] as number]),
  );
  const notes = progress.map((each) => (each.stage === "note" ? each.text : "")).join("\n");
  return { model, notes, figures, checkpoints, lastStep: steps.at(-1)?.step as number };
}

/** The step whose figure is best, and the first of those that are. */
function bestStep(figures: Map<number, number>, sign: number): number {
  const best = Math.max(...Array.from(figures.values(), (value) => sign * value));
  return [...figures].find(([, value]) => sign * value === best)?.[0] as number;
}

describe("early stopping", () => {
  for (const [metric, sign] of [
    ["logLoss", -1],
    ["P@3", 1],
  ] as const) {
    test(`by ${metric} ends after four validations that are no better, with the best parameters`, async () => {
      const options = { ...settings, earlyStopping: { patience: 4, metric } };
      const { model, notes, figures, checkpoints, lastStep } = await watched(strange, options, metric);
      const best = bestStep(figures, sign);
      expect(lastStep).toBeLessThan(60);
      expect(lastStep).toBe(best + 4 * EVERY);
      expect(model.summary).toMatchObject({
        steps: best,
        epochs: (best * 50) / 200,
        earlyStopping: { metric, best: figures.get(best), lastStep, plannedSteps: 60 },
      });
      expect(model.summary.validation?.[metric]).toBe(figures.get(best));
      expect(notes).toContain(`Stopped at step ${lastStep} of 60: ${metric} on the validation data was best`);
      // The checkpoint made at that step holds the same parameters.
      const { tensors } = readSafetensors(checkpoints.get(best) as Uint8Array, "checkpoint");
      for (const name of ["phi", "bias", "mu"] as const)
        expect((model.parts[0] as SvgpPart)[name]).toEqual(tensors.get(`parameters.${name}`)?.data);
    });
  }

  test("goes on from a checkpoint to the same bytes, before and after the best", async () => {
    const { model, checkpoints, lastStep } = await watched(strange, settings);
    const whole = await modelDigest(model);
    const best = model.summary.steps as number;
    for (const step of [2, best, best + EVERY + 1, lastStep - 1]) {
      const resume = checkpoints.get(step) as Uint8Array;
      expect(await modelDigest(await tinyTraining({ ...settings, validation: strange, resume }))).toBe(whole);
    }
    const resume = checkpoints.get(lastStep - 1) as Uint8Array;
    await expect(tinyTraining({ ...settings, validation: same, resume })).rejects.toThrow(
      "the checkpoint: found a checkpoint of other data",
    );
  });

  test("lets a training that gets better run to its end, as if it were not there", async () => {
    const { model, notes, figures, lastStep } = await watched(same, {
      earlyStopping: { patience: 20, metric: "logLoss" },
    });
    expect(lastStep).toBe(60);
    expect(notes).not.toContain("Stopped");
    const plain = await tinyTraining();
    expect(bestStep(figures, -1)).toBe(60);
    const phi = (of: Model): number[] => Array.from((of.parts[0] as SvgpPart).phi);
    expect(phi(model)).toEqual(phi(plain));
    expect(model.summary.dataTerm).toBe(plain.summary.dataTerm);
  });

  test("waits until the KL has its full weight, and keeps the best of before", async () => {
    const options = { ...settings, klWarmup: 0.6 };
    const { model, figures, lastStep } = await watched(strange, options);
    const best = bestStep(figures, -1);
    // The figures get worse from the first validations on; the warm-up ends with step 36.
    expect(best).toBeLessThan(36 - 4 * EVERY);
    expect(model.summary.steps).toBe(best);
    expect(lastStep).toBeGreaterThanOrEqual(36 + 4 * EVERY);
  });

  test("goes on while figures get better again, though an early one was the best", async () => {
    const figure = (step: number): number => (step < 20 ? 1 : 10 - step / 10);
    const early = new EarlyStopping({ patience: 3, metric: "logLoss" }, 30);
    for (let step = 5; step <= 60; step += 5) {
      const measured = {
        step,
        raised: 0,
        value: { dataTerm: 0, divergence: 0 },
        figures: { logLoss: figure(step) },
      };
      await early.consider(measured, async () => new Map());
      expect(early.done).toBe(false);
    }
    expect(early.best?.step).toBe(5);
  });

  test("is in a state as it was when the state was asked for, though steps follow before it has been read", async () => {
    const early = new EarlyStopping({ patience: 3, metric: "P@1" }, 0);
    const measured = (step: number) => ({
      step,
      raised: 0,
      value: { dataTerm: 0, divergence: 0 },
      figures: { "P@1": step },
    });
    let read = (): void => {};
    const trainer = {
      step: 5,
      raised: 0,
      tensors: () => [["parameters.mu", { rows: 1, columns: 1 }]],
      backend: {
        read: () =>
          new Promise((resolve) => {
            read = () => resolve(new Float32Array(1));
          }),
      },
    };
    await early.consider(measured(5), async () => new Map());
    const coming = stateOf({ trainer, early } as unknown as Session);
    await early.consider(measured(6), async () => new Map());
    read();
    const { step, extra } = await coming;
    expect([step, (extra.early as { best: { step: number } }).best.step]).toEqual([5, 5]);
  });

  test("needs something to measure on", async () => {
    await expect(tinyTraining(settings)).rejects.toThrow(
      "earlyStopping: found no validation data, expected some to measure on",
    );
  });
});
