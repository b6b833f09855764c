// How good the rankings are and how honest the probabilities.

import { type Html, html } from "../html.ts";
import type { Measured, ReportInput } from "../input.ts";
import { FEW, reliabilityDrawing } from "../svg/reliability.ts";
import { frequencyRange, percent, section, table, whole } from "../text.ts";

const DEPTHS = [1, 3, 5];

const MEANINGS: readonly (readonly [string, string])[] = [
  ["P", "precision: part of the first k that is right"],
  ["nDCG", "the same, but a right label counts more the higher it stands"],
  ["PSP", "precision in which rare labels count more (propensity-scored)"],
  ["PSnDCG", "nDCG in which rare labels count more"],
  ["R", "recall: part of the true labels that is among the first k"],
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
      `On ${whole(ranking.points)} points of ${file}${without > 0 ? `; ${whole(without)} more have no label and are left out` : ""}`,
      [{ head: "Figure" }, ...DEPTHS.map((k) => ({ head: `@${k}`, number: true }))],
      rows,
    ),
  );
}

export function honesty({ calibration }: Measured): Html {
  const { reliability, ece, eceEqualMass, logLoss, brier, predictions } = calibration;
  const few = reliability.some(({ count }) => count < FEW);
  return section(
    "honesty",
    "How honest the probabilities are",
    html`<p>Of all labels that were said to have a probability of 70 %, about 70 % should be true. The plot puts predictions of like probability together. Points on the dashed line are honest; above it the model was too careful, below it too sure.</p>
<figure>${reliabilityDrawing(reliability)}
<figcaption>${whole(predictions)} predictions (points times labels) in ${reliability.length} groups of like probability.${few ? ` Hollow dots stand for fewer than ${FEW} predictions: much of their place is chance.` : ""}</figcaption></figure>
`,
    table(
      "calibration",
      "Over all predictions; for each of these figures less is better",
      [{ head: "Figure" }, { head: "Value", number: true }],
      [
        [
          html`Calibration error<small>mean distance of said and come true, groups of equal width</small>`,
          percent(ece, 4),
        ],
        [html`The same<small>with groups of equal size</small>`, percent(eceEqualMass, 4)],
        [
          html`Log loss<small>mean of −ln of the probability given to what happened</small>`,
          logLoss.toFixed(6),
        ],
        [html`Brier score<small>mean squared distance of probability and truth</small>`, brier.toFixed(6)],
      ],
    ),
    html`<details><summary>The plot as a table</summary>
${table(
  "reliability",
  "Predictions by probability",
  [
    { head: "Probability" },
    { head: "Predictions", number: true },
    { head: "Said", number: true },
    { head: "Came true", number: true },
  ],
  reliability.map(({ from, to, count, meanProbability, frequency }) => [
    `${percent(from, 0)} to ${percent(to, 0)}`,
    whole(count),
    percent(meanProbability, 2),
    percent(frequency, 2),
  ]),
)}</details>
`,
  );
}

/** Rankings and calibration of labels that training saw rarely and often. */
export function frequencies({ model, measured }: ReportInput): Html | undefined {
  if (measured === undefined || measured.calibration.byFrequency.length === 0) return undefined;
  const rows = measured.calibration.byFrequency.map((group) => {
    const inside = measured.perLabel.filter(({ label }) => {
      const count = model.labelCounts[label] as number;
      return count >= group.from && count <= (group.to ?? Number.POSITIVE_INFINITY);
    });
    const sum = (value: (figures: (typeof inside)[number]) => number): number =>
      inside.reduce((total, figures) => total + value(figures), 0);
    const positives = sum((figures) => figures.positives);
    return [
      frequencyRange(group),
      whole(group.labels),
      whole(positives),
      positives > 0 ? percent(sum(({ found }) => found) / positives) : "–",
      inside.length > 0 ? percent(sum(({ averagePrecision }) => averagePrecision) / inside.length) : "–",
      percent(group.ece, 3),
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
      [
        { head: "Training points" },
        { head: "Labels", number: true },
        { head: "Occurrences", number: true },
        { head: "Found", number: true },
        { head: "Average precision", number: true },
        { head: "Calibration error", number: true },
      ],
      rows,
    ),
  );
}
