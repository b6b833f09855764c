// All figures of a model on data with known labels, behind one door: whoever has scores feeds them in blocks and gets
// one report. Either the best labels alone (`updateBest`, enough for rankings and what is kept at a limit), or the whole
// rows (`update`, which calibration, thresholds and single labels need); single labels need the rows a second time
// (`recount`).

import type { LabelSets } from "../data/dataset.ts";
import { BEST, CalibrationMeter, type CalibrationReport } from "./calibration.ts";
import { leastOf, reaches, type Threshold } from "./cut.ts";
import { DecisionMeter, type DecisionReport } from "./decisions.ts";
import { type Expectation, ExpectationMeter } from "./expectation.ts";
import { type LabelFigures, LabelMeter } from "./perlabel.ts";
import { inversePropensities } from "./propensity.ts";
import { RankingMeter, type RankingReport } from "./ranking.ts";
import { rowsOfBlock } from "./rows.ts";
import { ThresholdMeter, type ThresholdReport } from "./thresholds.ts";
import { topLabels } from "./top.ts";

/** Which figures to make beyond the rankings and what the model expected. */
export interface EvaluationOptions {
  /** How honest the probabilities are: log loss, Brier score, reliability. */
  readonly calibration?: boolean;
  /** Labels kept for a point: at most so many (default 5, or any number where there is a threshold). */
  readonly limit?: number;
  /** Labels kept for a point: only those at least this probable; one number, or one for each label. */
  readonly threshold?: Threshold;
  /** Precision, recall and F1 by threshold: at 0.05, 0.10, ... 0.95, or at these. */
  readonly thresholds?: boolean | readonly number[];
  /** Figures of every label; the data are scored twice. */
  readonly perLabel?: boolean;
}

/** What is measured, and what the model was trained on. */
export interface EvaluationSubject {
  /** Labels that the model knows. */
  readonly labels: number;
  /** How many training points have each of them, and how many there were; 0 where nobody knows. */
  readonly labelCounts: ArrayLike<number>;
  readonly trainingPoints: number;
  readonly truth: LabelSets;
}

/** Figures of a model on data with known labels. */
export interface Evaluation {
  readonly ranking: RankingReport;
  /** What the model expected of its first labels, and what came. */
  readonly expectation: Expectation;
  /** What keeping the labels at the limit and threshold is worth. */
  readonly kept: DecisionReport;
  readonly calibration?: CalibrationReport;
  readonly thresholds?: ThresholdReport;
  /** Of all labels the model knows. */
  readonly perLabel?: readonly LabelFigures[];
}

/** An evaluation that left nothing out. */
export type FullEvaluation = Required<Evaluation>;

/** Asks for one. */
export const everyFigure = { calibration: true, thresholds: true, perLabel: true } as const;

/** Whether nothing was left out. */
export function isFull(evaluation: Evaluation): evaluation is FullEvaluation {
  const { calibration, thresholds, perLabel } = evaluation;
  return calibration !== undefined && thresholds !== undefined && perLabel !== undefined;
}

/** Takes blocks of scores and makes an evaluation. */
export class EvaluationMeter {
  /** Best labels to give to `updateBest`. */
  readonly depth: number;
  /** Whether the best labels are not enough: give whole rows to `update`. */
  readonly wholeRows: boolean;
  /** Whether all rows are to be given to `recount` after that. */
  readonly twice: boolean;
  readonly #labels: number;
  readonly #truth: LabelSets;
  readonly #ranking: RankingMeter;
  readonly #expectation = new ExpectationMeter();
  readonly #kept: DecisionMeter;
  /** The threshold, where nothing else limits what is kept. */
  readonly #thresholdAlone: Threshold | undefined;
  readonly #calibration: CalibrationMeter | undefined;
  readonly #thresholds: ThresholdMeter | undefined;
  readonly #perLabel: LabelMeter | undefined;

  constructor(subject: EvaluationSubject, options: EvaluationOptions = {}) {
    const { labels, labelCounts, trainingPoints, truth } = subject;
    const { calibration, threshold, thresholds, perLabel } = options;
    const limit = options.limit ?? (threshold === undefined ? BEST : undefined);
    // A label of its own threshold may be below others that are not kept.
    const limited = limit !== undefined && typeof threshold !== "object";
    // Labels that training never saw come after those it knows; nobody can rank them.
    const vocabulary = Math.max(labels, truth.labels);
    const counts = Array.from({ length: vocabulary }, (_, label) => labelCounts[label] ?? 0);
    this.#labels = labels;
    this.#truth = truth;
    this.#ranking = new RankingMeter({
      depth: BEST,
      ...(trainingPoints > 0 && { inversePropensity: inversePropensities(counts, trainingPoints) }),
    });
    this.#kept = new DecisionMeter(vocabulary, {
      ...(limit !== undefined && { limit }),
      ...(threshold !== undefined && { threshold }),
    });
    if (calibration)
      this.#calibration = new CalibrationMeter(
        labels,
        trainingPoints > 0 ? { trainingCounts: labelCounts } : {},
      );
    if (thresholds) {
      const values = thresholds === true ? undefined : thresholds;
      this.#thresholds = new ThresholdMeter(labels, vocabulary, values);
    }
    if (perLabel) this.#perLabel = new LabelMeter(labels);
    this.#thresholdAlone = limited ? undefined : threshold;
    this.depth = Math.min(labels, Math.max(BEST, limit ?? BEST));
    this.twice = this.#perLabel !== undefined;
    this.wholeRows = [this.#calibration, this.#thresholds, this.#perLabel, this.#thresholdAlone].some(
      (part) => part !== undefined,
    );
  }

  /** The `depth` best labels of each row from `firstRow` on, best first, and their probabilities [rows, depth]. */
  updateBest(ranked: ArrayLike<number>, probabilities: ArrayLike<number>, firstRow = 0): void {
    this.#ranking.update(ranked, this.depth, this.#truth, firstRow);
    this.#expectation.update(ranked, probabilities, this.depth, this.#truth, firstRow);
    if (this.#thresholdAlone === undefined)
      this.#kept.update(ranked, probabilities, this.depth, this.#truth, firstRow);
  }

  /**
   * The probabilities [rows, labels] of the rows from `firstRow` on. `order` [rows, labels] is what labels are ranked by,
   * where that is not the probability.
   */
  update(probabilities: ArrayLike<number>, firstRow = 0, order: ArrayLike<number> = probabilities): void {
    const { depth } = this;
    const labels = this.#labels;
    const rows = rowsOfBlock("probabilities", probabilities.length, labels, this.#truth, firstRow);
    const ranked = topLabels(order, rows, labels, depth);
    const ofRanked = Float64Array.from(
      ranked,
      (label, at) => probabilities[Math.floor(at / depth) * labels + label] as number,
    );
    this.updateBest(ranked, ofRanked, firstRow);
    if (this.#thresholdAlone !== undefined) {
      const over = labelsOver(this.#thresholdAlone, probabilities, order, rows);
      this.#kept.update(over.ranked, over.probabilities, over.width, this.#truth, firstRow);
    }
    this.#calibration?.update(probabilities, this.#truth, firstRow, ranked);
    this.#thresholds?.update(probabilities, this.#truth, firstRow);
    this.#perLabel?.collect(probabilities, this.#truth, firstRow, ranked);
  }

  /** The same rows again, after all of them were given to `update`; only where `twice` asks for it. */
  recount(probabilities: ArrayLike<number>, firstRow = 0): void {
    this.#perLabel?.count(probabilities, this.#truth, firstRow);
  }

  report(): Evaluation {
    return {
      ranking: this.#ranking.report(),
      expectation: this.#expectation.report(),
      kept: this.#kept.report(),
      ...(this.#calibration && { calibration: this.#calibration.report() }),
      ...(this.#thresholds && { thresholds: this.#thresholds.report() }),
      ...(this.#perLabel && { perLabel: this.#perLabel.report(this.#kept) }),
    };
  }
}

/** The labels of each row that are at least as probable as the threshold, best first; rows are filled up with -1. */
function labelsOver(
  threshold: Threshold,
  probabilities: ArrayLike<number>,
  order: ArrayLike<number>,
  rows: number,
): { ranked: Int32Array; probabilities: Float64Array; width: number } {
  const labels = probabilities.length / rows;
  const least = leastOf(threshold);
  const found = Array.from({ length: rows }, (_, row) => {
    const own: number[] = [];
    for (let at = row * labels; at < (row + 1) * labels; at++)
      if (
        (probabilities[at] as number) >= least &&
        reaches(threshold, at % labels, probabilities[at] as number)
      )
        own.push(at);
    return own.sort((a, b) => (order[b] as number) - (order[a] as number) || a - b);
  });
  const width = Math.max(1, ...found.map((own) => own.length));
  const ranked = new Int32Array(rows * width).fill(-1);
  const ofRanked = new Float64Array(rows * width);
  found.forEach((own, row) => {
    own.forEach((at, j) => {
      ranked[row * width + j] = at % labels;
      ofRanked[row * width + j] = probabilities[at] as number;
    });
  });
  return { ranked, probabilities: ofRanked, width };
}
