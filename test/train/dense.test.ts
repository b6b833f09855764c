// Dense features: measurements of any scale, whose rows' lengths say something.

import { describe, expect, test } from "vitest";
import { fitTransform, isDense, transformedRows } from "../../src/data/transform.ts";
import { evaluate, readDataset, train } from "../../src/index.ts";
import { randomNumbers } from "../support/numbers.ts";
import { topicData } from "../support/problems.ts";

const SCALES = [0.01, 1, 100, 1, 10, 1];
const POINTS = 160;
const numbers = randomNumbers(2 * POINTS * SCALES.length, 11);

/** Points far from the origin are "far", those with a large first number "first", whatever it is measured in. */
const rows = Array.from({ length: 2 * POINTS }, (_, i) => {
  const own = SCALES.map((_, d) => numbers[i * SCALES.length + d] as number);
  const square = own.reduce((sum, value) => sum + value * value, 0) / own.length;
  const labels = [...(square > 1 ? ["far"] : ["near"]), ...((own[0] as number) > 0.3 ? ["first"] : [])];
  return { features: own.map((value, d) => value * (SCALES[d] as number)), labels };
});
const [training, more] = [rows.slice(0, POINTS), rows.slice(POINTS)];

describe("dense features", () => {
  test("are told from words", async () => {
    expect(isDense((await readDataset(rows)).dataset.features)).toBe(true);
    expect(isDense(topicData({ points: 50, features: 40, labels: 5 }, 1).features)).toBe(false);
    const binary = await readDataset([{ features: [1, 1], labels: ["a"] }]);
    expect(isDense(binary.dataset.features)).toBe(false);
  });

  test("become columns of like size, with rows of length 1 in the mean square", async () => {
    const { features } = (await readDataset(training)).dataset;
    const { values, columnIndex } = transformedRows(
      features,
      fitTransform(features, "auto", false),
      0,
      POINTS,
    );
    const squares = SCALES.map((_, d) =>
      values.reduce((sum, value, e) => sum + (columnIndex[e] === d ? value * value : 0), 0),
    );
    for (const square of squares) expect(square / POINTS).toBeCloseTo(1 / SCALES.length, 5);
  });

  test("are scaled by columns unless asked otherwise, which is said, and is better", async () => {
    const { dataset } = await readDataset(training);
    const notes: string[] = [];
    const options = {
      likelihood: "gaussian" as const,
      threads: 1,
      onProgress: (progress: { stage: string; text?: string }): void => {
        if (progress.stage === "note") notes.push(progress.text as string);
      },
    };
    const chosen = await train(dataset, options);
    expect(chosen.transform.normalise).toBe(false);
    expect(notes.join()).toContain("the features are dense");
    const unit = await train(dataset, { ...options, normalise: true });
    expect(unit.transform).toEqual({ normalise: true });
    const lossOf = async (model: typeof chosen): Promise<number> =>
      (await evaluate(model, more, { calibration: true })).calibration?.logLoss as number;
    expect(await lossOf(chosen)).toBeLessThan(0.8 * (await lossOf(unit)));
  });
});
