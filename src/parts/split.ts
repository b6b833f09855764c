// Points that are held out of a training, so that the calibrator sees scores of points the model has not: every tenth, by a hash of
// its position.

import { hashInteger } from "../base/hash.ts";
import { type Dataset, selectRows } from "../data/dataset.ts";

/** One point in so many is held out. */
const SHARE = 10;
/** Fewer held-out points than this say too little to fit a calibrator on them alone. */
export const FEWEST = 200;
/** The fewest points of which some can be held out. */
export const LEAST_ROWS: number = SHARE * FEWEST;
/** More than these the calibrator does not need. */
const MOST = 6000;
const SALT = 3;

export interface Split {
  fitted: Dataset;
  heldOut: Dataset;
}

/** The two parts, or undefined where there are too few points to hold any out. */
export function splitData(data: Dataset, firstEqual?: Int32Array): Split | undefined {
  const rows = heldOutRows(data.features.rows, firstEqual);
  return rows && { fitted: selectRows(data, rows.kept), heldOut: selectRows(data, rows.held) };
}

/** Which of so many points are held out, equal ones together, and which are not; undefined where there are too few. */
export function heldOutRows(rows: number, firstEqual?: Int32Array): { held: number[]; kept: number[] } | undefined {
  if (rows < LEAST_ROWS) return undefined;
  const limit = (2 ** 32 * Math.min(MOST, rows / SHARE)) / rows;
  const held: number[] = [];
  const kept: number[] = [];
  for (let row = 0; row < rows; row++) (hashInteger(firstEqual?.[row] ?? row, SALT) < limit ? held : kept).push(row);
  return { held, kept };
}
