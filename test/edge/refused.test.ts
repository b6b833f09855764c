// Compact models whose parts are fine one by one and no model together, or whose numbers would overflow.

import { describe, expect, test } from "vitest";
import type { Prediction } from "../../src/base/prediction.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "../../src/base/safetensors.ts";
import { thresholdsToFile } from "../../src/calibrate/file.ts";
import { compactModel } from "../../src/compact/index.ts";
import { edgeModule } from "../../src/compact/module.ts";
import type { CompactAbout } from "../../src/edge/format.ts";
import { load } from "../../src/edge/index.ts";
import { LARGEST_ROW } from "../../src/edge/layer.ts";
import { LARGEST_NUMBER } from "../../src/edge/reader.ts";
import { guarantees } from "../support/guarantees.ts";
import { calibrated, closedModel, textModel } from "./support.ts";

const sizes = { features: 20, labels: 7, factors: 3, inducing: 4 };
const linear = await compactModel(textModel(sizes), { type: "f32" });
const bare = await compactModel(textModel(sizes), { type: "f32", variance: "none" });
const lowRank = await compactModel(textModel(sizes), { type: "f32", variance: "low-rank", rank: 2 });
const honest = await compactModel(calibrated(textModel(sizes)), { type: "f32" });
const exact = await compactModel(closedModel({ ...sizes, form: "gpr", points: 5, coupling: 2 }), {
  type: "f32",
});
const near = await compactModel(closedModel({ ...sizes, form: "gpr", points: 5 }));
const both = await compactModel(closedModel({ ...sizes, form: "linear+svgp" }), { type: "f32" });
const se = await compactModel(textModel({ ...sizes, kernel: "se" }), { type: "f32" });
const perFactor = await compactModel(textModel({ ...sizes, groups: "perFactor" }), {
  type: "f32",
  variance: "exact",
});

interface Change {
  about?: Partial<CompactAbout>;
  /** Fields of the first part. */
  first?: Record<string, unknown>;
  drop?: string[];
  set?: Record<string, Tensor>;
}

const aboutOf = (bytes: Uint8Array): CompactAbout => JSON.parse(readSafetensors(bytes).metadata.about);

/** The file with other metadata and other tensors. */
function changed(bytes: Uint8Array, { about = {}, first = {}, drop = [], set = {} }: Change): Uint8Array {
  const { tensors, metadata } = readSafetensors(bytes);
  const others = new Map(tensors);
  for (const name of drop) others.delete(name);
  for (const [name, tensor] of Object.entries(set)) others.set(name, tensor);
  const before = aboutOf(bytes);
  const parts = before.parts.map((part, i) => (i === 0 ? { ...part, ...first } : part));
  const said = { ...before, parts, ...about };
  return writeSafetensors({ tensors: others, metadata: { ...metadata, about: JSON.stringify(said) } });
}

/** A model that is not calibrated, with thresholds. */
function withThresholds(): Uint8Array {
  const labels = Float32Array.from({ length: sizes.labels }, () => 0.5);
  const expected = { precision: 0.5, recall: 0.5, f1: 0.5 };
  const part = thresholdsToFile({
    f1: { overall: 0.5, labels },
    macroF1: labels,
    expected,
    guarantees,
  });
  const { tensors, metadata } = readSafetensors(linear);
  return writeSafetensors({
    tensors: new Map([...tensors, ...part.tensors]),
    metadata: { ...metadata, ...part.metadata },
  });
}

/** The calibrated model, its calibrator being of another score. */
function calibratedBy(score: string): Uint8Array {
  const { tensors, metadata } = readSafetensors(honest);
  const calibrator = JSON.stringify({ ...JSON.parse(metadata.calibrator), scores: [score] });
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
  const [linearPart] = aboutOf(linear).parts;
  const cases: [what: string, bytes: Uint8Array, message: string][] = [
    [
      "the inverse of no rows, and so of any rank",
      changed(perFactor, {
        first: { inducing: 0, rank: huge },
        set: {
          "svgp.cholInverse": reals([0, huge]),
          "svgp.inducing": reals([20, 0]),
          "svgp.inducingSquares": reals([0]),
        },
      }),
      "found 0 inducing inputs, expected those of kernel linear with variance exact",
    ],
    [
      "a rank that no matrix has",
      changed(bare, { first: { rank: huge } }),
      `found rank ${huge}, expected those of kernel linear with variance none`,
    ],
    [
      "a rank beside the diagonal form",
      changed(lowRank, { first: { variance: "diagonal" } }),
      "found rank 2, expected those of kernel linear with variance diagonal",
    ],
    [
      "a rank of packed numbers beyond the file",
      changed(lowRank, {
        first: { rank: huge },
        about: { bits: { "svgp.lowRank": 2 } },
        set: { "svgp.lowRank": { dtype: "U8", shape: [0, huge / 4], data: new Uint8Array(0) } },
      }),
      `found ${huge} columns of lowRank, expected as many as there are`,
    ],
    [
      "a linear model without weights",
      changed(bare, { drop: ["svgp.weights"], set: { "svgp.mu": reals([0, 3]) } }),
      "found no tensor svgp.weights, expected one",
    ],
    [
      "as many features as one likes",
      changed(bare, {
        about: { features: huge },
        set: { "svgp.weights": reals([0, 3]) },
      }),
      `found 20 rows for ${huge} features, expected which features have rows`,
    ],
    [
      "as many rows as one likes",
      changed(bare, {
        about: { features: huge, parts: [{ ...aboutOf(bare).parts[0], rows: huge }] },
        set: { "svgp.weights": reals([0, 3]) },
      }),
      `found tensor svgp.weights of shape [0,3], expected [${huge},3]`,
    ],
    [
      "a kernel of distances with its mean through the features",
      changed(se, { set: { "svgp.weights": reals([20, 3]) }, drop: ["svgp.mu"] }),
      "found no tensor svgp.mu, expected one",
    ],
    [
      "a kernel of distances with both means",
      changed(se, { set: { "svgp.weights": reals([20, 3]) } }),
      'found a tensor "svgp.weights", expected only what the model is made of',
    ],
    [
      "a variance through the features of a kernel of distances",
      changed(se, { drop: ["svgp.cholInverse"], set: { "svgp.diag": reals([20, 1]) } }),
      "found no tensor svgp.cholInverse, expected one",
    ],
    [
      "a variance that its form has not",
      changed(linear, { first: { variance: "none" } }),
      "expected only what the model is made of",
    ],
    [
      "a form of the variance nobody knows",
      changed(linear, { first: { variance: "some" } }),
      'found variance "some", expected exact or low-rank or diagonal or none',
    ],
    [
      "a variance for each factor of a model without any",
      changed(bare, { first: { groups: 3 } }),
      "found 3 groups, expected those of kernel linear with variance none",
    ],
    [
      "groups of factors that are neither all nor each",
      changed(perFactor, { first: { groups: 2 } }),
      "found 2 groups, expected those of kernel linear with variance exact",
    ],
    [
      "bits of a matrix that is not there",
      changed(linear, { about: { bits: { "svgp.lowRank": 4 } } }),
      "found bits of svgp.lowRank, expected those of a packed matrix",
    ],
    [
      "scales of a matrix that has none",
      changed(linear, { set: { "svgp.phi.scale": reals([7]) } }),
      'found a tensor "svgp.phi.scale"',
    ],
    [
      "an order of names without names",
      changed(linear, {
        about: { text: undefined },
        drop: ["vocabulary", "frequency"],
        set: { order: { dtype: "I32", shape: [20], data: Int32Array.from({ length: 20 }, (_, i) => i) } },
      }),
      'found a tensor "order"',
    ],
    [
      "a calibrator without the number of points",
      changed(honest, { about: { points: undefined } }),
      "found a calibrator beside points undefined, expected both or none",
    ],
    [
      "a number of points without a calibrator",
      changed(linear, {
        about: { points: 10 },
        set: { labelCounts: { dtype: "I32", shape: [7], data: new Int32Array(7) } },
      }),
      "found no calibrator beside points 10, expected both or none",
    ],
    [
      "more points with a label than points",
      changed(honest, { about: { points: 2 } }),
      "in labelCounts, expected numbers from 0 to 2",
    ],
    [
      "parts of a calibrator alone",
      changed(linear, {
        set: { "calibrator.outer": { dtype: "F64", shape: [1], data: new Float64Array(1) } },
      }),
      'found a tensor "calibrator.outer"',
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
      "a posterior of no points with points",
      changed(exact, { first: { points: 0 } }),
      "found no tensor gpr.weights.gaps, expected one",
    ],
    [
      "as many points as one likes",
      changed(exact, { first: { points: huge } }),
      `found tensor gpr.squares of shape [5], expected [${huge}]`,
    ],
    [
      "a coupling of any rank",
      changed(exact, {
        about: { parts: [aboutOf(exact).parts[0], { family: "coupling", rank: huge }] },
      }),
      `found ${huge} columns of vectors, expected as many as there are`,
    ],
    [
      "a coupling of nothing",
      changed(exact, { about: { parts: [{ family: "coupling", rank: 2 }] } }),
      "found label coupling first, expected a part before it",
    ],
    [
      "a part without its scores' calibrator",
      changed(both, { about: { parts: aboutOf(both).parts.slice(1) } }),
      "found a calibrator of other scores, expected one of utility",
    ],
    ["no part", changed(linear, { about: { parts: [] } }), "found no parts, expected at least one"],
    [
      "a part twice",
      changed(linear, { about: { parts: [linearPart, linearPart] } }),
      "found two parts svgp, expected each once",
    ],
    [
      "a family nobody knows",
      changed(linear, { first: { family: "toString" } }),
      'found family "toString", expected gpr or sgpr or linear or coupling or svgp',
    ],
    [
      "parts that are no list",
      changed(linear, { about: { parts: { length: 1 } as never } }),
      "found no right parts, expected a list of at most 8",
    ],
    [
      "no latent functions",
      changed(linear, { first: { factors: 0 } }),
      "found factors 0, expected a whole number from 1",
    ],
    [
      "a tangent without weights that hold it",
      changed(exact, { first: { tangent: [0.3, 0.3] } }),
      "found no tensor gpr.weights.gaps, expected one",
    ],
    [
      "weights beyond all measure",
      changed(linear, { set: filled(linear, "svgp.weights", () => 3e38) }),
      `in svgp.weights, expected numbers from ${-LARGEST_NUMBER} to ${LARGEST_NUMBER}`,
    ],
    [
      "weights that are no numbers",
      changed(linear, { set: filled(linear, "svgp.weights", (i) => (i === 30 ? Number.NaN : 0)) }),
      `found NaN in svgp.weights, expected numbers from ${-LARGEST_NUMBER} to ${LARGEST_NUMBER}`,
    ],
    [
      "labels whose weights add up beyond single precision",
      changed(linear, { set: filled(linear, "svgp.phi", (i) => (i % 2 === 0 ? 1e9 : -1e9)) }),
      `found a row of phi that is too large, expected magnitudes that add up to ${LARGEST_ROW} at most`,
    ],
    [
      "an older version",
      writeSafetensors({
        tensors: readSafetensors(linear).tensors,
        metadata: { ...readSafetensors(linear).metadata, version: "5" },
      }),
      'found version "5" of mlgpf-compact, expected version 6',
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
          const largest = tensor === "svgp.phi" ? Math.min(value, LARGEST_ROW / 3) : value;
          Object.assign(set, filled(bytes, tensor, tensor === "svgp.spread" ? () => largest : signed(largest)));
        }
        for (const hyper of [1e-35, 1, 1e35]) {
          const parts = aboutOf(bytes).parts.map((part) =>
            "hyper" in part ? { ...part, hyper: [hyper, hyper, hyper] } : part,
          );
          const model = changed(bytes, { set, about: { normalise: false, parts } });
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
