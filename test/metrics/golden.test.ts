// One problem whose figures were computed with numpy, scikit-learn 1.9 and Annif's own nDCG: all of ours at once.

import { describe, expect, test } from "vitest";
import { EvaluationMeter, type EvaluationOptions } from "../../src/metrics/evaluation.ts";
import type { PrecisionRecall } from "../../src/metrics/index.ts";
import { setsOf, sharedProblem } from "./support.ts";

const { labels, probabilities, truth } = sharedProblem();

function evaluation(options: EvaluationOptions) {
  const meter = new EvaluationMeter(
    {
      labels,
      labelCounts: new Array(labels).fill(20),
      trainingPoints: 100,
      truth: setsOf(truth, labels),
    },
    options,
  );
  meter.update(probabilities.flat());
  if (meter.twice) meter.recount(probabilities.flat());
  return meter.report();
}

const near = (found: number | undefined, wanted: number, within = 1e-12): void =>
  expect(Math.abs((found as number) - wanted)).toBeLessThan(within);

function nearAll({ precision, recall, f1 }: PrecisionRecall, wanted: readonly number[]): void {
  [precision, recall, f1].forEach((value, i) => {
    near(value, wanted[i] as number);
  });
}

describe("the same figures as other programs", () => {
  test("calibration, log loss and Brier score a point (numpy)", () => {
    const { calibration, ranking } = evaluation({ calibration: true });
    expect([calibration?.points, calibration?.pointsWithoutLabels, calibration?.positives]).toEqual([
      177, 23, 392,
    ]);
    near(calibration?.logLoss, 4.542906608981935);
    near(calibration?.brier, 1.3557215121615072);
    near(calibration?.bestFive.ece, 0.09499365675224704);
    near(calibration?.overFivePercent.ece, 0.07226553489646145);
    near(calibration?.overFivePercent.bias, 0.04658492822388588);
    near(ranking.metrics["P@1"], 63.84180790960452, 1e-10);
    near(ranking.metrics["P@3"], 48.39924670433145, 1e-10);
    near(ranking.metrics["P@5"], 37.740112994350284, 1e-10);
    near(ranking.metrics["F1@5"], 50.05034199949453, 1e-10);
  });

  test("at most four labels of at least 10 % (scikit-learn, Annif)", () => {
    const { kept } = evaluation({ limit: 4, threshold: 0.1 });
    nearAll(kept.byDocument, [0.4354990583804143, 0.7931530804412159, 0.5313799822274399]);
    nearAll(kept.byLabel, [0.43274341823988877, 0.7517218721699396, 0.5468656776273879]);
    nearAll(kept.byLabelWeighted, [0.4381529698962601, 0.7525510204081632, 0.5516614692703637]);
    nearAll(kept.overall, [0.43191800878477304, 0.7525510204081632, 0.5488372093023256]);
    expect([kept.truePositives, kept.falsePositives, kept.falseNegatives]).toEqual([295, 388, 97]);
    // Annif's are in single precision.
    near(kept.nDCG, 0.7116233110427856, 1e-6);
    near(kept["nDCG@5"], 0.7128904461860657, 1e-6);
    near(kept["nDCG@10"], 0.7116233110427856, 1e-6);
  });

  test("all labels of at least 30 %", () => {
    const { kept } = evaluation({ threshold: 0.3 });
    nearAll(kept.byDocument, [0.5077212806026365, 0.7208905030938929, 0.552154405544236]);
    nearAll(kept.byLabel, [0.49287699410219915, 0.6971045645218337, 0.5746021375614528]);
    nearAll(kept.overall, [0.49280575539568344, 0.6989795918367347, 0.5780590717299579]);
    expect([kept.truePositives, kept.falsePositives, kept.falseNegatives]).toEqual([274, 282, 118]);
    near(kept["nDCG@5"], 0.6659978032112122, 1e-6);
    near(kept["nDCG@10"], 0.6676850318908691, 1e-6);
  });

  test("by threshold", () => {
    const { thresholds } = evaluation({ thresholds: [0.1, 0.35, 0.6] });
    const [low, middle, high] = thresholds?.thresholds ?? [];
    near(low?.labelsPerPoint, 5.4124293785310735);
    nearAll(low?.overall as PrecisionRecall, [0.3674321503131524, 0.8979591836734694, 0.5214814814814814]);
    nearAll(low?.byLabel as PrecisionRecall, [0.36718838327435693, 0.8965064735319879, 0.5190456342523332]);
    nearAll(
      middle?.byDocument as PrecisionRecall,
      [0.5147699757869248, 0.668724778046812, 0.5389643940491398],
    );
    nearAll(middle?.byLabel as PrecisionRecall, [0.5122220965848966, 0.6476647256826623, 0.5680007445450709]);
    nearAll(high?.overall as PrecisionRecall, [0.6179775280898876, 0.42091836734693877, 0.5007587253414264]);
    nearAll(
      high?.byDocument as PrecisionRecall,
      [0.527683615819209, 0.44620661824051655, 0.4521926284638149],
    );
    expect(thresholds?.best).toEqual({ overall: 0.35, byLabel: 0.35, byDocument: 0.35 });
  });

  test("average precision of each label", () => {
    const wanted = [
      0.671580264708003, 0.617969174101887, 0.5736535277368394, 0.6566481781965786, 0.3924865249419166,
      0.5966737404098714, 0.6008331197302872, 0.5674157743810395, 0.564976485324518, 0.47640067169864453,
      0.5934101869832753, 0.5254550863115741,
    ];
    const { perLabel } = evaluation({ perLabel: true });
    perLabel?.forEach(({ averagePrecision }, label) => {
      near(averagePrecision, wanted[label] as number);
    });
    expect(perLabel?.length).toBe(labels);
  });
});
