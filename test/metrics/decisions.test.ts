import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DecisionMeter, type DecisionOptions } from "../../src/metrics/decisions.ts";
import type { PrecisionRecall } from "../../src/metrics/rows.ts";
import { ThresholdMeter } from "../../src/metrics/thresholds.ts";
import { eachBest, eachWhole, meanOf, rankingOf, setsOf } from "./support.ts";

const LABELS = 7;

/** Which labels are kept, and the definitions on yes-or-no matrices. */
function reference(
  rows: readonly number[][],
  truth: readonly number[][],
  { limit, threshold }: Pick<DecisionOptions, "limit"> & { threshold?: number },
) {
  const points = rows.map((row, i) => {
    const own = truth[i];
    const kept = rankingOf(row)
      .slice(0, limit ?? LABELS)
      .filter((label) => row[label] > 0 && row[label] >= (threshold ?? 0));
    return { own, kept };
  });
  const of = (pairs: readonly (readonly [yes: boolean, kept: boolean])[]): PrecisionRecall => {
    const tp = pairs.filter(([yes, kept]) => yes && kept).length;
    const fp = pairs.filter(([yes, kept]) => !yes && kept).length;
    const fn = pairs.filter(([yes, kept]) => yes && !kept).length;
    const over = (a: number, b: number): number => (b === 0 ? 0 : a / b);
    return { precision: over(tp, tp + fp), recall: over(tp, tp + fn), f1: over(2 * tp, 2 * tp + fp + fn) };
  };
  const all = Array.from({ length: LABELS }, (_, label) => label);
  const cell = ({ own, kept }: (typeof points)[number], label: number) =>
    [own.includes(label), kept.includes(label)] as const;
  const mean = (list: readonly PrecisionRecall[]): PrecisionRecall => ({
    precision: meanOf(list.map(({ precision }) => precision)),
    recall: meanOf(list.map(({ recall }) => recall)),
    f1: meanOf(list.map(({ f1 }) => f1)),
  });
  const byLabel = all.map((label) => of(points.map((point) => cell(point, label))));
  const having = all.map((label) => points.filter(({ own }) => own.includes(label)).length);
  return {
    byDocument: mean(
      points.map((point) =>
        point.own.length + point.kept.length === 0
          ? { precision: 1, recall: 1, f1: 1 }
          : of(all.map((label) => cell(point, label))),
      ),
    ),
    byLabel: mean(byLabel),
    byTrueLabel: mean(byLabel.filter((_, label) => having[label] > 0)),
    byLabelWeighted: mean(byLabel.flatMap((figures, label) => new Array(having[label]).fill(figures))),
    overall: of(points.flatMap((point) => all.map((label) => cell(point, label)))),
    labelsPerPoint: meanOf(points.map(({ kept }) => kept.length)),
  };
}

const near = (found: PrecisionRecall, wanted: PrecisionRecall): void => {
  for (const key of ["precision", "recall", "f1"] as const) expect(found[key]).toBeCloseTo(wanted[key], 10);
};

const problem = fc.array(
  fc.tuple(
    fc.array(fc.constantFrom(0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1), { minLength: LABELS, maxLength: LABELS }),
    fc.uniqueArray(fc.nat(LABELS - 1)),
  ),
  { minLength: 1, maxLength: 10 },
);

/** Whole rankings with their probabilities. */
const ranked = (rows: readonly number[][]) => ({
  labels: rows.flatMap(rankingOf),
  probabilities: rows.flatMap((row) => rankingOf(row).map((label) => row[label])),
});

describe("what is kept", () => {
  test("has the figures of the definitions, cut into blocks or not", () => {
    const options = fc.record(
      { limit: fc.integer({ min: 1, max: 8 }), threshold: fc.constantFrom(0, 0.1, 0.3, 0.95) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(problem, options, fc.nat(), (points, chosen, cut) => {
        const rows = points.map(([row]) => row);
        const truth = points.map(([, own]) => own);
        const sets = setsOf(truth, LABELS);
        const whole = ranked(rows);
        const meter = new DecisionMeter(LABELS, chosen);
        eachBest((row) => meter.add(row), whole.labels, LABELS, sets, { confidence: whole.probabilities });
        const report = meter.report();
        const wanted = reference(rows, truth, chosen);
        for (const mean of ["byDocument", "byLabel", "byTrueLabel", "byLabelWeighted", "overall"] as const)
          near(report[mean], wanted[mean]);
        expect(report.labelsPerPoint).toBeCloseTo(wanted.labelsPerPoint, 10);

        const at = cut % (rows.length + 1);
        const parts = new DecisionMeter(LABELS, chosen);
        for (const [from, to] of [
          [0, at],
          [at, rows.length],
        ] as const) {
          const block = ranked(rows.slice(from, to));
          const confidence = block.probabilities;
          eachBest((row) => parts.add(row), block.labels, LABELS, sets, { firstRow: from, confidence });
        }
        expect(parts.report()).toEqual(report);
      }),
    );
  });

  test("at a row of thresholds is what is kept at each", () => {
    const thresholds = [0.05, 0.2, 0.3, 0.7, 1];
    fc.assert(
      fc.property(problem, (points) => {
        const rows = points.map(([row]) => row);
        const truth = points.map(([, own]) => own);
        const meter = new ThresholdMeter(LABELS, LABELS, thresholds);
        eachWhole((row) => meter.add(row), rows.flat(), LABELS, setsOf(truth, LABELS));
        const report = meter.report();
        report.thresholds.forEach(({ threshold, overall, byLabel, byDocument, labelsPerPoint }, t) => {
          expect(threshold).toBe(thresholds[t]);
          const wanted = reference(rows, truth, { threshold });
          near(overall, wanted.overall);
          near(byLabel, wanted.byLabel);
          near(byDocument, wanted.byDocument);
          expect(labelsPerPoint).toBeCloseTo(wanted.labelsPerPoint, 10);
        });
        for (const sense of ["overall", "byLabel", "byDocument"] as const) {
          const most = Math.max(...report.thresholds.map((each) => each[sense].f1));
          const best = report.thresholds.find((each) => each.threshold === report.best[sense]);
          expect(best?.[sense].f1).toBe(most);
        }
      }),
    );
  });

  test("nDCG by hand: the second of three labels is wrong, one of two is found", () => {
    const meter = new DecisionMeter(4, { limit: 2 });
    meter.add({ own: Int32Array.of(0, 2), ranked: [0, 1, 2], confidence: [0.9, 0.8, 0.7] });
    const { nDCG } = meter.report();
    expect(nDCG).toBeCloseTo(1 / (1 + 1 / Math.log2(3)), 12);
  });

  test("a point without labels is right where nothing is kept for it, and is in no nDCG", () => {
    const meter = new DecisionMeter(2, { threshold: 0.5 });
    const truth = setsOf([[0], [], []], 2);
    eachBest((row) => meter.add(row), [0, 0, 0], 1, truth, { confidence: [0.9, 0.1, 0.8] });
    const { points, byDocument, overall, nDCG } = meter.report();
    expect([points, byDocument.f1, overall.precision, nDCG]).toEqual([3, 2 / 3, 1 / 2, 1]);
  });

  test("labels that the model does not know are missed", () => {
    const meter = new DecisionMeter(6);
    meter.add({ own: Int32Array.of(0, 5), ranked: [0], confidence: [0.9] });
    const { overall, falseNegatives } = meter.report();
    expect([overall.recall, falseNegatives]).toEqual([0.5, 1]);
    const thresholds = new ThresholdMeter(1, 6, [0.5]);
    thresholds.add({ own: Int32Array.of(0, 5), probabilities: [0.9] });
    expect(thresholds.report().thresholds[0]?.overall.recall).toBe(0.5);
  });

  test("thresholds that do not rise are refused", () => {
    expect(() => new ThresholdMeter(1, 1, [0.5, 0.5])).toThrow("thresholds: found 0.5, 0.5, expected");
    expect(() => new ThresholdMeter(1, 1, [])).toThrow("expected numbers above 0 that rise");
  });
});
