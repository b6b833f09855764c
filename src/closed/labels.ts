// Labels as lists: taken into scores, and cut by points or by labels.

import type { Matrix } from "../core/matrix.ts";
import { Pattern } from "../core/pattern.ts";
import type { PointRange } from "./leaveoneout.ts";

/** Adds 1 to the score of every label that a point of the block has. */
export function addLabels(scores: Matrix, labels: Pattern, from: number): void {
  const starts = labels.start.view();
  const ids = labels.column.view();
  const elements = scores.view();
  for (let i = 0; i < scores.rows; i++)
    for (let e = starts[from + i] as number; e < (starts[from + i + 1] as number); e++)
      (elements[i * scores.columns + (ids[e] as number)] as number) += 1;
}

/** The labels of the points in the ranges, one after another. */
export function labelsIn(labels: Pattern, ranges: readonly PointRange[]): Pattern {
  const starts = labels.start.view();
  const ids = labels.column.view();
  const rowStart = [0];
  const labelIndex: number[] = [];
  for (const { from, to } of ranges) {
    for (let i = from; i < to; i++) {
      for (let e = starts[i] as number; e < (starts[i + 1] as number); e++) labelIndex.push(ids[e] as number);
      rowStart.push(labelIndex.length);
    }
  }
  const lists = { rowStart: Int32Array.from(rowStart), labelIndex: Int32Array.from(labelIndex) };
  return new Pattern(labels.start.core, labels.columns, lists);
}

/** Only the labels from `first` on, `count` of them, numbered from 0. */
export function labelsFrom(labels: Pattern, first: number, count: number): Pattern {
  const starts = labels.start.view();
  const ids = labels.column.view();
  const rowStart = new Int32Array(labels.rows + 1);
  const labelIndex: number[] = [];
  for (let i = 0; i < labels.rows; i++) {
    for (let e = starts[i] as number; e < (starts[i + 1] as number); e++) {
      const label = (ids[e] as number) - first;
      if (label >= 0 && label < count) labelIndex.push(label);
    }
    rowStart[i + 1] = labelIndex.length;
  }
  return new Pattern(labels.start.core, count, { rowStart, labelIndex: Int32Array.from(labelIndex) });
}
