// The model file: what is written is read back, and what is not a whole model is refused in one sentence.

import { describe, expect, test } from "vitest";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { joined, readSafetensors, type Tensor, writeSafetensors } from "../../src/io/safetensors.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { ClosedModel, Evidence, LatentModel, LinearPart } from "../../src/model/model.ts";
import { checkpointChunks } from "../../src/train/checkpoint.ts";
import { closedModel } from "../edge/support.ts";
import { modelSizes, randomModel } from "../support/models.ts";

const { features: d, labels: k } = modelSizes;
const plain = randomModel({ kernel: "linear+se", groups: "perFactor" });
const words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"];

function withEverything(): LatentModel {
  const vectoriser = new TfidfVectoriser({
    options: {},
    documents: 9,
    terms: words,
    documentFrequency: Int32Array.from(words, (_, i) => i + 1),
  });
  return {
    ...randomModel({ kernel: "se", groups: "shared", precision: "f32" }),
    transform: { normalise: true, columnWeights: Float32Array.from(words, (_, i) => i + 0.5) },
    labelNames: Array.from({ length: k }, (_, i) => `label "${i}" \u00e9\u{1f98a}`),
    featureNames: words,
    vectoriser: vectoriser.toJSON(),
  };
}

/** The message with which bytes are refused; it has to be one line. */
function refusal(bytes: Uint8Array): string {
  try {
    modelFromBytes(bytes, "tagger.safetensors");
  } catch (error) {
    expect((error as Error).name).toMatch(/^(FormatError|DataError)$/);
    expect((error as Error).message).not.toContain("\n");
    return (error as Error).message;
  }
  throw new Error("the bytes were taken for a model");
}

/** The model's file with some tensors (undefined takes one away) or metadata changed. */
function altered(
  changes: Record<string, Tensor | undefined>,
  metadata: Record<string, string> = {},
): Uint8Array {
  const file = readSafetensors(modelToBytes(plain));
  const tensors = new Map(file.tensors);
  for (const [name, tensor] of Object.entries(changes)) {
    if (tensor) tensors.set(name, tensor);
    else tensors.delete(name);
  }
  return writeSafetensors({ tensors, metadata: { ...file.metadata, ...metadata } });
}

const real = (shape: number[], values: (i: number) => number): Tensor => ({
  dtype: "F64",
  shape,
  data: Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => values(i)),
});

describe("a model file", () => {
  for (const [name, model] of Object.entries({
    plain,
    "mean through the features": randomModel({ kernel: "linear", groups: "shared", mean: "features" }),
    everything: withEverything(),
  })) {
    test(`is read back as it was, ${name}`, () => {
      const bytes = modelToBytes(model);
      const back = modelFromBytes(bytes);
      expect(back).toEqual(model);
      expect(modelToBytes(back)).toEqual(bytes);
    });
  }

  test("that is cut short anywhere is refused", () => {
    const bytes = modelToBytes(withEverything());
    for (let length = 0; length < bytes.length; length += length < 3000 ? 1 : 7)
      expect(refusal(bytes.slice(0, length))).toMatch(/^tagger\.safetensors: found .+, expected .+/);
  });

  test("with a changed byte in its header is refused or still a whole model of finite numbers", () => {
    const bytes = modelToBytes(withEverything());
    const header = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
    let refused = 0;
    for (let i = 0; i < header; i++) {
      const changed = bytes.slice();
      (changed[i] as number) ^= 1 << (i % 7);
      let model: LatentModel;
      try {
        model = modelFromBytes(changed, "tagger.safetensors") as LatentModel;
      } catch {
        refusal(changed);
        refused++;
        continue;
      }
      for (const values of [model.inducingInputs, model.mu, model.sigma, model.phi, model.bias, model.hyper])
        expect(values.every(Number.isFinite)).toBe(true);
      expect(model.labelNames?.length ?? k).toBe(k);
      expect(model.featureNames?.length ?? d).toBe(d);
    }
    expect(refused).toBeGreaterThan(header / 4);
  });

  test("with a number that is not finite is refused, wherever it stands", () => {
    for (const name of ["inducingInputs", "mu", "sigma", "phi", "bias", "hyper"] as const) {
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        const values = plain[name].slice();
        values[values.length - 1] = value;
        expect(refusal(modelToBytes({ ...plain, [name]: values }))).toBe(
          `tagger.safetensors: found a number in ${name} that is not finite, expected finite numbers`,
        );
      }
    }
    const columnWeights = new Float32Array(d).fill(Number.NaN);
    const transform = { normalise: true, columnWeights };
    expect(refusal(modelToBytes({ ...plain, transform }))).toContain("found a number in columnWeights");
  });

  const foreign: [what: string, bytes: () => Uint8Array, message: string][] = [
    ["nothing", () => new Uint8Array(0), "expected"],
    ["text", () => new TextEncoder().encode("3 4 5\n0,1 0:1.5 2:1\n"), "expected"],
    ["a picture", () => Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13]), "expected"],
    [
      "another safetensors file",
      () => writeSafetensors({ tensors: new Map([["w", real([2], () => 1)]]), metadata: {} }),
      "found format undefined, expected a model made by mlgpf",
    ],
    [
      "a checkpoint",
      () =>
        joined(checkpointChunks({ step: 1, tensors: new Map(), extra: {} }, { options: "{}", data: "0" })),
      'found format "mlgpf-checkpoint", expected a model made by mlgpf',
    ],
    [
      "a later version",
      () => altered({}, { version: "3" }),
      "found model version 3, expected version 1 or 2",
    ],
    ["another kernel", () => altered({}, { kernel: "cubic" }), 'found kernel "cubic", expected linear or se'],
    [
      "another mean",
      () => altered({}, { mean: "median" }),
      'found mean "median", expected inducing or features',
    ],
    [
      "a mean without its weights",
      () => altered({}, { mean: "features", kernel: "linear" }),
      "found tensor mu of shape [5,3], expected [8,3]",
    ],
    [
      "a mean that its kernel does not have",
      () => altered({ mu: real([d, 3], () => 1) }, { mean: "features" }),
      "found mean features with kernel linear+se, expected mean inducing, or kernel linear",
    ],
    [
      "numbers too large to compute with",
      () => altered({ mu: real([5, 3], () => 1e36) }),
      "found numbers too large to compute with, expected ones that keep every score",
    ],
    ["no mu", () => altered({ mu: undefined }), "found tensor mu of shape undefined, expected [5,3]"],
    [
      "no phi",
      () => altered({ phi: undefined }),
      "found tensor phi of shape undefined, expected 2 dimensions",
    ],
    [
      "a wide mu",
      () => altered({ mu: real([5, 4], () => 1) }),
      "found tensor mu of shape [5,4], expected [5,3]",
    ],
    [
      "two Sigmas of three",
      () => altered({ sigma: real([2, 5], () => 1) }),
      "found 2 rows of sigma, expected 3, as the posterior perFactor has",
    ],
    [
      "a sigma of zero",
      () => altered({ sigma: real([3, 5], (i) => i) }),
      "found a sigma that is not above 0",
    ],
    [
      "a great scale",
      () => altered({ hyper: real([3], () => 1000) }),
      "found hyper-parameters 1000, 1000, 1000",
    ],
    [
      "whole numbers for mu",
      () => altered({ mu: { dtype: "I32", shape: [5, 3], data: new Int32Array(15) } }),
      "found tensor mu of type I32, expected F32 or F64",
    ],
    [
      "two precisions",
      () => altered({ mu: { dtype: "F32", shape: [5, 3], data: new Float32Array(15) } }),
      "found tensor mu of type F32, expected F64 as that of phi",
    ],
    [
      "no counts",
      () => altered({ labelCounts: undefined }),
      "found no right labelCounts, expected whole numbers",
    ],
    [
      "a negative count",
      () => altered({ labelCounts: { dtype: "I32", shape: [7], data: new Int32Array(7).fill(-1) } }),
      "found a number in labelCounts that is out of range",
    ],
    ["a broken summary", () => altered({}, { summary: "{" }), "found metadata summary that is not JSON"],
    ["an empty summary", () => altered({}, { summary: "null" }), "found a summary without the number"],
    [
      "too few names",
      () => altered({}, { labelNames: '["a"]' }),
      "found metadata labelNames, expected 7 names",
    ],
    ["names that are none", () => altered({}, { labelNames: "[1,2,3,4,5,6,7]" }), "expected 7 names"],
    [
      "a vocabulary of another size",
      () =>
        altered(
          {},
          {
            vectoriser: JSON.stringify(withEverything().vectoriser)
              .replace('"hen"', '"hen","ibis"')
              .replace(",8]", ",8,9]"),
          },
        ),
      "found a vocabulary of 9 terms, expected 8",
    ],
  ];
  for (const [what, bytes, message] of foreign) {
    test(`that is no model is refused: ${what}`, () => {
      const said = refusal(bytes());
      expect(said).toMatch(/^tagger\.safetensors: found /);
      expect(said).toContain(message);
    });
  }
});

describe("the evidence of a linear part", () => {
  const model = closedModel({ form: "both", features: 20, labels: 7, factors: 3, inducing: 4 });
  const { squares, share } = (model.closed as LinearPart).evidence as Evidence;
  const kept = squares.length;
  const withEvidence = (tensor: Tensor | undefined, its?: string): Uint8Array => {
    const file = readSafetensors(modelToBytes(model));
    const tensors = new Map(file.tensors);
    if (tensor) tensors.set("evidence.squares", tensor);
    else tensors.delete("evidence.squares");
    const { evidenceShare: _, ...rest } = file.metadata;
    return writeSafetensors({
      tensors,
      metadata: { ...rest, ...(its !== undefined && { evidenceShare: its }) },
    });
  };
  const single = (data: Float32Array): Tensor => ({ dtype: "F32", shape: [data.length], data });

  test("is read back as it was; a file of before has none", () => {
    expect(modelFromBytes(modelToBytes(model))).toEqual(model);
    const older = modelFromBytes(withEvidence(undefined)) as ClosedModel;
    const { evidence: _, ...closed } = model.closed as LinearPart;
    expect(older).toEqual({ ...model, closed });
  });

  test.each<[what: string, bytes: () => Uint8Array, message: string]>([
    [
      "squares of other features",
      () => withEvidence(single(squares.subarray(1)), "1"),
      `found tensor evidence.squares of shape [${kept - 1}], expected [${kept}]`,
    ],
    [
      "a square below 0",
      () => withEvidence(single(squares.map((square, j) => (j === 3 ? -1e-9 : square))), "1"),
      "found a number in evidence.squares below 0, expected sums of squares",
    ],
    [
      "a square that is none",
      () => withEvidence(single(squares.map((square, j) => (j === 3 ? Number.NaN : square))), "1"),
      "found a number in evidence.squares that is not finite",
    ],
    [
      "double precision",
      () =>
        withEvidence(
          real([kept], () => 1),
          "1",
        ),
      "found tensor evidence.squares of type F64, expected F32",
    ],
    ["no share", () => withEvidence(single(squares)), "found metadata evidenceShare"],
    ["a share of 0", () => withEvidence(single(squares), "0"), 'found metadata evidenceShare "0"'],
    ["a share without end", () => withEvidence(single(squares), "Infinity"), "expected a number above 0"],
  ])("is refused with %s", (_, bytes, message) => {
    expect(share).toBeGreaterThan(0);
    expect(refusal(bytes())).toContain(message);
  });
});
