// Hooks between the steps of a training: validation, reports, checkpoints and cancelling.

import type { StepProgress, StepValue } from "../progress.ts";
import type { TrainingSummary } from "../run.ts";
import { checkpointChunks, savedTensors } from "./checkpoint.ts";
import { BEST } from "./early.ts";
import { type Session, stateOf, toBest } from "./session.ts";
import { meanRows } from "./shape.ts";
import type { Hook, Step } from "./trainer.ts";

/** Validations of a training, and of one that they decide to stop. */
const VALIDATIONS = 10;
const DECIDING_VALIDATIONS = 20;

/** Measures the model now and then; with early stopping the figures decide. */
export function validating(session: Session): Hook[] {
  const { trainer, early, device, context } = session;
  const { validation } = context.run;
  if (validation === undefined) return [];
  const every = Math.ceil(trainer.steps / (early ? DECIDING_VALIDATIONS : VALIDATIONS));
  const isDue = ({ step, last }: Step): boolean => last || step % every === 0;
  const after = async (at: Step): Promise<void> => {
    if (!isDue(at)) return;
    const value = await trainer.value();
    const { step, raised, backend } = trainer;
    const predictor = await session.predictor();
    // The log loss takes longer: at the end it is there.
    const figures = await context.measure(predictor, validation, early !== undefined || at.last);
    predictor.free();
    device.check();
    session.figures = figures;
    await early?.consider({ step, raised, value, figures }, () => savedTensors(backend, trainer.named(BEST)));
    at.last ||= early?.done === true;
  };
  return [{ before: isDue, after }];
}

const REPORT_MILLISECONDS = 400;
/** Weights of the mean that a report may look at without being felt; with more of them, reports are as much rarer. */
const REPORT_WEIGHTS = 4e6;

/** Tells the ELBO of every step to whoever asks, and now and then where the training is and how long it will take. */
export function reporting(session: Session): Hook {
  const { trainer, device, shape, context } = session;
  const { onStep, onProgress } = context.run;
  const begin = { step: trainer.step, now: performance.now() };
  const weights = shape.mean === "features" ? meanRows(shape) * shape.factors : 0;
  const pause = REPORT_MILLISECONDS * Math.max(1, weights / REPORT_WEIGHTS);
  let reported = Number.NEGATIVE_INFINITY;
  let isDue = false;
  /** A report whose figures a GPU is still to give: they are read while the next steps run, and told with the next report. */
  let coming: Promise<StepProgress> | undefined;

  const stepValue = async (): Promise<StepValue> => {
    const { step } = trainer;
    const { dataTerm, divergence } = await trainer.value();
    const epoch = (step * shape.batch) / shape.points;
    return { step, epoch, bound: dataTerm - divergence, dataTerm, divergence };
  };
  const progress = async (now: number): Promise<StepProgress> => {
    const { step, steps } = trainer;
    const perSecond = (1000 * (step - begin.step)) / (now - begin.now);
    const { figures } = session;
    return {
      stage: "training",
      steps,
      ...(await stepValue()),
      pointsPerSecond: perSecond * shape.batch,
      secondsLeft: (steps - step) / perSecond,
      ...(figures && { validation: figures }),
    };
  };
  const tell = async (report: Promise<StepProgress> | undefined): Promise<void> => {
    if (report === undefined) return;
    const told = await report;
    device.check();
    onProgress?.(told);
  };

  return {
    before({ last, valued, now }) {
      isDue = last || valued || now - reported >= pause;
      if (isDue) reported = now;
      return isDue || onStep !== undefined;
    },
    async after({ last, now }) {
      onStep?.(await stepValue());
      if (!isDue) return;
      const report = progress(now);
      // Rejections surface where it is told.
      report.catch(() => {});
      await tell(coming);
      coming = report;
      if (!device.backend.onCore && !last) return;
      await tell(report);
      coming = undefined;
    },
  };
}

/** Milliseconds between two turns of the event loop. */
const TURN = 400;
/** Part of the time that may go into checkpoints: those of large models take seconds. */
const SAVING_SHARE = 0.05;

/** Which of these are so here or on any other rank. */
const anywhere = ({ ranks }: Session, ...flags: boolean[]): boolean[] => ranks?.anywhere(flags) ?? flags;

/** The next step is to be the last, here or on another rank. */
export const isFinishing = (session: Session): boolean =>
  anywhere(session, session.context.run.finish?.aborted === true)[0];

/** Gives others a turn, writes checkpoints, and ends a training that was cancelled or is to finish early. */
export function interrupting(session: Session): Hook {
  const { signal, finish, onCheckpoint, checkpointSeconds } = session.context.run;
  const saveEvery = 1000 * checkpointSeconds;
  let saveAfter = saveEvery;
  let saved = performance.now();
  let turned = saved;
  const asked = (): boolean[] => [signal, finish].map((each) => each?.aborted === true);
  const save = async (): Promise<void> => {
    const state = await stateOf(session, true);
    session.device.check();
    await onCheckpoint?.(checkpointChunks(state, session.identity));
  };
  const after = async (at: Step): Promise<void> => {
    const isUrgent =
      at.last ||
      session.ranks !== undefined ||
      asked().includes(true) ||
      (onCheckpoint !== undefined && saveEvery === 0);
    if (at.now - turned < TURN && !isUrgent) return;
    turned = at.now;
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    if (at.last) return;
    const isDue = onCheckpoint !== undefined && at.now - saved >= saveAfter;
    // Ranks stop together, and write down one state together.
    const [stop, ending, saving] = anywhere(session, ...asked(), isDue);
    if (stop) {
      if (onCheckpoint) await save();
      signal?.throwIfAborted();
      throw new Error("stopped, because another rank was");
    }
    at.finish = ending;
    if (!saving) return;
    await save();
    saved = performance.now();
    if (saveEvery > 0) saveAfter = Math.max(saveEvery, (saved - at.now) / SAVING_SHARE);
  };
  return { after };
}

/** After the last step: goes to the best parameters where early stopping has kept some, and sums up. */
export async function ended(session: Session): Promise<Partial<TrainingSummary>> {
  const { trainer, early, shape, context } = session;
  const { step: lastStep, steps, backend } = trainer;
  if (early?.done && early.best) {
    const best = `${early.metric} on the validation data was best at step ${early.best.step}`;
    context.note(`Stopped at step ${lastStep} of ${steps}: ${best}`);
  } else if (lastStep < steps) context.note(`Ended at step ${lastStep} of ${steps}, as asked`);
  const { dataTerm, divergence } = early?.best?.value ?? (await trainer.value());
  toBest(session);
  return {
    validation: session.figures,
    steps: trainer.step,
    epochs: (trainer.step * shape.batch) / shape.points,
    dataTerm,
    divergence,
    raisedFactorisations: trainer.raised,
    ...(!backend.onCore && { device: backend.name }),
    ...early?.summary(lastStep, steps),
  };
}
