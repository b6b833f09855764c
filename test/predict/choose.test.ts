// The labels that are chosen, against sorting and filtering all of them; no more is asked for than is needed.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseLabels, type LabelChoice } from "../../src/predict/choose.ts";

interface Label {
  id: number;
  probability: number;
}

/** Rows of labels, most probable first, as a model gives them. */
const rowsOf = (probabilities: number[][]): Label[][] =>
  probabilities.map((row) =>
    row
      .map((probability, id) => ({ id, probability }))
      .sort((a, b) => b.probability - a.probability || a.id - b.id),
  );

function expected(rows: Label[][], { topK, threshold, allowed }: LabelChoice): Label[][] {
  const most = topK ?? (threshold === undefined ? 5 : Number.POSITIVE_INFINITY);
  return rows.map((row) =>
    row
      .filter(({ id, probability }) => {
        const least = typeof threshold === "object" ? (threshold[id] as number) : (threshold ?? 0);
        return allowed?.[id] !== 0 && probability >= least;
      })
      .slice(0, most),
  );
}

describe("labels", () => {
  test("are those that fit of all there are, best first", async () => {
    const probability = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
    const problem = fc.integer({ min: 1, max: 200 }).chain((labels) =>
      fc.record({
        rows: fc.array(fc.array(probability, { minLength: labels, maxLength: labels }), { maxLength: 4 }),
        topK: fc.option(fc.integer({ min: 1, max: 250 }), { nil: undefined }),
        threshold: fc.option(
          fc.oneof(
            probability,
            fc
              .array(probability, { minLength: labels, maxLength: labels })
              .map((list) => Float32Array.from(list)),
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
    await fc.assert(
      fc.asyncProperty(problem, async ({ rows, labels, ...choice }) => {
        const all = rowsOf(rows);
        const best = async (depth: number): Promise<Label[][]> => all.map((row) => row.slice(0, depth));
        expect(await chooseLabels(best, labels, choice)).toEqual(expected(all, choice));
      }),
    );
  });

  test("beyond the fifth come with a threshold alone", async () => {
    const all = rowsOf([Array.from({ length: 100 }, (_, i) => (i < 40 ? 0.9 : 0.1))]);
    const depths: number[] = [];
    const best = async (depth: number): Promise<Label[][]> => {
      depths.push(depth);
      return all.map((row) => row.slice(0, depth));
    };
    const counts = async (choice: LabelChoice): Promise<(number | undefined)[]> =>
      (await chooseLabels(best, 100, choice)).map((row) => row.length);
    expect(await counts({ threshold: 0.3 })).toEqual([40]);
    expect(await counts({ threshold: 0.3, topK: 7 })).toEqual([7]);
    expect(await counts({})).toEqual([5]);
    expect(await counts({ threshold: 0.95 })).toEqual([0]);
    expect(depths).toEqual([32, 100, 7, 5, 32]);
  });
});
