// The forward pass against reference values made in double precision by another program.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { calibrateBlock } from "../../src/calibrate/block.ts";
import type { Calibrator } from "../../src/calibrate/calibrator.ts";
import { calibratedProbability, calibratePoint, prepareCalibrator } from "../../src/calibrate/forward.ts";
import { matrix, matrixFrom, scoped } from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { worst } from "../support/reference.ts";
import { term } from "./calibrators.ts";

interface Case {
  name: string;
  Y: number[][];
  sparse: {
    loo: number[][];
    looVariance: number[];
    stack: { loo: number[][] };
    calibrator: {
      parameters: Record<"b" | "c0" | "d0" | "r" | "q" | "m0", number> &
        Record<"c" | "d" | "u" | "a", number[]>;
      eps: number[];
      eps2: number[];
      probability: number[][];
    };
  };
}

const { cases } = JSON.parse(readFileSync("test/golden/closed-form.json", "utf8")) as { cases: Case[] };

/** The reference's r log frequency and q log v are constants that are blended between the ends of both. */
function calibratorOf({ parameters, eps, eps2 }: Case["sparse"]["calibrator"], points: number): Calibrator {
  const { b, c0, c, d0, d, r, q, m0, u, a } = parameters;
  const labelKnots = Float64Array.from([0.5, points + 0.5], (count) => Math.log(count / (points + 1)));
  const pointKnots = Float64Array.from([-10, 10]);
  const curve = (label: number, point: number) => [b + r * label + q * point, c0, ...c, d0, ...d];
  const [rare = 0, frequent = 0] = labelKnots;
  return {
    scores: ["gaussian", "stack"],
    curves: {
      terms: [
        term(0, "linear"),
        ...eps.map((e) => term(0, "log", 0, e)),
        term(1, "linear"),
        ...eps2.map((e) => term(1, "log", 0, e)),
      ],
      labelKnots,
      pointKnots,
      weights: Float64Array.from([rare, frequent].flatMap((k) => [...curve(k, -10), ...curve(k, 10)])),
    },
    labelOffsets: Float64Array.from(u),
    labelSlopes: Float64Array.from(a),
    centre: m0,
    offsetVariance: 1,
  };
}

describe("reference values of the calibrator", () => {
  for (const { name, Y, sparse } of cases) {
    const { loo, looVariance, stack, calibrator } = sparse;
    const labels = (Y[0] as number[]).length;
    const labelCounts = Array.from({ length: labels }, (_, k) =>
      Y.reduce((sum, row) => sum + (row[k] as number), 0),
    );
    const prepared = prepareCalibrator(calibratorOf(calibrator, Y.length), { labelCounts, points: Y.length });

    test(`${name}: one point at a time`, () => {
      const found = loo.flatMap((row, i) => {
        const point = calibratePoint(prepared, [row, stack.loo[i] as number[]], looVariance[i] as number);
        return row.map((_, k) => calibratedProbability(prepared, point, k));
      });
      expect(worst(found, calibrator.probability.flat())).toBeLessThan(1e-12);
    });

    test(`${name}: in a block`, async () => {
      for (const kind of coreKinds)
        await withCore(kind, (core) =>
          scoped((scope) => {
            const given = (values: number[][]) =>
              scope.keep(matrixFrom(core, Y.length, labels, values.flat(), "f64"));
            const out = scope.keep(matrix(core, Y.length, labels, "f64"));
            calibrateBlock(prepared, { scores: [given(loo), given(stack.loo)], variances: looVariance }, out);
            expect(worst(out.view(), calibrator.probability.flat())).toBeLessThan(1e-12);
          }),
        );
    });
  }
});
