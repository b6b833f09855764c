// Numbers in few bits come back as near as they can, and probabilities are those of the core.

import { describe, expect, test } from "vitest";
import { storeMatrix, toHalf } from "../../src/compact/numbers.ts";
import { createCore, matrixFrom, predictiveProbability } from "../../src/core/index.ts";
import { allHalvesFinite, fromHalf, rowMatrix } from "../../src/edge/matrix.ts";
import { labelProbability } from "../../src/edge/probability.ts";
import { NUMBER_TYPES } from "../../src/parts/compact.ts";
import { expectation, sigmoid } from "../support/fullgp.ts";
import { randomNumbers } from "../support/numbers.ts";

describe("half precision", () => {
  const finite = Array.from({ length: 65536 }, (_, bits) => bits).filter((bits) => (bits & 0x7c00) !== 0x7c00);

  test("every number is as the format defines it, and comes back as its own bits", () => {
    for (const bits of finite) {
      const exponent = (bits >> 10) & 31;
      const magnitude = exponent === 0 ? (bits & 1023) / 2 ** 24 : (1 + (bits & 1023) / 1024) * 2 ** (exponent - 15);
      const value = bits & 0x8000 ? -magnitude : magnitude;
      if (!Object.is(fromHalf(bits), value))
        throw new Error(`bits ${bits}: found ${fromHalf(bits)}, expected ${value}`);
      if (toHalf(value) !== bits) throw new Error(`${value}: found bits ${toHalf(value)}, expected ${bits}`);
    }
    expect(allHalvesFinite(Uint16Array.from(finite))).toBe(true);
    for (const bits of [0x7c00, 0xfc00, 0x7e00, 0xffff]) expect(allHalvesFinite(Uint16Array.of(0, bits))).toBe(false);
  });

  test("any number goes to the nearest one, ties to even, and never to infinity", () => {
    const positive = finite.filter((bits) => bits < 0x8000);
    for (let i = 0; i + 1 < positive.length; i++) {
      const [low, high] = [fromHalf(i), fromHalf(i + 1)];
      const middle = (low + high) / 2;
      const even = i % 2 === 0 ? i : i + 1;
      if (toHalf(middle) !== even) throw new Error(`${middle}: found ${toHalf(middle)}, expected ${even}`);
      if (toHalf((low + middle) / 2) !== i) throw new Error(`above ${low}: found ${toHalf((low + middle) / 2)}`);
    }
    expect([1e6, Number.POSITIVE_INFINITY, -1e9].map((value) => fromHalf(toHalf(value)))).toEqual([
      65504, 65504, -65504,
    ]);
  });
});

describe("a stored matrix", () => {
  for (const type of NUMBER_TYPES) {
    test(`${type}: every element within half a step`, () => {
      for (const columns of [1, 2, 3, 7, 8, 13, 64]) {
        const rows = 9;
        const values = randomNumbers(rows * columns, columns).map((value, i) => (i < columns ? 0 : value * (1 + i)));
        const { tensor, scale, bits } = storeMatrix(values, rows, columns, type);
        const stored = rowMatrix(tensor, columns, scale, bits ?? 0);
        expect([stored.rows, stored.columns]).toEqual([rows, columns]);
        for (let row = 0; row < rows; row++) {
          const own = values.subarray(row * columns, (row + 1) * columns);
          const greatest = Math.max(...own.map(Math.abs));
          const out = new Float64Array(columns).fill(1);
          stored.add([row], [2], 1, out);
          const step =
            type === "f32" ? greatest * 2 ** -23 : type === "f16" ? greatest * 2 ** -10 : (scale?.[row] as number);
          // Few bits may cut off the greatest elements, where that makes the whole row's error smaller.
          const most = step * (type.startsWith("int") ? 2 ** (Number(type.slice(3)) - 1) - 1 : 1e9);
          out.forEach((sum, i) => {
            const value = own[i];
            const wanted = Math.max(-most, Math.min(most, value));
            expect(Math.abs((sum - 1) / 2 - wanted)).toBeLessThanOrEqual(step / 2 + 1e-12 * greatest);
          });
        }
      }
    });
  }

  test("with fewer bits has a smaller size and a greater error", () => {
    const values = randomNumbers(40 * 50, 8);
    const outcomes = NUMBER_TYPES.map((type) => {
      const { tensor, scale, bits } = storeMatrix(values, 40, 50, type);
      const stored = rowMatrix(tensor, 50, scale, bits ?? 0);
      let error = 0;
      for (let row = 0; row < 40; row++) {
        const out = new Float64Array(50);
        stored.add([row], [1], 1, out);
        for (let i = 0; i < 50; i++) error += (out[i] - values[row * 50 + i]) ** 2;
      }
      return { bytes: tensor.data.byteLength, error };
    });
    for (let i = 1; i < outcomes.length; i++) {
      expect(outcomes[i]?.bytes).toBeLessThan(outcomes[i - 1]?.bytes as number);
      expect(outcomes[i]?.error).toBeGreaterThan(outcomes[i - 1]?.error as number);
    }
  });
});

describe("the probability of a label", () => {
  const means = Array.from({ length: 81 }, (_, i) => (i - 40) / 2);
  const variances = [0, 1e-6, 0.01, 0.3, 1, 2.5, 7, 20, 90];

  test("is the expectation of the logistic function", () => {
    for (const mean of means)
      for (const variance of variances)
        expect(Math.abs(labelProbability(mean, variance) - expectation(sigmoid, mean, variance))).toBeLessThan(1e-7);
  });

  test("is that of the core to 1e-12", async () => {
    const core = await createCore({ threads: 1 });
    const pairs = means.flatMap((mean) => variances.map((variance) => [mean, variance] as const));
    const mean = matrixFrom(
      core,
      1,
      pairs.length,
      pairs.map(([value]) => value),
      "f64",
    );
    const variance = matrixFrom(
      core,
      1,
      pairs.length,
      pairs.map(([, value]) => value),
      "f64",
    );
    const wanted = predictiveProbability(mean, variance, mean).toArray();
    pairs.forEach(([m, v], i) => {
      expect(Math.abs(labelProbability(m, v) - wanted[i])).toBeLessThan(1e-12);
    });
    core.dispose();
  });

  test("stays within 0 and 1 for anything finite", () => {
    for (const mean of [-1e300, -1e6, -50, 0, 50, 1e6, 1e300])
      for (const variance of [0, 1e-300, 1, 1e6, 1e30]) {
        const probability = labelProbability(mean, variance);
        expect(probability >= 0 && probability <= 1, `${mean}, ${variance}: ${probability}`).toBe(true);
      }
  });
});
