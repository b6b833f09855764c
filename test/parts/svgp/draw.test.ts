// Labels that are drawn for the products of a step: the gradient that they give on average.

import { describe, expect, test } from "vitest";
import type { WasmBackend } from "../../../src/backend/wasm.ts";
import type { LabelSets } from "../../../src/base/sparse.ts";
import type { ModelShape } from "../../../src/parts/svgp/shape.ts";
import { drawStart } from "../../../src/parts/svgp/trainer.ts";
import { type BatchValues, boundAt, expectClose, type ParameterValues, withBackend } from "../../support/bounds.ts";
import { randomNumbers } from "../../support/numbers.ts";
import { modelDigest, tinyTraining } from "../../support/training.ts";

const LABELS = 40;
const POINTS = 400;
const BATCH = 5;

/** Label k is had by about 200 / (k + 1) points: by frequency, a few labels are most of it. */
const sets: LabelSets = (() => {
  const labels = Array.from({ length: POINTS }, (_, i) =>
    Array.from({ length: LABELS }, (_, k) => k).filter((k) => (i * 7 + k * 13) % (2 * (k + 1)) === 0),
  );
  const rowStart = Int32Array.from({ length: POINTS + 1 }, (_, i) => labels.slice(0, i).flat().length);
  return { rows: POINTS, labels: LABELS, rowStart, labelIndex: Int32Array.from(labels.flat()) };
})();
const labelsOf = (row: number): number[] => [...sets.labelIndex.slice(sets.rowStart[row], sets.rowStart[row + 1])];
/** Points with two labels each, so that most are to be drawn. */
const rows = Int32Array.from(
  Array.from({ length: POINTS }, (_, i) => i)
    .filter((i) => labelsOf(i).length === 2)
    .slice(0, BATCH),
);

const shape = (posterior: ModelShape["posterior"]): ModelShape => ({
  points: POINTS,
  features: 3,
  labels: LABELS,
  factors: 2,
  inducingPoints: 3,
  rank: 0,
  batch: BATCH,
  kernel: "linear",
  inducing: "free",
  posterior,
  mean: "inducing",
  minSigma: 1e-6,
  quadrature: "closed",
});
const frequency = Array.from({ length: LABELS }, (_, k) => sets.labelIndex.filter((each) => each === k).length);
const valuesOf = ({ posterior, factors: p }: ModelShape): ParameterValues => ({
  inducingInputs: [...randomNumbers(9, 1)],
  mu: [...randomNumbers(3 * p, 2)],
  logSigma: [...randomNumbers(3 * (posterior === "shared" ? 1 : p), 3)],
  phi: Array.from(randomNumbers(LABELS * p, 4), (x) => x / 2),
  bias: frequency.map((count) => Math.log((count + 0.5) / (POINTS - count))),
  hyper: [0, 0, 0],
});
const batch = {
  X: [0, 1, 2, 3, 4].map((i) => [...randomNumbers(3, 10 + i)]),
  labels: Array.from(rows, labelsOf),
};

type Found = Awaited<ReturnType<typeof boundAt>>;
const numbersOf = ({ bound, gradient }: Found): number[] => [bound, ...Object.values(gradient).flat()];

/** Mean of many draws and the root mean square of what they miss of `full`, number by number. */
async function many(
  backend: WasmBackend,
  of: ModelShape,
  draws: Pick<BatchValues, "gradientDraw">[],
  full: number[],
): Promise<{ mean: number[]; miss: number[] }> {
  const mean = full.map(() => 0);
  const miss = full.map(() => 0);
  for (const draw of draws) {
    const found = numbersOf(await boundAt(backend, of, valuesOf(of), { ...batch, ...draw }));
    found.forEach((value, i) => {
      mean[i] = mean[i] + value / draws.length;
      miss[i] = miss[i] + (value - full[i]) ** 2 / draws.length;
    });
  }
  return { mean, miss: miss.map(Math.sqrt) };
}

function expectRightOnAverage({ mean, miss }: { mean: number[]; miss: number[] }, full: number[], draws: number): void {
  full.forEach((value, i) => {
    const deviation = miss[i] / Math.sqrt(draws);
    expect(Math.abs(mean[i] - value)).toBeLessThan(4.5 * deviation + 1e-9);
  });
}
const squares = (values: number[]): number => values.reduce((sum, value) => sum + value * value, 0);

describe("labels drawn for the products with their gradients", () => {
  for (const posterior of ["shared", "perFactor"] as const) {
    test(`${posterior}: leave the bound, b and sigma as they are, and the rest on average`, async () => {
      await withBackend(async (backend) => {
        const of = shape(posterior);
        const full = await boundAt(backend, of, valuesOf(of), batch);
        const gradientDraw = { count: 14, start: 0.4 };
        const found = await boundAt(backend, of, valuesOf(of), { ...batch, gradientDraw });
        expect(found.bound).toBe(full.bound);
        for (const name of ["bias", "logSigma"] as const) expectClose(found.gradient[name], full.gradient[name], name);
        const starts = Array.from({ length: 300 }, (_, step) => drawStart(backend.core, 3, step));
        const draws = starts.map((start) => ({ gradientDraw: { count: 14, start } }));
        const ours = await many(backend, of, draws, numbersOf(full));
        expectRightOnAverage(ours, numbersOf(full), draws.length);
        expect(squares(ours.miss)).toBeGreaterThan(0);
      });
    });
  }

  test("are the same for any number of threads, and after a stop", async () => {
    const drawn = { gradientLabels: 6 } as const;
    const one = await modelDigest(await tinyTraining(drawn));
    expect(await modelDigest(await tinyTraining({ ...drawn, threads: 2 }))).toBe(one);
    expect(one).not.toBe(await modelDigest(await tinyTraining({ gradientLabels: "all" })));
  });
});
