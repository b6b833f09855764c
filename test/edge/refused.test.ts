// Compact models whose parts are fine one by one and no model together, or whose numbers would overflow.

import { describe, expect, test } from "vitest";
import { thresholdsToPart } from "../../src/calibrate/file.ts";
import { compactModel } from "../../src/compact/index.ts";
import { edgeModule } from "../../src/compact/module.ts";
import type { ClosedAbout, CompactAbout } from "../../src/edge/format.ts";
import { load } from "../../src/edge/index.ts";
import { LARGEST_NUMBER, LARGEST_ROW } from "../../src/edge/limits.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "../../src/io/safetensors.ts";
import type { Prediction } from "../../src/metrics/prediction.ts";
import { calibrated, closedModel, textModel } from "./support.ts";

const sizes = { features: 20, labels: 7, factors: 3, inducing: 4 };
const linear = await compactModel(textModel(sizes), { type: "f32" });
const bare = await compactModel(textModel(sizes), { type: "f32", variance: "none" });
const lowRank = await compactModel(textModel(sizes), { type: "f32", variance: "low-rank", rank: 2 });
const honest = await compactModel(calibrated(textModel(sizes)), { type: "f32" });
const exact = await compactModel(closedModel({ ...sizes, form: "exact", points: 5, stack: 2 }), {
  type: "f32",
});
const near = await compactModel(closedModel({ ...sizes, form: "exact", points: 5 }));
const both = await compactModel(closedModel({ ...sizes, form: "both" }), { type: "f32" });
const se = await compactModel(textModel({ ...sizes, kernel: "se" }), { type: "f32" });
const perFactor = await compactModel(textModel({ ...sizes, groups: "perFactor" }), {
  type: "f32",
  variance: "exact",
});

type Hyper = CompactAbout["hyper"];
interface Change {
  about?: Partial<CompactAbout>;
  drop?: string[];
  set?: Record<string, Tensor>;
}

/** The file with other metadata and other tensors. */
function changed(bytes: Uint8Array, { about = {}, drop = [], set = {} }: Change): Uint8Array {
  const { tensors, metadata } = readSafetensors(bytes);
  const others = new Map(tensors);
  for (const name of drop) others.delete(name);
  for (const [name, tensor] of Object.entries(set)) others.set(name, tensor);
  const said = { ...(JSON.parse(metadata.about as string) as CompactAbout), ...about };
  return writeSafetensors({ tensors: others, metadata: { ...metadata, about: JSON.stringify(said) } });
}

const closedAbout = (bytes: Uint8Array): ClosedAbout =>
  (JSON.parse(readSafetensors(bytes).metadata.about as string) as CompactAbout).closed as ClosedAbout;

/** A model that is not calibrated, with thresholds. */
function withThresholds(): Uint8Array {
  const labels = Float32Array.from({ length: sizes.labels }, () => 0.5);
  const expected = { precision: 0.5, recall: 0.5, f1: 0.5 };
  const part = thresholdsToPart({ f1: { overall: 0.5, labels }, expected, precisions: [] });
  const { tensors, metadata } = readSafetensors(linear);
  return writeSafetensors({
    tensors: new Map([...tensors, ...part.tensors]),
    metadata: { ...metadata, ...part.metadata },
  });
}

/** The calibrated model, its calibrator being of another score. */
function calibratedBy(score: string): Uint8Array {
  const { tensors, metadata } = readSafetensors(honest);
  const calibrator = JSON.stringify({ ...JSON.parse(metadata.calibrator as string), scores: [score] });
  return writeSafetensors({ tensors, metadata: { ...metadata, calibrator } });
}

const reals = (shape: number[], value = 0): Tensor => ({
  dtype: "F32",
  shape,
  data: new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(value),
});
/** A tensor of the file with all its numbers made another. */
const filled = (bytes: Uint8Array, name: string, value: (i: number) => number): Record<string, Tensor> => {
  const { shape, data } = readSafetensors(bytes).tensors.get(name) as Tensor;
  const values = Float32Array.from(data as Float32Array, (_, i) => value(i));
  return { [name]: { dtype: "F32", shape, data: values } };
};

describe("refuses", () => {
  const huge = 2 ** 27;
  const cases: [what: string, bytes: Uint8Array, message: string][] = [
    [
      "a root without rows, and so of any rank",
      changed(perFactor, {
        about: { inducing: 0, rank: huge },
        set: { root: reals([0, huge]), inducing: reals([20, 0]), inducingSquares: reals([0]) },
      }),
      "found 0 inducing inputs, expected those of kernel linear with variance exact",
    ],
    [
      "a rank that no matrix has",
      changed(bare, { about: { rank: huge } }),
      `found rank ${huge}, expected those of kernel linear with variance none`,
    ],
    [
      "a rank beside the diagonal form",
      changed(lowRank, { about: { variance: "diagonal" } }),
      "found rank 2, expected those of kernel linear with variance diagonal",
    ],
    [
      "a linear model without weights",
      changed(bare, { drop: ["weights"], set: { mu: reals([0, 3]) } }),
      "found no tensor weights, expected one",
    ],
    [
      "as many features as one likes",
      changed(bare, { about: { features: huge, rows: huge }, set: { weights: reals([0, 3]) } }),
      `found tensor weights of shape [0,3], expected [${huge},3]`,
    ],
    [
      "a kernel of distances with its mean through the features",
      changed(se, { set: { weights: reals([20, 3]) }, drop: ["mu"] }),
      "found no tensor mu, expected one",
    ],
    [
      "a kernel of distances with both means",
      changed(se, { set: { weights: reals([20, 3]) } }),
      'found "weights" besides, expected only what the model is made of',
    ],
    [
      "a variance through the features of a kernel of distances",
      changed(se, { drop: ["root"], set: { own: reals([20, 1]) } }),
      "found no tensor root, expected one",
    ],
    [
      "a variance that its form has not",
      changed(linear, { about: { variance: "none" } }),
      "besides, expected only what the model is made of",
    ],
    [
      "a form of the variance nobody knows",
      changed(linear, { about: { variance: "some" as never } }),
      'found variance "some" in its metadata, expected exact or low-rank or diagonal or none',
    ],
    [
      "a variance for each factor of a model without any",
      changed(bare, { about: { groups: 3 } }),
      "found 3 groups without variance, expected 1",
    ],
    [
      "bits of a matrix that is not there",
      changed(linear, { about: { bits: { cover: 4 } } }),
      'found "cover" besides, expected only what the model is made of',
    ],
    [
      "scales of a matrix that has none",
      changed(linear, { set: { "phi.scale": reals([7]) } }),
      'found "phi.scale" besides',
    ],
    [
      "an order of names without names",
      changed(linear, {
        about: { text: undefined as never },
        drop: ["vocabulary", "frequency"],
        set: { order: { dtype: "I32", shape: [20], data: Int32Array.from({ length: 20 }, (_, i) => i) } },
      }),
      'found "order" besides',
    ],
    [
      "a calibrator without the number of points",
      changed(honest, { about: { points: undefined as never } }),
      "found a calibrator without the number of points, expected both or none",
    ],
    [
      "a number of points without a calibrator",
      changed(linear, { about: { points: 10 } }),
      "found a number of points without a calibrator, expected both or none",
    ],
    [
      "more points with a label than points",
      changed(honest, { about: { points: 2 } }),
      "found a number in labelCounts beyond the points, expected numbers from 0 to 2",
    ],
    [
      "parts of a calibrator alone",
      changed(linear, {
        set: { "calibrator.finish": { dtype: "F64", shape: [1], data: new Float64Array(1) } },
      }),
      'found "calibrator.finish" besides',
    ],
    [
      "thresholds without a calibrator",
      withThresholds(),
      "found thresholds without a calibrator, expected both or none",
    ],
    [
      "a calibrator of other scores",
      calibratedBy("gaussian"),
      "found a calibrator of other scores, expected one of utility",
    ],
    [
      "a closed form of no points with points",
      changed(exact, { about: { closed: { ...closedAbout(exact), points: 0 } } }),
      "found no tensor closed.weights.gaps, expected one",
    ],
    [
      "as many points as one likes",
      changed(exact, { about: { closed: { ...closedAbout(exact), points: huge } } }),
      `found tensor closed.squares of shape [5], expected [${huge}]`,
    ],
    [
      "a stack of any rank",
      changed(exact, { about: { closed: { ...closedAbout(exact), stack: huge } } }),
      `found rank ${huge} in`,
    ],
    [
      "a closed form without its scores' calibrator",
      changed(both, { about: { closed: undefined as never } }),
      "found a calibrator of other scores, expected one of utility",
    ],
    [
      "neither form",
      changed(linear, { about: { factors: 0 } }),
      "found factors 0 in its metadata, expected a whole number from 1",
    ],
    [
      "sizes of latent functions that are not there",
      changed(exact, { about: { rank: 3 } }),
      "found sizes of latent functions without any, expected none",
    ],
    [
      "a tangent without weights that hold it",
      changed(exact, { about: { closed: { ...closedAbout(exact), tangent: [0.3, 0.3] } } }),
      "found no tensor closed.weights.gaps, expected one",
    ],
    [
      "weights beyond all measure",
      changed(linear, { set: filled(linear, "weights", () => 3e38) }),
      `found a number in weights that is not finite or too large, expected numbers up to ${LARGEST_NUMBER}`,
    ],
    [
      "labels whose weights add up beyond single precision",
      changed(linear, { set: filled(linear, "phi", (i) => (i % 2 === 0 ? 1e9 : -1e9)) }),
      `found a row of phi that is too large, expected magnitudes that add up to ${LARGEST_ROW} at most`,
    ],
  ];
  for (const [what, bytes, message] of cases)
    test(what, async () => {
      await expect(load(bytes)).rejects.toThrow(message);
    });
});

describe("the largest numbers that are allowed", () => {
  /** +- alternating, so that a sum that overflowed would be NaN. */
  const signed = (value: number) => (i: number) => (i % 3 === 0 ? -value : value);
  const kernels = { linear, lowRank, se, perFactor, honest, exact, near, both };

  for (const [name, bytes] of Object.entries(kernels))
    test(`of ${name} give probabilities for every finite input`, async () => {
      const { tensors } = readSafetensors(bytes);
      for (const value of [LARGEST_NUMBER, LARGEST_NUMBER / 1e9, 1e-30]) {
        const set: Record<string, Tensor> = {};
        for (const [tensor, { dtype }] of tensors) {
          if (dtype !== "F32") continue;
          const largest = tensor === "phi" ? Math.min(value, LARGEST_ROW / 3) : value;
          Object.assign(set, filled(bytes, tensor, tensor === "spread" ? () => largest : signed(largest)));
        }
        for (const hyper of [1e-35, 1, 1e35]) {
          const closed = closedAbout(bytes) && {
            ...closedAbout(bytes),
            hyper: [hyper, hyper, hyper] as Hyper,
          };
          const model = changed(bytes, {
            set,
            about: { normalise: false, hyper: [hyper, hyper, hyper], ...(closed && { closed }) },
          });
          for (const tagger of [await load(model), await load(model, { wasm: await edgeModule() })])
            for (const size of [0, 1e-38, 1, 1e10, 3e38]) {
              const input = { indices: [1, 4, 7, 11], values: [size, -size, size, size] };
              let found: Prediction[] = [];
              try {
                found = tagger.predict(input, { topK: 7 });
              } catch (error) {
                expect((error as Error).message).toMatch(/^input: found values too large/);
              }
              for (const { probability, sd = 0 } of found) {
                expect(probability >= 0 && probability <= 1).toBe(true);
                expect(Number.isFinite(sd)).toBe(true);
              }
            }
        }
      }
    });
});
