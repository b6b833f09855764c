// Points that are held back from a training, so that the calibrator sees scores of points the model has not: every tenth,
// by a hash of its place.

import type { Core } from "../core/core.ts";
import { scale } from "../core/dense.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import type { WorkOptions } from "../core/progress.ts";
import { type Dataset, selectRows } from "../data/dataset.ts";
import { hashInteger } from "../data/hash.ts";
import type { ScoreSource } from "../predict/scores.ts";
import { type CalibratedFit, calibrate } from "./leftOut.ts";

/** One point in so many is held back. */
const SHARE = 10;
/** Fewer held-out points than this say too little. */
const FEWEST = 200;
/** More than these the calibrator does not need. */
const MOST = 6000;
const SALT = 3;

export interface Split {
  fitted: Dataset;
  heldOut: Dataset;
}

/** The two parts, or undefined where there are too few points to hold any back. */
export function splitData(data: Dataset): Split | undefined {
  const { rows } = data.features;
  if (rows < SHARE * FEWEST) return undefined;
  const limit = (2 ** 32 * Math.min(MOST, rows / SHARE)) / rows;
  const held: number[] = [];
  const kept: number[] = [];
  for (let row = 0; row < rows; row++) (hashInteger(row, SALT) < limit ? held : kept).push(row);
  return { fitted: selectRows(data, kept), heldOut: selectRows(data, held) };
}

/** A calibrator for these scores, fitted on the points that were held out. */
export async function calibrateHeldOut(
  core: Core,
  source: ScoreSource,
  { features, labels }: Dataset,
  work: WorkOptions,
): Promise<CalibratedFit> {
  const scope = new Scope();
  try {
    const all: Matrix[] = source.names.map(() =>
      scope.keep(matrix(core, features.rows, source.frame.labels, "f32")),
    );
    for await (const { firstRow, rows, scores } of source.blocks(features)) {
      work.signal?.throwIfAborted();
      scores.forEach((block, i) => {
        scale(1, block, (all[i] as Matrix).rowRange(firstRow, firstRow + rows));
      });
    }
    const unseen = { names: source.names, scores: all, labels };
    return await calibrate(core, source.frame, unseen, work);
  } finally {
    scope.free();
  }
}
