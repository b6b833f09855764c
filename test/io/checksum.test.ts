// A checksum changes with every bit, with the length and with the order of parts, and not with where bytes lie.

import fc from "fast-check";
import { expect, test } from "vitest";
import { checksum, checksumOf } from "../../src/base/hash.ts";

test("a flipped bit, a longer or a shorter array have another checksum; another place has the same", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(), (bytes, seed) => {
      const sum = checksum(bytes);
      expect(sum).toMatch(/^[0-9a-f]{16}$/);
      const flipped = bytes.slice();
      const at = seed % bytes.length;
      flipped[at] = flipped[at] ^ (1 << (seed % 8));
      expect(checksum(flipped)).not.toBe(sum);
      expect(checksum(bytes.subarray(1))).not.toBe(sum);
      expect(checksum(Uint8Array.from([...bytes, 0]))).not.toBe(sum);
      for (const shift of [1, 2, 3]) {
        const moved = new Uint8Array(bytes.length + shift);
        moved.set(bytes, shift);
        expect(checksum(moved.subarray(shift))).toBe(sum);
      }
    }),
  );
});

test("parts count in their order, and where one ends and the next begins", () => {
  const sums = [["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"]].map(checksumOf);
  expect(new Set(sums).size).toBe(4);
  expect(checksumOf([Float64Array.of(1, 2), "x"])).toBe(checksumOf([Float64Array.of(1, 2), "x"]));
});
