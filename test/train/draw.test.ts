// Labels that are drawn for a step: which ones and how much they count, the gradient that they give on average, and how much
// less it varies than with labels that are all equally likely.

import { describe, expect, test } from "vitest";
import type { WasmBackend } from "../../src/backend/wasm.ts";
import { choice } from "../../src/core/random.ts";
import type { LabelSets } from "../../src/data/dataset.ts";
import type { ModelShape } from "../../src/model/shape.ts";
import { type Draw, drawStart, LabelDraw } from "../../src/train/draw.ts";
import {
  type BatchValues,
  boundAt,
  expectClose,
  type ParameterValues,
  withBackend,
} from "../support/bounds.ts";
import { randomNumbers } from "../support/numbers.ts";
import { modelDigest, tinyTraining } from "../support/training.ts";

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
const labelsOf = (row: number): number[] => [
  ...sets.labelIndex.slice(sets.rowStart[row], sets.rowStart[row + 1]),
];
/** Points with two labels each, so that most are to be drawn. */
const rows = Int32Array.from(
  Array.from({ length: POINTS }, (_, i) => i)
    .filter((i) => labelsOf(i).length === 2)
    .slice(0, BATCH),
);
const present = new Set(Array.from(rows, labelsOf).flat());

const shape = (posterior: ModelShape["posterior"]): ModelShape => ({
  points: POINTS,
  features: 3,
  labels: LABELS,
  factors: 2,
  inducingPoints: 3,
  rank: 0,
  batch: BATCH,
  likelihood: "bernoulli",
  kernel: "linear",
  inducing: "free",
  posterior,
  mean: "inducing",
  floor: 1e-6,
  quadrature: "closed",
});
const frequency = Array.from(
  { length: LABELS },
  (_, k) => sets.labelIndex.filter((each) => each === k).length,
);
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
  draws: Pick<BatchValues, "draw" | "gradientDraw">[],
  full: number[],
): Promise<{ mean: number[]; miss: number[] }> {
  const mean = full.map(() => 0);
  const miss = full.map(() => 0);
  for (const draw of draws) {
    const found = numbersOf(await boundAt(backend, of, valuesOf(of), { ...batch, ...draw }));
    found.forEach((value, i) => {
      mean[i] = (mean[i] as number) + value / draws.length;
      miss[i] = (miss[i] as number) + (value - (full[i] as number)) ** 2 / draws.length;
    });
  }
  return { mean, miss: miss.map(Math.sqrt) };
}

function expectRightOnAverage(
  { mean, miss }: { mean: number[]; miss: number[] },
  full: number[],
  draws: number,
): void {
  full.forEach((value, i) => {
    const deviation = (miss[i] as number) / Math.sqrt(draws);
    expect(Math.abs((mean[i] as number) - value)).toBeLessThan(4.5 * deviation + 1e-9);
  });
}
const squares = (values: number[]): number => values.reduce((sum, value) => sum + value * value, 0);

/** As many labels as a draw has, those that are absent all equally likely. */
function uniformDraw(backend: WasmBackend, like: Draw, step: number): Draw {
  const own = [...like.labels].filter((label) => present.has(label));
  const count = like.labels.length - own.length;
  const others = choice(
    backend.core,
    LABELS,
    count,
    { seed: 5, stream: step },
    [...present].sort((a, b) => a - b),
  );
  return {
    labels: Int32Array.from([...own, ...others]),
    weight: Float64Array.from([
      ...own.map(() => 1),
      ...[...others].map(() => (LABELS - present.size) / count),
    ]),
    positives: like.positives,
  };
}

describe("labels drawn for a step", () => {
  test("are those of its points, once, and others of which each counts for itself on average", async () => {
    await withBackend(async ({ core }) => {
      const draw = new LabelDraw(core, sets, 14, 9);
      const counted = new Float64Array(LABELS);
      const heaviest = new Float64Array(LABELS);
      const steps = 800;
      for (let step = 0; step < steps; step++) {
        const { labels, weight, positives } = draw.at(step, rows);
        expect(labels.length).toBe(14);
        expect([...weight].every((each, i) => each === 1 || !present.has(labels[i] as number))).toBe(true);
        expect(new Set(labels).size).toBe(14);
        expect([...positives.labelIndex].map((place) => labels[place])).toEqual(
          Array.from(rows, labelsOf).flat(),
        );
        labels.forEach((label, i) => {
          counted[label] = (counted[label] as number) + (weight[i] as number) / steps;
          heaviest[label] = Math.max(heaviest[label] as number, weight[i] as number);
        });
        expect([...present].every((label) => labels.includes(label))).toBe(true);
      }
      expect(Math.max(...heaviest)).toBeGreaterThan(3);
      // A label that counts w with probability 1 / w has the variance w - 1.
      counted.forEach((mean, label) => {
        const deviation = Math.sqrt(((heaviest[label] as number) - 1) / steps);
        expect(Math.abs(mean - 1)).toBeLessThan(4 * deviation + 1e-9);
      });
    });
  });

  test("depend on seed and step alone, and are more where the points have many labels", async () => {
    await withBackend(async ({ core }) => {
      const draw = new LabelDraw(core, sets, 14, 9);
      const first = draw.at(3, rows);
      draw.at(4, rows);
      expect(draw.at(3, rows)).toEqual(first);
      expect(new LabelDraw(core, sets, 14, 9).at(3, rows)).toEqual(first);
      expect(draw.at(4, rows).labels).not.toEqual(first.labels);
      const everyone = Int32Array.from({ length: POINTS }, (_, i) => i);
      const { labels, weight } = draw.at(0, everyone);
      expect([...labels].sort((a, b) => a - b)).toEqual(Array.from({ length: LABELS }, (_, k) => k));
      expect([...weight]).toEqual(Array.from(labels, () => 1));
    });
  });

  for (const posterior of ["shared", "perFactor"] as const) {
    test(`${posterior}: Phi and b of a drawn label move by its weight times what all labels give, others stay`, async () => {
      await withBackend(async (backend) => {
        const of = shape(posterior);
        const full = await boundAt(backend, of, valuesOf(of), batch);
        const draw = new LabelDraw(backend.core, sets, 14, 9).at(0, rows);
        const found = await boundAt(backend, of, valuesOf(of), { ...batch, draw });
        const weights = new Float64Array(LABELS);
        draw.labels.forEach((label, i) => {
          weights[label] = draw.weight[i] as number;
        });
        const wanted = (values: number[]): number[] =>
          values.map((value, i) => value * (weights[Math.floor(i / (values.length / LABELS))] as number));
        expectClose(found.gradient.phi, wanted(full.gradient.phi), "gradient by Phi");
        expectClose(found.gradient.bias, wanted(full.gradient.bias), "gradient by b");
      });
    });

    test(`${posterior}: bound and gradients average to those over all labels, and vary less than with equal chances`, async () => {
      await withBackend(async (backend) => {
        const of = shape(posterior);
        const full = numbersOf(await boundAt(backend, of, valuesOf(of), batch));
        const draw = new LabelDraw(backend.core, sets, 14, 9);
        const draws = Array.from({ length: 300 }, (_, step) => draw.at(step, rows));
        const ours = await many(
          backend,
          of,
          draws.map((each) => ({ draw: each })),
          full,
        );
        const uniform = await many(
          backend,
          of,
          draws.map((each, step) => ({ draw: uniformDraw(backend, each, step) })),
          full,
        );
        expectRightOnAverage(ours, full, draws.length);
        expect(squares(ours.miss)).toBeGreaterThan(0);
        expect(squares(ours.miss)).toBeLessThan(squares(uniform.miss) / 2);
      });
    });
  }

  test("as many as there are is looking at all", async () => {
    const [all, settled] = [await tinyTraining(), await tinyTraining({ labelsPerStep: 15 })];
    expect(await modelDigest(settled)).toBe(await modelDigest(all));
  });
});

describe("labels drawn for the products with their gradients", () => {
  for (const posterior of ["shared", "perFactor"] as const) {
    test(`${posterior}: leave the bound, b and sigma as they are, and the rest on average`, async () => {
      await withBackend(async (backend) => {
        const of = shape(posterior);
        const full = await boundAt(backend, of, valuesOf(of), batch);
        const gradientDraw = { count: 14, start: 0.4 };
        const found = await boundAt(backend, of, valuesOf(of), { ...batch, gradientDraw });
        expect(found.bound).toBe(full.bound);
        for (const name of ["bias", "logSigma"] as const)
          expectClose(found.gradient[name], full.gradient[name], name);
        const starts = Array.from({ length: 300 }, (_, step) =>
          drawStart(backend.core, 3, step, "gradients"),
        );
        const draws = starts.map((start) => ({ gradientDraw: { count: 14, start } }));
        const ours = await many(backend, of, draws, numbersOf(full));
        expectRightOnAverage(ours, numbersOf(full), draws.length);
        expect(squares(ours.miss)).toBeGreaterThan(0);
        // Labels drawn before anything is known of their gradients miss more.
        const before = new LabelDraw(backend.core, sets, 14, 9);
        const others = starts.map((_, step) => ({ draw: before.at(step, rows) }));
        const miss = (await many(backend, of, others, numbersOf(full))).miss.slice(1);
        expect(squares(ours.miss)).toBeLessThan(squares(miss) / 4);
      });
    });
  }

  test("both draws together are right on average", async () => {
    await withBackend(async (backend) => {
      const of = shape("shared");
      const full = numbersOf(await boundAt(backend, of, valuesOf(of), batch));
      const before = new LabelDraw(backend.core, sets, 30, 9);
      const draws = Array.from({ length: 300 }, (_, step) => ({
        draw: before.at(step, rows),
        gradientDraw: { count: 20, start: drawStart(backend.core, 9, step, "gradients") },
      }));
      expectRightOnAverage(await many(backend, of, draws, full), full, draws.length);
    });
  });

  test("are the same for any number of threads, and after a stop", async () => {
    const drawn = { gradientLabels: 6 } as const;
    const one = await modelDigest(await tinyTraining(drawn));
    expect(await modelDigest(await tinyTraining({ ...drawn, threads: 2 }))).toBe(one);
    expect(one).not.toBe(await modelDigest(await tinyTraining({ gradientLabels: "all" })));
  });
});
