// The steps of a training on one device, with reports, validations, checkpoints and cancelling between them.

import type { LatentModel } from "../model/model.ts";
import type { ModelShape } from "../model/shape.ts";
import { type CheckpointIdentity, checkpointToBytes } from "./checkpoint.ts";
import type { StepProgress, StepValue } from "./progress.ts";
import type { FullRunOptions } from "./run.ts";
import type { Session } from "./session.ts";
import type { Trainer } from "./trainer.ts";

const REPORT_MILLISECONDS = 400;
const VALIDATIONS = 10;
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
  let reported = Number.NEGATIVE_INFINITY;
  let saved = begin;
  let validation: Record<string, number> | undefined;
  const save = async (): Promise<void> => {
    const state = await session.soundState();
    device.check();
    await run.onCheckpoint?.(checkpointToBytes(state, identity));
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
    session.advance();
    if (run.onStep) run.onStep(await stepValue(trainer, shape));
    last = trainer.step >= trainer.steps;
    if (run.validation && (trainer.step % validateEvery === 0 || last)) {
      validation = await session.validate(run.validation, last);
      last ||= early?.done === true;
    }
    await session.keepUp();
    const now = performance.now();
    if (now - reported < REPORT_MILLISECONDS && !last) continue;
    reported = now;
    const report = stepProgress(trainer, shape, (now - begin) / 1000, firstStep, validation);
    report.catch(() => {}); // met where it is waited for
    if (coming) await tell(coming);
    coming = report;
    if (device.backend.onCore || last) {
      await tell(report);
      coming = undefined;
    }
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    if (run.signal?.aborted && !last) {
      if (run.onCheckpoint) await save();
      run.signal.throwIfAborted();
    }
    if (run.onCheckpoint && now - saved > saveEvery && !last) {
      saved = now;
      await save();
    }
  }
  if (early?.done && early.best) {
    const text = `stopped at step ${trainer.step} of ${trainer.steps}: ${early.metric} on the validation data was best at step ${early.best.step}`;
    run.onProgress?.({ stage: "note", text });
  }
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
