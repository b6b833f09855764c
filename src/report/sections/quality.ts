// How good the rankings are, for all labels and for rare and frequent ones.

import { countRange } from "../../plots/numbers.ts";
import { type Html, html } from "../html.ts";
import type { Measured, ReportInput } from "../input.ts";
import { columnsOf, percent, section, table, whole } from "../text.ts";
import { reliabilityCells } from "./honesty.ts";

const DEPTHS = [1, 3, 5];

const MEANINGS: readonly (readonly [string, string])[] = [
  ["P", "precision: part of the first k that is right"],
  ["R", "recall: part of the true labels that is among the first k"],
  ["F1", "both in one: twice the right ones, over true and predicted ones together"],
  ["nDCG", "like P, but a right label counts more the higher it stands"],
  ["PSP", "precision in which rare labels count more (propensity-scored)"],
  ["PSnDCG", "nDCG in which rare labels count more"],
];

export function rankings({ ranking, file }: Measured): Html {
  const rows = MEANINGS.map(([name, meaning]) => [
    html`${name}<small>${meaning}</small>`,
    ...DEPTHS.map((k) => (ranking.metrics[`${name}@${k}`] as number | undefined)?.toFixed(2) ?? "–"),
  ]);
  const without = ranking.pointsWithoutLabels;
  return section(
    "rankings",
    "How good the rankings are",
    html`<p>For each point the model puts all labels in order, the most likely first. The table says how right the first one, three and five are. All figures are in percent, and 100 is not always possible: a point with two labels has a P@5 of at most 40.</p>
`,
    table(
      "ranking",
      `On ${whole(ranking.points)} points of ${file}${without > 0 ? `; ${whole(without)} more have no label and are left out of every figure` : ""}`,
      columnsOf("Figure", ...DEPTHS.map((k) => `@${k}`)),
      rows,
    ),
  );
}

/** Rankings and calibration of labels that training saw rarely and often. */
export function frequencies({ model, measured }: ReportInput): Html | undefined {
  if (measured === undefined || measured.calibration.byFrequency.length === 0) return undefined;
  const { byFrequency } = measured.calibration;
  const found = byFrequency.map((group) => {
    const occurring = measured.perLabel.filter(({ label, positives }) => {
      const count = model.labelCounts[label] as number;
      return positives > 0 && count >= group.from && count <= (group.to ?? Number.POSITIVE_INFINITY);
    });
    const sum = (value: (figures: (typeof occurring)[number]) => number): number =>
      occurring.reduce((total, figures) => total + value(figures), 0);
    const { positives } = group;
    return [
      countRange(group),
      whole(group.labels),
      whole(positives),
      positives > 0 ? percent(sum((figures) => figures.found) / positives) : "–",
      occurring.length > 0
        ? percent(sum(({ averagePrecision }) => averagePrecision) / occurring.length)
        : "–",
    ];
  });
  return section(
    "frequency",
    "Rare and frequent labels",
    html`<p>A label that training saw often is easier to learn. Found: how many of its true occurrences are among the first five labels of their point. Average precision: how cleanly the label's own points stand above all others when points are ordered for that label; 100 % is perfect.</p>
`,
    table(
      "byFrequency",
      "Labels by how many training points have them",
      columnsOf("Training points", "Labels", "Occurrences", "Found", "Average precision"),
      found,
    ),
    table(
      "honestyByFrequency",
      "How honest their probabilities are: of the predictions of at least 5 %; bias and error in percent points",
      columnsOf("Training points", "Log loss a point", "Predictions", "Said", "Came true", "Bias", "Error"),
      byFrequency.map((group) => [
        countRange(group),
        group.logLoss.toFixed(3),
        ...reliabilityCells(group.overFivePercent),
      ]),
    ),
  );
}
