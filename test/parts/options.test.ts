// Options that cannot be are refused by name; so are checkpoints that are not whole, and those of other data.

import { describe, expect, test } from "vitest";
import { FormatError } from "../../src/base/errors.ts";
import { joined, readSafetensors, type TensorFile, writeSafetensors } from "../../src/base/safetensors.ts";
import { contentChecksum } from "../../src/base/tensors.ts";
import { completeOptions, type TrainOptions } from "../../src/parts/options.ts";
import { dataDigest } from "../../src/parts/svgp/checkpoint.ts";
import { tinyData, tinyTraining, withFastClock } from "../support/training.ts";

describe("options", () => {
  const wrong: [options: Record<string, unknown>, message: string][] = [
    [{ learningRate: -0.01 }, "learningRate: found -0.01, expected a number of at least 0"],
    [{ learningRate: Number.NaN }, "learningRate: found NaN, expected a finite number"],
    [{ klWeight: -1 }, "klWeight: found -1, expected a number of at least 0"],
    [{ klStart: -1e-9 }, "klStart: found -1e-9, expected a number of at least 0"],
    [{ klStart: Number.POSITIVE_INFINITY }, "klStart: found Infinity, expected a finite number"],
    [{ klWarmup: -0.1 }, "klWarmup: found -0.1, expected a number from 0 to 1"],
    [{ klWarmup: 1.1 }, "klWarmup: found 1.1, expected a number from 0 to 1"],
    [{ normalise: "yes" }, "normalise: found yes, expected true or false"],
    [{ idf: 1 }, "idf: found 1, expected true, false or auto"],
    [{ fixedInducing: 0 }, "fixedInducing: found 0, expected true or false"],
    [{ fixedKernel: "no" }, "fixedKernel: found no, expected true or false"],
    [{ kernel: "rbf", mean: "features" }, "mean: found features, expected inducing with the kernel se"],
  ];
  for (const [options, message] of wrong) {
    test(`${message.split(",")[0]} is refused`, () => {
      expect(() => completeOptions(options, { points: 50, features: 20, labels: 9 })).toThrow(message);
    });
  }

  test("at the ends of their ranges are taken", () => {
    const ends = {
      learningRate: 0,
      klWeight: 0,
      klStart: 0,
      klWarmup: 1,
      idf: "auto",
      normalise: false,
    } as const;
    expect(completeOptions(ends, { points: 50, features: 20, labels: 9 })).toMatchObject(ends);
  });

  test("that are left open follow the data and the other options", () => {
    const small = completeOptions({}, { points: 50, features: 20, labels: 9 });
    expect(small).toMatchObject({
      kernel: "linear",
      mean: "features",
      fixedKernel: true,
      learningRate: 0.03,
    });
    expect(small).toMatchObject({ factors: 100, inducingPoints: 50, rank: 20, batch: 50, epochs: 500 });
    const large = completeOptions({ kernel: "rbf" }, { points: 1e5, features: 1e4, labels: 4000 });
    expect(large).toMatchObject({ kernel: "se", mean: "inducing", fixedKernel: false, learningRate: 0.02 });
    expect(large).toMatchObject({ factors: 300, inducingPoints: 500, rank: 1000, batch: 500, epochs: 3 });
    // Models and checkpoints have them in this order.
    expect(Object.keys(large).slice(0, 4)).toEqual(["model", "calibration", "exclusive", "kernel"]);
  });

  test("of which there is none of that name: the nearest is suggested", async () => {
    const misspelt = { epoch: 1 } as TrainOptions;
    await expect(tinyTraining(misspelt)).rejects.toThrow("epoch: there is no such option, did you mean epochs?");
    const unknown = { onprogress: () => {} } as TrainOptions;
    await expect(tinyTraining(unknown)).rejects.toThrow("did you mean onProgress?");
  });
});

describe("a checkpoint", () => {
  async function checkpoint(): Promise<Uint8Array> {
    const saved: Uint8Array[] = [];
    const onCheckpoint = (chunks: Uint8Array[]): void => void saved.push(joined(chunks));
    await withFastClock(() => tinyTraining({ epochs: 1, checkpointSeconds: 0, onCheckpoint }));
    return saved[0];
  }

  /** The file of a checkpoint that was changed, with the checksum of what it says now. */
  function forged({ tensors, metadata }: TensorFile): Uint8Array {
    const checksum = contentChecksum({ tensors, metadata });
    return writeSafetensors({ tensors, metadata: { ...metadata, checksum } });
  }

  test("that lacks a tensor or has one of another shape is a FormatError", async () => {
    const bytes = await checkpoint();
    const whole = readSafetensors(bytes, "checkpoint");
    for (const name of ["parameters.phi", "first.mu", "second.hyper"]) {
      const tensors = new Map(whole.tensors);
      const tensor = tensors.get(name);
      tensors.delete(name);
      const lacking = tinyTraining({ epochs: 1, resume: forged({ ...whole, tensors }) });
      await expect(lacking).rejects.toThrow(`the checkpoint: found no tensor ${name}, expected one of`);
      await expect(lacking).rejects.toBeInstanceOf(FormatError);
      if (tensor === undefined) throw new Error(`there is no ${name}`);
      const [rows, columns] = tensor.shape as [number, number];
      tensors.set(name, { ...tensor, shape: [columns, rows] });
      await expect(tinyTraining({ epochs: 1, resume: forged({ ...whole, tensors }) })).rejects.toThrow(
        `the checkpoint: found a tensor ${name} of another shape`,
      );
    }
    const metadata = { ...whole.metadata, extra: "{" };
    await expect(tinyTraining({ epochs: 1, resume: forged({ ...whole, metadata }) })).rejects.toThrow(
      "the checkpoint: found metadata extra that is not JSON",
    );
  });

  test("belongs to as many columns and labels, even where these are empty", () => {
    const { features, labels } = tinyData;
    const digests = [
      dataDigest(tinyData),
      dataDigest({ ...tinyData, features: { ...features, columns: features.columns + 1 } }),
      dataDigest({ ...tinyData, labels: { ...labels, labels: labels.labels + 1 } }),
    ];
    expect(new Set(digests).size).toBe(3);
    expect(dataDigest({ ...tinyData })).toBe(digests[0]);
  });
});
