// Features whose ids lie far apart: the training works on those that occur, and the model knows them by their ids.

import { describe, expect, test } from "vitest";
import { readSafetensors, writeSafetensors } from "../../src/base/safetensors.ts";
import { compactModel } from "../../src/compact/index.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import { readDataset } from "../../src/data/reader.ts";
import { load } from "../../src/edge/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { loadModel } from "../../src/predict/load.ts";
import { train } from "../../src/train/train.ts";
import { topicData } from "../support/problems.ts";

const LARGEST = 2 ** 28 - 1;
const near = topicData({ points: 120, features: 40, labels: 6 }, 3);
/** Id of each column: the last one is the largest there can be. */
const ids = Int32Array.from({ length: 40 }, (_, i) => (i === 39 ? LARGEST : 1000 * i * i + 7));
const far: Dataset = {
  ...near,
  features: {
    ...near.features,
    columns: LARGEST + 1,
    columnIndex: near.features.columnIndex.map((column) => ids[column]),
  },
};
const sizes = { factors: 4, inducingPoints: 6, rank: 6, epochs: 5, batch: 40, threads: 1 };

describe.each(["svgp", "gpr"] as const)("scattered ids, %s", (family) => {
  test("give the model of the same data without gaps, and the ids", async () => {
    const expected = await train(near, { model: family, ...sizes });
    const model = await train(far, { model: family, ...sizes, validation: far });
    const { columnIds, ...schema } = model.schema;
    expect(columnIds).toEqual(ids);
    expect({ ...model, schema, summary: 0 }).toEqual({ ...expected, summary: 0 });
    expect(modelFromBytes(modelToBytes(model))).toEqual(model);
  });

  test("are used by predict and evaluate; ids that nobody knew are left out", async () => {
    using without = await loadModel(await train(near, { model: family, ...sizes }), { threads: 1 });
    using model = await loadModel(await train(far, { model: family, ...sizes }), { threads: 1 });
    const expected = await without.predict(near.features);
    expect(await model.predict(far.features)).toEqual(expected);
    expect(await model.predict(far)).toEqual(expected);
    expect(await model.predict({ ...near, columnIds: ids })).toEqual(expected);
    expect(await model.evaluate(far)).toEqual(await without.evaluate(near));
    const { dataset } = await readDataset("0 7:2 8:3 5007:1\n0 7:2 5007:1\n", { format: "svmlight" });
    const [more, less] = await model.predict(dataset);
    expect(more).toEqual(less);
  });
});

test("a compact model takes ids too", async () => {
  const bare = await compactModel(await train(near, { model: "svgp", ...sizes }));
  const [expected, tagger] = [
    await load(bare),
    await load(await compactModel(await train(far, { model: "svgp", ...sizes }))),
  ];
  const { rowStart, columnIndex, values } = near.features;
  for (let row = 0; row < 20; row++) {
    const indices = columnIndex.subarray(rowStart[row], rowStart[row + 1]);
    const own = values.subarray(rowStart[row], rowStart[row + 1]);
    const asked = { indices: indices.map((column) => ids[column]), values: own };
    expect(tagger.predict(asked)).toEqual(expected.predict({ indices, values: own }));
    const unknown = { indices: [...asked.indices, 1], values: [...own, 1] };
    expect(tagger.predict(unknown)).toEqual(tagger.predict(asked));
  }
  expect(() => tagger.predict({ indices: [2 ** 31], values: [1] })).toThrow("expected a whole number from 0");
});

test("a file whose ids do not rise is refused in a sentence", async () => {
  const { tensors, metadata } = readSafetensors(modelToBytes(await train(far, sizes)));
  const refusal = (data: Int32Array): (() => unknown) => {
    const changed = new Map(tensors).set("columnIds", { dtype: "I32", shape: [data.length], data });
    return () => modelFromBytes(writeSafetensors({ tensors: changed, metadata }), "file");
  };
  expect(refusal(ids)).not.toThrow();
  expect(refusal(ids.toReversed())).toThrow(
    "file: found numbers in columnIds that do not rise, expected each once, in order",
  );
  expect(refusal(ids.subarray(1))).toThrow("file: found tensor columnIds of shape [39], expected [40]");
  expect(refusal(ids.map((id) => id - 8))).toThrow(
    "file: found -1 in columnIds, expected numbers from 0 to 2147483647",
  );
});
