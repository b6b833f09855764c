// What left-out scores are judged by when noise, weights or the stack's ridge are chosen.

import { combine, fill, map, rowSums, scale } from "../core/dense.ts";
import { type Matrix, matrix, Scope, sumOf } from "../core/matrix.ts";
import type { Pattern } from "../core/pattern.ts";
import { topK } from "../core/select.ts";
import { deterministicLog } from "../data/elementary.ts";
import type { LeaveOneOut, LeftOutBlock, WalkOptions } from "./leaveoneout.ts";

/** Adds up blocks of left-out scores and gives one figure, the greater the better. */
export interface Criterion {
  add(block: LeftOutBlock, labels: Pattern): void;
  value(): number;
}

/** The labels of point i, rising. */
function labelsOf(labels: Pattern, i: number): Int32Array {
  const starts = labels.start.view();
  return labels.column.view().subarray(starts[i] as number, starts[i + 1] as number);
}

/** P@1 + P@3 + P@5 in percent, over points that have a label. */
export function precisionCriterion(depths: readonly number[] = [1, 3, 5]): Criterion {
  const deepest = Math.max(...depths);
  const hitsAt = new Float64Array(deepest);
  let points = 0;
  return {
    add({ from, to, scores }, labels) {
      const width = Math.min(deepest, scores.columns);
      const { indices } = topK(scores, width);
      for (let i = from; i < to; i++) {
        const own = labelsOf(labels, i);
        if (own.length === 0) continue;
        points++;
        for (let j = 0; j < width; j++)
          if (own.includes(indices[(i - from) * width + j] as number)) (hitsAt[j] as number) += 1;
      }
    },
    value: () =>
      sumOf(depths.map((depth) => (100 * sumOf(hitsAt.subarray(0, depth))) / (depth * Math.max(1, points)))),
  };
}

/** Minus the squared error of a point, |y - s|^2. */
export function squaredErrorCriterion(): Criterion {
  let points = 0;
  let total = 0;
  return {
    add({ from, to, scores }, labels) {
      const { core, precision, rows, columns } = scores;
      const sums = matrix(core, 1, rows, precision);
      total += sumOf(rowSums(scores, sums, scores).view());
      sums.free();
      const elements = scores.view();
      // (1 - s)^2 = s^2 + 1 - 2 s
      for (let i = from; i < to; i++)
        for (const label of labelsOf(labels, i))
          total += 1 - 2 * (elements[(i - from) * columns + label] as number);
      points += to - from;
    },
    value: () => -total / Math.max(1, points),
  };
}

/** Scores outside [e, 1 - e] count as its ends: scores are no probabilities before they are calibrated. */
export const LOG_LOSS_EDGE = 1e-3;

/** Minus the log loss of a point, scores taken as probabilities between `edge` and 1 - `edge`. */
export function logLossCriterion(edge: number = LOG_LOSS_EDGE): Criterion {
  let points = 0;
  let total = 0;
  const clipped = (s: number): number => Math.min(1 - edge, Math.max(edge, s));
  return {
    add({ from, to, scores }, labels) {
      total += sumOfLogs(scores, edge);
      const elements = scores.view();
      for (let i = from; i < to; i++) {
        for (const label of labelsOf(labels, i)) {
          const s = clipped(elements[(i - from) * scores.columns + label] as number);
          total += deterministicLog(s) - deterministicLog(1 - s);
        }
      }
      points += to - from;
    },
    value: () => total / Math.max(1, points),
  };
}

/** Sum of log(1 - s), as if no point had a label. */
function sumOfLogs(scores: Matrix, edge: number): number {
  const { core, precision, rows, columns } = scores;
  const scope = new Scope();
  try {
    const work = scope.keep(matrix(core, rows, columns, precision));
    const bound = (value: number): Matrix => fill(scope.keep(matrix(core, 1, 1, precision)), value);
    combine("maximum", scale(-1, scores, work), bound(edge - 1), work);
    combine("minimum", work, bound(-edge), work);
    map("log1p", work, work);
    return sumOf(rowSums(work, scope.keep(matrix(core, 1, rows, precision))).view());
  } finally {
    scope.free();
  }
}

/** The figure of left-out scores, over all points or some. */
export async function judge(
  source: LeaveOneOut,
  labels: Pattern,
  criterion: Criterion,
  options: WalkOptions = {},
): Promise<number> {
  await source.forBlocks("leave-one-out", (block) => criterion.add(block, labels), options);
  return criterion.value();
}

/**
 * The best place of a list whose figures rise and then fall: from `start` uphill, and no farther than needed. Returns
 * the figure of each place that was looked at.
 */
export async function climb(
  count: number,
  start: number,
  figure: (place: number) => Promise<number>,
): Promise<{ best: number; figures: (number | undefined)[] }> {
  const figures: (number | undefined)[] = Array.from({ length: count }, () => undefined);
  const at = async (place: number): Promise<number> => {
    if (place < 0 || place >= count) return Number.NEGATIVE_INFINITY;
    const known = figures[place] ?? (await figure(place));
    figures[place] = known;
    return known;
  };
  let best = Math.min(count - 1, Math.max(0, start));
  await at(best);
  for (const step of [1, -1]) {
    const before = best;
    while ((await at(best + step)) > (figures[best] as number)) best += step;
    if (best !== before) break;
  }
  return { best, figures };
}
