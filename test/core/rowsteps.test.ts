// Steps that touch the rows of a batch's features only give the bytes of steps on all rows.

import { describe, expect, test } from "vitest";
import {
  adam,
  blend,
  type Core,
  combine,
  csr,
  integers,
  matrix,
  matrixFrom,
  type Precision,
  RowSteps,
  scoped,
  sparseTransposeTimes,
} from "../../src/core/index.ts";
import { coreKinds, precisions, withCore } from "../support/cores.ts";
import { randomNumbers } from "../support/numbers.ts";

const POINTS = 12;
const FEATURES = 30;
const BATCH = 4;
const STEPS = 25;
const INVERSE = 0.7;

/** Feature 0 is in every point, feature 29 in none, the others in a few. */
const rows = Array.from({ length: POINTS }, (_, i) => [
  0,
  ...[1 + ((5 * i) % 9), 10 + ((7 * i) % 11), 21 + (i % 8)].filter((column) => column < FEATURES - 1),
]);
const arrays = {
  rows: POINTS,
  columns: FEATURES,
  rowStart: [0, ...rows.keys()].map((_, i) => rows.slice(0, i).flat().length),
  columnIndex: rows.flat(),
  values: randomNumbers(rows.flat().length, 5),
};
/** Neighbouring points, and now and then one of them twice. */
const batchOf = (step: number): number[] =>
  Array.from({ length: BATCH }, (_, i) => (step % 5 === 4 && i === 3 ? step : step + i) % POINTS);
const schedule = {
  steps: STEPS,
  at: (step: number) => ({ rate: 0.03 * (1 - step / STEPS), pull: 0.02 + step / STEPS }),
};

/** The weights and moments after every step; `looked` says after which steps the quick form brings all rows up to date. */
function both(core: Core, precision: Precision, factors: number, looked: (step: number) => boolean) {
  return scoped((scope) => {
    const x = scope.keep(csr(core, arrays, precision));
    const make = (seed?: number) =>
      scope.keep(
        seed === undefined
          ? matrix(core, FEATURES, factors, precision)
          : matrixFrom(core, FEATURES, factors, randomNumbers(FEATURES * factors, seed), precision),
      );
    const dense = { w: make(1), first: make(), second: make(), g: make(), scaled: make() };
    const quick = { w: make(1), first: make(), second: make() };
    const inverse = scope.keep(matrixFrom(core, 1, 1, [INVERSE], precision));
    const steps = scope.keep(new RowSteps(x, quick.w, quick, inverse, schedule));
    const chosen = scope.keep(integers(core, BATCH));
    const found: ArrayLike<number>[][] = [];
    for (let step = 0; step < STEPS; step++) {
      chosen.set(batchOf(step));
      const g = scope.keep(matrixFrom(core, BATCH, factors, randomNumbers(BATCH * factors, 50 + step), precision));
      const { rate, pull } = schedule.at(step);
      combine("multiply", dense.w, inverse, dense.scaled);
      blend(-pull, dense.scaled, 0, dense.scaled, dense.g);
      sparseTransposeTimes(x, g, dense.g, { rows: chosen, accumulate: true });
      adam(dense.w, dense.g, dense, { rate, step: step + 1 });
      steps.enter(chosen, step);
      steps.step(g, step);
      if (!looked(step)) continue;
      steps.settle(step + 1);
      for (const name of ["w", "first", "second"] as const) found.push([quick[name].toArray(), dense[name].toArray()]);
    }
    return found;
  });
}

for (const kind of coreKinds) {
  for (const precision of precisions) {
    describe(`${kind.name}, ${precision}`, () => {
      for (const factors of [1, 6, 45]) {
        test(`${factors} factors: all rows at the end are those of dense steps, bit by bit`, async () => {
          await withCore(kind, (core) => {
            const found = both(core, precision, factors, (step) => step === STEPS - 1);
            expect(found).toHaveLength(3);
            for (const [quick, dense] of found) expect(quick).toEqual(dense);
          });
        });
      }

      test("looking at all rows on the way changes nothing", async () => {
        await withCore(kind, (core) => {
          const found = both(core, precision, 6, (step) => step % 3 === 1 || step === STEPS - 1);
          for (const [quick, dense] of found) expect(quick).toEqual(dense);
        });
      });
    });
  }
}

test("goes on from weights that were put back", async () => {
  await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) =>
    scoped((scope) => {
      const x = scope.keep(csr(core, arrays, "f32"));
      const make = () => scope.keep(matrix(core, FEATURES, 5, "f32"));
      const chosen = scope.keep(integers(core, BATCH));
      const inverse = scope.keep(matrixFrom(core, 1, 1, [INVERSE], "f32"));
      const g = scope.keep(matrixFrom(core, BATCH, 5, randomNumbers(BATCH * 5, 3), "f32"));
      const run = (from: ArrayLike<number>[] | undefined, begin: number, end: number): ArrayLike<number>[] => {
        const own = { w: make(), first: make(), second: make() };
        own.w.set(randomNumbers(FEATURES * 5, 1));
        const tensors = Object.values(own);
        if (from) for (const [i, tensor] of tensors.entries()) tensor.set(from[i]);
        const steps = scope.keep(new RowSteps(x, own.w, own, inverse, schedule));
        steps.restart(begin);
        for (let step = begin; step < end; step++) {
          steps.enter(chosen.set(batchOf(step)), step);
          steps.step(g, step);
        }
        steps.settle(end);
        return tensors.map((tensor) => tensor.toArray());
      };
      expect(run(run(undefined, 0, 9), 9, STEPS)).toEqual(run(undefined, 0, STEPS));
    }),
  );
});

test("refuses weights that do not fit the features", async () => {
  await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) =>
    scoped((scope) => {
      const x = scope.keep(csr(core, arrays, "f32"));
      const make = (rows: number) => scope.keep(matrix(core, rows, 5, "f32"));
      const state = { first: make(FEATURES), second: make(FEATURES) };
      const inverse = scope.keep(matrixFrom(core, 1, 1, [1], "f32"));
      expect(() => new RowSteps(x, make(FEATURES - 1), state, inverse, schedule)).toThrow(
        "weights: found 29 x 5, expected 30 x 5",
      );
    }),
  );
});
