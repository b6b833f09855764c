import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deterministicExp, deterministicLog, deterministicPower } from "../../src/base/math.ts";

const LOG_BITS = ["3fe62e42fefa39ef", "40026bb1bbb55516", "bff34378fcbda721", "401b45863f78aadd"];
const EXP_BITS = ["4005bf0a8b14576a", "3fe2765f72e0901c", "42a8f5aab3a871d0"];

function bitsOf(x: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

describe("logarithm", () => {
  test("agrees with the host's to 2 units in the last place", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, minExcluded: true, noNaN: true, noDefaultInfinity: true }), (x) => {
        expect(Math.abs(deterministicLog(x) - Math.log(x))).toBeLessThanOrEqual(4.5e-16 * Math.abs(Math.log(x)));
      }),
      { numRuns: 2000 },
    );
  });
  test("near one, where cancellation would show", () => {
    for (const x of [1 + 2 ** -52, 1 - 2 ** -53, 1.0000001, 0.9999999, 1.3, 0.71]) {
      expect(Math.abs(deterministicLog(x) / Math.log1p(x - 1) - 1)).toBeLessThan(4.5e-16);
    }
  });
  test("ends of the range", () => {
    expect(deterministicLog(1)).toBe(0);
    expect(deterministicLog(0)).toBe(-Infinity);
    expect(deterministicLog(Infinity)).toBe(Infinity);
    expect(deterministicLog(-1)).toBeNaN();
    expect(deterministicLog(NaN)).toBeNaN();
    expect(deterministicLog(5e-324)).toBeCloseTo(-744.4400719213812, 10);
  });
  test("the same bits in every runtime", () => {
    expect([2, 10, 0.3, 15539 / 17].map((x) => bitsOf(deterministicLog(x)))).toEqual(LOG_BITS);
  });
});

describe("exponential", () => {
  test("agrees with the host's to 4 units in the last place", () => {
    fc.assert(
      fc.property(fc.double({ min: -700, max: 700, noNaN: true }), (x) => {
        expect(Math.abs(deterministicExp(x) / Math.exp(x) - 1)).toBeLessThan(9e-16);
      }),
      { numRuns: 2000 },
    );
  });
  test("ends of the range", () => {
    expect(deterministicExp(0)).toBe(1);
    expect(deterministicExp(1000)).toBe(Infinity);
    expect(deterministicExp(-1000)).toBe(0);
    expect(deterministicExp(-740)).toBeGreaterThan(0);
    expect(deterministicExp(709.7)).toBeLessThan(Infinity);
    expect(deterministicExp(NaN)).toBeNaN();
  });
  test("the same bits in every runtime", () => {
    expect([1, -0.55, 30.25].map((x) => bitsOf(deterministicExp(x)))).toEqual(EXP_BITS);
  });
  test("power", () => {
    expect(deterministicPower(9, 0.5)).toBeCloseTo(3, 14);
    expect(deterministicPower(2.5, -0.55)).toBeCloseTo(2.5 ** -0.55, 14);
  });
});
