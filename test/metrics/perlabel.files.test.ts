import { describe, expect, test } from "vitest";
import { labelFile } from "../../src/cli/eval.ts";
import { LabelMeter } from "../../src/metrics/perlabel.ts";
import { generator } from "../support/numbers.ts";
import { eachWhole, meanOf, rankingOf, setsOf } from "./support.ts";

const ROWS = 60;
const LABELS = 9;
const NOTHING_KEPT = { kept: new Int32Array(LABELS), right: new Int32Array(LABELS) };

/** Probabilities with many ties, labels of which some are everywhere and one is nowhere, points without any. */
function problem(seed: number) {
  const next = generator(seed);
  const probabilities = Array.from({ length: ROWS }, () =>
    Array.from({ length: LABELS }, () => Math.floor(8 * next()) / 64),
  );
  const truth = Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: LABELS - 1 }, (_, label) => label).filter((label) => next() < (label + 1) / 12 && row % 9 > 0),
  );
  return { probabilities, truth };
}

/** The definition, point by point. */
function expectedPrecision(probabilities: number[][], truth: number[][], label: number): number {
  const of = (row: number): number => probabilities[row]?.[label];
  const labelled = truth.map((_, row) => row);
  const having = labelled.filter((row) => truth[row]?.includes(label));
  const terms = having.map((row) => {
    const right = having.filter((other) => of(other) >= of(row)).length;
    const all = labelled.filter((other) => of(other) >= of(row)).length;
    return right / all;
  });
  return meanOf(terms);
}

const expectedFound = (probabilities: number[][], truth: number[][], label: number): number =>
  truth.filter((labels, row) => labels.includes(label) && rankingOf(probabilities[row]).slice(0, 5).includes(label))
    .length;

function measure(probabilities: number[][], truth: number[][], block: number) {
  const meter = new LabelMeter(LABELS);
  const sets = setsOf(truth, LABELS);
  for (const pass of ["collect", "count"] as const) {
    for (let from = 0; from < ROWS; from += block)
      eachWhole((row) => meter[pass](row), probabilities.slice(from, from + block).flat(), LABELS, sets, from);
  }
  return meter.report(NOTHING_KEPT);
}

describe("figures of each label", () => {
  test("follow their definitions, ties and all", () => {
    for (const seed of [1, 2, 3]) {
      const { probabilities, truth } = problem(seed);
      const report = measure(probabilities, truth, ROWS);
      const labelled = truth.map((_, row) => row);
      expect(report.map(({ label }) => label)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
      for (const { label, positives, averagePrecision, found, ...rest } of report) {
        expect(positives).toBe(truth.flat().filter((other) => other === label).length);
        expect(found).toBe(expectedFound(probabilities, truth, label));
        const own = labelled.map((row) => [probabilities[row]?.[label], truth[row]?.includes(label)] as const);
        expect(rest.expected).toBeCloseTo(
          own.reduce((sum, [p]) => sum + p, 0),
          10,
        );
        const likely = own.filter(([p]) => p >= 0.05);
        expect(rest.overFivePercent).toBe(likely.length);
        expect(rest.confidence).toBeCloseTo(meanOf(likely.map(([p]) => p)), 10);
        expect(rest.accuracy).toBeCloseTo(meanOf(likely.map(([, yes]) => (yes ? 1 : 0))), 10);
        if (positives === 0) expect(averagePrecision).toBe(Number.NaN);
        else expect(Math.abs(averagePrecision - expectedPrecision(probabilities, truth, label))).toBeLessThan(1e-12);
      }
    }
  });

  test("how rows are cut into blocks does not matter", () => {
    const { probabilities, truth } = problem(4);
    expect(measure(probabilities, truth, 7)).toEqual(measure(probabilities, truth, ROWS));
  });

  test("a label whose points all stand first has 1", () => {
    const meter = new LabelMeter(2);
    const truth = setsOf([[0], [0], [1]], 2);
    for (const pass of ["collect", "count"] as const)
      eachWhole((row) => meter[pass](row), [0.5, 0, 0.4, 0, 0.3, 0], 2, truth);
    expect(meter.report(NOTHING_KEPT).map(({ averagePrecision }) => averagePrecision)).toEqual([1, 1 / 3]);
  });

  test("precision, recall and F1 are those of what was kept", () => {
    const meter = new LabelMeter(2);
    const truth = setsOf([[0], [0, 1], [1]], 2);
    eachWhole((row) => meter.collect(row), [0.5, 0.1, 0.5, 0.1, 0.5, 0.1], 2, truth);
    const [first, second] = meter.report({ kept: Int32Array.of(3, 0), right: Int32Array.of(2, 0) });
    expect([first?.precision, first?.recall, first?.f1]).toEqual([2 / 3, 1, 0.8]);
    expect([second?.precision, second?.recall, second?.f1]).toEqual([Number.NaN, 0, 0]);
  });

  test("labels that training never saw are left out", () => {
    const meter = new LabelMeter(2);
    eachWhole((row) => meter.collect(row), [1, 0.2], 2, setsOf([[0, 5]], 6));
    expect(meter.report(NOTHING_KEPT).length).toBe(2);
  });
});

describe("as a file", () => {
  const meter = new LabelMeter(2);
  const truth = setsOf([[0], [0]], 2);
  for (const pass of ["collect", "count"] as const)
    eachWhole((row) => meter[pass](row), [0.5, 0.01, 1 / 3, 0.01], 2, truth);
  const named = meter
    .report({ kept: Int32Array.of(1, 0), right: Int32Array.of(1, 0) })
    .map((figures, i) => ({ ...figures, name: ['a "b", c', "plain"][i], trainingPoints: 7 }));

  test("CSV quotes names and leaves empty what is not defined", () => {
    expect(labelFile(named, false)).toBe(
      [
        "label,name,training_rows,rows,kept,right,precision,recall,f1,average_precision,found_in_top_5,expected_rows,predictions_over_5_percent,mean_confidence,accuracy",
        '0,"a ""b"", c",7,2,1,1,1,0.5,0.666667,1,2,0.833333,2,0.416667,1',
        "1,plain,7,0,0,0,,,,,0,0.02,0,,",
        "",
      ].join("\n"),
    );
  });
  test("JSON has the same with null", () => {
    const [first, second] = JSON.parse(labelFile(named, true));
    expect([first.name, first.positives, first.f1]).toEqual(['a "b", c', 2, 0.666667]);
    expect([second.averagePrecision, second.positives, second.precision]).toEqual([null, 0, null]);
  });
});
