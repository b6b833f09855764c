// Drawing in proportion to sizes: as many as wanted, none twice, each as often as its size says, and weighted to be one on average.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawColumns, drawInProportion } from "../../src/core/draw.ts";
import { createCore, matrixFrom } from "../../src/core/index.ts";
import { randomNumbers } from "../support/numbers.ts";

const STARTS = 2000;

describe("a draw in proportion to sizes", () => {
  const problems = fc
    .array(fc.tuple(fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 50, noNaN: true })), fc.boolean()), {
      minLength: 1,
      maxLength: 25,
    })
    .chain((places) => fc.tuple(fc.constant(places), fc.integer({ min: 0, max: places.length + 2 })));

  test("has so many different places, none that is taken or of size 0", () => {
    fc.assert(
      fc.property(problems, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), ([places, count], start) => {
        const sizes = places.map(([size]) => size);
        const taken = places.map(([, is]) => Number(is));
        const { chosen, weight } = drawInProportion(sizes, count, start, taken);
        const open = sizes.filter((size, i) => size > 0 && taken[i] === 0).length;
        expect(chosen.length).toBe(Math.min(count, open));
        expect(weight.length).toBe(chosen.length);
        expect(new Set(chosen).size).toBe(chosen.length);
        chosen.forEach((place, i) => {
          expect(taken[place]).toBe(0);
          expect(sizes[place]).toBeGreaterThan(0);
          expect(weight[i]).toBeGreaterThanOrEqual(1 - 1e-12);
        });
      }),
    );
  });

  test("counts every place once on average over where the comb begins, and draws larger ones more often", () => {
    const sizes = Array.from(randomNumbers(30, 3), (x) => x * x * x * x + 0.01);
    const taken = sizes.map((_, i) => Number(i % 7 === 0));
    const [counted, times] = [new Float64Array(30), new Float64Array(30)];
    for (let i = 0; i < STARTS; i++) {
      const { chosen, weight } = drawInProportion(sizes, 9, (i + 0.5) / STARTS, taken);
      chosen.forEach((place, j) => {
        counted[place] = counted[place] + weight[j] / STARTS;
        times[place] = times[place] + 1 / STARTS;
      });
    }
    const most = Math.max(...times);
    expect(most).toBeCloseTo(1, 9);
    const unit = sizes.reduce((sum, size, i) => sum + (taken[i] || times[i] === most ? 0 : size), 0);
    const drawn = 9 - times.filter((share) => share === most).length;
    sizes.forEach((size, i) => {
      // A place meets the comb for a part of the starts that is known to one of them at each end.
      const share = taken[i] ? 0 : Math.min(1, (size * drawn) / unit);
      expect(Math.abs(times[i] - share)).toBeLessThan(2.5 / STARTS);
      if (share > 0) expect(Math.abs(counted[i] - 1)).toBeLessThan(2.5 / STARTS / share);
    });
  });

  test("refuses sizes that are none", () => {
    for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => drawInProportion([1, wrong], 1, 0, [0, 0])).toThrow(
        `sizes: found ${wrong}, expected finite numbers`,
      );
    expect(() => drawInProportion([1, 2], 1, 0, [0])).toThrow("taken: found 1 numbers, expected 2");
  });
});

test("drawn columns are those of the matrix times their weights", async () => {
  const core = await createCore({ threads: 1 });
  const values = randomNumbers(4 * 12, 5);
  const x = matrixFrom(core, 4, 12, values, "f64");
  const sizes = matrixFrom(core, 1, 12, randomNumbers(12, 6), "f64");
  const always = Int32Array.from([7, 2, 7]);
  const { columns, weighted } = drawColumns(x, sizes, { always, count: 6, start: 0.3 });
  const drawn = columns.column.toArray();
  expect(drawn.length).toBe(6);
  expect([...drawn.slice(0, 2)]).toEqual([2, 7]);
  const found = weighted.toArray();
  const absolute = Array.from(sizes.toArray(), Math.abs);
  const others = drawInProportion(
    absolute,
    4,
    0.3,
    absolute.map((_, k) => Number([2, 7].includes(k))),
  );
  expect([...drawn.slice(2)]).toEqual([...others.chosen]);
  [...drawn].forEach((column, j) => {
    const weight = j < 2 ? 1 : others.weight[j - 2];
    for (let i = 0; i < 4; i++) expect(found[i * 6 + j]).toBe(values[i * 12 + column] * weight);
  });
  core.dispose();
});
