// The forward pass: the formula, in blocks and one label at a time, rising in every score.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calibrateBlock } from "../../src/calibrate/block.ts";
import {
  calibratedDeviation,
  calibratedLogit,
  calibratedProbability,
  pointTerm,
  prepareCalibrator,
} from "../../src/calibrate/forward.ts";
import { type Core, matrix, matrixFrom, type Precision, scoped } from "../../src/core/index.ts";
import { coreKinds, precisions, withCore } from "../support/cores.ts";
import { randomNumbers } from "../support/numbers.ts";
import { fill, worst } from "../support/reference.ts";
import { probabilityByFormula, someCalibrator, someFrequencies } from "./calibrators.ts";

const spread = (variance: number) => 0.2 + 3 * Math.abs(variance);

/** Probabilities or logits of random scores, in a block. */
function inBlock(
  core: Core,
  precision: Precision,
  rows: number,
  labels: number,
  seed: number,
  logit: boolean,
) {
  const calibrator = someCalibrator(labels, seed);
  const frequencies = someFrequencies(labels, 1000, seed);
  const scores = [0, 1].map((j) =>
    randomNumbers(rows * labels, seed + 10 + j).map((x) => Math.fround(1.5 * x)),
  );
  const variances = randomNumbers(rows, seed + 20).map(spread);
  const prepared = prepareCalibrator(calibrator, frequencies);
  const found = scoped((scope) => {
    const given = scores.map((values) => scope.keep(matrixFrom(core, rows, labels, values, precision)));
    // Rows with gaps between them: only the block may be written.
    const wide = scope.keep(matrix(core, rows, labels + 3, precision));
    const out = wide.block(0, 1, rows, labels);
    calibrateBlock(prepared, { scores: given, variances }, out, { logit });
    for (let i = 0; i < rows; i++)
      for (const j of [0, labels + 1, labels + 2]) expect(wide.view()[i * (labels + 3) + j]).toBe(0);
    return out.toArray();
  });
  return { calibrator, frequencies, prepared, scores, variances, found };
}

describe("probabilities of a block", () => {
  for (const kind of coreKinds) {
    for (const precision of precisions) {
      test(`are those of the formula, ${kind.name}, ${precision}`, async () => {
        await withCore(kind, (core) => {
          for (const [rows, labels] of [
            [0, 3],
            [1, 1],
            [2, 0],
            [3, 5],
            [7, 66],
            [20, 131],
          ] as const) {
            const { calibrator, frequencies, scores, variances, found } = inBlock(
              core,
              precision,
              rows,
              labels,
              3,
              false,
            );
            const expected = fill(rows, labels, (i, k) => {
              const mine = scores.map((values) => values[i * labels + k] as number);
              return probabilityByFormula(calibrator, frequencies, k, mine, variances[i] as number);
            });
            expect(worst(found, expected)).toBeLessThan(precision === "f64" ? 1e-11 : 2e-5);
          }
        });
      });
    }
  }

  test("are those given one label at a time, to the last places of exp and log", async () => {
    await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
      const [rows, labels] = [9, 70];
      const { prepared, scores, variances, found } = inBlock(core, "f64", rows, labels, 8, true);
      for (let i = 0; i < rows; i++) {
        for (let k = 0; k < labels; k++) {
          const mine = scores.map((values) => values[i * labels + k] as number);
          const logit = calibratedLogit(prepared, k, mine, pointTerm(prepared, variances[i] as number));
          expect(Math.abs(logit - (found[i * labels + k] as number))).toBeLessThan(
            1e-13 * (10 + Math.abs(logit)),
          );
        }
      }
    });
  });
});

describe("one label at a time", () => {
  const scores = fc.tuple(
    fc.double({ min: -50, max: 50, noNaN: true }),
    fc.double({ min: -50, max: 50, noNaN: true }),
  );

  test("rises with every score, for every label", () => {
    fc.assert(
      fc.property(
        fc.nat(1000),
        scores,
        fc.nat(1),
        fc.double({ min: 0, max: 5, noNaN: true }),
        (seed, given, which, by) => {
          const prepared = prepareCalibrator(someCalibrator(6, seed), someFrequencies(6, 50, seed));
          const moved = given.map((score, j) => (j === which ? score + by : score));
          for (let k = 0; k < 6; k++) {
            const [before, after] = [given, moved].map((mine) => calibratedLogit(prepared, k, mine, 0));
            expect(after as number).toBeGreaterThanOrEqual((before as number) - 1e-9);
          }
        },
      ),
    );
  });

  test("is a probability for any scores, however far", () => {
    const prepared = prepareCalibrator(someCalibrator(2, 5), someFrequencies(2, 50, 5));
    for (const score of [-1e30, -1e6, -1, 0, 1e-30, 1, 1e6, 1e30]) {
      for (const variance of [0, 1e-300, 1, 1e300]) {
        const p = calibratedProbability(prepared, 1, [score, -score], pointTerm(prepared, variance));
        expect(p >= 0 && p <= 1).toBe(true);
      }
    }
  });

  test("labels that the calibrator has not seen have no effects of their own", () => {
    const [small, large] = [3, 5];
    const calibrator = someCalibrator(small, 4);
    const frequencies = { labelCounts: new Int32Array(large).fill(7), points: 100 };
    const prepared = prepareCalibrator(calibrator, frequencies);
    const plain = {
      ...calibrator,
      labelOffsets: new Float64Array(large),
      labelSlopes: new Float64Array(large),
    };
    expect(calibratedLogit(prepared, 4, [0.3, 0.2], 0)).toBe(
      calibratedLogit(prepareCalibrator(plain, frequencies), 4, [0.3, 0.2], 0),
    );
  });

  test("the deviation is the slope of the probability times that of the score", () => {
    const prepared = prepareCalibrator(someCalibrator(4, 9), someFrequencies(4, 50, 9));
    for (const score of [-0.5, -0.01, 0.02, 0.3, 0.9]) {
      for (let k = 0; k < 4; k++) {
        const step = 1e-6;
        const p = (by: number) => calibratedProbability(prepared, k, [score + by, 0.1], 0.2);
        const slope = (p(step) - p(-step)) / (2 * step);
        const deviation = calibratedDeviation(prepared, k, [score, 0.1], 0.2, [0.01, 0]);
        expect(Math.abs(deviation - 0.01 * slope)).toBeLessThan(1e-7 + 1e-5 * deviation);
      }
    }
    expect(calibratedDeviation(prepared, 0, [0.1, 0.1], 0, [1e9, 1e9])).toBe(0.5);
  });
});
