// Long work as one line: reading with the time left, closed forms as steps in plain words with one bar that never goes back.

import { expect, test } from "vitest";
import { readingParts, showProgress } from "../../src/cli/progress.ts";
import { workStages } from "../../src/parts/progress.ts";
import { ClosedProgress } from "../../src/report/progress.ts";

test("reading is said in rows, bytes and the time left", () => {
  const parts = readingParts("a.txt", { bytes: 25e6, total: 100e6, rows: 1000 }, 5);
  expect(parts).toEqual(["Reading a.txt: 1,000 rows", "25.00 MB of 100.00 MB", "about 15 s left"]);
  expect(readingParts("a.txt", { bytes: 100e6, total: 100e6, rows: 4 }, 5).at(-1)).toBe("about 0 s left");
});

test("of a source without a size no time is promised", () => {
  expect(readingParts("standard input", { bytes: 2000, rows: 7 }, 5)).toEqual([
    "Reading standard input: 7 rows",
    "2.0 kB",
  ]);
  expect(readingParts("rows", { bytes: 0, rows: 7 }, 5)).toEqual(["Reading rows: 7 rows"]);
});

/** The stages of an exact training: two kernels are tried, one is fitted, labels coupled, probabilities calibrated. */
const tried = ["kernel", "factor", "triangle", "dual weights", "leave-one-out"];
const exact = [
  ...tried,
  ...tried,
  "note",
  ...["kernel", "factor", "triangle", "dual weights", "left-out scores"],
  ...["directions", "stack", "sums", "inverse", "weights", "leave-one-out", "left-out scores"],
  "scores",
  ...["calibration", "calibration", "calibration"],
];

test("a closed form has one bar that never goes back, and steps in plain words", () => {
  const progress = new ClosedProgress();
  const words: string[] = [];
  let before = 0;
  for (const stage of exact) {
    if (stage === "note") progress.chosen();
    else
      for (const fraction of [0, 0.5, 1]) {
        progress.at(stage, fraction);
        expect(progress.fraction).toBeGreaterThanOrEqual(before);
        expect(progress.fraction).toBeLessThanOrEqual(1);
        before = progress.fraction;
        if (words.at(-1) !== progress.words(0)) words.push(progress.words(0));
      }
  }
  expect(words).toEqual([
    "step 2 of 6 (choosing the kernel)",
    "step 3 of 6 (fitting)",
    "step 4 of 6 (coupling labels)",
    "step 5 of 6 (scoring)",
    "step 6 of 6 (calibrating)",
  ]);
  expect(before).toBeGreaterThan(0.8);
  const halfway = new ClosedProgress();
  halfway.at("scores", 0.5);
  const left = (8 * (1 - halfway.fraction)) / halfway.fraction;
  expect(halfway.words(8)).toBe(`step 5 of 6 (scoring), about ${Math.ceil(left)} s left`);
});

test("stages that take turns, block after block, move the bar evenly", () => {
  const progress = new ClosedProgress();
  progress.at("sums", 1);
  const rises: number[] = [];
  for (let block = 1; block <= 20; block++) {
    const before = progress.fraction;
    for (const stage of ["factor", "inverse"]) progress.at(stage, block / 40);
    rises.push(progress.fraction - before);
  }
  expect(Math.min(...rises)).toBeGreaterThan(0);
  expect(Math.max(...rises)).toBeLessThan(1.01 * Math.min(...rises));
});

test("no stage of the work is said by its own name", () => {
  const shown: string[] = [];
  const screen = {
    say: () => {},
    show: (text: string | readonly string[]) => void shown.push(String(text)),
    done: () => {},
  };
  const show = showProgress(screen);
  for (const stage of workStages) show({ stage, fraction: 0.5 });
  expect(shown.length).toBe(workStages.length);
  for (const line of shown) expect(line).toMatch(/^Training: step \d of 6 \([a-z ]+\)$/);
});
