// Where exactly one label of a point is true: probabilities sum to one, in lists, in blocks and at the edge; the sharpness is that of the
// least log loss; and a training that was asked for it is calibrated as such.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitSharpness } from "../../src/calibrate/fit.ts";
import { excludeOthers, logistic } from "../../src/calibrate/forward.ts";
import { compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import { ArgumentError, train } from "../../src/index.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { loadModel } from "../../src/predict/load.ts";
import { generator } from "../support/numbers.ts";

describe("excluding all labels but one", () => {
  test("is the softmax, by its definition", () => {
    const logits = fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(logits, fc.double({ min: 0.1, max: 3, noNaN: true }), (given, sharpness) => {
        const own = Float64Array.from(given);
        excludeOthers(own, sharpness);
        const odds = given.map((logit) => Math.exp(sharpness * (logit - Math.max(...given))));
        const total = odds.reduce((sum, each) => sum + each, 0);
        own.forEach((logit, i) => {
          expect(logistic(logit)).toBeCloseTo(odds[i] / total, 10);
        });
      }),
    );
  });

  test("keeps what is beyond the last place of a probability", () => {
    const own = Float64Array.from([50, 0, -20]);
    excludeOthers(own, 1);
    expect(own[0]).toBeCloseTo(50, 6);
    expect(own[1]).toBeCloseTo(-50, 6);
  });
});

/** Pairs of 600 points and 5 labels, of which those of one were drawn by a softmax of the logits times 1.7. */
function drawnPairs(): { row: Int32Array; signedWeight: Float64Array; logits: Float64Array } {
  const next = generator(5);
  const [row, signedWeight, logits]: number[][] = [[], [], []];
  for (let point = 0; point < 600; point++) {
    const own = Array.from({ length: 5 }, () => 4 * next() - 2);
    const odds = own.map((logit) => Math.exp(1.7 * logit));
    let left = next() * odds.reduce((sum, each) => sum + each, 0);
    const truth = odds.findIndex((each) => {
      left -= each;
      return left < 0;
    });
    own.forEach((logit, label) => {
      row.push(point);
      logits.push(logit);
      signedWeight.push(label === truth ? 1 : -1);
    });
  }
  return {
    row: Int32Array.from(row),
    signedWeight: Float64Array.from(signedWeight),
    logits: Float64Array.from(logits),
  };
}

describe("the sharpness", () => {
  const { logits, ...pairs } = drawnPairs();

  /** Log loss of the true labels, and the pull towards 1. */
  const lossAt = (sharpness: number): number => {
    let loss = 10 * (sharpness - 1) ** 2;
    for (let first = 0; first < logits.length; first += 5) {
      const odds = Array.from(logits.subarray(first, first + 5), (logit) => Math.exp(sharpness * logit));
      const truth = pairs.signedWeight.subarray(first, first + 5).indexOf(1);
      loss -= Math.log(odds[truth] / odds.reduce((sum, each) => sum + each, 0));
    }
    return loss;
  };

  test("is where the log loss is least, and near the one that labels were drawn by", () => {
    const { sharpness, logits: moved } = fitSharpness(pairs, logits);
    expect(lossAt(sharpness)).toBeLessThan(lossAt(sharpness + 0.01));
    expect(lossAt(sharpness)).toBeLessThan(lossAt(sharpness - 0.01));
    expect(Math.abs(sharpness - 1.7)).toBeLessThan(0.25);
    for (let first = 0; first < moved.length; first += 5) {
      const sum = moved.subarray(first, first + 5).reduce((all, logit) => all + logistic(logit), 0);
      expect(sum).toBeCloseTo(1, 10);
    }
  });

  test("is the same where a pair stands for several labels", () => {
    // Two equal labels that are absent, as one pair of weight 2.
    const twice = { row: Int32Array.from([0, 0, 0]), signedWeight: Float64Array.from([1, -1, -1]) };
    const once = { row: Int32Array.from([0, 0]), signedWeight: Float64Array.from([1, -2]) };
    const a = fitSharpness(twice, Float64Array.from([2, 1, 1]));
    const b = fitSharpness(once, Float64Array.from([2, 1]));
    expect(b.sharpness).toBeCloseTo(a.sharpness, 9);
    expect(b.logits[0]).toBeCloseTo(a.logits[0], 9);
    expect(b.logits[1]).toBeCloseTo(a.logits[1], 9);
  });
});

const WORDS = ["red", "green", "blue", "round", "square", "small", "large", "old", "new", "cold", "warm", "dry"];
const CLASSES = ["fruit", "tool", "toy", "stone"];

/** Texts of one class each, whose words overlap. */
function classTexts(count: number, seed: number): { text: string; labels: string[] }[] {
  const next = generator(seed);
  return Array.from({ length: count }, () => {
    const own = Math.floor(next() * CLASSES.length);
    const words = Array.from({ length: 4 }, () => WORDS[(3 * own + Math.floor(next() ** 1.5 * 9)) % WORDS.length]);
    return { text: words.join(" "), labels: [CLASSES[own]] };
  });
}

describe("an exclusive training", () => {
  const [given, others] = [classTexts(400, 1), classTexts(600, 2)];
  const training = train(given, { exclusive: true, threads: 1 });

  test("gives probabilities that sum to one, from its file and at the edge too", async () => {
    const model = modelFromBytes(modelToBytes(await training));
    expect(model.schema.exclusive).toBe(true);
    expect(model.calibrator).toEqual((await training).calibrator);
    using loaded = await loadModel(model, { threads: 1 });
    const tagger = await load(await compactModel(model, { type: "f32" }));
    const texts = others.slice(0, 50).map(({ text }) => text);
    const all = await loaded.predict(texts, { topK: 4 });
    texts.forEach((text, i) => {
      expect(all[i].reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 5);
      const small = tagger.predict(text, { topK: 4 });
      expect(small.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 9);
      small.forEach(({ label, probability }, rank) => {
        expect(label).toBe(all[i][rank].label);
        expect(probability).toBeCloseTo(all[i][rank].probability, 4);
      });
      const [first] = tagger.predict(text, { threshold: small[1].probability, deny: [small[0].label] });
      expect(first).toEqual(small[1]);
    });
  });

  test("is as sure as it is right, and its log loss is that of the classes", async () => {
    using loaded = await loadModel(await training, { threads: 1 });
    const { expectation, singleLabel } = await loaded.evaluate(others, { calibration: true });
    expect(Math.abs(expectation.confidence - expectation.accuracy)).toBeLessThan(0.05);
    const found = await loaded.predict(
      others.map(({ text }) => text),
      { topK: 4 },
    );
    const losses = others.map(
      ({ labels }, i) => -Math.log(found[i].find(({ label }) => label === labels[0])?.probability ?? 0),
    );
    const loss = losses.reduce((sum, each) => sum + each, 0) / losses.length;
    expect(singleLabel?.logLoss).toBeCloseTo(loss, 4);
    const { leftOut } = (await training).summary;
    expect(Math.abs((leftOut?.logLoss ?? 0) - loss)).toBeLessThan(0.1 * loss);
    expect(leftOut?.accuracy).toBe(leftOut?.["P@1"]);
  });

  test("refuses a row that has not exactly one label, and says so where it would fit", async () => {
    for (const labels of [[], ["fruit", "tool"]])
      await expect(train([...given, { text: "red", labels }], { exclusive: true })).rejects.toThrow(ArgumentError);
    const notes: string[] = [];
    const onProgress = (progress: { stage: string; text?: string }) =>
      progress.stage === "note" && notes.push(progress.text ?? "");
    await train(given.slice(0, 60), { threads: 1, onProgress: onProgress as never });
    expect(notes.some((note) => note.includes("exclusive"))).toBe(true);
  });
});
