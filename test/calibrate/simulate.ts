// Scores and labels drawn from a known calibrator.

import type { Calibrator, LabelFrequencies } from "../../src/base/calibrator.ts";
import { calibrateBlock } from "../../src/calibrate/block.ts";
import type { CalibrationData } from "../../src/calibrate/fit.ts";
import { calibratedProbability, calibratePoint, prepareCalibrator } from "../../src/calibrate/forward.ts";
import type { HeldOutBlock } from "../../src/calibrate/pairs.ts";
import { type Core, matrix, matrixFrom, type RealArray, scoped } from "../../src/core/index.ts";
import { generator } from "../support/numbers.ts";
import { identity, term } from "./calibrators.ts";

/** Held-out scores [points,labels] of each kind, and what the points have. */
export interface Scored {
  points: number;
  labels: number;
  scores: Float32Array[];
  present: Uint8Array; // [points, labels]
}

/** Rare labels have another curve than frequent ones, weak points than strong ones, and every label an offset. */
export function truth(labels: number): Calibrator {
  const terms = [term(0, "linear"), term(0, "log", 0, 0.03), term(0, "log", 0, 0.1)];
  const curves = [
    [2, 1, 2, 0.5],
    [1, 0, 1.5, 0.5],
    [2, 0, 0.5, 2],
    [1, 2, 0, 1],
  ];
  return {
    scores: ["gaussian"],
    strength: term(0, "log", 0, 0.03),
    curves: {
      terms,
      labelKnots: Float64Array.from([-5, -1]),
      pointKnots: Float64Array.from([-2, -0.5]),
      weights: Float64Array.from(curves.flat()),
    },
    labelOffsets: Float64Array.from({ length: labels }, (_, k) => (((k * 37) % 11) - 5) / 8),
    offsetVariance: 0.1,
    outer: identity,
  };
}

/** Label k is in about one of 3 + k points. */
export function frequenciesOf(points: number, labels: number): LabelFrequencies {
  return { labelCounts: Int32Array.from({ length: labels }, (_, k) => Math.ceil(points / (3 + k))), points };
}

/** Scores that are mostly noise, and labels drawn with the calibrator's probabilities. */
export function simulate(calibrator: Calibrator, points: number, labels: number, seed: number): Scored {
  const next = generator(seed);
  const prepared = prepareCalibrator(calibrator, frequenciesOf(1000, labels));
  const scores = calibrator.scores.map(() => new Float32Array(points * labels));
  const present = new Uint8Array(points * labels);
  for (let i = 0; i < points; i++) {
    const clarity = next();
    const row = scores.map((all) => all.subarray(i * labels, (i + 1) * labels));
    for (let k = 0; k < labels; k++) {
      const strength = next() < 2 / (5 + k) ? clarity * next() : 0;
      for (const own of row) own[k] = strength * (0.7 + 0.6 * next()) + 0.08 * (next() + next() - 1);
    }
    const point = calibratePoint(prepared, row);
    for (let k = 0; k < labels; k++)
      present[i * labels + k] = next() < calibratedProbability(prepared, point, k) ? 1 : 0;
  }
  return { points, labels, scores, present };
}

/** The same as a fit takes it, in blocks of some rows. */
export function calibrationData(core: Core, scored: Scored, names: readonly string[], blockRows = 64): CalibrationData {
  const { points, labels, present } = scored;
  const lists = Array.from({ length: points }, (_, i) =>
    Array.from({ length: labels }, (_, k) => k).filter((k) => present[i * labels + k] === 1),
  );
  const rowStart = new Int32Array(points + 1);
  const labelCounts = new Int32Array(labels);
  lists.forEach((list, i) => {
    rowStart[i + 1] = rowStart[i] + list.length;
    for (const k of list) labelCounts[k] = labelCounts[k] + 1;
  });
  function* blocks(): Generator<HeldOutBlock> {
    for (let first = 0; first < points; first += blockRows) {
      const count = Math.min(blockRows, points - first);
      const scores = scored.scores.map((values) =>
        matrixFrom(core, count, labels, values.subarray(first * labels, (first + count) * labels)),
      );
      yield { rows: Int32Array.from({ length: count }, (_, i) => first + i), scores };
      for (const score of scores) score.free();
    }
  }
  return {
    scores: names,
    blocks: blocks(),
    labels: { rowStart, labelIndex: Int32Array.from(lists.flat()) },
    frequencies: { labelCounts, points },
  };
}

/** Probabilities [points,labels] of scores. */
export function probabilitiesOf(
  core: Core,
  calibrator: Calibrator,
  frequencies: LabelFrequencies,
  scored: Scored,
): RealArray {
  const { points, labels } = scored;
  return scoped((scope) => {
    const scores = scored.scores.map((values) => scope.keep(matrixFrom(core, points, labels, values, "f64")));
    const out = scope.keep(matrix(core, points, labels, "f64"));
    return calibrateBlock(prepareCalibrator(calibrator, frequencies), { scores }, out).toArray();
  });
}

/** Mean log loss of a point. */
export function logLoss(probabilities: ArrayLike<number>, { points, present }: Scored): number {
  let sum = 0;
  for (let e = 0; e < present.length; e++) {
    const p = probabilities[e];
    sum -= Math.log(Math.max(1e-12, present[e] ? p : 1 - p));
  }
  return sum / points;
}

/** Mean |said - came| over ten groups of equal size of the predictions of at least 5 %. */
export function calibrationErrorOf(probabilities: ArrayLike<number>, { present }: Scored): number {
  const told = Array.from(probabilities, (p, e) => ({ p, y: present[e] }))
    .filter(({ p }) => p >= 0.05)
    .sort((a, b) => a.p - b.p);
  let error = 0;
  for (let g = 0; g < 10; g++) {
    const group = told.slice(Math.floor((g * told.length) / 10), Math.floor(((g + 1) * told.length) / 10));
    error += Math.abs(group.reduce((sum, { p, y }) => sum + p - y, 0));
  }
  return error / told.length;
}
