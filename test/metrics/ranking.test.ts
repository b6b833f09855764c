import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { topLabels } from "../../src/base/top.ts";
import { inversePropensities } from "../../src/metrics/propensity.ts";
import { CoverageMeter, RankingMeter } from "../../src/metrics/ranking.ts";
import { eachBest, eachWhole, rankingMetrics, setsOf } from "./support.ts";

/** The definitions once more, on dense matrices, one k at a time. */
function reference(
  ranked: readonly number[][],
  truth: readonly number[][],
  weight: readonly number[],
  k: number,
): Record<string, number> {
  const points = truth
    .map((labels, i) => ({ labels, top: ranked[i].slice(0, k) }))
    .filter(({ labels }) => labels.length > 0);
  const mean = (of: (point: (typeof points)[number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const gain = (ids: readonly number[], labels: readonly number[], value: (id: number) => number): number =>
    ids.reduce((sum, id, j) => sum + (labels.includes(id) ? value(id) / Math.log2(j + 2) : 0), 0);
  const hits = (ids: readonly number[], labels: readonly number[], value: (id: number) => number): number =>
    ids.reduce((sum, id) => sum + (labels.includes(id) ? value(id) : 0), 0);
  const ideal = (labels: readonly number[]): number => {
    let sum = 0;
    for (let j = 0; j < Math.min(k, labels.length); j++) sum += 1 / Math.log2(j + 2);
    return sum;
  };
  const best = (labels: readonly number[]): number[] => [...labels].sort((a, b) => weight[b] - weight[a]).slice(0, k);
  const one = (): number => 1;
  const inverse = (id: number): number => weight[id];
  return {
    P: 100 * mean(({ labels, top }) => hits(top, labels, one) / k),
    R: 100 * mean(({ labels, top }) => hits(top, labels, one) / labels.length),
    RP: 100 * mean(({ labels, top }) => hits(top, labels, one) / Math.min(k, labels.length)),
    F1: 100 * mean(({ labels, top }) => (2 * hits(top, labels, one)) / (labels.length + top.length)),
    nDCG: 100 * mean(({ labels, top }) => gain(top, labels, one) / ideal(labels)),
    PSP:
      (100 * mean(({ labels, top }) => hits(top, labels, inverse) / k)) /
      mean(({ labels }) => hits(best(labels), labels, inverse) / k),
    PSnDCG:
      (100 * mean(({ labels, top }) => gain(top, labels, inverse) / ideal(labels))) /
      mean(({ labels }) => gain(best(labels), labels, inverse) / ideal(labels)),
  };
}

describe("by hand", () => {
  // Point 0 has labels {0, 2}, point 1 {1}, point 2 none. Predictions: 0 right, 1 wrong, 2 right; and 0
  // wrong, 1 right.
  const truth = setsOf([[0, 2], [1], []], 4);
  const ranked = [0, 1, 2, 0, 1, 3, 3, 2, 1];
  const { points, pointsWithoutLabels, metrics } = rankingMetrics(ranked, 3, truth, {
    inversePropensity: [2, 4, 3, 9],
  });
  const log3 = Math.log2(3);
  test("points without labels are left out and counted", () => {
    expect([points, pointsWithoutLabels]).toEqual([2, 1]);
  });
  test("precision", () => {
    expect(metrics["P@1"]).toBeCloseTo(50, 10); // (1 + 0) / 2
    expect(metrics["P@2"]).toBeCloseTo(50, 10); // (1/2 + 1/2) / 2
    expect(metrics["P@3"]).toBeCloseTo(50, 10); // (2/3 + 1/3) / 2
    expect(metrics["P@5"]).toBeCloseTo(30, 10); // (2/5 + 1/5) / 2
  });
  test("recall", () => {
    expect(metrics["R@1"]).toBeCloseTo(25, 10); // (1/2 + 0) / 2
    expect(metrics["R@3"]).toBeCloseTo(100, 10);
  });
  test("nDCG", () => {
    expect(metrics["nDCG@1"]).toBeCloseTo(50, 10);
    const point0 = (1 + 1 / 2) / (1 + 1 / log3);
    expect(metrics["nDCG@3"]).toBeCloseTo((100 * (point0 + 1 / log3)) / 2, 10);
  });
  test("propensity-scored precision", () => {
    expect(metrics["PSP@1"]).toBeCloseTo((100 * 2) / (3 + 4), 10); // best: label 2 (3) and label 1 (4)
    expect(metrics["PSP@3"]).toBeCloseTo((100 * (2 + 3 + 4)) / (3 + 2 + 4), 10);
  });
  test("propensity-scored nDCG", () => {
    const ideal = 1 + 1 / log3;
    const got = (2 + 3 / 2) / ideal + 4 / log3;
    const best = (3 + 2 / log3) / ideal + 4;
    expect(metrics["PSnDCG@3"]).toBeCloseTo((100 * got) / best, 10);
  });
});

const labelCount = 6;
const truthRows = fc
  .array(fc.uniqueArray(fc.nat(labelCount - 1)), { minLength: 1, maxLength: 12 })
  .filter((rows) => rows.some((row) => row.length > 0));
const weights = fc.array(fc.double({ min: 1, max: 20, noNaN: true }), {
  minLength: labelCount,
  maxLength: labelCount,
});
const ranking = fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 5, maxLength: 5 });

describe("always", () => {
  test("agree with the definitions written out", () => {
    fc.assert(
      fc.property(truthRows, fc.array(ranking, { minLength: 12, maxLength: 12 }), weights, (rows, rankings, weight) => {
        const used = rankings.slice(0, rows.length);
        const { metrics } = rankingMetrics(used.flat(), 5, setsOf(rows, labelCount), {
          inversePropensity: weight,
        });
        for (const k of [1, 2, 3, 4, 5]) {
          for (const [name, value] of Object.entries(reference(used, rows, weight, k))) {
            expect(metrics[`${name}@${k}`]).toBeCloseTo(value, 8);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
  test("the best ranking gives 100, and nothing lies outside 0 to 100", () => {
    fc.assert(
      fc.property(truthRows, weights, (rows, weight) => {
        const best = rows.map((labels) => {
          const order = [...labels].sort((a, b) => weight[b] - weight[a]);
          return [...order, -1, -1, -1, -1, -1].slice(0, 5);
        });
        const { metrics } = rankingMetrics(best.flat(), 5, setsOf(rows, labelCount), {
          inversePropensity: weight,
        });
        expect(metrics["P@1"]).toBe(100);
        for (const [name, value] of Object.entries(metrics)) {
          expect(value).toBeLessThanOrEqual(100 + 1e-9);
          expect(value).toBeGreaterThanOrEqual(0);
          if (/^(RP|nDCG|PSP|PSnDCG)@/.test(name)) expect(value).toBeCloseTo(100, 8);
        }
      }),
      { numRuns: 200 },
    );
  });
  test("do not depend on the cut into blocks", () => {
    fc.assert(
      fc.property(truthRows, fc.array(ranking, { minLength: 12, maxLength: 12 }), fc.nat(11), (rows, rankings, cut) => {
        const truth = setsOf(rows, labelCount);
        const used = rankings.slice(0, rows.length);
        const at = cut % (rows.length + 1);
        const meter = new RankingMeter();
        eachBest((row) => meter.add(row), used.slice(0, at).flat(), 5, truth);
        eachBest((row) => meter.add(row), used.slice(at).flat(), 5, truth, { firstRow: at });
        expect(meter.report()).toEqual(rankingMetrics(used.flat(), 5, truth));
      }),
    );
  });
});

describe("edges", () => {
  test("fewer labels than k: missing places count as wrong", () => {
    const { metrics } = rankingMetrics([0, 1, 1, 0], 2, setsOf([[0, 1], [1]], 2), { depth: 5 });
    expect(metrics["P@5"]).toBeCloseTo((100 * (2 / 5 + 1 / 5)) / 2, 10);
    expect(metrics["nDCG@5"]).toBeCloseTo(100, 10);
  });
  test("labels the model does not know stay in the truth", () => {
    const { metrics } = rankingMetrics([0, 1], 2, setsOf([[0, 9]], 10), { depth: 2 });
    expect(metrics["R@2"]).toBe(50);
    expect(() => rankingMetrics([0, 1], 2, setsOf([[0, 9]], 10), { inversePropensity: [1, 1] })).toThrow(
      "inversePropensity: found 2, expected one for each label, that of label 9 too",
    );
  });
  test("a label predicted twice counts once", () => {
    expect(rankingMetrics([1, 1], 2, setsOf([[1]], 3), { depth: 2 }).metrics["P@2"]).toBe(50);
  });
  test("shapes that do not fit", () => {
    expect(() => rankingMetrics([1, 2, 3], 2, setsOf([[1]], 3))).toThrow("ranked: found 3 from row 0");
    expect(() => rankingMetrics([1, 2, 3, 1], 2, setsOf([[1]], 3))).toThrow("expected rows of 2 up to 1");
  });
});

describe("coverage error", () => {
  const coverage = (order: number[], labels: number, rows: number[][]) => {
    const meter = new CoverageMeter();
    eachWhole((row) => meter.add(row), order, labels, setsOf(rows, 9));
    return meter.report();
  };
  test("by hand: the second and the third label, ties, and what is left out", () => {
    // True labels in places 1 and 3; in place 2 of two equal ones; none; one that the model does not know.
    const order = [...[0.9, 0.8, 0.7], ...[0.5, 0.5, 0.4], ...[1, 0, 0], ...[1, 0, 0]];
    const rows = [[0, 2], [0], [], [8]];
    expect(coverage(order, 3, rows)).toEqual({ points: 2, error: (3 + 2) / 2, best: (2 + 1) / 2 });
  });
  test("is what scikit-learn's example has, and 0 for nothing", () => {
    // coverage_error([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]]) = 2.5
    expect(coverage([0.75, 0.5, 1, 1, 0.2, 0.1], 3, [[0], [2]]).error).toBe(2.5);
    expect(coverage([], 3, []).error).toBe(0);
  });
});

describe("top labels", () => {
  test("equal scores: the smaller id first", () => {
    expect(Array.from(topLabels([1, 3, 3, 2, 3, 0], 2, 3, 2))).toEqual([1, 2, 1, 0]);
    expect(Array.from(topLabels([5, 5, 5, 5], 1, 4, 3))).toEqual([0, 1, 2]);
  });
  test("NaN comes last, missing labels are -1", () => {
    expect(Array.from(topLabels([NaN, -1, 2], 1, 3, 5))).toEqual([2, 1, 0, -1, -1]);
  });
  test("agree with sorting", () => {
    const scores = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(scores, fc.integer({ min: 1, max: 7 }), (matrix, k) => {
        const sorted = [0, 1].flatMap((row) => {
          const of = (label: number): number => matrix[row * 10 + label];
          return [...new Array(10).keys()].sort((a, b) => of(b) - of(a) || a - b).slice(0, k);
        });
        expect(Array.from(topLabels(matrix, 2, 10, k))).toEqual(sorted);
      }),
    );
  });
});

describe("inverse propensities", () => {
  test("by the formula", () => {
    const n = 1000;
    const c = (Math.log(n) - 1) * 2.5 ** 0.55;
    const weights = inversePropensities([0, 1, 50], n);
    expect(Array.from(weights, (w) => w.toFixed(10))).toEqual(
      [0, 1, 50].map((count) => (1 + c * (count + 1.5) ** -0.55).toFixed(10)),
    );
    expect(inversePropensities([3], n, { a: 0.5, b: 0.4 })[0]).toBeCloseTo(
      1 + (Math.log(n) - 1) * 1.4 ** 0.5 * 3.4 ** -0.5,
      10,
    );
  });
});
