// Figures of a model as lines of at most 80 columns, and as one JSON object.

import type { CalibrationReport } from "../metrics/calibration.ts";
import type { DecisionReport, PrecisionRecall } from "../metrics/decisions.ts";
import type { Evaluation } from "../metrics/evaluation.ts";
import type { Expectation } from "../metrics/expectation.ts";
import type { RankingReport } from "../metrics/ranking.ts";
import type { Reliability } from "../metrics/reliability.ts";
import type { ThresholdReport } from "../metrics/thresholds.ts";
import { countRange, grouped } from "../plots/numbers.ts";

const INDENT = "  ";
const percent = (part: number, digits = 1): string => `${(100 * part).toFixed(digits)} %`;
/** A difference in percent points, with its sign. */
const points = (part: number): string => `${part < 0 ? "−" : "+"}${Math.abs(100 * part).toFixed(2)}`;

/** Columns as wide as they need, the first to the left and the others to the right. */
function table(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(...rows.map((cells) => cells.length));
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(...rows.map((cells) => (cells[i] ?? "").length)),
  );
  return rows.map((cells) =>
    `${INDENT}${cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number)))
      .join("  ")}`.trimEnd(),
  );
}

const RANKINGS: readonly (readonly [name: string, meaning: string])[] = [
  ["P", "of the first k labels, the part that is right"],
  ["R", "of the true labels, the part among the first k"],
  ["F1", "both in one: 2 right / (true + predicted)"],
  ["nDCG", "like P, a right label counts more higher up"],
  ["PSP", "like P, rare labels count more"],
  ["PSnDCG", "like nDCG, rare labels count more"],
];

/** P@k and the others, at 1, 3 and 5. */
export function rankingLines({ metrics }: RankingReport): string[] {
  const rows = RANKINGS.filter(([name]) => metrics[`${name}@1`] !== undefined).map(([name]) => [
    name,
    ...[1, 3, 5].map((k) => (metrics[`${name}@${k}`] as number).toFixed(2)),
  ]);
  return table([["percent", "@1", "@3", "@5"], ...rows]).map((line, i) =>
    i === 0 ? line : `${line}   ${RANKINGS.find(([name]) => name === rows[i - 1]?.[0])?.[1]}`,
  );
}

/** What the model expected, what came, and whether that is chance. */
export function expectationLines({ expected, came, chance, beyondChance }: Expectation): string[] {
  const both = `first labels: ${percent(expected)} expected right, ${percent(came)} came right`;
  if (!beyondChance) return [`${INDENT}${both}: within chance`];
  const odds =
    chance < 1e-6 ? "less than once in a million" : `at most once in ${grouped(Math.floor(1 / chance))}`;
  return [
    `${INDENT}${both}:`,
    `${INDENT}more than chance, which does this ${odds} (Bernstein).`,
    `${INDENT}Either these points differ from those of the training, or the`,
    `${INDENT}probabilities are off.`,
  ];
}

const threePercents = ({ precision, recall, f1 }: PrecisionRecall): string[] =>
  [precision, recall, f1].map((part) => (100 * part).toFixed(2));

/** What was kept, in words. */
function keptName({ limit, threshold }: DecisionReport): string {
  const most =
    limit === undefined ? "all labels" : limit === 1 ? "the first label" : `the first ${limit} labels`;
  if (threshold === undefined) return most;
  return `${most} of at least ${threshold === "label" ? "their thresholds" : percent(threshold, 1)}`;
}

/** Precision, recall and F1 of what is kept. */
export function keptLines(kept: DecisionReport): string[] {
  const means = [
    ["by document", kept.byDocument],
    ["by label", kept.byLabel],
    ["by label, weighted by points", kept.byLabelWeighted],
    ["by label, those that occur", kept.byTrueLabel],
    ["overall", kept.overall],
  ] as const;
  const [all, five, ten] = [kept.nDCG, kept["nDCG@5"], kept["nDCG@10"]].map((part) =>
    (100 * part).toFixed(2),
  );
  return [
    `${INDENT}keeping ${keptName(kept)} (${kept.labelsPerPoint.toFixed(2)} a point), in percent:`,
    ...table([
      ["", "precision", "recall", "F1"],
      ...means.map(([name, figures]) => [name, ...threePercents(figures)]),
    ]),
    `${INDENT}nDCG ${all}, nDCG@5 ${five}, nDCG@10 ${ten} of what is kept`,
    `${INDENT}${grouped(kept.truePositives)} right, ${grouped(kept.falsePositives)} wrong, ${grouped(kept.falseNegatives)} missed`,
  ];
}

const reliabilityCells = ({ predictions, said, came, bias, ece }: Reliability): string[] => [
  grouped(predictions),
  percent(said),
  percent(came),
  points(bias),
  (100 * ece).toFixed(2),
];

/** Where the bias stands among these cells. */
const BIAS = 3;

/** Calibration where people act on it, log loss and Brier score a point, by frequency. */
export function calibrationLines(calibration: CalibrationReport): string[] {
  const { bestFive, overFivePercent, logLoss, brier, allPairs, unknownLabels } = calibration;
  const head = ["", "predictions", "said", "came true", "bias", "error"];
  return [
    `${INDENT}log loss ${logLoss.toFixed(4)} and Brier score ${brier.toFixed(4)} a point; less is better`,
    ...(unknownLabels > 0
      ? [`${INDENT}${grouped(unknownLabels)} true labels are unknown to the model: in no figure below`]
      : []),
    "",
    `${INDENT}calibration: bias and error (15 groups of equal size) in percent points`,
    ...table([
      head,
      ["best five of each point", ...reliabilityCells(bestFive)],
      ["all of at least 5 %", ...reliabilityCells(overFivePercent)],
    ]),
    ...frequencyLines(calibration),
    "",
    `${INDENT}The mean over all ${grouped(allPairs.predictions)} pairs of a point and a label, nearly all`,
    `${INDENT}of them certain absences: error ${(100 * allPairs.ece).toFixed(4)}. It says little.`,
  ];
}

function frequencyLines({ byFrequency }: CalibrationReport): string[] {
  if (byFrequency.length === 0) return [];
  const rows = byFrequency.map((group) => [
    countRange(group),
    grouped(group.labels),
    grouped(group.positives),
    group.logLoss.toFixed(3),
    ...reliabilityCells(group.overFivePercent).filter((_, i) => i !== BIAS),
  ]);
  return [
    "",
    `${INDENT}by training points of the label; said, came true and error of those over 5 %`,
    ...table([["points", "labels", "true", "log loss", "over 5 %", "said", "came", "error"], ...rows]),
  ];
}

/** The dots of a reliability plot, with their intervals. */
export function reliabilityLines(title: string, { groups }: Reliability): string[] {
  const rows = groups.map(({ from, to, count, meanProbability, frequency, low, high }) => [
    `${percent(from)} to ${percent(to)}`,
    grouped(count),
    percent(meanProbability),
    percent(frequency),
    `${percent(low)} to ${percent(high)}`,
  ]);
  return [
    `${INDENT}${title}`,
    ...table([["probability", "number", "said", "came true", "95 % interval"], ...rows]),
  ];
}

/** Precision, recall and F1 by threshold, the best of each F1 marked. */
export function thresholdLines({ thresholds, best }: ThresholdReport): string[] {
  const mark = (sense: keyof ThresholdReport["best"], threshold: number, f1: number): string =>
    `${(100 * f1).toFixed(2)}${best[sense] === threshold ? "*" : " "}`;
  const rows = thresholds.map(({ threshold, labelsPerPoint, overall, byLabel, byDocument }) => [
    threshold.toFixed(2),
    labelsPerPoint.toFixed(2),
    (100 * overall.precision).toFixed(2),
    (100 * overall.recall).toFixed(2),
    mark("overall", threshold, overall.f1),
    mark("byLabel", threshold, byLabel.f1),
    mark("byDocument", threshold, byDocument.f1),
  ]);
  return [
    `${INDENT}keeping all labels of at least a threshold, in percent; * is the best`,
    ...table([
      ["threshold", "a point", "precision", "recall", "F1 ", "F1 by label ", "by document "],
      ...rows,
    ]),
    `${INDENT}best: ${best.overall} overall (micro F1), ${best.byLabel} by label (macro), ${best.byDocument} by document`,
  ];
}

/** All that was measured, part by part. */
export function evaluationLines({
  ranking,
  expectation,
  kept,
  calibration,
  thresholds,
}: Evaluation): string[] {
  const without = ranking.pointsWithoutLabels;
  const parts = [
    [
      `${grouped(ranking.points)} points${without > 0 ? `; ${grouped(without)} more have no label and are left out` : ""}`,
    ],
    rankingLines(ranking),
    expectationLines(expectation),
    keptLines(kept),
    ...(thresholds ? [thresholdLines(thresholds)] : []),
    ...(calibration
      ? [
          calibrationLines(calibration),
          reliabilityLines("the best five of each point, in groups of equal size", calibration.bestFive),
          reliabilityLines("all of at least 5 %, in groups of equal size", calibration.overFivePercent),
        ]
      : []),
  ];
  return parts.flatMap((lines, i) => (i === 0 ? lines : ["", ...lines]));
}

/** The rankings lie flat, in percent; all else is as in the API, in parts of one. What was not measured is undefined. */
export function evaluationAsJson({
  ranking,
  calibration,
  perLabel: _,
  ...rest
}: Evaluation): Record<string, unknown> {
  const { metrics, ...counts } = ranking;
  const { logLoss, brier, byFrequency } = calibration ?? {};
  return { ...metrics, ...counts, logLoss, brier, ...rest, calibration, byFrequency };
}
