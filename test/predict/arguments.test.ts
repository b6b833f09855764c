// What a person may type wrongly when predicting, in the library and at the edge: one sentence that names the argument.

import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { load, type Tagger } from "../../src/edge/index.ts";
import { type LoadedModel, loadModel } from "../../src/predict/load.ts";
import { textModel } from "../edge/support.ts";

const model = textModel({ features: 40, labels: 12, factors: 3, inducing: 4 });
const text = (model.schema.vectoriser?.terms ?? []).slice(0, 3).join(" ");
const loading: Promise<LoadedModel> = loadModel(model, { threads: 1 });
const compact = { type: "f32", variance: "exact", allLabels: true } as const;
const tagging: Promise<Tagger> = compactModel(model, compact).then((bytes) => load(bytes));

type Predict = (input: unknown, options?: unknown) => Promise<unknown>;
const kinds: [name: string, predict: Predict][] = [
  ["mlgpf", async (input, options) => (await loading).predict(input as string, options as object)],
  ["mlgpf/edge", async (input, options) => (await tagging).predict(input as string, options as object)],
];

const refused = async (work: () => unknown): Promise<string> => {
  try {
    await work();
  } catch (error) {
    return (error as Error).message;
  }
  return "nothing was refused";
};

describe("predict", () => {
  for (const [name, predict] of kinds) {
    test(`${name}: takes one text or a list of them`, async () => {
      const one = (await predict(text)) as unknown[];
      const many = (await predict([text, ""])) as unknown[][];
      expect(many).toHaveLength(2);
      expect(many[0]).toEqual(one);
      expect(one).toHaveLength(5);
      expect(one[0]).toMatchObject({ label: expect.any(String), probability: expect.any(Number) });
    });

    for (const [input, options, message] of [
      [
        text,
        { topk: 3 },
        'options: found "topk", expected topK, sd, unseen, explain, threshold, precision, recall, confidence, for, allow, deny',
      ],
      [text, { topK: 1.5 }, "topK: found 1.5, expected a whole number of at least 1"],
      [text, { sd: "no" }, "sd: found no, expected true or false"],
      [text, { threshold: "high" }, "threshold: found high, expected a number"],
      [text, { threshold: "best" }, "threshold: found best, expected a number: this model has no thresholds"],
      [text, { precision: 0.9 }, "precision: found 0.9, expected a threshold: this model has no thresholds"],
      [text, { precision: "0.9" }, "precision: found 0.9, expected a number"],
      [text, 3, "options: found 3, expected an object"],
      [7, undefined, "input: found "],
      [undefined, undefined, "input: found "],
    ] as const) {
      test(`${name}: refuses ${JSON.stringify(input)} with ${JSON.stringify(options)}`, async () => {
        expect(await refused(() => predict(input, options))).toContain(message);
      });
    }
  }

  test("gives the same names and, to rounding, the same numbers in both", async () => {
    const [full, edge] = [await (await loading).predict(text), (await tagging).predict(text)];
    expect(edge.map(({ label }) => label)).toEqual(full.map(({ label }) => label));
    full.forEach(({ probability, sd }, i) => {
      expect(edge[i]?.probability).toBeCloseTo(probability, 5);
      expect(edge[i]?.sd).toBeCloseTo(sd as number, 3);
    });
  });
});
