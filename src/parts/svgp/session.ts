// A training on one device: its state (saved, restored, and copied so that it can go on elsewhere when a GPU is lost), and what
// happens between its steps: validation, reports, checkpoints and cancelling.

import { type OpenDevice, replaceDevice } from "../../backend/devices.ts";
import { areFinite } from "../../base/check.ts";
import { FormatError, shownJson } from "../../base/errors.ts";
import { later } from "../../base/progress.ts";
import type { FitContext } from "../part.ts";
import type { Predictor } from "../predictor.ts";
import type { StepProgress, StepValue } from "../progress.ts";
import type { TrainingSummary } from "../run.ts";
import {
  CHECKPOINT,
  type CheckpointIdentity,
  checkpointChunks,
  restoreTensors,
  savedTensors,
  type TrainingState,
} from "./checkpoint.ts";
import type { LabelRanks } from "./ranks.ts";
import { type ModelShape, meanRows } from "./shape.ts";
import type { Hook, Step, Trainer } from "./trainer.ts";

/** One training on one device. */
export interface Session {
  readonly device: OpenDevice;
  readonly trainer: Trainer;
  readonly shape: ModelShape;
  readonly context: FitContext;
  readonly identity: CheckpointIdentity;
  /** This process among others, where several compute the training. */
  readonly ranks: LabelRanks | undefined;
  /** The model as it is now. */
  readonly predictor: () => Promise<Predictor>;
  figures?: Record<string, number>;
}

/**
 * Everything that decides how the training goes on; with ranks all of them must ask at the same step. `sound` refuses numbers that
 * have run away, so that the last good checkpoint stays.
 */
export async function stateOf({ trainer, ranks }: Session, sound = false): Promise<TrainingState> {
  if (sound) await trainer.countRaised();
  const { step, raised, backend } = trainer;
  const tensors = await savedTensors(backend, trainer.tensors());
  for (const [name, { values }] of sound ? tensors : [])
    if (!areFinite(values)) throw trainer.diverged({ found: `NaN or Infinity in ${name}` });
  const state: TrainingState = { step, tensors, extra: { raised } };
  return ranks ? ranks.gatheredState(state) : state;
}

/** Goes to a state. */
export function restore({ trainer, ranks }: Session, saved: TrainingState): void {
  const { step, tensors, extra, file = CHECKPOINT } = ranks ? ranks.ownState(saved) : saved;
  if (step > trainer.steps)
    throw new FormatError(file, `step ${step}`, `at most ${trainer.steps}, the last of this training`);
  if (!Number.isSafeInteger(extra.raised) || (extra.raised as number) < 0)
    throw new FormatError(file, `raised ${shownJson(extra.raised)}`, "a whole number");
  restoreTensors(trainer.backend, trainer.tensors(), tensors, file);
  trainer.restart(step, extra.raised as number);
}

/** Steps between two copies of the state. The device may be behind by so many once or twice, and no more are lost with it. */
const COPY_STEPS = 8;

/** Copies of the state, from which a training goes on when its device is lost. */
export class Copies implements Hook {
  #session: Session | undefined;
  /** The copy that is on its way. */
  #coming: Promise<TrainingState> | undefined;

  /** `kept` is the last state that is known to be whole; none at the start. */
  constructor(public kept: TrainingState | undefined) {}

  /** Keeps the state of a training on another device from now on. */
  async follow(session: Session): Promise<void> {
    this.#session = session;
    this.#coming = undefined;
    if (session.device.backend.onCore) return;
    const start = await stateOf(session);
    session.device.check();
    this.kept = start;
  }

  /**
   * Keeps a copy every few steps. It is enqueued with one call and waited for with the next: the device goes on meanwhile,
   * and never falls behind by more than these steps.
   */
  async after({ step }: Step): Promise<void> {
    const session = this.#session;
    if (session === undefined || session.device.backend.onCore || step % COPY_STEPS !== 0) return;
    const earlier = this.#coming;
    this.#coming = stateOf(session);
    // Rejections surface at the await of the next copy.
    this.#coming.catch(() => {});
    const state = await earlier;
    session.device.check();
    this.kept = state ?? this.kept;
  }
}

/** GPUs that are tried after the first. */
const REPLACEMENTS = 2;

/** Trains on a device and, when that is lost, on another GPU or on WASM, from the last copy of the state. Owns the devices. */
export async function onDevices<T>(
  first: OpenDevice,
  from: TrainingState | undefined,
  { core, options, run, note }: FitContext,
  train: (device: OpenDevice, copies: Copies) => Promise<T>,
): Promise<T> {
  const copies = new Copies(from);
  let device = first;
  for (let losses = 1; ; losses++) {
    let lost: string | undefined;
    try {
      return await train(device, copies);
    } catch (error) {
      lost = await device.whenLost();
      if (lost === undefined) throw error;
    } finally {
      device.dispose();
    }
    device = await replaceDevice(core, run.device, options.precision, losses <= REPLACEMENTS);
    note(`The GPU was lost (${lost}); resuming from step ${copies.kept?.step ?? 0} on ${device.about}`);
  }
}

const VALIDATIONS = 10;

/** Measures the model now and then. */
export function validating(session: Session): Hook[] {
  const { trainer, device, context } = session;
  const { validation } = context.run;
  if (validation === undefined) return [];
  const every = Math.ceil(trainer.steps / VALIDATIONS);
  const isDue = ({ step, last }: Step): boolean => last || step % every === 0;
  const after = async (at: Step): Promise<void> => {
    if (!isDue(at)) return;
    await trainer.value();
    const predictor = await session.predictor();
    // The log loss takes longer: at the end it is there.
    const figures = await context.measure(predictor, validation, at.last);
    predictor.free();
    device.check();
    session.figures = figures;
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
const TURN = 60;
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
    await new Promise<void>(later);
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

/** Sums up, after the last step. */
export async function ended({ trainer, shape, context, figures }: Session): Promise<Partial<TrainingSummary>> {
  const { step, steps, backend } = trainer;
  if (step < steps) context.note(`Ended at step ${step} of ${steps}, as asked`);
  return {
    validation: figures,
    steps: step,
    epochs: (step * shape.batch) / shape.points,
    ...(await trainer.value()),
    raisedFactorisations: trainer.raised,
    ...(!backend.onCore && { device: backend.name }),
  };
}
