// Measures of a model on rows it was not trained on, for a page: precision and recall at each threshold, and the texts that went most wrong.

import type { Dataset } from "../../src/data/index.ts";
import { selectRows } from "../../src/data/index.ts";
import type { Model } from "../../src/model/model.ts";
import { predictRows } from "../../src/predict/load.ts";
import type { HeldOut, SurePoint, WrongText } from "./messages.ts";
import { openFull } from "./opened.ts";

/** Rows that are measured at most, labels of each that are looked at, and texts that are shown. */
const [MOST_ROWS, DEPTH, SHOWN] = [2000, 30, 5];
/** Thresholds in percent. */
const THRESHOLDS = Array.from({ length: 99 }, (_, i) => i + 1);

/** A label that was predicted for a row, and whether the row has it. */
export interface Judged {
  probability: number;
  right: boolean;
}

/** Precision and recall over all labels kept at each threshold; `truths` counts the true labels of all rows. */
export function sweep(judged: readonly Judged[], truths: number): SurePoint[] {
  const sorted = [...judged].sort((a, b) => b.probability - a.probability);
  const points: SurePoint[] = [];
  let kept = 0;
  let right = 0;
  for (const percent of [...THRESHOLDS].reverse()) {
    for (; kept < sorted.length && sorted[kept].probability >= percent / 100; kept++)
      right += Number(sorted[kept].right);
    points.push({ percent, kept, precision: kept === 0 ? 1 : right / kept, recall: truths === 0 ? 1 : right / truths });
  }
  return points.reverse();
}

/** Measures a model on held-out rows; `kept` of these has their texts, where there are some. */
export async function measureHeldOut(model: Model, all: Dataset): Promise<HeldOut> {
  const rows = Math.min(MOST_ROWS, all.features.rows);
  const held = selectRows(
    all,
    Int32Array.from({ length: rows }, (_, row) => row),
  );
  const { host, free } = await openFull(model);
  try {
    const found = await host.use((predictor) =>
      predictRows(predictor, held.features, { topK: Math.min(DEPTH, model.schema.labels) }),
    );
    const { rowStart, labelIndex } = held.labels;
    const judged: Judged[] = [];
    const wrong: (WrongText & { loss: number })[] = [];
    const nameOf = (id: number): string => model.schema.labelNames?.[id] ?? `label ${id}`;
    found.forEach((labels, row) => {
      const truth = new Set(labelIndex.subarray(rowStart[row], rowStart[row + 1]));
      for (const { id, probability } of labels) judged.push({ probability, right: truth.has(id) });
      const [first] = labels;
      if (first === undefined || truth.has(first.id)) return;
      wrong.push({
        text: held.kept?.[row]?.join(" ") ?? `row ${held.lines?.[row] ?? row + 1}`,
        said: nameOf(first.id),
        probability: first.probability,
        truth: Array.from(truth, nameOf),
        loss: first.probability,
      });
    });
    const worst = wrong.sort((a, b) => b.loss - a.loss).slice(0, SHOWN);
    return {
      rows,
      points: sweep(judged, labelIndex.length),
      wrong: worst.map(({ loss: _, ...text }) => text),
    };
  } finally {
    free();
  }
}
