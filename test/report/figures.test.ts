import { describe, expect, test } from "vitest";
import { EvaluationMeter, everyFigure } from "../../src/metrics/evaluation.ts";
import { evaluationAsJson, evaluationLines, expectationLines } from "../../src/report/figures.ts";
import { setsOf, sharedProblem } from "../metrics/support.ts";

const { labels, probabilities, truth } = sharedProblem();
const meter = new EvaluationMeter(
  {
    labels,
    labelCounts: Array.from({ length: labels }, (_, label) => 3 ** label),
    trainingPoints: 1e6,
    truth: setsOf([...truth.slice(0, 199), [3, 20]], 30),
  },
  { ...everyFigure, threshold: 0.25 },
);
meter.update(probabilities.flat());
const evaluation = meter.report();

/** The same measured on two million points. */
function enlarged<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (key, inner) =>
    /^(points|predictions|positives|count|truePositives|falsePositives|falseNegatives|labels)$/.test(key) &&
    typeof inner === "number"
      ? inner * 10_000
      : inner,
  );
}

describe("figures on a terminal", () => {
  test("fit into 80 columns, whatever their size", () => {
    for (const each of [evaluation, enlarged(evaluation)]) {
      const surprised = { ...each.expectation, chance: 0.00012, beyondChance: true };
      for (const lines of [evaluationLines(each), evaluationLines({ ...each, expectation: surprised })])
        for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    }
  });

  test("name the rule for points without labels, what is kept and the best thresholds", () => {
    const text = evaluationLines(evaluation).join("\n");
    expect(text).toContain("200 rows, 23 of them without labels:\n  rankings and coverage are over those with");
    expect(text).toContain("keeping all labels of at least 25.0 %");
    expect(text).toContain("1 true labels have no training row and are not included in the figures below");
    for (const name of ["RP ", "coverage error ", "top 3 labels ", "ECE_ML ", "mean over labels (macro)"])
      expect(text).toContain(name);
    const { best, thresholds } = evaluation.thresholds as NonNullable<typeof evaluation.thresholds>;
    const at = thresholds.find(({ threshold }) => threshold === best.overall);
    expect(text).toContain(`${(100 * (at?.overall.f1 as number)).toFixed(2)}*`);
    expect(text).not.toContain("NaN");
    expect(text).not.toContain("undefined");
  });

  test("name the accuracy of data with one label a row", () => {
    const single = new EvaluationMeter({
      labels,
      labelCounts: [],
      trainingPoints: 0,
      truth: setsOf(
        probabilities.map((row, i) => [i % 4 === 0 ? 0 : row.indexOf(Math.max(...row))]),
        labels,
      ),
    });
    single.update(probabilities.flat());
    const report = single.report();
    const right = probabilities.filter((row, i) => i % 4 > 0 || row.indexOf(Math.max(...row)) === 0).length;
    const percent = ((100 * right) / probabilities.length).toFixed(1);
    expect(evaluationLines(report).join("\n")).toContain(`accuracy ${percent} % (every row has one label)`);
    expect(evaluationAsJson(report).accuracy).toBeCloseTo((100 * right) / probabilities.length, 10);
  });

  test("say when the model was surprised, and how rare that is by chance", () => {
    const calm = expectationLines({ ...evaluation.expectation, beyondChance: false }).join(" ");
    expect(calm).toContain("within chance");
    const rare = expectationLines({ ...evaluation.expectation, chance: 0.0004, beyondChance: true }).join(" ");
    expect(rare).toContain("That is too far off for chance (at most one in 2,500).");
  });
});

describe("figures as JSON", () => {
  test("have the rankings on top and all else in its place", () => {
    const found = JSON.parse(JSON.stringify(evaluationAsJson(evaluation)));
    expect(found["P@1"]).toBe(evaluation.ranking.metrics["P@1"]);
    expect(found["F1@5"]).toBe(evaluation.ranking.metrics["F1@5"]);
    expect([found.points, found.pointsWithoutLabels]).toEqual([177, 23]);
    expect([found.logLoss, found.brier]).toEqual([evaluation.calibration?.logLoss, evaluation.calibration?.brier]);
    expect(found.calibration.top5.ece).toBe(evaluation.calibration?.top5.ece);
    expect(found.byFrequency.length).toBe(4);
    expect(found.kept.threshold).toBe(0.25);
    expect(found.thresholds.thresholds.length).toBe(19);
    expect(found.expectation.points).toBe(200);
    // What flatters is not to be had by a short name.
    expect(found.ece).toBe(undefined);
  });
});
