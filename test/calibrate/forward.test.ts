// The forward pass: the formula, in blocks and one point at a time, rising in every score.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calibrateBlock } from "../../src/calibrate/block.ts";
import {
  calibratedDeviation,
  calibratedLogit,
  calibratedProbability,
  calibratePoint,
  prepareCalibrator,
} from "../../src/calibrate/forward.ts";
import { type Core, matrix, matrixFrom, type Precision, scoped } from "../../src/core/index.ts";
import { coreKinds, precisions, withCore } from "../support/cores.ts";
import { randomNumbers } from "../support/numbers.ts";
import { logitByFormula, sigmoid, someCalibrator, someFrequencies } from "./calibrators.ts";

/** Random scores of some points, and what the calibrator makes of them in a block. */
function inBlock(core: Core, precision: Precision, rows: number, labels: number, logit: boolean) {
  const calibrator = someCalibrator(labels, 3 + rows);
  const frequencies = someFrequencies(labels, 1000, rows);
  const prepared = prepareCalibrator(calibrator, frequencies);
  const scores = [0, 1].map((j) => randomNumbers(rows * labels, 10 + j).map((x) => Math.fround(0.4 + x)));
  const found = scoped((scope) => {
    const given = scores.map((values) => scope.keep(matrixFrom(core, rows, labels, values, precision)));
    // Rows with gaps between them: only the block may be written.
    const wide = scope.keep(matrix(core, rows, labels + 3, precision));
    const out = wide.block(0, 1, rows, labels);
    calibrateBlock(prepared, { scores: given }, out, { logit });
    for (let i = 0; i < rows; i++)
      for (const j of [0, labels + 1, labels + 2]) expect(wide.view()[i * (labels + 3) + j]).toBe(0);
    return out.toArray();
  });
  const rowsOf = Array.from({ length: rows }, (_, i) =>
    scores.map((values) => Array.from(values.subarray(i * labels, (i + 1) * labels))),
  );
  return { calibrator, frequencies, prepared, rows: rowsOf, found };
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
            const { calibrator, frequencies, rows: all, found } = inBlock(core, precision, rows, labels, false);
            all.forEach((row, i) => {
              for (let k = 0; k < labels; k++) {
                const expected = sigmoid(logitByFormula(calibrator, frequencies, k, row));
                const difference = Math.abs(found[i * labels + k] - expected);
                expect(difference).toBeLessThan(precision === "f64" ? 1e-11 : 3e-5);
              }
            });
          }
        });
      });
    }
  }

  test("are those given one point at a time, to the last places of exp and log", async () => {
    await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
      const labels = 70;
      const { prepared, rows, found } = inBlock(core, "f64", 9, labels, true);
      rows.forEach((row, i) => {
        const point = calibratePoint(prepared, row);
        for (let k = 0; k < labels; k++) {
          const logit = calibratedLogit(prepared, point, k);
          const difference = Math.abs(logit - found[i * labels + k]);
          expect(difference).toBeLessThan(1e-13 * (10 + Math.abs(logit)));
        }
      });
    });
  });

  test("are the same bytes for any number of threads, and may take the place of a score", async () => {
    const results: unknown[] = [];
    for (const kind of coreKinds.slice(0, 2)) {
      await withCore(kind, (core) => {
        const { prepared, rows, found } = inBlock(core, "f32", 40, 37, false);
        results.push(found);
        scoped((scope) => {
          const given = [0, 1].map((j) =>
            scope.keep(
              matrixFrom(
                core,
                40,
                37,
                rows.flatMap((row) => row[j]),
              ),
            ),
          );
          calibrateBlock(prepared, { scores: given }, given[1] as (typeof given)[number]);
          results.push(given[1]?.toArray());
        });
      });
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });
});

describe("one point at a time", () => {
  const score = fc.double({ min: -50, max: 50, noNaN: true });

  test("p rises with every score, for every label", () => {
    fc.assert(
      fc.property(
        fc.nat(1000),
        fc.tuple(score, score),
        fc.nat(1),
        fc.double({ min: 0, max: 5, noNaN: true }),
        (seed, given, which, by) => {
          const labels = 6;
          const prepared = prepareCalibrator(someCalibrator(labels, seed), someFrequencies(labels, 50, seed));
          const row = given.map((own) => new Array<number>(labels).fill(own));
          const { weights } = calibratePoint(prepared, row);
          const moved = row.map((own, j) => own.map((value) => (j === which ? value + by : value)));
          for (let k = 0; k < labels; k++) {
            const before = calibratedLogit(prepared, { scores: row, weights }, k);
            const after = calibratedLogit(prepared, { scores: moved, weights }, k);
            expect(after).toBeGreaterThanOrEqual(before - 1e-9 * (1 + Math.abs(before)));
          }
        },
      ),
    );
  });

  test("p is a probability for any scores, however far", () => {
    const prepared = prepareCalibrator(someCalibrator(2, 5), someFrequencies(2, 50, 5));
    for (const far of [-1e30, -1e6, -1, 0, 1e-30, 1, 1e6, 1e30]) {
      const point = calibratePoint(prepared, [
        [far, 0],
        [0, far],
      ]);
      for (const label of [0, 1]) {
        const p = calibratedProbability(prepared, point, label);
        expect(p >= 0 && p <= 1).toBe(true);
      }
    }
  });

  test("labels that the calibrator has not seen have no effects of their own", () => {
    const calibrator = someCalibrator(3, 4);
    const frequencies = { labelCounts: new Int32Array(5).fill(7), points: 100 };
    const plain = { ...calibrator, labelOffsets: new Float64Array(5), labelSlopes: new Float64Array(5) };
    const logits = [calibrator, plain].map((one) => {
      const prepared = prepareCalibrator(one, frequencies);
      return calibratedLogit(
        prepared,
        calibratePoint(prepared, [
          [0, 0, 0, 0, 0.3],
          [0, 0, 0, 0, 0.2],
        ]),
        4,
      );
    });
    expect(logits[1]).toBe(logits[0]);
  });

  test("the deviation is the slope of the probability times that of the score", () => {
    const prepared = prepareCalibrator(someCalibrator(4, 9), someFrequencies(4, 50, 9));
    for (const at of [-0.5, -0.01, 0.02, 0.3, 0.9]) {
      const row = (by: number) => [new Array<number>(4).fill(at + by), new Array<number>(4).fill(0.1)];
      const { weights } = calibratePoint(prepared, row(0));
      for (let k = 0; k < 4; k++) {
        const step = 1e-6;
        const p = (by: number) => calibratedProbability(prepared, { scores: row(by), weights }, k);
        const slope = (p(step) - p(-step)) / (2 * step);
        const deviation = calibratedDeviation(prepared, { scores: row(0), weights }, k, [0.01, 0]);
        expect(Math.abs(deviation - 0.01 * slope)).toBeLessThan(1e-7 + 1e-5 * deviation);
      }
      expect(calibratedDeviation(prepared, { scores: row(0), weights }, 0, [1e9, 1e9])).toBeLessThanOrEqual(0.5);
    }
  });
});
