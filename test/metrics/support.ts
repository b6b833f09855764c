// Label sets as a person writes them down, and a problem whose figures other programs computed.

import type { LabelSets } from "../../src/base/sparse.ts";
import { topLabels } from "../../src/base/top.ts";
import { LabelSetsBuilder } from "../../src/data/builders.ts";
import { RankingMeter, type RankingOptions, type RankingReport } from "../../src/metrics/ranking.ts";
import { type BestRow, rowsOf, type WholeRow } from "../../src/metrics/rows.ts";

/** Calls `add` with the rows of a block of best labels [rows, width]. */
export function eachBest(
  add: (row: BestRow) => void,
  ranked: ArrayLike<number>,
  width: number,
  truth: LabelSets,
  { firstRow = 0, confidence = ranked }: { firstRow?: number; confidence?: ArrayLike<number> } = {},
): void {
  for (const row of rowsOf(truth, firstRow, { ranked: width, confidence: width }, { ranked, confidence })) add(row);
}

/** The same with a block of probabilities [rows, labels], by which labels are ranked. */
export function eachWhole(
  add: (row: WholeRow) => void,
  probabilities: ArrayLike<number>,
  labels: number,
  truth: LabelSets,
  firstRow = 0,
): void {
  const widths = { probabilities: labels, order: labels };
  for (const row of rowsOf(truth, firstRow, widths, { probabilities, order: probabilities })) {
    const ranked = topLabels(row.probabilities, 1, labels, 5);
    add({ ...row, ranked, confidence: Array.from(ranked, (label) => row.probabilities[label]) });
  }
}

/** The ranking metrics of predictions [rows, width] at once. */
export function rankingMetrics(
  ranked: ArrayLike<number>,
  width: number,
  truth: LabelSets,
  options?: RankingOptions,
): RankingReport {
  const meter = new RankingMeter(options);
  eachBest((row) => meter.add(row), ranked, width, truth);
  return meter.report();
}

export function setsOf(rows: readonly (readonly number[])[], labels: number): LabelSets {
  const builder = new LabelSetsBuilder();
  for (const row of rows) {
    for (const label of row) builder.add(label);
    builder.endRow();
  }
  return builder.build(labels);
}

export interface Problem {
  points: number;
  labels: number;
  /** [points][labels] */
  probabilities: number[][];
  truth: number[][];
}

/** Probabilities that say too much, from a congruential generator that any language can repeat. */
export function sharedProblem(points = 200, labels = 12): Problem {
  let state = 12345;
  const next = (): number => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const probabilities: number[][] = [];
  const truth: number[][] = [];
  for (let i = 0; i < points; i++) {
    const row: number[] = [];
    const own: number[] = [];
    for (let label = 0; label < labels; label++) {
      const u = next();
      row.push(u * u * u * u);
      if (next() < 0.7 * row[label] + 0.02) own.push(label);
    }
    probabilities.push(row);
    truth.push(own);
  }
  return { points, labels, probabilities, truth };
}

/** The labels of a row, best first; of equals the smaller first. */
export const rankingOf = (scores: readonly number[]): number[] =>
  scores.map((_, label) => label).sort((a, b) => scores[b] - scores[a] || a - b);

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
