// A training with its labels in blocks, as ranks compute it, by one process; test/engines has several.

import { describe, expect, test } from "vitest";
import type { LatentModel } from "../../src/model/model.ts";
import { alone } from "../../src/ranks/communicator.ts";
import type { TrainOptions } from "../../src/train/options.ts";
import { type RunOptions, train } from "../../src/train/train.ts";
import { topicData } from "../support/problems.ts";
import { modelDigest, tinyOptions, withFastClock } from "../support/training.ts";

/** Three blocks of labels, the last of them narrower. */
const data = topicData({ points: 200, features: 60, labels: 40 }, 1);

function training(options: TrainOptions & RunOptions): Promise<LatentModel> {
  const plain = { ...tinyOptions, calibration: false, threads: 1, epochs: 3 };
  return train(data, { ...plain, ...options, likelihood: "bernoulli" });
}

const numbersOf = ({ mu, sigma, phi, bias }: LatentModel): number[] =>
  [mu, sigma, phi, bias].flatMap((each) => [...each]);

describe("labels in blocks", () => {
  test.each(["shared", "perFactor"] as const)("are learned as in one piece (%s)", async (posterior) => {
    const options = { posterior, precision: "f64" } as const;
    const whole = numbersOf(await training(options));
    const blocks = numbersOf(await training({ ...options, ranks: alone }));
    const difference = blocks.map((value, i) => Math.abs(value - (whole[i] as number)));
    expect(whole.length).toBeGreaterThan(600);
    expect(Math.max(...difference)).toBeLessThan(1e-8);
    // Sums over labels run in another order.
    expect(Math.max(...difference)).toBeGreaterThan(0);
  });

  test("go on from a checkpoint to the same bytes", async () => {
    const whole = await training({ ranks: alone });
    const states: Uint8Array[][] = [];
    await withFastClock(() =>
      training({ ranks: alone, checkpointSeconds: 0, onCheckpoint: (chunks) => void states.push(chunks) }),
    );
    expect(states.length).toBeGreaterThan(2);
    const resume = new Uint8Array(await new Blob(states[1] as Uint8Array<ArrayBuffer>[]).arrayBuffer());
    expect(await modelDigest(await training({ ranks: alone, resume }))).toBe(await modelDigest(whole));
  });

  test("are measured while they are learned", async () => {
    const { summary } = await training({ ranks: alone, validation: data });
    expect(summary.validation?.["P@1"]).toBeGreaterThan(0);
  });

  test.each([
    [{ negatives: 10 }, "negatives: found 10 with ranks, expected all"],
    [{ labelsPerStep: 20 }, "labelsPerStep: found 20 with ranks, expected all"],
  ])("are all of them: %j is refused", async (options, message) => {
    await expect(training({ ...options, ranks: alone })).rejects.toThrow(message);
  });

  test("are of the Bernoulli likelihood", async () => {
    await expect(train(data, { likelihood: "gaussian", ranks: alone })).rejects.toThrow(
      "likelihood: found gaussian with ranks, expected bernoulli",
    );
  });
});
