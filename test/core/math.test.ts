// Vector functions in units of the last place, and at the ends of their ranges.

import { describe, expect, test } from "vitest";
import { type Core, type MapName, map, matrix, type Precision, type RealArray, scoped } from "../../src/core/index.ts";
import { coreKinds, precisions, withCore } from "../support/cores.ts";
import { generator } from "../support/numbers.ts";

const kind = coreKinds[0] as (typeof coreKinds)[number];

function apply(core: Core, op: MapName, values: ArrayLike<number>, precision: Precision): RealArray {
  return scoped((scope) => {
    const x = scope.keep(matrix(core, 1, values.length, precision)).set(values);
    return map(op, x, x).toArray();
  });
}

/** Distance to the next number of that precision. */
function unit(x: number, precision: Precision): number {
  const [digits, least] = precision === "f32" ? [23, -126] : [52, -1022];
  if (x === 0 || !Number.isFinite(x)) return 2 ** (least - digits);
  let exponent = Math.floor(Math.log2(Math.abs(x)));
  if (2 ** exponent > Math.abs(x)) exponent--;
  if (2 ** (exponent + 1) <= Math.abs(x)) exponent++;
  return 2 ** (Math.max(exponent, least) - digits);
}

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const sigmoid = (x: number): number => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));

/** Arguments to try, the reference, and the worst error allowed (the host's own is up to one in double precision). */
const functions: Partial<
  Record<MapName, { reference: (x: number) => number; argument: (u: number) => number; f32: number; f64: number }>
> = {
  exp: { reference: Math.exp, argument: (u) => 170 * u - 85, f32: 1.5, f64: 3 },
  log: { reference: Math.log, argument: (u) => 2 ** (200 * u - 100), f32: 1.5, f64: 3 },
  log1p: {
    reference: Math.log1p,
    argument: (u) => (u < 0.5 ? 4 * u - 1 + 1e-6 : 2 ** (60 * u - 50)),
    f32: 4,
    f64: 5,
  },
  softplus: { reference: softplus, argument: (u) => 160 * u - 80, f32: 4, f64: 5 },
  sigmoid: { reference: sigmoid, argument: (u) => 160 * u - 80, f32: 4, f64: 5 },
  sqrt: { reference: Math.sqrt, argument: (u) => 100 * u, f32: 0.5001, f64: 0.5001 },
  square: { reference: (x) => x * x, argument: (u) => 100 * u - 50, f32: 0.5001, f64: 0.5001 },
  reciprocal: { reference: (x) => 1 / x, argument: (u) => 100 * u - 50.123, f32: 0.5001, f64: 0.5001 },
};

for (const precision of precisions) {
  describe(`vector functions, ${precision}`, () => {
    for (const [name, { reference, argument, ...limits }] of Object.entries(functions)) {
      test(`${name} is within ${limits[precision]} units of the last place`, async () => {
        await withCore(kind, (core) => {
          const next = generator(name.length);
          const x = Float64Array.from({ length: 50_001 }, () => argument(next()));
          const given = precision === "f32" ? x.map(Math.fround) : x;
          const found = apply(core, name as MapName, given, precision);
          let worst = 0;
          given.forEach((value, i) => {
            const exact = reference(value);
            worst = Math.max(worst, Math.abs(found[i] - exact) / unit(exact, precision));
          });
          expect(worst).toBeLessThanOrEqual(limits[precision]);
        });
      });
    }

    test("the ends of their ranges", async () => {
      await withCore(kind, (core) => {
        const inf = Number.POSITIVE_INFINITY;
        const table: [MapName, number, number][] = [
          ["exp", 1000, inf],
          ["exp", -1000, 0],
          ["exp", inf, inf],
          ["exp", -inf, 0],
          ["exp", 0, 1],
          ["log", 0, -inf],
          ["log", 1, 0],
          ["log", inf, inf],
          ["log", -1, Number.NaN],
          ["log1p", -1, -inf],
          ["log1p", 0, 0],
          ["log1p", inf, inf],
          ["log1p", -2, Number.NaN],
          ["softplus", 1000, 1000],
          ["softplus", -1000, 0],
          ["softplus", inf, inf],
          ["softplus", -inf, 0],
          ["sigmoid", 1000, 1],
          ["sigmoid", -1000, 0],
          ["sigmoid", inf, 1],
          ["sigmoid", -inf, 0],
          ["sigmoid", 0, 0.5],
          ["sqrt", 0, 0],
          ["sqrt", -1, Number.NaN],
          ["reciprocal", 0, inf],
          ["abs", -3, 3],
          ["negate", 2, -2],
        ];
        for (const [op, x, expected] of table) {
          expect(apply(core, op, [x], precision)[0], `${op}(${x})`).toEqual(expected);
          if (op !== "negate" && op !== "abs") expect(apply(core, op, [Number.NaN], precision)[0]).toEqual(Number.NaN);
        }
      });
    });

    test("an element's result does not depend on where it stands", async () => {
      await withCore(kind, (core) => {
        const next = generator(5);
        const x = Float64Array.from({ length: 23 }, () => Math.fround(10 * next() - 5));
        for (const op of ["exp", "softplus", "sigmoid"] as const) {
          const all = apply(core, op, x, precision);
          x.forEach((value, i) => {
            expect(apply(core, op, [value], precision)[0]).toBe(all[i]);
          });
        }
      });
    });
  });
}
