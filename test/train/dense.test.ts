// Dense features: measurements of any scale, whose rows' lengths say something.

import { describe, expect, test } from "vitest";
import { fitTransform, isDense, transformedRows } from "../../src/data/transform.ts";
import { type DataRow, evaluate, readDataset, type TrainOptions, train } from "../../src/index.ts";
import { randomNumbers } from "../support/numbers.ts";
import { topicData } from "../support/problems.ts";

const SCALES = [0.01, 1, 100, 1, 10, 1];
const POINTS = 160;
const numbers = randomNumbers(2 * POINTS * SCALES.length, 11);

/** Points far from the origin are "far", those with a large first number "first", whatever it is measured in. */
const rows = Array.from({ length: 2 * POINTS }, (_, i) => {
  const own = SCALES.map((_, d) => numbers[i * SCALES.length + d]);
  const square = own.reduce((sum, value) => sum + value * value, 0) / own.length;
  const labels = [...(square > 1 ? ["far"] : ["near"]), ...(own[0] > 0.3 ? ["first"] : [])];
  return { features: own.map((value, d) => value * SCALES[d]), labels };
});
const [training, more] = [rows.slice(0, POINTS), rows.slice(POINTS)];

const noted =
  (notes: string[]) =>
  (progress: { stage: string; text?: string }): void => {
    if (progress.stage === "note") notes.push(progress.text as string);
  };

/** Rows in a room whose columns begin far from 0. */
function shifted(labelsOf: (own: readonly number[]) => string[]): { features: number[]; labels: string[] }[] {
  const room = [100, -5, 40];
  return Array.from({ length: 2 * POINTS }, (_, i) => {
    const own = room.map((_, d) => numbers[i * room.length + d]);
    return { features: own.map((value, d) => room[d] + value), labels: labelsOf(own) };
  });
}

/** Log loss on the second half of the rows, of a model of the first, and what the training said. */
async function lossOf(all: readonly DataRow[], options: TrainOptions = {}): Promise<[number, string]> {
  const notes: string[] = [];
  const model = await train(all.slice(0, POINTS), { threads: 1, ...options, onProgress: noted(notes) });
  const { calibration } = await evaluate(model, all.slice(POINTS), { calibration: true });
  return [calibration?.logLoss as number, notes.join("\n")];
}

describe("dense features", () => {
  test("are told from words", async () => {
    expect(isDense((await readDataset(rows)).dataset.features)).toBe(true);
    expect(isDense(topicData({ points: 50, features: 40, labels: 5 }, 1).features)).toBe(false);
    const binary = await readDataset([{ features: [1, 1], labels: ["a"] }]);
    expect(isDense(binary.dataset.features)).toBe(false);
  });

  test("become columns of like size, with rows of length 1 in the mean square", async () => {
    const { features } = (await readDataset(training)).dataset;
    const { values, columnIndex } = transformedRows(features, fitTransform(features, "auto", false), 0, POINTS);
    const squares = SCALES.map((_, d) =>
      values.reduce((sum, value, e) => sum + (columnIndex[e] === d ? value * value : 0), 0),
    );
    for (const square of squares) expect(square / POINTS).toBeCloseTo(1 / SCALES.length, 5);
  });

  test("are scaled by columns unless asked otherwise, which is said, and is better", async () => {
    const { dataset } = await readDataset(training);
    const notes: string[] = [];
    const options = { model: "gpr", threads: 1, onProgress: noted(notes) };
    const chosen = await train(dataset, options);
    expect(chosen.schema.transform.normalise).toBe(false);
    expect(notes.join()).toContain("Dense features: ");
    const unit = await train(dataset, { ...options, normalise: true });
    expect(unit.schema.transform).toEqual({ normalise: true });
    const measured = async (model: typeof chosen): Promise<number> =>
      (await evaluate(model, more, { calibration: true })).calibration?.logLoss as number;
    expect(await measured(chosen)).toBeLessThan(0.8 * (await measured(unit)));
  });

  test("that are compared by distance are divided by their standard deviation, and may lie far from 0", {
    tags: "long",
  }, async () => {
    const far = shifted(([a = 0, b = 0]) => [a * b > 0 ? "same" : "other", ...(a > 0.4 ? ["high"] : [])]);
    const { features } = (await readDataset(far)).dataset;
    const { columnWeights = [] } = fitTransform(features, "auto", false, false, true);
    for (const column of [0, 1, 2]) {
      const own = far.map((row) => Math.fround(row.features[column]));
      const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
      const variance = own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / own.length;
      expect(columnWeights[column]).toBeCloseTo(1 / Math.sqrt(3 * variance), 4);
    }
    const { dataset } = await readDataset([1, 2, 3].map((x) => ({ features: [7, x], labels: ["a"] })));
    const constant = fitTransform(dataset.features, "auto", false, false, true).columnWeights?.[0];
    expect(constant).toBeCloseTo(1 / Math.sqrt(2 * 49), 6);
    const [loss, notes] = await lossOf(far);
    expect(notes).toMatch(/Dense features: kernel se \(.+\), each divided by its standard deviation/);
    const [unit] = await lossOf(far, { normalise: true });
    expect(loss).toBeLessThan(0.6 * unit);
  });

  test("choose the straight kernel where labels are straight, unit rows where lengths say nothing", {
    tags: "long",
  }, async () => {
    const plain = rows.map(({ features }) => features.map((value, d) => value / SCALES[d]));
    const straight = plain.map((own) => {
      const sum = own.reduce((total, value, d) => total + (d % 2 ? value : -value), 0);
      return { features: own, labels: [sum > 0 ? "more" : "less", sum > 1 ? "much" : "little"] };
    });
    const [linear, said] = await lossOf(straight);
    expect(said).toMatch(/Dense features: kernel linear \(noise \S+\)/);
    expect(linear).toBeLessThan((await lossOf(straight, { kernel: "se" }))[0]);
    const shares = plain.map((signed, i) => {
      const own = signed.map((value) => Math.abs(value) + 0.01);
      const [first = 0, second = 0, third = 0, fourth = 0] = own;
      const size = 10 ** (3 * numbers[i]);
      const labels = [first > second ? "first" : "second", third > fourth ? "third" : "fourth"];
      return { features: own.map((value) => size * value), labels };
    });
    expect((await lossOf(shares))[1]).toMatch(
      /Dense features: kernel \S+ \(.+\), rows of unit length; leave-one-out log loss/,
    );
  });

  test("find a length scale and a noise beside those that kernels are compared with", async () => {
    // Stripes an eighth as wide as the room: length scales of texts are too long for them.
    const stripes = rows.map((_, i) => {
      const own = [0, 1].map((d) => Number(numbers[2 * i + d]));
      return { features: own, labels: [Math.floor(4 * own[0]) % 2 === 0 ? "even" : "odd"] };
    });
    const [loss, said] = await lossOf(stripes);
    const [, lengthScale = "", noise = "", left = "", first = ""] =
      /length scale (\S+), noise (\S+)\), .+ log loss (\S+) on [\d,]+ rows \(on [\d,]+ rows (\S+);/.exec(said) ?? [];
    expect(Number(lengthScale)).toBeLessThan(0.4);
    // Not one of those that kernels are compared with.
    expect(Number(noise)).toBeLessThan(0.02);
    expect(Number(left)).toBeLessThan(Number(first));
    expect(loss).toBeLessThan((await lossOf(stripes, { kernel: "linear" }))[0]);
  });

  test("keep to what was named", async () => {
    const [, notes] = await lossOf(rows, { kernel: "matern52", normalise: false });
    expect(notes).toMatch(/Dense features: kernel matern52 \(length scale \S+, noise \S+\), each divided/);
    expect(notes).not.toContain("another kernel");
  });
});
