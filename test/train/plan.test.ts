// Training in parts: the same bytes however the points are cut, those of training in one piece, and what is refused.

import { beforeAll, describe, expect, test } from "vitest";
import type { Dataset } from "../../src/data/dataset.ts";
import { modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import { type LearningState, mergeStates, stateFromBytes, stateToBytes } from "../../src/parts/regression/state.ts";
import { makePlan, mergeParts, planFromText, rangeOf, type TrainingPlan, trainPart } from "../../src/train/plan.ts";
import { train } from "../../src/train/train.ts";
import { topicData } from "../support/problems.ts";
import { tinyOptions } from "../support/training.ts";

const data: Dataset = topicData({ points: 2400, features: 60, labels: 15, unlabelledEvery: 12 }, 4);

/** All parts of a cut, each through its file. */
async function partsOf(plan: TrainingPlan, count: number, threads = 1): Promise<LearningState[]> {
  const parts: LearningState[] = [];
  for (let index = 1; index <= count; index++)
    parts.push(stateFromBytes(stateToBytes(await trainPart(data, plan, { index, count }, { threads }))));
  return parts;
}

describe("training in parts", () => {
  let plan: TrainingPlan;
  beforeAll(async () => {
    plan = planFromText(JSON.stringify(await makePlan(data)));
  });
  let merged: Promise<Model> | undefined;
  /** The model of one part, made once. */
  const inOne = (): Promise<Model> => {
    merged ??= partsOf(plan, 1).then((parts) => mergeParts(parts, { threads: 1 }));
    return merged;
  };

  test.each([2, 3, 8])("in %i parts, given in another order, has the bytes of one part", async (count) => {
    const parts = await partsOf(plan, count, 2);
    const model = await mergeParts(parts.reverse(), { threads: 2 });
    expect(modelToBytes(model)).toEqual(modelToBytes(await inOne()));
  });

  test("sums of parts are the sums of the whole, to the last bit of double precision", async () => {
    const [all] = (await partsOf(plan, 1)) as [LearningState];
    for (const count of [2, 7]) {
      const { totals, sums, documents } = (await partsOf(plan, count)).reduce(mergeStates);
      expect({ totals, sums, documents }).toEqual({
        totals: all.totals,
        sums: all.sums,
        documents: all.documents,
      });
    }
  });

  test("has the weights of training in one piece", async () => {
    const whole = await inOne();
    const both = await train(data, { ...tinyOptions, threads: 1, model: "linear+svgp", epochs: 1 });
    expect(whole.parts[0]).toEqual(both.parts[0]);
    expect(whole.schema).toEqual(both.schema);
    expect(whole.summary.droppedPoints).toBe(0);
  });

  test("parts share the points out", () => {
    for (const [rows, count] of [
      [10, 3],
      [2, 5],
      [0, 2],
    ] as const) {
      let next = 0;
      for (let index = 1; index <= count; index++) {
        const { from, to } = rangeOf({ index, count }, rows);
        expect(from).toBe(next);
        next = to;
      }
      expect(next).toBe(rows);
    }
  });

  test("refuses a part that is missing, there twice, of another cut or of another plan", async () => {
    const [first, second] = (await partsOf(plan, 2)) as [LearningState, LearningState];
    await expect(mergeParts([first])).rejects.toThrow("parts: found no part 2 of 2, expected all of them");
    await expect(mergeParts([first, second, first])).rejects.toThrow(
      "parts: found part 1 of 2 twice, expected each once",
    );
    const third = await trainPart(data, plan, { index: 3, count: 3 }, { threads: 1 });
    await expect(mergeParts([first, third])).rejects.toThrow(
      "parts: found part 3 of 3 beside one of 2, expected parts of one cut",
    );
    const changed = { ...plan, part: { ...plan.part, noise: 0.4 } };
    const other = await trainPart(data, changed, { index: 2, count: 2 }, { threads: 1 });
    await expect(mergeParts([first, other])).rejects.toThrow(
      /^found parts of plans \w+ and \w+, expected parts of one plan/,
    );
  });

  test("refuses other data than the plan's, a part that cannot be, and what is no plan", async () => {
    const fewer = topicData({ points: 2100, features: 60, labels: 15 }, 4);
    await expect(trainPart(fewer, plan, { index: 1, count: 2 })).rejects.toThrow(
      "dataset: found 2100 points with labels, expected the 2400 of the plan",
    );
    await expect(trainPart(data, plan, { index: 3, count: 2 })).rejects.toThrow(
      "shard: found 3/2, expected a part I/N with I from 1 to N",
    );
    expect(() => planFromText("{", "p.json")).toThrow("p.json: found no JSON, expected a plan made by mlgpf plan");
    expect(() => planFromText("{}", "p.json")).toThrow("p.json: found format undefined");
    const { schema: _, ...bare } = plan;
    expect(() => planFromText(JSON.stringify(bare), "p.json")).toThrow("p.json: found features undefined");
    const { transform: __, ...flat } = plan.schema;
    expect(() => planFromText(JSON.stringify({ ...plan, schema: flat }), "p.json")).toThrow(
      "p.json: found no transform",
    );
    await expect(makePlan(data, { normalise: false })).rejects.toThrow("normalise: found false");
  });

  test("a part file that was cut short is refused", async () => {
    const bytes = stateToBytes(await trainPart(data, plan, { index: 1, count: 2 }, { threads: 1 }));
    expect(() => stateFromBytes(bytes.subarray(0, bytes.length - 9), "part.1")).toThrow(/^part\.1: found /);
  });
});
