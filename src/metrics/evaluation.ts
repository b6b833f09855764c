// All figures of a model on data with known labels, behind one door: whoever has scores feeds them in blocks and gets
// one report. Either the best labels alone (`updateBest`, enough for rankings and what is kept at a limit), or the whole
// rows (`update`, which calibration, thresholds and single labels need); single labels need the rows a second time
// (`recount`).

import type { Guarantees, Threshold } from "../base/prediction.ts";
import type { LabelSets } from "../base/sparse.ts";
import { insertBest, type RankedValue, topLabels } from "../base/top.ts";
import { CalibrationMeter, type CalibrationReport } from "./calibration.ts";
import { SingleLabelMeter, type SingleLabelReport } from "./confusion.ts";
import { DecisionMeter, type DecisionReport } from "./decisions.ts";
import { type Expectation, ExpectationMeter } from "./expectation.ts";
import { LabelErrorMeter, type LabelErrorReport } from "./labelerror.ts";
import { type LabelFigures, LabelMeter } from "./perlabel.ts";
import { inversePropensities } from "./propensity.ts";
import { CoverageMeter, type CoverageReport, RankingMeter, type RankingReport } from "./ranking.ts";
import { type BestRow, rowsOf, TOP } from "./rows.ts";
import { GuaranteeMeter, type KeptGuarantee, ThresholdMeter, type ThresholdReport } from "./thresholds.ts";
import { UnseenMeter, type UnseenReport } from "./unseen.ts";

/** Which figures to make beyond the rankings and the confidence in the top labels. */
export interface EvaluationOptions {
  /** How well calibrated the probabilities are: log loss, Brier score, ECE@k. */
  readonly calibration?: boolean;
  /** Calibration error by label (ECE_ML); it takes memory. */
  readonly labelCalibration?: boolean;
  /** How far down the ranking all true labels are. */
  readonly coverage?: boolean;
  /** Labels kept for a point: at most so many (default 5, or any number where there is a threshold). */
  readonly limit?: number;
  /** Labels kept for a point: only those at least this probable; one number, or one for each label. */
  readonly threshold?: Threshold;
  /** Precision, recall and F1 by threshold: at 0.05, 0.10, ... 0.95, or at these. */
  readonly thresholds?: boolean | readonly number[];
  /** Guarantees beside what came of them. */
  readonly guarantees?: Guarantees | undefined;
  /** Figures of every label; the data are scored twice. */
  readonly perLabel?: boolean;
}

/** The data, and the labels that the model was trained on. */
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
  /** Labels that the model knows. */
  readonly labels: number;
  readonly ranking: RankingReport;
  /** Confidence in the top labels, and their accuracy. */
  readonly expectation: Expectation;
  /** Figures of the labels kept at the limit and threshold. */
  readonly kept: DecisionReport;
  /** Where every point has exactly one label. */
  readonly singleLabel?: SingleLabelReport;
  /** Labels that no training point has, where the model knows some by name. */
  readonly unseen?: UnseenReport;
  readonly coverage?: CoverageReport;
  readonly calibration?: CalibrationReport;
  readonly labelCalibration?: LabelErrorReport;
  readonly thresholds?: ThresholdReport;
  /** Guarantees of the model beside observed figures, where it has some. */
  readonly guarantees?: readonly KeptGuarantee[];
  /** All labels that the model knows. */
  readonly perLabel?: readonly LabelFigures[];
}

/** The figures that a summary has, in percent: of rankings, and the accuracy where points have one label; precision, recall and F1 of a single label. */
export function summaryFigures({ labels, ranking, kept, singleLabel }: Evaluation): Record<string, number> {
  const { precision, recall, f1 } = kept.overall;
  return {
    ...ranking.metrics,
    ...(singleLabel && labels > 1 && { accuracy: 100 * singleLabel.accuracy }),
    ...(labels === 1 && { precision: 100 * precision, recall: 100 * recall, F1: 100 * f1 }),
  };
}

/** Asks for every figure. */
export const everyFigure = {
  calibration: true,
  labelCalibration: true,
  coverage: true,
  thresholds: true,
  perLabel: true,
} as const;

/** An evaluation that left nothing out. */
export type FullEvaluation = Evaluation & Required<Pick<Evaluation, keyof typeof everyFigure>>;

/** No figure was left out. */
export const isFull = (evaluation: Evaluation): evaluation is FullEvaluation =>
  Object.keys(everyFigure).every((name) => name in evaluation);

/** Takes blocks of scores and makes an evaluation. */
export class EvaluationMeter {
  /** Best labels to give to `updateBest`. */
  readonly depth: number;
  /** The best labels are not enough: give whole rows to `update`. */
  readonly wholeRows: boolean;
  /** All rows are to be given to `recount` after that. */
  readonly twice: boolean;
  readonly #labels: number;
  readonly #truth: LabelSets;
  readonly #ranking: RankingMeter;
  readonly #expectation = new ExpectationMeter();
  readonly #singleLabel: SingleLabelMeter;
  readonly #kept: DecisionMeter;
  readonly #unseen: UnseenMeter;
  /** Nothing but the threshold limits what is kept. */
  readonly #keepsByThreshold: boolean;
  /** These need whole rows. */
  readonly #coverage?: CoverageMeter;
  readonly #calibration?: CalibrationMeter;
  readonly #labelCalibration?: LabelErrorMeter;
  readonly #thresholds?: ThresholdMeter;
  readonly #guarantees?: GuaranteeMeter;
  readonly #perLabel?: LabelMeter;

  constructor(subject: EvaluationSubject, options: EvaluationOptions = {}) {
    const { labels, labelCounts, trainingPoints, truth } = subject;
    const { thresholds } = options;
    // Rankings say nothing where there is one label: it is kept where it is more probable than not.
    const isOne = labels === 1 && options.limit === undefined && options.threshold === undefined;
    const threshold = isOne ? 0.5 : options.threshold;
    const limit = isOne ? 1 : (options.limit ?? (threshold === undefined ? TOP : undefined));
    // A label of its own threshold may be below others that are not kept.
    const limited = limit !== undefined && typeof threshold !== "object";
    // Labels that training never saw come after those it knows; nobody can rank them.
    const vocabulary = Math.max(labels, truth.labels);
    const counts = Array.from({ length: vocabulary }, (_, label) => labelCounts[label] ?? 0);
    const trainingCounts = trainingPoints > 0 ? labelCounts : undefined;
    this.#labels = labels;
    this.#truth = truth;
    this.#unseen = new UnseenMeter(labels);
    this.#singleLabel = new SingleLabelMeter(vocabulary);
    this.#ranking = new RankingMeter({
      depth: TOP,
      inversePropensity: trainingPoints > 0 ? inversePropensities(counts, trainingPoints) : undefined,
    });
    this.#kept = new DecisionMeter(vocabulary, { limit, threshold });
    if (options.coverage) this.#coverage = new CoverageMeter();
    if (options.calibration) this.#calibration = new CalibrationMeter(labels, trainingCounts);
    if (options.labelCalibration) this.#labelCalibration = new LabelErrorMeter(labels, truth.rows, trainingCounts);
    if (thresholds)
      this.#thresholds = new ThresholdMeter(labels, vocabulary, thresholds === true ? undefined : thresholds);
    const { guarantees } = options;
    if (guarantees && guarantees.recall.length + guarantees.precision.length > 0)
      this.#guarantees = new GuaranteeMeter(labels, vocabulary, guarantees);
    if (options.perLabel) this.#perLabel = new LabelMeter(labels);
    this.#keepsByThreshold = !limited && threshold !== undefined;
    this.depth = Math.min(labels, Math.max(TOP, limit ?? TOP));
    this.twice = this.#perLabel !== undefined;
    const asked = Object.keys(everyFigure).some((name) => options[name as keyof typeof everyFigure]);
    this.wholeRows = asked || this.#guarantees !== undefined || this.#keepsByThreshold;
  }

  /**
   * The `depth` best labels of each row from `firstRow` on, best first, and their probabilities [rows, depth]; `beyond` has labels that
   * training has not seen, most probable first.
   */
  updateBest(
    ranked: ArrayLike<number>,
    probabilities: ArrayLike<number>,
    firstRow = 0,
    beyond?: readonly (readonly RankedValue[])[],
  ): void {
    const widths = { ranked: this.depth, confidence: this.depth };
    let i = 0;
    for (const row of rowsOf(this.#truth, firstRow, widths, { ranked, confidence: probabilities }))
      this.#addBest(row, beyond?.[i++]);
  }

  #addBest(row: BestRow, beyond: readonly RankedValue[] | undefined): void {
    if (beyond) this.#unseen.add(row, beyond);
    this.#ranking.add(row);
    this.#expectation.add(row);
    this.#singleLabel.add(row);
    if (!this.#keepsByThreshold) this.#kept.add(row);
  }

  /**
   * The probabilities [rows, labels] of the rows from `firstRow` on. `order` [rows, labels] is what labels are ranked by,
   * where that is not the probability.
   */
  update(
    probabilities: ArrayLike<number>,
    firstRow = 0,
    order: ArrayLike<number> = probabilities,
    beyond?: readonly (readonly RankedValue[])[],
  ): void {
    const { depth } = this;
    const labels = this.#labels;
    const rows = labels > 0 ? probabilities.length / labels : 0;
    const ranked = topLabels(order, Math.floor(rows), labels, depth);
    const confidence = Float64Array.from(ranked, (label, at) => probabilities[Math.floor(at / depth) * labels + label]);
    // Labels beyond are ranked where the probability ranks.
    if (order === probabilities)
      for (const [row, own] of (beyond ?? []).entries()) insertBest(own, ranked, confidence, row * depth, depth);
    const blocks = { probabilities, order, ranked, confidence };
    const widths = { probabilities: labels, order: labels, ranked: depth, confidence: depth };
    let i = 0;
    for (const row of rowsOf(this.#truth, firstRow, widths, blocks)) {
      this.#addBest(row, beyond?.[i++]);
      if (this.#keepsByThreshold) this.#kept.addWhole(row);
      this.#coverage?.add(row);
      this.#labelCalibration?.add(row);
      this.#calibration?.add(row);
      this.#thresholds?.add(row);
      this.#guarantees?.add(row);
      this.#perLabel?.collect(row);
    }
  }

  /** The same rows again, after all of them were given to `update`; only where `twice` asks for it. */
  recount(probabilities: ArrayLike<number>, firstRow = 0): void {
    for (const row of rowsOf(this.#truth, firstRow, { probabilities: this.#labels }, { probabilities }))
      this.#perLabel?.count(row);
  }

  report(): Evaluation {
    const singleLabel = this.#singleLabel.report();
    const unseen = this.#unseen.report();
    return {
      labels: this.#labels,
      ranking: this.#ranking.report(),
      expectation: this.#expectation.report(),
      kept: this.#kept.report(),
      ...(singleLabel && { singleLabel }),
      ...(unseen.top5.predictions > 0 && { unseen }),
      ...(this.#coverage && { coverage: this.#coverage.report() }),
      ...(this.#calibration && { calibration: this.#calibration.report() }),
      ...(this.#labelCalibration && { labelCalibration: this.#labelCalibration.report() }),
      ...(this.#thresholds && { thresholds: this.#thresholds.report() }),
      ...(this.#guarantees && { guarantees: this.#guarantees.kept() }),
      ...(this.#perLabel && { perLabel: this.#perLabel.report(this.#kept) }),
    };
  }
}
