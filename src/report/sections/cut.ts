// Where to cut: what keeping every label above a threshold is worth.

import type { ThresholdFigures } from "../../metrics/thresholds.ts";
import { type Html, html } from "../html.ts";
import type { Measured } from "../input.ts";
import { type LivePlot, plotFigure } from "../plots.ts";
import { columnsOf, percent, section, table } from "../text.ts";

export function thresholdPlot({ thresholds: { thresholds, best } }: Measured): LivePlot {
  const of = (value: (figures: ThresholdFigures) => number): number[] =>
    thresholds.map((figures) => 100 * value(figures));
  const f1 = thresholds.find(({ threshold }) => threshold === best.overall)?.overall.f1 ?? 0;
  return {
    id: "thresholds",
    caption: `Precision, recall and F1 over all predictions together. F1 is best at a threshold of ${best.overall}.`,
    description: `Precision, recall and F1 by threshold; F1 is best, ${percent(f1)}, at ${best.overall}`,
    x: { name: "threshold", values: thresholds.map(({ threshold }) => threshold) },
    y: { name: "percent", from: 0, to: 100 },
    lines: [
      { name: "precision", values: of(({ overall }) => overall.precision) },
      { name: "recall", values: of(({ overall }) => overall.recall) },
      { name: "F1", values: of(({ overall }) => overall.f1) },
    ],
    dots: true,
  };
}

const SENSES = [
  ["overall", "Overall (micro)"],
  ["byLabel", "By label (macro)"],
  ["byDocument", "By document"],
] as const;

export function cut(measured: Measured, plot: LivePlot): Html {
  const { thresholds, best } = measured.thresholds;
  const bestRows = SENSES.map(([sense, name]) => {
    const at = thresholds.find(({ threshold }) => threshold === best[sense]) as ThresholdFigures;
    const { precision, recall, f1 } = at[sense];
    return [name, best[sense].toFixed(2), percent(precision), percent(recall), percent(f1)];
  });
  return section(
    "cut",
    "Where to cut",
    html`<p>To tag texts, keep every label at least as probable as some threshold. A higher one keeps fewer labels, and more of them are right (precision); a lower one misses fewer true labels (recall). F1 weighs both. These thresholds were found on the data they are measured on, so what they promise is a little too good.</p>
`,
    plotFigure(plot),
    table(
      "bestThresholds",
      "The best threshold: of all predictions together, on average over labels, on average over points",
      columnsOf("Best F1", "Threshold", "Precision", "Recall", "F1"),
      bestRows,
    ),
    html`<details><summary>All thresholds</summary>
${table(
  "thresholds",
  "Keeping every label of at least a threshold",
  columnsOf("Threshold", "Labels a point", "Precision", "Recall", "F1", "F1 by label", "F1 by document"),
  thresholds.map(({ threshold, labelsPerPoint, overall, byLabel, byDocument }) => [
    threshold.toFixed(2),
    labelsPerPoint.toFixed(2),
    percent(overall.precision),
    percent(overall.recall),
    percent(overall.f1),
    percent(byLabel.f1),
    percent(byDocument.f1),
  ]),
)}</details>
`,
  );
}
