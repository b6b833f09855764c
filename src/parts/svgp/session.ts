// The whole state of a training on one device: saved, restored, and copied so that the training can go on elsewhere when a GPU is
// lost.

import { type OpenDevice, replaceDevice } from "../../backend/devices.ts";
import { areFinite } from "../../base/check.ts";
import { FormatError, shownJson } from "../../base/errors.ts";
import type { FitContext } from "../part.ts";
import type { Predictor } from "../predictor.ts";
import { CHECKPOINT, type CheckpointIdentity, restoreTensors, savedTensors, type TrainingState } from "./checkpoint.ts";
import { BEST, type EarlyStopping } from "./early.ts";
import type { LabelRanks } from "./ranks.ts";
import type { ModelShape } from "./shape.ts";
import type { Hook, Step, Trainer } from "./trainer.ts";

/** One training on one device. */
export interface Session {
  readonly device: OpenDevice;
  readonly trainer: Trainer;
  readonly shape: ModelShape;
  readonly context: FitContext;
  readonly identity: CheckpointIdentity;
  readonly early: EarlyStopping | undefined;
  /** This process among others, where several compute the training. */
  readonly ranks: LabelRanks | undefined;
  /** The model as it is now. */
  readonly predictor: () => Promise<Predictor>;
  /** The last figures on validation data. */
  figures?: Record<string, number>;
}

/**
 * Everything that decides how the training goes on; with ranks all of them must ask at the same step. `sound` refuses numbers that
 * have run away, so that the last good checkpoint stays.
 */
export async function stateOf({ trainer, early, ranks }: Session, sound = false): Promise<TrainingState> {
  if (sound) await trainer.countRaised();
  const { step, raised, backend } = trainer;
  // Early stopping as it is now: other steps may be taken before the tensors have been read.
  const add = early?.adding();
  const tensors = await savedTensors(backend, trainer.tensors());
  for (const [name, { values }] of sound ? tensors : [])
    if (!areFinite(values)) throw trainer.diverged({ found: `NaN or Infinity in ${name}` });
  const own: TrainingState = { step, tensors, extra: { raised } };
  const state = add?.(own) ?? own;
  return ranks ? ranks.gatheredState(state) : state;
}

/** Goes to a state. */
export function restore(session: Session, saved: TrainingState): void {
  const { trainer, early, ranks } = session;
  const state = ranks ? ranks.ownState(saved) : saved;
  const { step, tensors, extra, file = CHECKPOINT } = state;
  early?.restore(state, trainer.steps);
  // Refused now if they are not whole, and not at the end.
  toBest(session, file);
  if (step > trainer.steps)
    throw new FormatError(file, `step ${step}`, `at most ${trainer.steps}, the last of this training`);
  if (!Number.isSafeInteger(extra.raised) || (extra.raised as number) < 0)
    throw new FormatError(file, `raised ${shownJson(extra.raised)}`, "a whole number");
  restoreTensors(trainer.backend, trainer.tensors(), tensors, file);
  trainer.restart(step, extra.raised as number);
}

/** Sets the parameters to the best that early stopping has seen, if it has seen some. */
export function toBest({ trainer, early }: Session, file?: string): void {
  if (early?.best === undefined || early.parameters === undefined) return;
  restoreTensors(trainer.backend, trainer.named(BEST), early.parameters, file);
  trainer.restart(early.best.step, early.best.raised);
}

/** Steps between two copies of the state. The device may be behind by so many once or twice, and no more are lost with it. */
const COPY_STEPS = 8;

/** Copies of the state, from which a training goes on when its device is lost. */
export class Copies implements Hook {
  /** The last state that is known to be whole; none at the start. */
  kept: TrainingState | undefined;
  #session: Session | undefined;
  /** The copy that is on its way. */
  #coming: Promise<TrainingState> | undefined;

  constructor(from: TrainingState | undefined) {
    this.kept = from;
  }

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
