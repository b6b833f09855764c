// Chooses noise, weights and covariance by the left-out scores of the points themselves.

import type { Precision } from "../core/core.ts";
import type { Pattern } from "../core/pattern.ts";
import type { WorkOptions } from "../core/progress.ts";
import { type Criterion, climb, judge, precisionCriterion } from "./criterion.ts";
import { type ExactOptions, fitExact } from "./exact.ts";
import { allPoints, someOf, type WalkOptions } from "./leaveoneout.ts";
import type { Points } from "./points.ts";
import {
  type RidgeChoice,
  type RidgeOptions,
  type RidgeSolution,
  type RidgeSums,
  solveRidge,
} from "./ridge.ts";
import { type FeatureWalk, leaveOneOutOf } from "./sparse.ts";
import { spreadOver, subsetOf } from "./subset.ts";

/** Values of lam that are looked at, in steps of about 3. */
export const NOISES: readonly number[] = [0.03, 0.1, 0.3, 1, 3];

/** How the best of several choices is found. */
export interface ChooseOptions extends WalkOptions, Pick<RidgeOptions, "working"> {
  /** Rising in the noise, or in whatever else is chosen: the search goes uphill along it. */
  readonly choices?: readonly RidgeChoice[];
  /** Where it begins; the middle if not given. */
  readonly start?: number;
  /** Made anew for each choice; P@1 + P@3 + P@5 if not given. */
  readonly criterion?: () => Criterion;
  /** How many points are looked at, spread over all. */
  readonly judged?: number;
}

/** What was chosen, with its solution (yours to free), and the figure of each choice that was looked at. */
export interface ChosenRidge {
  readonly choice: RidgeChoice;
  readonly solution: RidgeSolution;
  readonly figures: readonly (number | undefined)[];
}

/** Solves for one choice after another, uphill; at most two solutions are in memory at a time. */
export async function chooseRidge(
  sums: RidgeSums,
  features: FeatureWalk,
  labels: Pattern,
  precision: Precision,
  options: ChooseOptions = {},
): Promise<ChosenRidge> {
  const choices = options.choices ?? NOISES.map((noise) => ({ noise }));
  const start = options.start ?? choices.length >> 1;
  const criterion = options.criterion ?? precisionCriterion;
  const ranges = someOf(options.ranges ?? allPoints(features.points), options.judged ?? 10_000);
  let held: { place: number; figure: number; solution: RidgeSolution } | undefined;
  try {
    const { best, figures } = await climb(choices.length, start, async (place) => {
      const solution = await solveRidge(sums, choices[place] as RidgeChoice, precision, options);
      let figure = Number.NaN;
      try {
        figure = await judge(leaveOneOutOf(solution, features, labels), labels, criterion(), {
          ...options,
          ranges,
        });
        return figure;
      } finally {
        if (held === undefined || figure > held.figure) {
          held?.solution.free();
          held = { place, figure, solution };
        } else solution.free();
      }
    });
    return {
      choice: choices[best] as RidgeChoice,
      solution: (held as { solution: RidgeSolution }).solution,
      figures,
    };
  } catch (error) {
    held?.solution.free();
    throw error;
  }
}

/** Covariance and noise that go together, for unit rows. */
export const EXACT_CHOICES: readonly ExactChoice[] = [
  { noise: 0.2, kernel: { name: "se", lengthScale: 1 } },
  { noise: 0.1, kernel: { name: "se", lengthScale: 0.7 } },
];

/** One covariance with its noise. */
export type ExactChoice = Pick<ExactOptions, "noise" | "kernel">;

/** The best of several covariances for the exact form, by the left-out scores of a fit to some of the points. */
export async function chooseExact(
  points: Points,
  labels: Pattern,
  options: Pick<ExactOptions, "device" | keyof WorkOptions> & {
    choices?: readonly ExactChoice[];
    /** Points that are fitted, spread over all. */
    fitted?: number;
    criterion?: () => Criterion;
  } = {},
): Promise<{ choice: ExactChoice; figures: number[] }> {
  const { choices = EXACT_CHOICES, fitted = 4000, criterion = precisionCriterion, ...work } = options;
  const figures: number[] = [];
  const some = subsetOf(points, labels, spreadOver(points.rows, fitted));
  try {
    for (const choice of choices) {
      const of = { ...work, ...choice, leftOut: fitted, variances: false };
      const form = await fitExact(some.points, some.labels, of);
      try {
        figures.push(await judge(form, some.labels, criterion(), work));
      } finally {
        form.free();
      }
    }
  } finally {
    some.free();
  }
  const best = figures.indexOf(Math.max(...figures));
  return { choice: choices[best] as ExactChoice, figures };
}
