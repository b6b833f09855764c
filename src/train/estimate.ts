// About how long a training will take and how much memory, before it starts: counts of its work, in products and sums
// that a matrix product would do in the same time, and how fast this core does those. The factors were fitted to
// trainings of several shapes; they are meant to tell seconds from hours, not to be exact.

import { type Cost, exactCost, LEFT_OUT } from "../closed/cost.ts";
import type { Core } from "../core/core.ts";
import { gemm } from "../core/dense.ts";
import { type Matrix, matrix } from "../core/matrix.ts";
import { groupsOf } from "../model/posteriors/index.ts";
import { inducingCost } from "./inducing.ts";
import type { FullTrainOptions } from "./options.ts";
import { SAMPLE_POINTS } from "./sample.ts";

/** A problem, by the paper's symbols. */
export interface Problem {
  /** N, D, K */
  points: number;
  features: number;
  labels: number;
  /** Features that are not zero, over all points. */
  entries: number;
}

export interface Work {
  operations: number;
  bytes: number;
}

/** The work of a whole training, all of it on the core. */
export function workOf(problem: Problem, options: FullTrainOptions): Work {
  const { points: N, features: D, labels: K, entries } = problem;
  const { factors: P, inducingPoints: M, batch: B, epochs, mean, posterior, precision } = options;
  const subspace = options.inducing === "subspace";
  const R = subspace ? options.rank : 0;
  const groups = groupsOf({ posterior, factors: P });
  const steps = Math.max(1, Math.round((epochs * N) / B));
  const meanRows = mean === "features" ? D : M;
  const { negatives, labelsPerStep } = options;
  const sampled = negatives === "all" ? K : Math.min(K, 2 * negatives);
  const looked = labelsPerStep === "all" ? sampled : labelsPerStep;
  const pushing = options.gradientLabels === "all" ? looked : Math.min(looked, options.gradientLabels);
  /** Products of a point and an inducing input. */
  const length = subspace ? R : entries / N;
  /** The start looks at a sample where there are very many points. */
  const begun = N < 2 * SAMPLE_POINTS ? 1 : SAMPLE_POINTS / N;
  const started = begun * entries;
  const basis = options.basis === "svd" ? 400 * started * R + 250 * D * R * R : 100 * started * R;
  const step =
    B * (looked * (8 * P + 4000) + pushing * 16 * P) +
    24 * B * length * M +
    groups * (8 * M ** 3 + 4 * B * M * M) +
    (40 * P * entries * B) / N +
    20 * P * (meanRows + K);
  const numbers =
    N * R +
    Math.max(3 * D * R, D * (R + M) + 3 * P * meanRows + 5 * P * K) +
    (subspace ? 0 : 4 * D * M) +
    3 * groups * M * M +
    6 * B * looked;
  return {
    operations: basis + 100 * begun * N * length * M + steps * step,
    bytes: 16 * entries + numbers * (precision === "f32" ? 4 : 8) + 30e6,
  };
}

/** Short trainings are not worth a look at the clock. */
const SHORT = 1e10;
const SIDE = 384;
const RUNS = 8;

/** Operations a second of this core: the median of a few matrix products. */
function speedOf(core: Core): number {
  const [a, b, c] = [0, 1, 2].map(() => matrix(core, SIDE, SIDE, "f32")) as [Matrix, Matrix, Matrix];
  const times = Array.from({ length: RUNS }, () => {
    const begin = performance.now();
    gemm(a, b, c);
    return (performance.now() - begin) / 1000;
  }).sort((one, other) => one - other);
  for (const each of [a, b, c]) each.free();
  return (2 * SIDE ** 3) / (times[RUNS / 2] as number);
}

/** A length of time in words, as roughly as it is known. */
export function roughly(seconds: number): string {
  const rounded = (value: number): number => Number(value.toPrecision(1));
  if (seconds < 10) return "a few seconds";
  if (seconds < 90) return `about ${rounded(seconds)} seconds`;
  if (seconds < 90 * 60) return `about ${rounded(seconds / 60)} minutes`;
  return `about ${rounded(seconds / 3600)} hours`;
}

/** A training in words. */
function inWords(core: Core, { operations, bytes }: Work): string {
  const memory = `${Number((bytes / 1e6).toPrecision(2))} MB`;
  const seconds = operations < SHORT ? 0 : operations / speedOf(core);
  return `this will take ${roughly(seconds)} and ${memory}`;
}

/** What a training will take, in words; a GPU's time is not known. */
export function estimate(core: Core, problem: Problem, options: FullTrainOptions, onGpu: boolean): string {
  const work = workOf(problem, options);
  return onGpu ? `this will take about ${Number((work.bytes / 1e6).toPrecision(2))} MB` : inWords(core, work);
}

/** Of the calibrator, for each pair of a point left out and a label, and of how many pairs at most it looks at all. */
const [PAIR_OPERATIONS, MOST_PAIRS] = [0.8e5, 1e6];
/** Fits to some of the points, from which noise and length scale are chosen. */
const [CHOICES, CHOICE_POINTS] = [2, 4000];
const [DENSE_CHOICES, DENSE_POINTS] = [16, 1000];
/** Then uphill from the best of them, on more points. */
const [REFINED_CHOICES, REFINED_POINTS] = [7, 4000];

/** The work of a training through a kernel: what is tried on some points, the fit, the calibrator. */
export function exactWork(
  points: number,
  labels: number,
  dense: boolean,
  full: Cost = exactCost({ points, labels }, "f32"),
): Work {
  const pairs = (of: number): number =>
    PAIR_OPERATIONS * Math.min(MOST_PAIRS, labels * Math.min(of, LEFT_OUT));
  const costOf = (of: number): Cost => exactCost({ points: of, labels }, "f32");
  const [tries, some] = dense
    ? [DENSE_CHOICES, Math.min(points, DENSE_POINTS)]
    : [CHOICES, Math.min(points, CHOICE_POINTS)];
  const { operations, bytes } = full;
  const triesOn = (of: number): number => costOf(of).operations + (dense ? pairs(of) : 0);
  const refined = dense ? REFINED_CHOICES * triesOn(Math.min(points, REFINED_POINTS)) : 0;
  const tried = tries * triesOn(some) + refined;
  return { operations: tried + operations + pairs(points), bytes: bytes + 30e6 };
}

/** What an exact training will take, in words. */
export const estimateExact = (core: Core, points: number, labels: number, dense: boolean): string =>
  inWords(core, exactWork(points, labels, dense));

/** What a training will take where some points carry the mean for all, in words. */
export const estimateInducing = (core: Core, points: number, labels: number, dense: boolean): string =>
  inWords(core, exactWork(points, labels, dense, inducingCost(points, labels)));
