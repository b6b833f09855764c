// A model on a device, brought to another one when that is lost: its numbers are all in plain arrays.

import { type DeviceChoice, type OpenDevice, openDevice, replaceDevice } from "../backend/devices.ts";
import type { Core, Precision } from "../core/core.ts";
import { isClosed, type TrainedModel } from "../model/model.ts";
import type { Predictor } from "../model/predictor.ts";
import { openPredictor } from "./open.ts";

/** GPUs that are tried after the first. */
const REPLACEMENTS = 2;

/** A predictor and the device it is on. */
interface Place {
  device: OpenDevice;
  predictor: Predictor;
}

export class ModelHost {
  readonly model: TrainedModel;
  readonly #core: Core;
  readonly #choice: DeviceChoice;
  readonly #precision: Precision;
  #place: Place;
  #moving: Promise<void> | undefined;
  #losses = 0;
  #disposed = false;

  private constructor(core: Core, model: TrainedModel, choice: DeviceChoice, device: OpenDevice) {
    this.model = model;
    this.#core = core;
    this.#choice = choice;
    this.#precision = precisionOf(model);
    this.#place = { device, predictor: openPredictor(core, device.backend, model) };
  }

  static async open(core: Core, model: TrainedModel, choice: DeviceChoice = "wasm"): Promise<ModelHost> {
    return new ModelHost(core, model, choice, await openDevice(core, choice, precisionOf(model)));
  }

  /** What the model is on and, where there was a choice, why. */
  get about(): string {
    return this.#place.device.about;
  }

  /** Does some work with the predictor; from its start on another device if the first is lost. */
  async use<T>(work: (predictor: Predictor) => Promise<T>): Promise<T> {
    for (;;) {
      const { device, predictor } = this.#place;
      try {
        const result = await work(predictor);
        device.check();
        return result;
      } catch (error) {
        if (this.#disposed || (await device.lostSoon()) === undefined) throw error;
        // Whoever finds out first moves the model; the others wait for it.
        if (this.#place.device === device) {
          this.#moving ??= this.#move().finally(() => {
            this.#moving = undefined;
          });
        }
        await this.#moving;
      }
    }
  }

  async #move(): Promise<void> {
    this.#losses++;
    const tryGpu = this.#losses <= REPLACEMENTS;
    const device = await replaceDevice(this.#core, this.#choice, this.#precision, tryGpu);
    if (this.#disposed) return device.dispose();
    this.#place.device.dispose();
    this.#place = {
      device,
      predictor: openPredictor(this.#core, device.backend, this.model),
    };
  }

  /** Frees the model's tensors and, unless it was given, the device. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#place.predictor.free();
    this.#place.device.dispose();
  }
}

/** Gaussian parts are in single precision. */
const precisionOf = (model: TrainedModel): Precision => {
  const latent = isClosed(model) ? model.latent : model;
  return latent?.phi instanceof Float64Array ? "f64" : "f32";
};
