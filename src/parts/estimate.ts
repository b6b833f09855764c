// About how long a training will take and how much memory, before it starts, from the cost of its parts and the speed of this core.

import type { Core } from "../core/core.ts";
import { gemm } from "../core/dense.ts";
import { type Matrix, matrix } from "../core/matrix.ts";
import type { Cost } from "./part.ts";

/** Short trainings are not worth a look at the clock. */
const SHORT = 1e10;
const SIDE = 384;
const RUNS = 8;
/** Products gain more from vectors of 256 bits than what else there is to do (RCV1's size: 1.6 times as fast, a product 1.9). */
const WIDE_GAIN = 0.75;

/** Operations a second of this core, from the median of a few matrix products. */
function speedOf(core: Core): number {
  const [a, b, c] = [0, 1, 2].map(() => matrix(core, SIDE, SIDE, "f32")) as [Matrix, Matrix, Matrix];
  const times = Array.from({ length: RUNS }, () => {
    const begin = performance.now();
    gemm(a, b, c);
    return (performance.now() - begin) / 1000;
  }).sort((one, other) => one - other);
  for (const each of [a, b, c]) each.free();
  return ((core.wide ? WIDE_GAIN : 1) * 2 * SIDE ** 3) / times[RUNS / 2];
}

/** A length of time in words, as roughly as it is known. */
export function roughly(seconds: number): string {
  const rounded = (value: number): number => Number(value.toPrecision(1));
  if (seconds < 10) return "a few seconds";
  if (seconds < 150) return `about ${10 * Math.round(seconds / 10)} seconds`;
  if (seconds < 90 * 60) return `about ${rounded(seconds / 60)} minutes`;
  return `about ${rounded(seconds / 3600)} hours`;
}

/** The calibrator's operations for each score of a row that is held out. */
const SCORE_OPERATIONS = 1e8;

/** All parts and the calibrator; the bytes of the largest part. */
export const wholeCost = (parts: readonly Cost[], heldOut: number): Cost => ({
  operations: parts.reduce((sum, { operations }) => sum + operations + SCORE_OPERATIONS * heldOut, 0),
  bytes: Math.max(...parts.map(({ bytes }) => bytes)),
});

/** Time and memory of a training in words; a GPU's time is not known. */
export function estimate(core: Core, parts: readonly Cost[], heldOut = 0, onGpu = false): string {
  const { operations, bytes } = wholeCost(parts, heldOut);
  const memory = `${Number((bytes / 1e6).toPrecision(2))} MB`;
  if (onGpu) return `This will take about ${memory}`;
  return `This will take ${roughly(operations < SHORT ? 0 : operations / speedOf(core))} and ${memory}`;
}
