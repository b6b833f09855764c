// A training that is small enough to be repeated many times, and its model's digest.

import type { Core } from "../../src/core/core.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import { modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import { completeOptions, type TrainOptions } from "../../src/parts/options.ts";
import type { FitContext } from "../../src/parts/part.ts";
import { completeRunOptions } from "../../src/parts/run.ts";
import { schemaFor } from "../../src/parts/schema.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { type RunOptions, train, validationFigures } from "../../src/train/train.ts";
import { topicData } from "./problems.ts";

export const tinyData: Dataset = topicData({ points: 200, features: 60, labels: 15 }, 1);

/** Nothing that changes numbers is left to a default: better defaults do not change the recorded digests. */
export const tinyOptions: TrainOptions = {
  kernel: "linear",
  mean: "features",
  learningRate: 0.02,
  klWeight: 1,
  klWarmup: 0.6,
  klStart: 0.02,
  factors: 6,
  inducingPoints: 12,
  rank: 20,
  batch: 50,
  epochs: 15,
  seed: 3,
};

export function tinyTraining(options: TrainOptions & RunOptions = {}): Promise<Model> {
  const plain = { calibration: false, threads: 1, ...tinyOptions };
  return train(tinyData, { ...plain, ...options, model: "svgp" });
}

/** What train() gives to a fit. */
export function fitContext(
  core: Core,
  data: Dataset,
  options: TrainOptions,
  given: Omit<RunOptions, "validation"> & { validation?: Dataset } = {},
): FitContext {
  const { features, labels } = data;
  const sizes = { points: features.rows, features: features.columns, labels: labels.labels };
  const full = completeOptions(options, sizes);
  const { validation: _, ...run } = completeRunOptions(given);
  return {
    core,
    data,
    heldOut: undefined,
    schema: schemaFor(data, full),
    options: full,
    dense: undefined,
    run: { ...run, validation: given.validation },
    work: { signal: run.signal },
    note: (text) => run.onProgress?.({ stage: "note", text }),
    looLoss: () => Promise.reject(new Error("found features that are not dense, expected dense ones")),
    measure: validationFigures,
  };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** SHA-256 of the model file, in hexadecimal. */
export const modelDigest = (model: Model): Promise<string> => sha256(modelToBytes(model));

/** The same of what was learned alone, whatever the file says around it. */
export async function numbersDigest({ parts: [part] }: Model): Promise<string> {
  const { inducingInputs, mu, sigma, phi, bias, hyper } = part as SvgpPart;
  const arrays = [inducingInputs, mu, sigma, phi, bias, hyper].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  );
  const bytes = new Uint8Array(arrays.reduce((sum, part) => sum + part.length, 0));
  arrays.reduce((at, part) => {
    bytes.set(part, at);
    return at + part.length;
  }, 0);
  return await sha256(bytes);
}

/** Runs the body with a clock on which a second passes between any two looks: a training then reports every step. */
export async function withFastClock<T>(body: () => Promise<T>): Promise<T> {
  let now = performance.now();
  performance.now = () => {
    now += 1000;
    return now;
  };
  try {
    return await body();
  } finally {
    // The clock's own function is on its prototype.
    delete (performance as { now?: unknown }).now;
  }
}
