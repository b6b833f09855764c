// How well calibrated probabilities are where people act on them: the top labels of each point, and every prediction of at
// least 5 %; log loss and Brier score a point; all of it also by how often a label was seen in training. Fed with rows
// of the probability matrix, which is never held whole.
//
// With y_il = 1 where point i has label l and 0 elsewhere, q = p kept within [1e-7, 1 - 1e-7]:
//
//     log loss    = mean over points of  sum_l -(y_il ln q_il + (1 - y_il) ln(1 - q_il))
//     Brier score = mean over points of  sum_l (p_il - y_il)^2
//
// All points count, those without any label too: that none of the labels is theirs is known of them.

import { ArgumentError } from "../base/errors.ts";
import { type Reliability, ReliabilityMeter, widthBins } from "./reliability.ts";
import {
  bandsOf,
  type FrequencyBand,
  LIKELY,
  negativeLog,
  negativeLogOfRest,
  ratio,
  TOP,
  type WholeRow,
} from "./rows.ts";

/** How well calibrated the probabilities of some labels are. */
export interface CalibrationFigures {
  readonly labels: number;
  /** How often one of these labels was true. */
  readonly positives: number;
  /** Nats a point: the sum over these labels, the mean over points. */
  readonly logLoss: number;
  /** Squared distance a point: the sum over these labels, the mean over points. */
  readonly brier: number;
  /** Predictions among the top five of their point: `top5.ece` is ECE@5. */
  readonly top5: Reliability;
  /** Predictions of at least 5 %. */
  readonly overFivePercent: Reliability;
}

/** The figures of labels that were seen about equally often in training. */
export interface FrequencyGroup extends CalibrationFigures, FrequencyBand {}

/**
 * Means over all pairs of a point and a label. Nearly all pairs are near-certain absences, so these are small whatever
 * the model says of the labels that matter: a footnote, never a verdict.
 */
export interface AllPairs {
  readonly predictions: number;
  readonly logLoss: number;
  readonly brier: number;
  /** Expected calibration error with 15 bins of equal width. */
  readonly ece: number;
}

/** The figures of all labels, and by how often they were seen. */
export interface CalibrationReport extends CalibrationFigures {
  /** All points, and how many of them have no label. */
  readonly points: number;
  readonly pointsWithoutLabels: number;
  /** True labels that the model does not know: they have no probability and are not included in the figures. */
  readonly unknownLabels: number;
  /** The top label and the top three: ECE@1 and ECE@3. */
  readonly top1: Reliability;
  readonly top3: Reliability;
  readonly byFrequency: readonly FrequencyGroup[];
  readonly allPairs: AllPairs;
}

/** Sums of a group of labels, or of all. */
class FigureSums {
  labels = 0;
  positives = 0;
  logLoss = 0;
  brier = 0;
  readonly top5 = new ReliabilityMeter();
  readonly overFivePercent = new ReliabilityMeter();

  /** Counts a prediction as one of an absent label. */
  addNegative(probability: number): void {
    this.logLoss += negativeLogOfRest(probability);
    this.brier += probability * probability;
  }

  /** Turns a prediction that was counted as one of an absent label into one of a true label. */
  makePositive(probability: number): void {
    this.positives++;
    this.logLoss += negativeLog(probability) - negativeLogOfRest(probability);
    this.brier += 1 - 2 * probability;
  }

  figures(points: number): CalibrationFigures {
    return {
      labels: this.labels,
      positives: this.positives,
      logLoss: ratio(this.logLoss, points),
      brier: ratio(this.brier, points),
      top5: this.top5.report(),
      overFivePercent: this.overFivePercent.report(),
    };
  }
}

/** Adds up rows of probabilities. */
export class CalibrationMeter {
  readonly #bands: readonly FrequencyBand[];
  readonly #groups: readonly FigureSums[]; // by band
  readonly #groupOf: readonly FigureSums[]; // by label
  readonly #all = new FigureSums();
  readonly #top1 = new ReliabilityMeter();
  readonly #top3 = new ReliabilityMeter();
  readonly #pairs = widthBins();
  #points = 0;
  #pointsWithoutLabels = 0;
  #unknownLabels = 0;

  /** `trainingCounts`: how many training points have each label, to report by frequency. */
  constructor(
    private readonly labels: number,
    trainingCounts?: ArrayLike<number>,
  ) {
    const { bands, bandOf } = bandsOf(labels, trainingCounts);
    this.#bands = trainingCounts ? bands : [];
    this.#groups = bands.map(() => new FigureSums());
    this.#groupOf = Array.from(bandOf, (band) => this.#groups[band]);
    for (const group of this.#groupOf) group.labels++;
    this.#all.labels = labels;
  }

  /** True labels that the model does not know have no probability: they are counted and left out. */
  add({ own, ranked, confidence, probabilities }: Omit<WholeRow, "order">): void {
    if (own.length === 0) this.#pointsWithoutLabels++;
    this.#points++;
    for (let label = 0; label < this.labels; label++) {
      const probability = probabilities[label];
      if (!(probability >= 0 && probability <= 1))
        throw new ArgumentError(
          "probabilities",
          `found ${probability} for label ${label}, expected a number from 0 to 1`,
        );
      const group = this.#groupOf[label];
      group.addNegative(probability);
      this.#pairs.add(probability);
      if (probability < LIKELY) continue;
      const positive = own.includes(label);
      this.#all.overFivePercent.add(probability, positive);
      group.overFivePercent.add(probability, positive);
    }
    for (const label of own) {
      if (label >= this.labels) {
        this.#unknownLabels++;
        continue;
      }
      const probability = probabilities[label];
      this.#groupOf[label].makePositive(probability);
      this.#pairs.addPositive(probability);
    }
    for (let j = 0; j < Math.min(TOP, ranked.length); j++) {
      const [label, probability] = [ranked[j], confidence[j]];
      if (label < 0) continue;
      const positive = own.includes(label);
      if (j < 1) this.#top1.add(probability, positive);
      if (j < 3) this.#top3.add(probability, positive);
      this.#all.top5.add(probability, positive);
      this.#groupOf[label]?.top5.add(probability, positive);
    }
  }

  report(): CalibrationReport {
    const points = this.#points;
    const all = this.#all;
    for (const sum of ["positives", "logLoss", "brier"] as const)
      all[sum] = this.#groups.reduce((total, group) => total + group[sum], 0);
    const predictions = points * this.labels;
    return {
      ...all.figures(points),
      top1: this.#top1.report(),
      top3: this.#top3.report(),
      points,
      pointsWithoutLabels: this.#pointsWithoutLabels,
      unknownLabels: this.#unknownLabels,
      byFrequency: this.#bands
        .map((band, i) => ({ ...band, ...this.#groups[i].figures(points) }))
        .filter((group) => group.labels > 0),
      allPairs: {
        predictions,
        logLoss: ratio(all.logLoss, predictions),
        brier: ratio(all.brier, predictions),
        ece: this.#pairs.error().ece,
      },
    };
  }
}
