// The steps of a training on one device, with reports, validations, checkpoints and cancelling between them.

import type { LatentModel } from "../model/model.ts";
import type { ModelShape } from "../model/shape.ts";
import { type CheckpointIdentity, checkpointChunks } from "./checkpoint.ts";
import type { StepProgress, StepValue } from "./progress.ts";
import type { FullRunOptions } from "./run.ts";
import type { Session } from "./session.ts";
import type { Trainer } from "./trainer.ts";

const REPORT_MILLISECONDS = 400;
/** Weights of the mean that a report may look at without being felt; with more of them, reports are as much rarer. */
const REPORT_WEIGHTS = 4e6;
const VALIDATIONS = 10;
/** Part of the time that may go into checkpoints: those of large models take seconds. */
const SAVING_SHARE = 0.05;
/** Where they decide when to stop. */
const DECIDING_VALIDATIONS = 20;

export async function runSteps(
  session: Session,
  shape: ModelShape,
  identity: CheckpointIdentity,
  run: FullRunOptions,
): Promise<LatentModel> {
  const { trainer, early, device } = session;
  const begin = performance.now();
  const firstStep = trainer.step;
  const validateEvery = Math.ceil(trainer.steps / (early ? DECIDING_VALIDATIONS : VALIDATIONS));
  const saveEvery = 1000 * run.checkpointSeconds;
  let saveAfter = saveEvery;
  let reported = Number.NEGATIVE_INFINITY;
  const weights = shape.mean === "features" ? shape.features * shape.factors : 0;
  const pause = REPORT_MILLISECONDS * Math.max(1, weights / REPORT_WEIGHTS);
  let now = begin;
  let breathed = begin;
  let saved = begin;
  let validation: Record<string, number> | undefined;
  const save = async (): Promise<void> => {
    const state = await session.soundState();
    device.check();
    await run.onCheckpoint?.(checkpointChunks(state, identity));
  };
  /** A report whose figures a GPU is still to give: they are read while the next steps run, and told with the next report. */
  let coming: Promise<StepProgress> | undefined;
  const tell = async (report: Promise<StepProgress>): Promise<void> => {
    const progress = await report;
    device.check();
    run.onProgress?.(progress);
  };
  let last = trainer.step >= trainer.steps;
  while (!last) {
    last = trainer.step + 1 >= trainer.steps || run.finish?.aborted === true;
    const validating = run.validation !== undefined && (last || (trainer.step + 1) % validateEvery === 0);
    const reporting = now - reported >= pause || validating || last;
    if (reporting) reported = now;
    session.advance(reporting || run.onStep !== undefined);
    if (run.onStep) run.onStep(await stepValue(trainer, shape));
    if (run.validation && validating) {
      validation = await session.validate(run.validation, last);
      last ||= early?.done === true;
    }
    await session.keepUp();
    now = performance.now();
    if (reporting) {
      const report = stepProgress(trainer, shape, (now - begin) / 1000, firstStep, validation);
      report.catch(() => {}); // met where it is waited for
      if (coming) await tell(coming);
      coming = report;
      if (device.backend.onCore || last) {
        await tell(report);
        coming = undefined;
      }
    } else if (now - breathed < REPORT_MILLISECONDS && !session.shared) continue;
    breathed = now;
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    if (last) continue;
    // Ranks stop together, and write down one state together.
    if (session.onAny(run.signal?.aborted === true)) {
      if (run.onCheckpoint) await save();
      run.signal?.throwIfAborted();
      throw new Error("stopped, because another rank was");
    }
    if (session.onAny(run.onCheckpoint !== undefined && now - saved > saveAfter)) {
      await save();
      saved = performance.now();
      if (saveEvery > 0) saveAfter = Math.max(saveEvery, (saved - now) / SAVING_SHARE);
    }
  }
  if (early?.done && early.best) {
    const text = `stopped at step ${trainer.step} of ${trainer.steps}: ${early.metric} on the validation data was best at step ${early.best.step}`;
    run.onProgress?.({ stage: "note", text });
  } else if (trainer.step < trainer.steps)
    run.onProgress?.({ stage: "note", text: `ended at step ${trainer.step} of ${trainer.steps}, as asked` });
  const model = await session.outcome();
  if (validation) model.summary.validation ??= validation;
  return model;
}

async function stepValue(trainer: Trainer, shape: ModelShape): Promise<StepValue> {
  const { step } = trainer;
  const { dataTerm, divergence } = await trainer.value();
  const epoch = (step * shape.batch) / shape.points;
  return { step, epoch, bound: dataTerm - divergence, dataTerm, divergence };
}

async function stepProgress(
  trainer: Trainer,
  shape: ModelShape,
  seconds: number,
  firstStep: number,
  validation: Record<string, number> | undefined,
): Promise<StepProgress> {
  const { step, steps } = trainer;
  const perSecond = (step - firstStep) / seconds;
  return {
    stage: "training",
    steps,
    ...(await stepValue(trainer, shape)),
    pointsPerSecond: perSecond * shape.batch,
    secondsLeft: (steps - step) / perSecond,
    ...(validation ? { validation } : {}),
  };
}
