import { describe, expect, test } from "vitest";
import { topLabels } from "../../src/base/top.ts";
import { EvaluationMeter, type EvaluationOptions, everyFigure } from "../../src/metrics/evaluation.ts";
import { setsOf, sharedProblem } from "./support.ts";

const { points, labels, probabilities, truth } = sharedProblem();
const sets = setsOf(truth, labels);
const subject = {
  labels,
  labelCounts: Array.from({ length: labels }, (_, label) => 3 ** label),
  trainingPoints: 1e6,
  truth: sets,
};

function inBlocks(options: EvaluationOptions, block: number) {
  const meter = new EvaluationMeter(subject, options);
  for (let row = 0; row < points; row += block) meter.update(probabilities.slice(row, row + block).flat(), row);
  if (meter.twice)
    for (let row = 0; row < points; row += block) meter.recount(probabilities.slice(row, row + block).flat(), row);
  return meter.report();
}

describe("all figures together", () => {
  test("do not depend on the cut into blocks", () => {
    const options = { ...everyFigure, threshold: 0.3 };
    expect(inBlocks(options, 17)).toEqual(inBlocks(options, points));
  });

  test("from the best labels alone are those from whole rows", () => {
    for (const options of [{}, { limit: 3 }, { limit: 9, threshold: 0.2 }]) {
      const meter = new EvaluationMeter(subject, options);
      expect(meter.wholeRows).toBe(false);
      const ranked = topLabels(probabilities.flat(), points, labels, meter.depth);
      const ofRanked = Array.from(ranked, (label, at) => probabilities[Math.floor(at / meter.depth)]?.[label]);
      meter.updateBest(ranked, ofRanked);
      expect(meter.report()).toEqual(inBlocks(options, points));
    }
  });

  test("say what they need", () => {
    const needs = (options: EvaluationOptions) => {
      const { wholeRows, twice } = new EvaluationMeter(subject, options);
      return [wholeRows, twice];
    };
    expect(needs({})).toEqual([false, false]);
    expect(needs({ threshold: 0.5 })).toEqual([true, false]);
    expect(needs({ threshold: 0.5, limit: 3 })).toEqual([false, false]);
    for (const name of ["calibration", "labelCalibration", "coverage"])
      expect(needs({ [name]: true })).toEqual([true, false]);
    expect(needs({ thresholds: true })).toEqual([true, false]);
    expect(needs({ perLabel: true })).toEqual([true, true]);
  });

  test("are of the order that is given, not of the probabilities", () => {
    const backwards = probabilities.flat().map((p) => -p);
    const meter = new EvaluationMeter(subject, { calibration: true });
    meter.update(probabilities.flat(), 0, backwards);
    const report = meter.report();
    const wanted = inBlocks({ calibration: true }, points);
    expect(report.ranking.metrics["P@1"]).toBeLessThan(10);
    expect(report.expectation.confidence).toBeLessThan(0.01);
    expect(report.calibration?.top5.confidence).toBeLessThan(0.05);
    expect(report.calibration?.logLoss).toBe(wanted.calibration?.logLoss as number);
    expect(report.calibration?.overFivePercent).toEqual(wanted.calibration?.overFivePercent);
  });

  test("keep five labels unless told otherwise, and at a threshold all above it", () => {
    expect(inBlocks({}, points).kept.limit).toBe(5);
    expect(inBlocks({}, points).kept.labelsPerPoint).toBe(5);
    const over = inBlocks({ threshold: 0.01 }, points).kept;
    expect([over.limit, over.threshold]).toEqual([undefined, 0.01]);
    expect(over.labelsPerPoint).toBeGreaterThan(7);
  });

  test("stand where a model knows fewer than five labels", () => {
    const meter = new EvaluationMeter({ ...subject, labels: 2 }, { calibration: true });
    meter.update(probabilities.flatMap((row) => row.slice(0, 2)));
    const { kept, calibration } = meter.report();
    expect(kept.labelsPerPoint).toBe(2);
    expect(calibration?.top5.predictions).toBe(2 * points);
    expect(calibration?.unknownLabels).toBe(truth.flat().filter((label) => label >= 2).length);
  });
});
