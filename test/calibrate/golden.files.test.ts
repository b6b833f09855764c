// The forward pass against reference values made in double precision by another program.

import { describe, expect, test } from "vitest";
import { calibrateBlock } from "../../src/calibrate/block.ts";
import type { Calibrator } from "../../src/calibrate/calibrator.ts";
import { calibratedProbability, pointTerm, prepareCalibrator } from "../../src/calibrate/forward.ts";
import { matrix, matrixFrom, scoped } from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { golden } from "../support/golden.ts";
import { worst } from "../support/reference.ts";
import { linear, log } from "./calibrators.ts";

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

const { cases } = golden<{ cases: Case[] }>("closed-form.json");

function calibratorOf({ parameters, eps, eps2 }: Case["sparse"]["calibrator"]): Calibrator {
  const { b, c0, c, d0, d, r, q, m0, u, a } = parameters;
  return {
    scores: ["gaussian", "stack"],
    terms: [linear(0), ...eps.map((e) => log(0, e)), linear(1), ...eps2.map((e) => log(1, e))],
    weights: Float64Array.from([c0, ...c, d0, ...d]),
    intercept: b,
    frequencyWeight: r,
    varianceWeight: q,
    logVarianceRange: [-100, 100],
    centre: m0,
    labelOffsets: Float64Array.from(u),
    labelSlopes: Float64Array.from(a),
    offsetVariance: 1,
    slopeVariance: 1,
  };
}

describe("reference values of the calibrator", () => {
  for (const { name, Y, sparse } of cases) {
    const { loo, looVariance, stack, calibrator } = sparse;
    const labels = (Y[0] as number[]).length;
    const labelCounts = Array.from({ length: labels }, (_, k) =>
      Y.reduce((sum, row) => sum + (row[k] as number), 0),
    );
    const prepared = prepareCalibrator(calibratorOf(calibrator), { labelCounts, points: Y.length });
    const points = looVariance.map((variance) => pointTerm(prepared, variance));

    test(`${name}: one label at a time`, () => {
      const found = loo.flatMap((row, i) =>
        row.map((score, k) =>
          calibratedProbability(prepared, k, [score, stack.loo[i]?.[k] as number], points[i] as number),
        ),
      );
      expect(worst(found, calibrator.probability.flat())).toBeLessThan(1e-12);
    });

    test(`${name}: in a block`, async () => {
      for (const kind of coreKinds)
        await withCore(kind, (core) =>
          scoped((scope) => {
            const given = (values: number[][]) =>
              scope.keep(matrixFrom(core, Y.length, labels, values.flat(), "f64"));
            const out = scope.keep(matrix(core, Y.length, labels, "f64"));
            const block = { scores: [given(loo), given(stack.loo)], variances: looVariance };
            calibrateBlock(prepared, block, out);
            expect(worst(out.view(), calibrator.probability.flat())).toBeLessThan(1e-12);
          }),
        );
    });
  }
});
