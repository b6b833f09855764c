// A training with its labels in blocks, as ranks compute it, by one process; test/engines has several.

import { describe, expect, test } from "vitest";
import type { Model } from "../../src/model/model.ts";
import { alone } from "../../src/mpi/communicator.ts";
import type { TrainOptions } from "../../src/parts/options.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { type RunOptions, train } from "../../src/train/train.ts";
import { topicData } from "../support/problems.ts";
import { modelDigest, tinyOptions, withFastClock } from "../support/training.ts";

/** Three blocks of labels, the last of them narrower. */
const data = topicData({ points: 200, features: 60, labels: 40 }, 1);

function training(options: TrainOptions & RunOptions): Promise<Model> {
  const plain = { ...tinyOptions, calibration: false, threads: 1, epochs: 3 };
  return train(data, { ...plain, ...options, model: "svgp" });
}

const numbersOf = ({ parts: [part] }: Model): number[] => {
  const { mu, sigma, phi, bias } = part as SvgpPart;
  return [mu, sigma, phi, bias].flatMap((each) => [...each]);
};

describe("labels in blocks", () => {
  test.each(["shared", "perFactor"] as const)("are learned as in one piece (%s)", async (posterior) => {
    const options = { posterior, precision: "f64" } as const;
    const whole = numbersOf(await training(options));
    const blocks = numbersOf(await training({ ...options, mpi: alone }));
    const difference = blocks.map((value, i) => Math.abs(value - whole[i]));
    expect(whole.length).toBeGreaterThan(600);
    expect(Math.max(...difference)).toBeLessThan(1e-8);
    // Sums over labels run in another order.
    expect(Math.max(...difference)).toBeGreaterThan(0);
  });

  test("go on from a checkpoint to the same bytes", async () => {
    const whole = await training({ mpi: alone });
    const states: Uint8Array[][] = [];
    await withFastClock(() =>
      training({ mpi: alone, checkpointSeconds: 0, onCheckpoint: (chunks) => void states.push(chunks) }),
    );
    expect(states.length).toBeGreaterThan(2);
    const resume = new Uint8Array(await new Blob(states[1] as Uint8Array<ArrayBuffer>[]).arrayBuffer());
    expect(await modelDigest(await training({ mpi: alone, resume }))).toBe(await modelDigest(whole));
  });

  test("are measured while they are learned", async () => {
    const { summary } = await training({ mpi: alone, validation: data });
    expect(summary.validation?.["P@1"]).toBeGreaterThan(0);
  });

  test("end early together, when another rank is asked to", async () => {
    // The other rank's signal stands second among the flags that ranks gather after a step.
    const withOther = {
      ...alone,
      allgather: (own: Uint8Array) => (own.length === 3 ? Uint8Array.of(own[0], 1, own[2]) : own),
    };
    const { summary } = await training({ mpi: withOther });
    expect(summary.steps).toBe(2);
  });

  test("are all of them: sampled ones are refused", async () => {
    await expect(training({ negatives: 10, mpi: alone })).rejects.toThrow(
      "negatives: found 10 with ranks, expected all",
    );
  });

  test("are of a variational part alone", async () => {
    await expect(train(data, { model: "gpr", mpi: alone })).rejects.toThrow(
      "model: found gpr with ranks, expected svgp",
    );
  });
});
