// A model on a device, brought to another one when that is lost: its numbers are all in plain arrays.

import { type DeviceChoice, type OpenDevice, openDevice, replaceDevice } from "../backend/devices.ts";
import { ArgumentError } from "../base/errors.ts";
import { type Core, type CoreOptions, createCore, type Precision } from "../core/core.ts";
import type { Model } from "../model/model.ts";
import type { Predictor } from "../parts/predictor.ts";
import { openPredictor, precisionOf } from "./open.ts";

/** GPUs that are tried after the first. */
const REPLACEMENTS = 2;

/** How a model is got ready. */
export interface LoadOptions extends CoreOptions {
  /** The device that computes (default wasm). */
  device?: DeviceChoice;
}

/** A predictor and the device it is on. */
interface Place {
  device: OpenDevice;
  predictor: Predictor;
}

export class ModelHost {
  readonly model: Model;
  readonly #core: Core;
  readonly #choice: DeviceChoice;
  readonly #precision: Precision;
  #place: Place;
  #last: Promise<unknown> = Promise.resolve();
  #losses = 0;
  #disposed = false;

  private constructor(core: Core, model: Model, choice: DeviceChoice, device: OpenDevice) {
    this.model = model;
    this.#core = core;
    this.#choice = choice;
    this.#precision = precisionOf(model);
    this.#place = { device, predictor: openPredictor(core, device.backend, model) };
  }

  /** On a core of its own. */
  static async start(model: Model, { device = "wasm", ...options }: LoadOptions = {}): Promise<ModelHost> {
    const core = await createCore(options);
    try {
      return new ModelHost(core, model, device, await openDevice(core, device, precisionOf(model)));
    } catch (error) {
      core.dispose();
      throw error;
    }
  }

  /** The device and, where there was a choice, why. */
  get about(): string {
    return this.#place.device.about;
  }

  /** Does some work with the predictor, after the work before it; from its start on another device if the first is lost. */
  use<T>(work: (predictor: Predictor) => Promise<T>): Promise<T> {
    if (this.#disposed) throw new ArgumentError("model", "it was disposed of; load it again");
    // A predictor has the tensors of one batch: works that took turns at their awaits would read each other's.
    const result = this.#last.then(() => this.#do(work));
    this.#last = result.catch(() => {});
    return result;
  }

  async #do<T>(work: (predictor: Predictor) => Promise<T>): Promise<T> {
    for (;;) {
      const { device, predictor } = this.#place;
      try {
        const result = await work(predictor);
        device.check();
        return result;
      } catch (error) {
        if (this.#disposed || (await device.whenLost()) === undefined) throw error;
        await this.#move();
      }
    }
  }

  async #move(): Promise<void> {
    this.#losses++;
    const tryGpu = this.#losses <= REPLACEMENTS;
    const device = await replaceDevice(this.#core, this.#choice, this.#precision, tryGpu);
    if (this.#disposed) return device.dispose();
    this.#place.device.dispose();
    this.#place = { device, predictor: openPredictor(this.#core, device.backend, this.model) };
  }

  /** Frees the model's tensors, the device and the core. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#place.predictor.free();
    this.#place.device.dispose();
    this.#core.dispose();
  }
}
