// Points that are held back from a training, so that the calibrator sees scores of points the model has not: every tenth,
// by a hash of its place.

import { WasmBackend } from "../backend/wasm.ts";
import type { FitOptions } from "../calibrate/fit.ts";
import type { HeldOutBlock } from "../calibrate/pairs.ts";
import type { Core } from "../core/core.ts";
import { type Dataset, selectRows } from "../data/dataset.ts";
import { hashInteger } from "../data/hash.ts";
import { LatentPredictor } from "../model/latentPredictor.ts";
import type { LatentModel, ModelFrame } from "../model/model.ts";
import { uploadModel } from "../model/numbers.ts";
import type { ClosedNumbers } from "../model/reach.ts";
import { ScoreSource } from "../predict/scores.ts";
import { type CalibratedFit, calibrate } from "./leftOut.ts";

/** One point in so many is held back. */
const SHARE = 10;
/** Fewer points than this say too little to fit a calibrator on them alone. */
export const FEWEST = 200;
/** More than these the calibrator does not need. */
const MOST = 6000;
const SALT = 3;

export interface Split {
  fitted: Dataset;
  heldOut: Dataset;
}

/** The two parts, or undefined where there are too few points to hold any back. */
export function splitData(data: Dataset): Split | undefined {
  const rows = heldOutRows(data.features.rows);
  return rows && { fitted: selectRows(data, rows.kept), heldOut: selectRows(data, rows.held) };
}

/** Which of so many points are held back, and which are not; undefined where there are too few. */
export function heldOutRows(rows: number): { held: number[]; kept: number[] } | undefined {
  if (rows < SHARE * FEWEST) return undefined;
  const limit = (2 ** 32 * Math.min(MOST, rows / SHARE)) / rows;
  const held: number[] = [];
  const kept: number[] = [];
  for (let row = 0; row < rows; row++) (hashInteger(row, SALT) < limit ? held : kept).push(row);
  return { held, kept };
}

/** The parts of a model that give scores, and what they know of features and labels. */
export interface ScoredParts {
  frame: ModelFrame;
  closed?: ClosedNumbers | undefined;
  latent?: LatentModel | undefined;
}

/** A calibrator for the scores of these parts, fitted on points that they have not seen. */
export async function calibrateHeldOut(
  core: Core,
  { frame, closed, latent: model }: ScoredParts,
  { features, labels }: Pick<Dataset, "features" | "labels">,
  options: FitOptions,
): Promise<CalibratedFit> {
  const backend = new WasmBackend(core, model?.phi instanceof Float64Array ? "f64" : "f32");
  const latent = model && new LatentPredictor(backend, uploadModel(backend, model));
  const source = new ScoreSource(core, frame, closed, latent);
  async function* blocks(): AsyncGenerator<HeldOutBlock> {
    for await (const { firstRow, rows, scores } of source.blocks(features))
      yield { scores, rows: Int32Array.from({ length: rows }, (_, i) => firstRow + i) };
  }
  try {
    return await calibrate(core, frame, { scores: source.names, blocks: blocks(), labels }, options);
  } finally {
    source.free();
    latent?.free();
    backend.dispose();
  }
}
