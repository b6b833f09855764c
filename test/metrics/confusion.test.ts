import { expect, test } from "vitest";
import { SingleLabelMeter } from "../../src/metrics/confusion.ts";
import { eachBest, setsOf } from "./support.ts";

test("accuracy and confusions of data with one label a point", () => {
  const meter = new SingleLabelMeter(5);
  const truth = setsOf([[0], [0], [1], [1], [1], [4]], 5);
  eachBest((row) => meter.add(row), [0, 2, 1, 0, 1, 0, 1, 0, 0, 1, -1, -1], 2, truth);
  expect(meter.report()).toEqual({
    points: 6,
    accuracy: 3 / 6,
    confusion: [
      { truth: 1, predicted: 1, count: 2 },
      { truth: 0, predicted: 0, count: 1 },
      { truth: 0, predicted: 1, count: 1 },
      { truth: 1, predicted: 0, count: 1 },
      { truth: 4, predicted: -1, count: 1 },
    ],
  });
});

test("there is none where a point has no label or two", () => {
  for (const rows of [[[0], []], [[0], [0, 1]], []]) {
    const meter = new SingleLabelMeter(2);
    eachBest(
      (row) => meter.add(row),
      rows.map(() => 0),
      1,
      setsOf(rows, 2),
    );
    expect(meter.report()).toBeUndefined();
  }
});
