// One problem whose figures were computed with numpy, by the definitions of scikit-learn, Ullah et al. and Henning et al., and
// with Annif's own nDCG: all of ours at once. Losses, calibration and F1 are over all points, those without labels too.

import { describe, expect, test } from "vitest";
import { EvaluationMeter, type EvaluationOptions, everyFigure } from "../../src/metrics/evaluation.ts";
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
    near(value, wanted[i]);
  });
}

describe("the same figures as other programs", () => {
  test("calibration, losses a point, rankings and coverage (numpy)", () => {
    const { calibration, labelCalibration, coverage, ranking, expectation, singleLabel } = evaluation(everyFigure);
    expect([calibration?.points, calibration?.pointsWithoutLabels, calibration?.positives]).toEqual([200, 23, 392]);
    near(calibration?.logLoss, 4.278287783956989);
    near(calibration?.brier, 1.2707960984794548);
    const errors = {
      top1: [0.18839733783517204, 0.1834635191650686, 0.004933818670103448, 0.18707852176459255],
      top3: [0.13609763822505794, 0.1319045643551223, 0.004193073869935636, 0.13874242112363316],
      top5: [0.09133300713543693, 0.08701636592605842, 0.004316641209378503, 0.09633713568549732],
      overFivePercent: [0.07090635982299742, 0.06890911636318758, 0.001997243459809845, 0.07649908523589227],
    } as const;
    for (const [name, wanted] of Object.entries(errors)) {
      const found = calibration?.[name as keyof typeof errors];
      [found?.ece, found?.overconfidence, found?.underconfidence, found?.ace].forEach((value, i) => {
        near(value, wanted[i]);
      });
    }
    near(calibration?.overFivePercent.bias, 0.06691187290337769);
    // Kept in single precision.
    near(labelCalibration?.error, 0.10497328424780417, 1e-8);
    near(coverage?.error, 4.265536723163842);
    near(coverage?.best, 2.214689265536723);
    near(expectation.confidence, 0.7435297004949653);
    near(expectation.accuracy, 0.565);
    expect([labelCalibration?.labels, coverage?.points, singleLabel]).toEqual([labels, 177, undefined]);
    near(ranking.metrics["RP@1"], 63.84180790960452, 1e-10);
    near(ranking.metrics["RP@3"], 74.19962335216572, 1e-10);
    near(ranking.metrics["RP@5"], 88.05084745762711, 1e-10);
    near(ranking.metrics["P@1"], 63.84180790960452, 1e-10);
    near(ranking.metrics["P@3"], 48.39924670433145, 1e-10);
    near(ranking.metrics["P@5"], 37.740112994350284, 1e-10);
    near(ranking.metrics["F1@5"], 50.05034199949453, 1e-10);
  });

  test("at most four labels of at least 10 % (scikit-learn, Annif)", () => {
    const { kept } = evaluation({ limit: 4, threshold: 0.1 });
    nearAll(kept.byDocument, [0.38541666666666674, 0.7019404761904764, 0.4702712842712846]);
    nearAll(kept.byLabel, [0.38846398950836125, 0.7517218721699396, 0.5099791580545444]);
    nearAll(kept.byLabelWeighted, [0.3926086214792844, 0.7525510204081632, 0.514023562409255]);
    nearAll(kept.overall, [0.38663171690694625, 0.7525510204081632, 0.5108225108225108]);
    expect([kept.truePositives, kept.falsePositives, kept.falseNegatives]).toEqual([295, 468, 97]);
    // Annif's are in single precision.
    near(kept.nDCG, 0.7116233110427856, 1e-6);
    near(kept["nDCG@5"], 0.7128904461860657, 1e-6);
    near(kept["nDCG@10"], 0.7116233110427856, 1e-6);
  });

  test("all labels of at least 30 %", () => {
    const { kept } = evaluation({ threshold: 0.3 });
    nearAll(kept.byDocument, [0.45433333333333314, 0.6429880952380952, 0.4936566489066487]);
    nearAll(kept.byLabel, [0.4612169065479434, 0.6971045645218338, 0.5522129772240517]);
    nearAll(kept.overall, [0.4597315436241611, 0.6989795918367347, 0.5546558704453441]);
    expect([kept.truePositives, kept.falsePositives, kept.falseNegatives]).toEqual([274, 322, 118]);
    near(kept["nDCG@5"], 0.6659978032112122, 1e-6);
    near(kept["nDCG@10"], 0.6676850318908691, 1e-6);
  });

  test("by threshold", () => {
    const { thresholds } = evaluation({ thresholds: [0.1, 0.35, 0.6] });
    const [low, middle, high] = thresholds?.thresholds ?? [];
    near(low?.labelsPerPoint, 5.225);
    nearAll(low?.overall as PrecisionRecall, [0.3368421052631579, 0.8979591836734694, 0.4899095337508699]);
    nearAll(low?.byLabel as PrecisionRecall, [0.3369483314977946, 0.8965064735319879, 0.4880477465374486]);
    nearAll(middle?.byDocument as PrecisionRecall, [0.47057142857142836, 0.6068214285714285, 0.49198348873348857]);
    nearAll(middle?.byLabel as PrecisionRecall, [0.4830561449114801, 0.6476647256826622, 0.5498128990433809]);
    nearAll(high?.overall as PrecisionRecall, [0.5892857142857143, 0.42091836734693877, 0.49107142857142855]);
    nearAll(high?.byDocument as PrecisionRecall, [0.5269999999999999, 0.45489285714285704, 0.4601904761904763]);
    expect(thresholds?.best).toEqual({ overall: 0.35, byLabel: 0.35, byDocument: 0.35 });
  });

  test("average precision of each label", () => {
    const wanted = [
      0.5687957533958278, 0.5834208813358825, 0.5680286485157103, 0.615166382075828, 0.3822468394132613,
      0.5779006757420866, 0.5835985848462888, 0.519084890686617, 0.545915211951655, 0.4482065062792479,
      0.57594748416895, 0.5177286303588018,
    ];
    const { perLabel } = evaluation({ perLabel: true });
    perLabel?.forEach(({ averagePrecision }, label) => {
      near(averagePrecision, wanted[label]);
    });
    expect(perLabel?.length).toBe(labels);
  });
});
