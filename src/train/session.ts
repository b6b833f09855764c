// One training on one device: its trainer, its data there, and a copy of its state for when the device is lost.

import type { OpenDevice } from "../backend/devices.ts";
import type { Dataset } from "../data/dataset.ts";
import { LatentPredictor } from "../model/latentPredictor.ts";
import type { LatentModel } from "../model/model.ts";
import { onAny } from "../ranks/communicator.ts";
import type { TrainingState } from "./checkpoint.ts";
import { BEST, EarlyStopping } from "./early.ts";
import { liveNumbers, modelOf } from "./outcome.ts";
import type { Prepared } from "./prepare.ts";
import { gatheredState, ownShape, ownState } from "./share.ts";
import { inducingStart, startParameters } from "./start.ts";
import { Trainer, type TrainingData } from "./trainer.ts";
import { freeData, uploadData } from "./upload.ts";
import { validationFigures } from "./validated.ts";

/**
 * Steps between two copies of the state. The device may be behind by so many once or twice, and no more are lost with it.
 */
const KEEP_STEPS = 8;

export class Session {
  readonly device: OpenDevice;
  readonly trainer: Trainer;
  readonly early: EarlyStopping | undefined;
  /** The last state that is known to be whole; only on a device that can be lost. */
  kept: TrainingState | undefined;
  /** The copy that is on its way. */
  #coming: Promise<TrainingState> | undefined;
  readonly #prepared: Prepared;
  readonly #data: TrainingData;

  constructor(device: OpenDevice, prepared: Prepared) {
    const { core, shape, options, share } = prepared;
    this.device = device;
    this.#prepared = prepared;
    this.#data = uploadData(device.backend, prepared);
    const own = share ? ownShape(shape, share) : shape;
    this.trainer = new Trainer(device.backend, core, own, options, this.#data);
    const warmSteps = options.klStart === options.klWeight ? 0 : options.klWarmup * this.trainer.steps;
    this.early = options.earlyStopping ? new EarlyStopping(options.earlyStopping, warmSteps) : undefined;
  }

  /** Goes to a state, or to the start. */
  async start(from: TrainingState | undefined): Promise<void> {
    const { core, x, projected, basis, options, shape, data, work, share } = this.#prepared;
    const { backend } = this.device;
    const state = from && share ? ownState(from, share) : from;
    if (state) {
      this.early?.restore(state, this.trainer.steps);
      // Refused now if they are not whole, and not at the end.
      if (this.early?.parameters) this.trainer.setParameters(this.early.parameters, BEST, state.file);
      this.trainer.restore(state);
    } else {
      const inducing = await inducingStart(x, projected, basis, options, work);
      startParameters(
        backend,
        core,
        shape,
        this.trainer.parameters,
        inducing.toArray(),
        data.labels,
        options.seed,
        share?.own,
      );
      inducing.free();
      await this.trainer.chooseCoordinates();
    }
    if (backend.onCore) return;
    const start = await this.state();
    this.device.check();
    this.kept = start;
  }

  /** Everything that decides how the training goes on. */
  async state(): Promise<TrainingState> {
    return this.#whole(await this.trainer.state());
  }

  /** A state of the trainer with that of early stopping and, where there are other ranks, with theirs. */
  #whole(state: TrainingState): TrainingState {
    const { share } = this.#prepared;
    const whole = this.early ? this.early.addTo(state) : state;
    return share ? gatheredState(whole, share) : whole;
  }

  /** Whether something is so here or on any other rank. */
  onAny(isSo: boolean): boolean {
    const { share } = this.#prepared;
    return share ? onAny(share.ranks, isSo) : isSo;
  }

  /** Whether other processes compute the same steps. */
  get shared(): boolean {
    return this.#prepared.share !== undefined;
  }

  /** The same for a checkpoint: refused where numbers have run away, so that the last good one stays. */
  async soundState(): Promise<TrainingState> {
    return this.#whole(await this.trainer.soundState());
  }

  /** One step; `valueWanted` is whether the bound's value will be asked for. */
  advance(valueWanted: boolean): void {
    // A GPU's step repeats the one before it, and the value costs little there.
    this.trainer.advance(valueWanted || !this.device.backend.onCore);
    this.device.backend.flush?.();
  }

  /**
   * Keeps a copy of the state every few steps. It is enqueued with one call and waited for with the next: the device
   * goes on meanwhile, and never falls behind by more than these steps.
   */
  async keepUp(): Promise<void> {
    const { trainer, device } = this;
    if (device.backend.onCore || trainer.step % KEEP_STEPS !== 0) return;
    const earlier = this.#coming;
    this.#coming = this.state();
    // A failure is met where it is waited for.
    this.#coming.catch(() => {});
    const state = await earlier;
    device.check();
    this.kept = state ?? this.kept;
  }

  /** Figures of the model as it is now; with early stopping they decide. The log loss takes longer: at the end it is there. */
  async validate(data: Dataset, last: boolean): Promise<Record<string, number>> {
    const { early, trainer, device } = this;
    const value = await trainer.value();
    const { step, raised } = trainer;
    const predictor = new LatentPredictor(
      device.backend,
      await liveNumbers(device.backend, trainer, this.#prepared),
    );
    const calibration = early !== undefined || last;
    const figures = await validationFigures(predictor, data, calibration);
    predictor.free();
    device.check();
    await early?.consider({ step, raised, value, figures }, () => trainer.readParameters(BEST));
    return figures;
  }

  /** The model at the end: the last one or, with early stopping, the best. */
  async outcome(): Promise<LatentModel> {
    const { trainer, early, device } = this;
    const lastStep = trainer.step;
    const best = early?.parameters && early.best;
    const value = best?.value ?? (await trainer.value());
    if (best && early?.parameters) {
      trainer.setParameters(early.parameters, BEST);
      trainer.step = best.step;
      trainer.raised = best.raised;
    }
    const model = await modelOf(device.backend, trainer, this.#prepared, value);
    device.check();
    Object.assign(model.summary, early?.summary(lastStep, trainer.steps));
    return trainer.sound(model);
  }

  free(): void {
    this.trainer.free();
    freeData(this.device.backend, this.#data);
  }
}
