import { expect, test } from "vitest";
import { readingParts } from "../../src/cli/progress.ts";

test("reading is said in rows, bytes and the time left", () => {
  const parts = readingParts("a.txt", { bytes: 25e6, total: 100e6, rows: 1000 }, 5);
  expect(parts).toEqual(["reading a.txt: 1000 rows", "25.00 MB of 100.00 MB", "15 s left"]);
  expect(readingParts("a.txt", { bytes: 100e6, total: 100e6, rows: 4 }, 5).at(-1)).toBe("0 s left");
});

test("of a source without a size no time is promised", () => {
  expect(readingParts("standard input", { bytes: 2000, rows: 7 }, 5)).toEqual([
    "reading standard input: 7 rows",
    "2.0 kB",
  ]);
  expect(readingParts("rows", { bytes: 0, rows: 7 }, 5)).toEqual(["reading rows: 7 rows"]);
});
