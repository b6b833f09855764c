import { describe, expect, test } from "vitest";
import { TrainingHistory } from "../../src/report/history.ts";
import { madeUpHistory } from "./support.ts";

describe("watching a training", () => {
  test("keeps every step of a short one, and each validation once", () => {
    const { steps, validations, pointsPerSecond } = madeUpHistory(40);
    expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(validations.map(({ step }) => step)).toEqual([1, 5, 9, 13, 17, 21, 25, 29, 33, 37]);
    expect(pointsPerSecond).toBe(1234);
  });

  test("keeps a bounded part of a long one, evenly, with its end", () => {
    const { steps } = madeUpHistory(100_003);
    expect(steps.length).toBeLessThan(403);
    expect(steps.length).toBeGreaterThan(199);
    expect(steps.at(-1)?.step).toBe(100_003);
    const gaps = steps.slice(1, -1).map(({ step }, i) => step - (steps[i]?.step as number));
    expect(new Set(gaps).size).toBe(1);
  });

  test("keeps notes, and has an empty history before the first step", () => {
    const watched = new TrainingHistory();
    watched.record({ stage: "note", text: "one thread" });
    watched.record({ stage: "k-means", fraction: 0.5 });
    expect(watched.notes).toEqual(["one thread"]);
    expect(watched.steps).toEqual([]);
    expect(watched.pointsPerSecond).toBeUndefined();
  });
});
