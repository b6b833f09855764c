// The figures of an evaluation as tables and sentences, the same on a terminal and in a report. A figure is said here once.

import { CONFIDENCE, type Guarantees, promised, type ThresholdChoice, type Thresholds } from "../base/prediction.ts";
import type { CalibrationReport } from "../metrics/calibration.ts";
import type { DecisionReport } from "../metrics/decisions.ts";
import type { Evaluation } from "../metrics/evaluation.ts";
import type { Expectation } from "../metrics/expectation.ts";
import { type RankingReport, rankingFigures } from "../metrics/ranking.ts";
import type { Reliability } from "../metrics/reliability.ts";
import type { PrecisionRecall } from "../metrics/rows.ts";
import type { KeptGuarantee, ThresholdReport } from "../metrics/thresholds.ts";
import type { UnseenReport } from "../metrics/unseen.ts";
import { countRange, grouped, percent } from "./numbers.ts";

/** Columns of figures under their heads; the first one names the rows. */
export interface FigureTable {
  id: string;
  caption: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
  /** The meaning of each row, where its name does not say it. */
  meanings?: readonly string[];
}

const inPercent = (part: number, digits = 2): string => (100 * part).toFixed(digits);
const DEPTHS = [1, 3, 5];

export function rankingTable({ metrics, points }: RankingReport): FigureTable {
  const measured = rankingFigures.filter(([name]) => metrics[`${name}@1`] !== undefined);
  return {
    id: "ranking",
    caption: `rankings of the ${grouped(points)} rows with labels, in percent`,
    head: ["metric", ...DEPTHS.map((k) => `@${k}`)],
    rows: measured.map(([name]) => [name, ...DEPTHS.map((k) => metrics[`${name}@${k}`].toFixed(2))]),
    meanings: measured.map(([, meaning]) => meaning),
  };
}

function keptName({ limit, threshold }: DecisionReport): string {
  const most = limit === undefined ? "all labels" : limit === 1 ? "the top label" : `the top ${limit} labels`;
  if (threshold === undefined) return most;
  return `${most} of at least ${threshold === "label" ? "their thresholds" : percent(threshold)}`;
}

export function keptTable(kept: DecisionReport): FigureTable {
  const means: [string, PrecisionRecall][] = [
    ["mean over rows", kept.byDocument],
    ["mean over labels (macro)", kept.byLabel],
    ["the same, weighted by rows", kept.byLabelWeighted],
    ["the same, labels that occur", kept.byTrueLabel],
    ["over all predictions (micro)", kept.overall],
  ];
  return {
    id: "kept",
    caption: `keeping ${keptName(kept)} (${kept.labelsPerPoint.toFixed(2)} a row), in percent`,
    head: ["average", "precision", "recall", "F1"],
    rows: means.map(([name, { precision, recall, f1 }]) => [
      name,
      ...[precision, recall, f1].map((part) => inPercent(part)),
    ]),
  };
}

const reliabilityCells = (of: Reliability): string[] => {
  if (of.predictions === 0) return ["0", "–", "–", "–", "–", "–", "–"];
  const errors = [of.ece, of.overconfidence, of.underconfidence, of.ace];
  return [
    grouped(of.predictions),
    percent(of.confidence),
    percent(of.accuracy),
    ...errors.map((part) => inPercent(part)),
  ];
};

export const calibrationKinds = [
  ["top1", "top label"],
  ["top3", "top 3 labels"],
  ["top5", "top 5 labels"],
  ["overFivePercent", "at least 5 %"],
] as const;

export function calibrationTable(calibration: CalibrationReport): FigureTable {
  return {
    id: "calibration",
    caption: "ECE, its over- and underconfident parts, and ACE in percentage points",
    head: ["predictions", "number", "confidence", "accuracy", "ECE", "over", "under", "ACE"],
    rows: calibrationKinds.map(([kind, name]) => [name, ...reliabilityCells(calibration[kind])]),
  };
}

export function frequencyTable({ calibration, labelCalibration }: Evaluation): FigureTable | undefined {
  if (!calibration || calibration.byFrequency.length === 0) return undefined;
  return {
    id: "calibrationByFrequency",
    caption: "by training rows of a label; confidence, accuracy, ECE of those over 5 %",
    head: ["rows", "labels", "true", "log loss", "confidence", "accuracy", "ECE", "ECE_ML"],
    rows: calibration.byFrequency.map((group) => {
      const [, confidence, accuracy, ece] = reliabilityCells(group.overFivePercent);
      const byLabel = labelCalibration?.byFrequency.find(({ from }) => from === group.from);
      return [
        countRange(group),
        grouped(group.labels),
        grouped(group.positives),
        group.logLoss.toFixed(3),
        ...[confidence, accuracy, ece],
        byLabel ? inPercent(byLabel.error) : "–",
      ];
    }),
  };
}

export function reliabilityTable(id: string, name: string, { groups }: Reliability): FigureTable {
  return {
    id,
    caption: `${name}, in bins of equal count`,
    head: ["probability", "number", "confidence", "accuracy", "95 % interval"],
    rows: groups.map(({ from, to, count, confidence, accuracy, low, high }) => [
      `${percent(from)} to ${percent(to)}`,
      grouped(count),
      percent(confidence),
      percent(accuracy),
      `${percent(low)} to ${percent(high)}`,
    ]),
  };
}

export function thresholdTable({ thresholds, best }: ThresholdReport): FigureTable {
  const mark = (sense: keyof ThresholdReport["best"], threshold: number, f1: number): string =>
    `${inPercent(f1)}${best[sense] === threshold ? "*" : " "}`;
  return {
    id: "thresholds",
    caption: "keeping all labels of at least a threshold, in percent; * is the best",
    head: ["threshold", "labels a row", "precision", "recall", "micro F1 ", "macro F1 ", "F1 by row "],
    rows: thresholds.map(({ threshold, labelsPerPoint, overall, byLabel, byDocument }) => [
      threshold.toFixed(2),
      labelsPerPoint.toFixed(2),
      inPercent(overall.precision),
      inPercent(overall.recall),
      mark("overall", threshold, overall.f1),
      mark("byLabel", threshold, byLabel.f1),
      mark("byDocument", threshold, byDocument.f1),
    ]),
  };
}

/** Guarantees beside what came of them; those of precision for the usual confidence. */
export function guaranteeTable(kept: readonly KeptGuarantee[]): FigureTable {
  const shown = kept.filter(({ confidence = CONFIDENCE }) => confidence === CONFIDENCE);
  return {
    id: "guarantees",
    caption: `guarantees: recall on average, precision with confidence ${CONFIDENCE}; in percent`,
    head: ["promise", "target", "observed", "threshold", "labels a row"],
    rows: shown.map(({ promise, target, observed, threshold, labelsPerPoint }) => [
      promise,
      inPercent(target, 0),
      inPercent(observed),
      threshold.toPrecision(3),
      labelsPerPoint.toFixed(2),
    ]),
  };
}

/** Predicted and observed accuracy of the top labels, and if they differ by chance. */
export function expectationLines({ confidence, accuracy, chance, beyondChance }: Expectation): string[] {
  const both = `Top labels: ${percent(accuracy)} were right, ${percent(confidence)} were predicted to be`;
  if (!beyondChance) return [`${both} (within chance).`];
  const odds = chance < 1e-6 ? "less than one in a million" : `at most one in ${grouped(Math.floor(1 / chance))}`;
  return [
    `${both}.`,
    `That is too far off for chance (${odds}).`,
    "Either these rows are unlike the training data, or the model is miscalibrated.",
  ];
}

/** How labels that no training row has are found by their names. */
export function unseenLines({ positives, recall, recallAlone, top5 }: UnseenReport): string[] {
  const [, confidence, accuracy, ece] = reliabilityCells(top5);
  return [
    `Labels without training rows: ${grouped(positives)} are true; ${percent(recall)} of these are in the top 5 labels,`,
    `${percent(recallAlone)} in the top 5 of their own list (--unseen 5), which is right in ${accuracy} of cases;`,
    `${confidence} were predicted to be (ECE ${ece}).`,
  ];
}

/** "proven on 600 held-out rows", "measured by leave-one-out on 4,880 rows" */
export const evidenceOf = ({ evidence, rows }: Guarantees): string =>
  evidence === "held-out"
    ? `proven on ${grouped(rows)} held-out rows`
    : `measured by leave-one-out on ${grouped(rows)} rows`;

/** A guarantee that is asked for, in words: proven or measured, on how many rows; and what came of it, where that was measured. */
export function promiseLines(
  asked: ThresholdChoice,
  own: Thresholds | undefined,
  kept?: readonly KeptGuarantee[],
): string[] {
  const { recall, precision = 0, confidence = CONFIDENCE } = asked;
  const found = own && promised(asked, own.guarantees);
  if (!found) return [];
  const { target, threshold } = found;
  const [name, sure] =
    recall === undefined ? ["precision", `in ${percent(confidence)} of trainings`] : ["recall", "on average"];
  const same = (e: KeptGuarantee): boolean =>
    e.promise === name && e.target === target && e.confidence === found.confidence;
  const came = kept?.find(same)?.observed;
  const observed = came === undefined ? "" : `, observed ${percent(came)}`;
  return [
    `Promised ${name} ${percent(recall ?? precision)} ${sure}${observed} (threshold ${threshold.toPrecision(3)}, ${evidenceOf(own.guarantees)})`,
  ];
}

/** Which rows were measured, and what each kind of figure is over. */
export function rowsLines({ labels, ranking: { points, pointsWithoutLabels: without } }: Evaluation): string[] {
  if (without === 0) return [`${grouped(points)} rows, all of them with labels.`];
  if (labels === 1) return [`${grouped(points + without)} rows, ${grouped(points)} of them with the label.`];
  return [
    `${grouped(points + without)} rows, ${grouped(without)} of them without labels:`,
    "rankings and coverage are over those with labels, all other figures over all.",
  ];
}

/** All that was measured for a terminal of 80 columns, part by part. */
export function evaluationLines(evaluation: Evaluation): string[] {
  const { kept, calibration, labelCalibration, thresholds, coverage, singleLabel, unseen } = evaluation;
  const lines: string[] = [];
  const add = (...part: string[]): void => {
    if (lines.length > 0) lines.push("");
    lines.push(...part.map((line) => `  ${line}`.trimEnd()));
  };
  const classes =
    singleLabel?.logLoss === undefined ? "" : `, log loss of the classes ${singleLabel.logLoss.toFixed(4)}`;
  const accuracy = singleLabel && `accuracy ${percent(singleLabel.accuracy)}${classes} (every row has one label)`;
  add(...rowsLines(evaluation), ...(accuracy ? [accuracy] : []));
  if (evaluation.labels > 1) add(...tableLines(rankingTable(evaluation.ranking)));
  if (coverage)
    add(
      `coverage error ${coverage.error.toFixed(2)}: labels down the ranking until all true ones are in`,
      `(${coverage.best.toFixed(2)} would be perfect)`,
    );
  add(...expectationLines(evaluation.expectation));
  if (unseen) add(...unseenLines(unseen));
  add(
    ...tableLines(keptTable(kept)),
    ...(evaluation.labels > 1
      ? [
          `nDCG ${inPercent(kept.nDCG)}, nDCG@5 ${inPercent(kept["nDCG@5"])}, nDCG@10 ${inPercent(kept["nDCG@10"])} of what is kept`,
        ]
      : []),
    `${grouped(kept.truePositives)} right, ${grouped(kept.falsePositives)} wrong, ${grouped(kept.falseNegatives)} missed`,
  );
  if (thresholds) {
    const { overall, byLabel, byDocument } = thresholds.best;
    const best = `best: ${overall} for micro F1, ${byLabel} for macro F1, ${byDocument} by row`;
    add(...tableLines(thresholdTable(thresholds)), best);
    if (evaluation.guarantees) add(...tableLines(guaranteeTable(evaluation.guarantees)));
  }
  if (!calibration) return lines;
  const { logLoss, brier, allPairs, unknownLabels: unknown } = calibration;
  add(
    `log loss ${logLoss.toFixed(4)} and Brier score ${brier.toFixed(4)} a row; less is better`,
    ...(unknown > 0
      ? [`${grouped(unknown)} true labels have no training row and are not included in the figures below`]
      : []),
  );
  add(...tableLines(calibrationTable(calibration)));
  if (labelCalibration) {
    const { error, labels } = labelCalibration;
    add(`ECE_ML ${inPercent(error)}: calibration error by label, the mean over ${grouped(labels)} labels`);
  }
  const byFrequency = frequencyTable(evaluation);
  if (byFrequency) add(...tableLines(byFrequency));
  add(...tableLines(reliabilityTable("top5", "top 5 labels of each row", calibration.top5)));
  add(...tableLines(reliabilityTable("over", "all predictions of at least 5 %", calibration.overFivePercent)));
  add(
    `ECE over all ${grouped(allPairs.predictions)} pairs of a row and a label: ${(100 * allPairs.ece).toFixed(4)}.`,
    "Nearly all of them are certain absences, so it says little.",
  );
  return lines;
}

/** A caption, and columns as wide as they need, the first to the left and the others to the right. */
export function tableLines({ caption, head, rows, meanings }: FigureTable): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((cells) => cells[i].length)));
  const lines = all.map((cells, r) => {
    const line = cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  ");
    return meanings && r > 0 ? `${line}   ${meanings[r - 1]}` : line.trimEnd();
  });
  return [caption, ...lines];
}

/** The rankings lie flat, in percent; all else is as in the API, in parts of one. What was not measured is undefined. */
export function evaluationAsJson(evaluation: Evaluation): Record<string, unknown> {
  const { ranking, calibration, singleLabel, perLabel: _, ...rest } = evaluation;
  const { metrics, ...counts } = ranking;
  const { logLoss, brier, byFrequency } = calibration ?? {};
  const classes = singleLabel && { accuracy: 100 * singleLabel.accuracy, classLogLoss: singleLabel.logLoss };
  return { ...metrics, ...counts, ...classes, logLoss, brier, ...rest, calibration, byFrequency };
}
