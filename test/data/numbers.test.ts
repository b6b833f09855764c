import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Scanner } from "../../src/data/numbers.ts";

function scan(text: string): { scanner: Scanner; length: number } {
  const bytes = new TextEncoder().encode(text);
  const scanner = new Scanner();
  scanner.open(bytes, 0, bytes.length);
  return { scanner, length: bytes.length };
}

function decimal(text: string): number {
  return scan(text).scanner.decimal();
}

describe("decimal numbers", () => {
  test("are exactly parseFloat's, however they are written", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 25 });
    const exponent = fc.option(fc.tuple(fc.constantFrom("e", "E", "e+", "e-"), fc.nat(330)));
    const sign = fc.constantFrom("", "-", "+");
    fc.assert(
      fc.property(sign, digits, fc.option(digits), exponent, (s, whole, fraction, e) => {
        const text = s + whole + (fraction === null ? "" : `.${fraction}`) + (e ? e.join("") : "");
        const value = decimal(text);
        if (whole === "" && !fraction) expect(value).toBeNaN();
        else expect(Object.is(value, parseFloat(text))).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
  test("of every double come back", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        expect(decimal(String(x))).toBe(Number(String(x)));
        expect(Object.is(decimal(x.toFixed(7)), Number(x.toFixed(7)))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
  test("nothing else is one", () => {
    for (const text of [
      "",
      ".",
      "-",
      "+",
      "nan",
      "NaN",
      "inf",
      "Infinity",
      "-Infinity",
      "0x10",
      "1e",
      "1e+",
      "1_0",
      "1,5",
      "--1",
      "1.2.3",
      "1:2",
      "e5",
    ]) {
      expect(decimal(text)).toBeNaN();
    }
  });
  test("end at a blank", () => {
    const { scanner } = scan("0.25 7");
    expect(scanner.decimal()).toBe(0.25);
    scanner.skipSpaces();
    expect(scanner.unsigned()).toBe(7);
    expect(scanner.atBreak()).toBe(true);
  });
});

describe("whole numbers", () => {
  test("of up to 15 digits", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (n) => {
        expect(scan(`${n}:`).scanner.unsigned()).toBe(n);
      }),
    );
    const { scanner } = scan("1234567890123456");
    expect(scanner.unsigned()).toBe(-1);
    expect(scanner.position).toBe(0);
    expect(scan("-1").scanner.unsigned()).toBe(-1);
    expect(scan("").scanner.unsigned()).toBe(-1);
  });
});
