// The model file: what is written is read back, and what is not a whole model is refused in one sentence.

import { describe, expect, test } from "vitest";
import { joined, readSafetensors, type Tensor, writeSafetensors } from "../../src/base/safetensors.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import type { LinearPart } from "../../src/parts/linear/posterior.ts";
import { checkpointChunks } from "../../src/parts/svgp/checkpoint.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { closedModel } from "../edge/support.ts";
import { modelSizes, randomModel } from "../support/models.ts";

const { features: d, labels: k } = modelSizes;
const plain = randomModel({ kernel: "linear+se", groups: "perFactor" });
const words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"];

function withEverything(): Model {
  const vectoriser = new TfidfVectoriser({
    options: {},
    documents: 9,
    terms: words,
    documentFrequency: Int32Array.from(words, (_, i) => i + 1),
  });
  const model = randomModel({ kernel: "se", groups: "shared", precision: "f32" });
  return {
    ...model,
    schema: {
      ...model.schema,
      transform: { normalise: true, columnWeights: Float32Array.from(words, (_, i) => i + 0.5) },
      labelNames: Array.from({ length: k }, (_, i) => `label "${i}" \u00e9\u{1f98a}`),
      featureNames: words,
      vectoriser: vectoriser.toJSON(),
    },
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

/** The model's file with some tensors of its part (undefined takes one away), what is said of it, or metadata changed. */
function altered(
  changes: Record<string, Tensor | undefined>,
  about: Record<string, unknown> = {},
  metadata: Record<string, string> = {},
): Uint8Array {
  const file = readSafetensors(modelToBytes(plain));
  const tensors = new Map(file.tensors);
  for (const [name, tensor] of Object.entries(changes)) {
    const full = name === "labelCounts" ? name : `svgp.${name}`;
    if (tensor) tensors.set(full, tensor);
    else tensors.delete(full);
  }
  const svgp = JSON.stringify({ ...JSON.parse(file.metadata.svgp), ...about });
  return writeSafetensors({ tensors, metadata: { ...file.metadata, svgp, ...metadata } });
}

const real = (shape: number[], values: (i: number) => number): Tensor => ({
  dtype: "F64",
  shape,
  data: Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => values(i)),
});

test("one flipped bit anywhere is found by the checksum; a file without one is taken as it is", () => {
  const bytes = modelToBytes(withEverything());
  const start = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
  for (let at = start; at < bytes.length; at += 3) {
    const flipped = bytes.slice();
    flipped[at] ^= 1 << (at % 8);
    refusal(flipped);
  }
  const { tensors, metadata } = readSafetensors(bytes);
  const { checksum, ...others } = metadata;
  expect(checksum).toMatch(/^[0-9a-f]{16}$/);
  expect(refusal(writeSafetensors({ tensors, metadata: { ...metadata, note: "x" } }))).toBe(
    "tagger.safetensors: found bytes that do not have the checksum it states, expected a file as it was written",
  );
  expect(modelFromBytes(writeSafetensors({ tensors, metadata: others }))).toEqual(withEverything());
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
      changed[i] ^= 1 << (i % 7);
      let model: Model;
      try {
        model = modelFromBytes(changed, "tagger.safetensors");
      } catch {
        refusal(changed);
        refused++;
        continue;
      }
      const { inducingInputs, mu, sigma, phi, bias, hyper } = model.parts[0] as SvgpPart;
      for (const values of [inducingInputs, mu, sigma, phi, bias, hyper])
        expect(values.every(Number.isFinite)).toBe(true);
      expect(model.schema.labelNames?.length ?? k).toBe(k);
      expect(model.schema.featureNames?.length ?? d).toBe(d);
    }
    expect(refused).toBeGreaterThan(header / 4);
  });

  test("with a number that is not finite is refused, wherever it stands", () => {
    for (const name of ["inducingInputs", "mu", "sigma", "phi", "bias", "hyper"] as const) {
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        const values = plain.parts[0][name].slice();
        values[values.length - 1] = value;
        const parts = [{ ...plain.parts[0], [name]: values }];
        expect(refusal(modelToBytes({ ...plain, parts }))).toBe(
          `tagger.safetensors: found a number in svgp.${name} that is not finite, expected finite numbers`,
        );
      }
    }
    const columnWeights = new Float32Array(d).fill(Number.NaN);
    const schema = { ...plain.schema, transform: { normalise: true, columnWeights } };
    expect(refusal(modelToBytes({ ...plain, schema }))).toContain("found a number in columnWeights");
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
      () => joined(checkpointChunks({ step: 1, tensors: new Map(), extra: {} }, { options: "{}", data: "0" })),
      'found format "mlgpf-checkpoint", expected a model made by mlgpf',
    ],
    [
      "a later version",
      () => altered({}, {}, { version: "5" }),
      'found version "5" of mlgpf-model, expected version 4',
    ],
    ["another kernel", () => altered({}, { kernel: "cubic" }), 'found kernel "cubic", expected linear or se'],
    ["another mean", () => altered({}, { mean: "median" }), 'found mean "median", expected inducing or features'],
    [
      "a mean without its weights",
      () => altered({}, { mean: "features", kernel: "linear" }),
      "found tensor svgp.mu of shape [5,3], expected [8,3]",
    ],
    [
      "a mean that its kernel does not have",
      () => altered({ mu: real([d, 3], () => 1) }, { mean: "features" }),
      "found mean features with kernel linear+se, expected mean inducing, or kernel linear",
    ],
    [
      "numbers too large to compute with",
      () => altered({ mu: real([5, 3], () => 1e36) }),
      "found numbers too large to compute with, expected ones of a moderate size",
    ],
    ["no mu", () => altered({ mu: undefined }), "found no tensor svgp.mu, expected one"],
    ["no phi", () => altered({ phi: undefined }), "found tensor svgp.phi of shape undefined, expected 2 dimensions"],
    ["a wide mu", () => altered({ mu: real([5, 4], () => 1) }), "found tensor svgp.mu of shape [5,4], expected [5,3]"],
    [
      "two Sigmas of three",
      () => altered({ sigma: real([2, 5], () => 1) }),
      "found tensor svgp.sigma of shape [2,5], expected [3,5]",
    ],
    ["a sigma of zero", () => altered({ sigma: real([3, 5], (i) => i) }), "found a sigma that is not above 0"],
    ["a great scale", () => altered({ hyper: real([3], () => 1000) }), "found hyper-parameters 1000, 1000, 1000"],
    [
      "whole numbers for mu",
      () => altered({ mu: { dtype: "I32", shape: [5, 3], data: new Int32Array(15) } }),
      "found tensor svgp.mu of type I32, expected F64",
    ],
    [
      "two precisions",
      () => altered({ mu: { dtype: "F32", shape: [5, 3], data: new Float32Array(15) } }),
      "found tensor svgp.mu of type F32, expected F64",
    ],
    [
      "no counts",
      () => altered({ labelCounts: undefined }),
      "found tensor labelCounts of shape undefined, expected 1 dimensions",
    ],
    [
      "a negative count",
      () => altered({ labelCounts: { dtype: "I32", shape: [7], data: new Int32Array(7).fill(-1) } }),
      "found -1 in labelCounts, expected numbers from 0",
    ],
    ["a broken summary", () => altered({}, {}, { summary: "{" }), "found metadata summary that is not JSON"],
    ["an empty summary", () => altered({}, {}, { summary: "null" }), "found metadata summary that is no JSON object"],
    ["too few names", () => altered({}, {}, { labelNames: '["a"]' }), "found metadata labelNames, expected 7 names"],
    ["names that are none", () => altered({}, {}, { labelNames: "[1,2,3,4,5,6,7]" }), "expected 7 names"],
    [
      "a vocabulary of another size",
      () =>
        altered(
          {},
          {},
          {
            vectoriser: JSON.stringify(withEverything().schema.vectoriser)
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

describe("the precision of a linear part", () => {
  const model = closedModel({ form: "linear+svgp", features: 20, labels: 7, factors: 3, inducing: 4 });
  const { squares } = (model.parts[0] as LinearPart).precision;
  const kept = squares.length;
  const withPrecision = (tensor: Tensor | undefined, share: unknown = 1): Uint8Array => {
    const { metadata, ...file } = readSafetensors(modelToBytes(model));
    const tensors = new Map(file.tensors);
    if (tensor) tensors.set("linear.squares", tensor);
    else tensors.delete("linear.squares");
    const linear = JSON.stringify({ ...JSON.parse(metadata.linear), share });
    return writeSafetensors({ tensors, metadata: { ...metadata, linear } });
  };
  const single = (data: Float32Array): Tensor => ({ dtype: "F32", shape: [data.length], data });

  test("is read back as it was", () => {
    expect(modelFromBytes(modelToBytes(model))).toEqual(model);
  });

  test.each<[what: string, bytes: () => Uint8Array, message: string]>([
    [
      "squares of other features",
      () => withPrecision(single(squares.subarray(1))),
      `found tensor linear.squares of shape [${kept - 1}], expected [${kept}]`,
    ],
    [
      "a square below 0",
      () => withPrecision(single(squares.map((square, j) => (j === 3 ? -1e-9 : square)))),
      "in linear.squares, expected numbers from 0",
    ],
    [
      "a square that is none",
      () => withPrecision(single(squares.map((square, j) => (j === 3 ? Number.NaN : square)))),
      "found a number in linear.squares that is not finite",
    ],
    [
      "double precision",
      () => withPrecision(real([kept], () => 1)),
      "found tensor linear.squares of type F64, expected F32",
    ],
    ["no squares", () => withPrecision(undefined), "found no tensor linear.squares"],
    ["no share", () => withPrecision(single(squares), null), "found share (a list or an object), expected a number"],
    ["a share below 0", () => withPrecision(single(squares), -1), "found share -1, expected a number from 0"],
    ["a share without end", () => withPrecision(single(squares), "Infinity"), 'found share "Infinity"'],
  ])("is refused with %s", (_, bytes, message) => {
    expect(refusal(bytes())).toContain(message);
  });
});

describe("the parts of a model", () => {
  const model = closedModel({
    form: "linear+svgp",
    coupling: 2,
    features: 20,
    labels: 7,
    factors: 3,
    inducing: 4,
  });
  const { tensors, metadata } = readSafetensors(modelToBytes(model));
  const withParts = (parts: unknown): Uint8Array =>
    writeSafetensors({ tensors, metadata: { ...metadata, parts: JSON.stringify(parts) } });

  test.each<[what: string, parts: unknown, message: string]>([
    ["none", [], "found metadata parts, expected different names among gpr"],
    ["no list", "linear", "found metadata parts, expected different names among gpr"],
    ["an unknown one", ["forest"], "found metadata parts, expected different names among gpr"],
    ["one twice", ["linear", "linear"], "found metadata parts, expected different names among gpr"],
    ["one that follows another first", ["coupling", "linear", "svgp"], "found the part coupling first"],
    ["one that is not there", ["gpr", "coupling", "svgp"], "found metadata gpr that is not JSON"],
    ["others than the calibrator has scores of", ["linear", "svgp"], "found a calibrator of other scores"],
  ])("are refused with %s", (_, parts, message) => {
    expect(refusal(withParts(parts))).toContain(message);
  });
});
