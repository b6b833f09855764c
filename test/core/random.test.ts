// Random numbers: published answers, moments, and what must not depend on anything.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Core,
  choice,
  fillNormal,
  fillUniform,
  integers,
  matrix,
  permutation,
  scoped,
  uniformNumbers,
} from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";

const kind = coreKinds[0] as (typeof coreKinds)[number];

function block(core: Core, counter: number[], key: number[]): string[] {
  return scoped((scope) => {
    const out = scope.keep(integers(core, 4));
    core.kernels.philoxWords(key[0], key[1], scope.keep(integers(core, counter)).address, out.address);
    return [...out.view()].map((word) => (word >>> 0).toString(16).padStart(8, "0"));
  });
}

describe("random numbers", () => {
  test("Philox4x32-10 gives the known answers of Random123", async () => {
    await withCore(kind, (core) => {
      const ones = 0xffffffff;
      expect(block(core, [0, 0, 0, 0], [0, 0])).toEqual(["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]);
      expect(block(core, [ones, ones, ones, ones], [ones, ones])).toEqual([
        "408f276d",
        "41c83b0e",
        "a20bc7c6",
        "6d5451fd",
      ]);
      expect(block(core, [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0])).toEqual([
        "d16cfe09",
        "94fdcceb",
        "5001e420",
        "24126ea1",
      ]);
    });
  });

  test("uniform and normal numbers have the moments they should", async () => {
    await withCore(kind, (core) => {
      scoped((scope) => {
        const n = 200_000;
        const u = fillUniform(scope.keep(matrix(core, 1, n)), { seed: 7, stream: 1 }).toArray();
        const z = fillNormal(scope.keep(matrix(core, 1, n)), { seed: 7, stream: 2 }).toArray();
        const moment = (values: ArrayLike<number>, power: number): number =>
          (Array.prototype.reduce.call(
            values,
            (sum, value) => (sum as number) + (value as number) ** power,
            0,
          ) as number) / n;
        expect(u.every((value) => value >= 0 && value < 1)).toBe(true);
        for (const [power, expected] of [
          [1, 1 / 2],
          [2, 1 / 3],
          [3, 1 / 4],
        ] as const)
          expect(Math.abs(moment(u, power) - expected)).toBeLessThan(0.004);
        for (const [power, expected] of [
          [1, 0],
          [2, 1],
          [3, 0],
          [4, 3],
        ] as const)
          expect(Math.abs(moment(z, power) - expected)).toBeLessThan(0.06);
        // Kolmogorov-Smirnov against the normal distribution at a few points: Phi(-2), Phi(-1), Phi(0), Phi(1), Phi(3).
        for (const [at, probability] of [
          [-2, 0.02275],
          [-1, 0.158655],
          [0, 0.5],
          [1, 0.841345],
          [3, 0.99865],
        ] as const) {
          expect(Math.abs(z.filter((value) => value < at).length / n - probability)).toBeLessThan(0.004);
        }
      });
    });
  });

  test("number i depends on seed, stream and i only", async () => {
    await withCore(kind, (core) => {
      const long = uniformNumbers(core, 100, { seed: 2 ** 40 + 5, stream: 3 });
      expect([...uniformNumbers(core, 17, { seed: 2 ** 40 + 5, stream: 3 })]).toEqual([...long.slice(0, 17)]);
      expect(uniformNumbers(core, 1, { seed: 2 ** 40 + 6, stream: 3 })[0]).not.toBe(long[0]);
      expect(uniformNumbers(core, 1, { seed: 5, stream: 3 })[0]).not.toBe(long[0]);
      expect(uniformNumbers(core, 1, { seed: 2 ** 40 + 5, stream: 4 })[0]).not.toBe(long[0]);
      expect(() => uniformNumbers(core, 1, { seed: -1, stream: 0 })).toThrow("seed: found -1");
    });
  });

  test("permutations hold each number once, and every order is as likely", async () => {
    await withCore(kind, (core) => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 500 }), fc.nat(), (n, seed) => {
          expect([...permutation(core, n, { seed, stream: 0 })].sort((p, q) => p - q)).toEqual([...Array(n).keys()]);
        }),
      );
      const counts = new Map<string, number>();
      for (let seed = 0; seed < 6000; seed++) {
        const order = permutation(core, 3, { seed, stream: 1 }).join();
        counts.set(order, (counts.get(order) ?? 0) + 1);
      }
      expect(counts.size).toBe(6);
      for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
    });
  });

  test("choices are different, rising, leave out the excluded, and every set is as likely", async () => {
    await withCore(kind, (core) => {
      fc.assert(
        fc.property(
          fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 30 }),
          fc.integer({ min: 0, max: 31 }),
          fc.nat(),
          (list, k, seed) => {
            const excluded = list.sort((p, q) => p - q);
            const found = [...choice(core, 61, k, { seed, stream: 0 }, excluded)];
            expect(found.length).toBe(k);
            found.forEach((value, i) => {
              expect(value).toBeGreaterThan(i === 0 ? -1 : found[i - 1]);
              expect(value).toBeLessThan(61);
              expect(excluded.includes(value)).toBe(false);
            });
          },
        ),
      );
      const counts = new Map<string, number>();
      for (let seed = 0; seed < 6000; seed++) {
        const set = choice(core, 6, 2, { seed, stream: 1 }, [1, 4]).join();
        counts.set(set, (counts.get(set) ?? 0) + 1);
      }
      expect([...counts.keys()].sort()).toEqual(["0,2", "0,3", "0,5", "2,3", "2,5", "3,5"]);
      for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
      expect(() => choice(core, 6, 5, { seed: 0, stream: 0 }, [1, 4])).toThrow(
        "k: found 5, expected a whole number from 0 to 4",
      );
    });
  });
});
