// Whatever options and data a training is given, it ends in a model or in a sentence that names what can be changed.

import { describe, expect, test } from "vitest";
import { DataError } from "../../src/base/errors.ts";
import type { DataRow } from "../../src/data/options.ts";
import { type TrainOptions, trainOptions } from "../../src/parts/options.ts";
import { train } from "../../src/train/train.ts";
import { generator } from "../support/numbers.ts";

const COMBINATIONS = 80;

type Pick = <T>(choices: readonly T[]) => T;

/** Features of every size, and rows that are all alike. */
const values: Readonly<Record<string, (pick: Pick, unit: () => number) => number>> = {
  usual: (_, unit) => 4 * unit() - 1,
  alike: () => 1,
  tiny: (pick) => pick([1e-38, 1e-20, -1e-30]),
  offset: (_, unit) => 1e5 + unit(),
  large: (pick, unit) => unit() * pick([1e3, 1e5, 1e7, 3e8]),
  huge: (pick) => pick([1e18, -1e19, 1e10, 3e37]),
};

function randomRows(pick: Pick, unit: () => number): DataRow[] {
  const value = values[pick(Object.keys(values))] as (pick: Pick, unit: () => number) => number;
  return Array.from({ length: pick([1, 2, 5, 20, 60]) }, () => ({
    labels: pick([["a"], ["b"], ["a", "b"], ["c", "d", "a"]]),
    features: Object.fromEntries(
      Array.from({ length: 6 }, (_, i): [string, number] => [`w${i}`, value(pick, unit)]).filter(() => unit() < 0.7),
    ),
  }));
}

/** Odd values of the options; each is given or not. */
const odd: { readonly [Name in keyof TrainOptions]: readonly TrainOptions[Name][] } = {
  model: ["auto", "svgp", "gpr", "sgpr", "linear", "linear+svgp"],
  calibration: [true, false],
  kernel: ["linear", "se", "matern32", "linear+matern52"],
  inducing: ["subspace", "free"],
  fixedInducing: [true],
  fixedKernel: [true, false],
  basis: ["svd", "kmeans"],
  posterior: ["shared", "perFactor"],
  mean: ["features", "inducing"],
  negatives: ["all", 1, 3],
  inducingPoints: [1, 2, 5],
  rank: [1, 2, 5],
  batch: [1, 3, 1000],
  learningRate: [0, 1e-9, 1, 50, 1e30],
  klWeight: [0, 1e6, 1e30],
  klWarmup: [0, 1],
  klStart: [0, 1e10, 1e38],
  idf: [true, false, "auto"],
  normalise: [true, false, false],
  minSigma: [1e-45, 1e-30, 0.5],
  quadrature: [1, 5],
  precision: ["f32", "f64"],
};

function randomOptions(pick: Pick, unit: () => number): TrainOptions {
  const given = Object.entries(odd)
    .filter(() => unit() < 0.4)
    .map(([name, choices]) => [name, pick(choices as readonly unknown[])]);
  return { epochs: pick([0.5, 3]), factors: pick([1, 3]), ...Object.fromEntries(given) };
}

/** The options that a sentence names: as its subject, or between backticks. */
function namedOptions(error: Error): string[] {
  const subject = /^(\w+):/.exec(error.message)?.[1] ?? "";
  const quoted = [...error.message.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
  return [subject, ...quoted].filter((name) => name in trainOptions);
}

async function outcomeOf(rows: readonly DataRow[], options: TrainOptions): Promise<Error | undefined> {
  try {
    await train(rows, { ...options, threads: 1 });
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe("a training that cannot be", () => {
  test("names an option to change, whatever was given", { tags: "long", timeout: 120_000 }, async () => {
    const random = generator(5);
    const pick: Pick = (choices) => choices[Math.floor(random() * choices.length)] as never;
    let [refused, trained] = [0, 0];
    for (let i = 0; i < COMBINATIONS; i++) {
      const rows = randomRows(pick, random);
      const options = randomOptions(pick, random);
      const error = await outcomeOf(rows, options);
      if (error) refused++;
      else trained++;
      if (error === undefined || error instanceof DataError) continue;
      expect(namedOptions(error), `${error.stack} of ${JSON.stringify(options)}`).not.toEqual([]);
    }
    expect(Math.min(refused, trained)).toBeGreaterThan(COMBINATIONS / 10);
  });

  const sixty = (value: (i: number) => number): DataRow[] =>
    Array.from({ length: 60 }, (_, i) => ({
      labels: [i % 3 === 0 ? "a" : "b"],
      features: Object.fromEntries(Array.from({ length: 6 }, (_, j) => [`w${j}`, value(6 * i + j)])),
    }));

  test("because its covariance has no factor in single precision says how to scale the features", async () => {
    const rows = sixty((i) => 1e5 + ((i * 7919) % 100) / 100);
    const error = await outcomeOf(rows, {
      model: "gpr",
      kernel: "linear",
      idf: true,
      normalise: false,
    });
    expect(error?.message).toBe(
      "found a covariance of the points that is not positive definite, expected features of a moderate size: " +
        "`normalise` the rows or scale the features",
    );
  });
});
