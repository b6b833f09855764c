// The forward pass against reference values made in double precision by another program.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Calibrator } from "../../src/base/calibrator.ts";
import { calibrateBlock } from "../../src/calibrate/block.ts";
import { calibratedProbability, calibratePoint, prepareCalibrator } from "../../src/calibrate/forward.ts";
import { matrix, matrixFrom, scoped } from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { worst } from "../support/reference.ts";
import { identity, term } from "./calibrators.ts";

interface Case {
  name: string;
  Y: number[][];
  sparse: {
    loo: number[][];
    looVariance: number[];
    stack: { loo: number[][] };
    calibrator: {
      parameters: Record<"b" | "c0" | "d0" | "r" | "q" | "m0", number> & Record<"c" | "d" | "u" | "a", number[]>;
      eps: number[];
      eps2: number[];
      probability: number[][];
    };
  };
}

const { cases } = JSON.parse(readFileSync("test/golden/closed-form.json", "utf8")) as { cases: Case[] };

/**
 * The reference for one label of one point. Its r log frequency is a constant that is blended between the ends; it has slopes of labels
 * and a term of log v besides, which are constants here.
 */
function calibratorOf(
  { parameters, eps, eps2 }: Case["sparse"]["calibrator"],
  points: number,
  label: number,
  variance: number,
): Calibrator {
  const { b, c0, c, d0, d, r, q, m0, u, a } = parameters;
  const labelKnots = Float64Array.from([0.5, points + 0.5], (count) => Math.log(count / (points + 1)));
  const constant = b + q * Math.log(variance);
  const curve = (place: number) => [constant + r * place, c0, ...c, d0, ...d].map((weight) => (1 + a[label]) * weight);
  return {
    scores: ["gaussian", "stack"],
    strength: term(0, "linear"),
    curves: {
      terms: [
        term(0, "linear"),
        ...eps.map((e) => term(0, "log", 0, e)),
        term(1, "linear"),
        ...eps2.map((e) => term(1, "log", 0, e)),
      ],
      labelKnots,
      pointKnots: Float64Array.from([0]),
      weights: Float64Array.from([...labelKnots].flatMap(curve)),
    },
    labelOffsets: Float64Array.from(u, (offset, k) => offset - a[k] * m0),
    offsetVariance: 1,
    outer: identity,
  };
}

describe("reference values of the calibrator", () => {
  for (const { name, Y, sparse } of cases) {
    const { loo, looVariance, stack, calibrator } = sparse;
    const labels = Y[0].length;
    const labelCounts = Array.from({ length: labels }, (_, k) => Y.reduce((sum, row) => sum + row[k], 0));
    const prepared = (i: number, k: number) =>
      prepareCalibrator(calibratorOf(calibrator, Y.length, k, looVariance[i]), {
        labelCounts,
        points: Y.length,
      });

    test(`${name}: one point at a time`, () => {
      const found = loo.flatMap((row, i) =>
        row.map((_, k) => {
          const own = prepared(i, k);
          return calibratedProbability(own, calibratePoint(own, [row, stack.loo[i]]), k);
        }),
      );
      expect(worst(found, calibrator.probability.flat())).toBeLessThan(1e-12);
    });

    test(`${name}: in a block`, async () => {
      for (const kind of coreKinds)
        await withCore(kind, (core) =>
          scoped((scope) => {
            const given = (values: number[][]) => scope.keep(matrixFrom(core, Y.length, labels, values.flat(), "f64"));
            const scores = [given(loo), given(stack.loo)];
            const out = scope.keep(matrix(core, Y.length, labels, "f64"));
            const found = loo.flatMap((row, i) =>
              row.map((_, k) => calibrateBlock(prepared(i, k), { scores }, out).toArray()[i * labels + k]),
            );
            expect(worst(found, calibrator.probability.flat())).toBeLessThan(1e-12);
          }),
        );
    });
  }
});
