// The labels that are chosen, against sorting and filtering all of them; few probabilities are worked out.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atLabels, chooseRow, chooseRows, type LabelChoice } from "../../src/parts/choose.ts";

interface Label {
  id: number;
  probability: number;
}

/** Rows of labels, most probable first, as a model gives them. */
const rowsOf = (probabilities: number[][]): Label[][] =>
  probabilities.map((row) =>
    row.map((probability, id) => ({ id, probability })).sort((a, b) => b.probability - a.probability || a.id - b.id),
  );

function expected(rows: Label[][], { topK, threshold, allowed }: LabelChoice): Label[][] {
  const most = topK ?? (threshold === undefined ? 5 : Number.POSITIVE_INFINITY);
  return rows.map((row) =>
    row
      .filter(({ id, probability }) => {
        const least = typeof threshold === "object" ? threshold[id] : (threshold ?? 0);
        return allowed?.[id] !== 0 && probability >= least;
      })
      .slice(0, most),
  );
}

describe("labels", () => {
  test("are those that fit of all there are, best first", () => {
    const probability = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
    const problem = fc.integer({ min: 1, max: 200 }).chain((labels) =>
      fc.record({
        rows: fc.array(fc.array(probability, { minLength: labels, maxLength: labels }), { maxLength: 4 }),
        topK: fc.option(fc.integer({ min: 1, max: 250 }), { nil: undefined }),
        threshold: fc.option(
          fc.oneof(
            probability,
            fc.array(probability, { minLength: labels, maxLength: labels }).map((list) => Float32Array.from(list)),
          ),
          { nil: undefined },
        ),
        allowed: fc.option(
          fc
            .array(fc.integer({ min: 0, max: 1 }), { minLength: labels, maxLength: labels })
            .map((list) => Uint8Array.from(list)),
          { nil: undefined },
        ),
        labels: fc.constant(labels),
      }),
    );
    fc.assert(
      fc.property(problem, ({ rows, labels, ...choice }) => {
        // Ranked by something that rises with the probability.
        const rank = Float64Array.from(rows.flat(), (p) => 4 * p);
        const found = chooseRows(rank, labels, (value) => value / 4, choice);
        const wanted = expected(rowsOf(rows), choice);
        expect(Array.from(found.rowStart)).toEqual([0, ...wanted.map((_, i) => wanted.slice(0, i + 1).flat().length)]);
        expect(Array.from(found.labels)).toEqual(wanted.flat().map(({ id }) => id));
        const probabilities = atLabels(rank, labels, found, (value) => value / 4);
        wanted.flat().forEach(({ probability }, i) => {
          expect(probabilities[i]).toBe(probability);
        });
      }),
    );
  });

  test("beyond the fifth come with a threshold alone, and few probabilities are worked out", () => {
    const rank = Array.from({ length: 1000 }, (_, i) => (i < 40 ? 0.9 : 0.1));
    let asked = 0;
    const probabilityOf = (value: number): number => {
      asked++;
      return value;
    };
    const counts = (choice: LabelChoice): [labels: number, asked: number] => {
      asked = 0;
      return [chooseRow(rank, probabilityOf, choice).length, asked];
    };
    const [reached, looked] = counts({ threshold: 0.3 });
    expect(reached).toBe(40);
    expect(looked).toBeLessThan(200);
    expect(counts({ threshold: 0.3, topK: 7 })[0]).toBe(7);
    expect(counts({})[0]).toBe(5);
    const [none, few] = counts({ threshold: 0.95 });
    expect(none).toBe(0);
    expect(few).toBeLessThan(40);
  });
});
