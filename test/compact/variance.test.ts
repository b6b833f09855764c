// The forms of the variance: exact where they promise it, and in the order of what they keep.

import { describe, expect, test } from "vitest";
import { type CompactOptions, compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import type { Model } from "../../src/model/model.ts";
import { sampleTexts, textModel, withLatent } from "../edge/support.ts";

const sizes = { features: 60, labels: 12, factors: 4, inducing: 10 };
const linear = textModel(sizes);
const texts = sampleTexts(linear, 80, 5).filter((text) => text.length > 0);
const oneWord = linear.schema.vectoriser?.terms.slice(0, 40) ?? [];

/** The latent variance of each text: that of a label's utility over its share. */
async function variances(model: Model, options: CompactOptions, inputs = texts): Promise<number[]> {
  const tagger = await load(await compactModel(model, options));
  return inputs.map((text) => tagger.score(text).variance(0));
}

const worst = (a: number[], b: number[]): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

describe("the linear kernel's variance", () => {
  test("of low rank is exact at full rank, and better with each rank on the whole", async () => {
    const exact = await variances(linear, { type: "f32", variance: "exact" });
    const full = await variances(linear, { type: "f32", variance: "low-rank", rank: 10 });
    expect(worst(full, exact)).toBeLessThan(1e-5);
    const error = async (rank: number): Promise<number> =>
      worst(await variances(linear, { type: "f32", variance: "low-rank", rank }), exact);
    const errors = [await error(2), await error(9)] as const;
    expect(errors[0]).toBeGreaterThan(errors[1]);
    expect(errors[1]).toBeGreaterThan(1e-6);
  });

  for (const type of ["f32", "f16", "int5", "int3"] as const) {
    test(`of a single word is exact in every form, ${type}`, async () => {
      const exact = await variances(linear, { type: "f32", variance: "exact" }, oneWord);
      const scale = Math.max(...exact);
      for (const options of [
        { variance: "diagonal" },
        { variance: "low-rank", rank: 3 },
        { variance: "exact" },
      ] as const) {
        const found = await variances(linear, { type, ...options }, oneWord);
        // Half precision keeps 11 bits of the words' own variances.
        expect(worst(found, exact)).toBeLessThan(scale * (type === "f32" ? 1e-5 : 2e-3));
      }
    });
  }

  test("is zero where there is none, and sd is left out", async () => {
    const tagger = await load(await compactModel(linear, { variance: "none" }));
    expect(texts.every((text) => tagger.score(text).variance(3) === 0)).toBe(true);
    expect(Object.keys(tagger.predict(texts[9])[0] ?? {})).toEqual(["label", "probability"]);
  });

  test("of a covariance for each factor is that of their mean unless it is exact", async () => {
    const each = textModel({ ...sizes, groups: "perFactor" });
    const sigma = new Float32Array(10);
    for (let j = 0; j < 10; j++) for (let p = 0; p < 4; p++) sigma[j] += each.parts[0].sigma[p * 10 + j] / 4;
    const shared = withLatent(each, { posterior: "shared", sigma });
    const options = { type: "f32", variance: "low-rank", rank: 10 } as const;
    expect(worst(await variances(each, options), await variances(shared, options))).toBeLessThan(1e-6);
    const exact = await variances(each, { type: "f32", variance: "exact" });
    expect(worst(exact, await variances(shared, options))).toBeGreaterThan(1e-4);
  });
});

describe("the variance through inducing inputs", () => {
  for (const kernel of ["se", "linear+se"] as const) {
    test(`of low rank is exact at full rank and never smaller below it: ${kernel}`, async () => {
      const model = textModel({ ...sizes, kernel });
      const exact = await variances(model, { type: "f32", variance: "exact" });
      const full = await variances(model, { type: "f32", variance: "low-rank", rank: 10 });
      expect(worst(full, exact)).toBeLessThan(1e-5);
      const fewer = await variances(model, { type: "f32", variance: "low-rank", rank: 4 });
      expect(fewer.every((value, i) => value >= exact[i] - 1e-6)).toBe(true);
      expect(worst(fewer, exact)).toBeGreaterThan(1e-4);
    });
  }
});

describe("options that cannot be", () => {
  const wrong: [Model, CompactOptions, string][] = [
    [linear, { type: "int9" as never }, "type: found int9, expected f32 or f16 or int8"],
    [linear, { variance: "some" as never }, "variance: found some, expected exact or low-rank or diagonal or none"],
    [linear, { variance: "low-rank", rank: 0 }, "rank: found 0, expected a whole number of at least 1"],
    [
      textModel({ ...sizes, kernel: "se" }),
      { variance: "diagonal" },
      "found diagonal with the kernel se, expected exact",
    ],
  ];
  for (const [model, options, message] of wrong)
    test(message, async () => {
      await expect(compactModel(model, options)).rejects.toThrow(message);
    });
});
