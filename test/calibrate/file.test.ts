// Calibrators and thresholds in files: what was written comes back, what was altered is refused or harmless.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Calibrator } from "../../src/base/calibrator.ts";
import { FormatError } from "../../src/base/errors.ts";
import type { Thresholds } from "../../src/base/prediction.ts";
import { readSafetensors, type Tensor, type TensorFile, writeSafetensors } from "../../src/base/safetensors.ts";
import { TensorReader } from "../../src/base/tensors.ts";
import {
  calibratorFromFile,
  calibratorToFile,
  thresholdsFromFile,
  thresholdsToFile,
} from "../../src/calibrate/file.ts";
import { calibratedProbability, calibratePoint, prepareCalibrator } from "../../src/calibrate/forward.ts";
import { chooseThresholds } from "../../src/calibrate/thresholds.ts";
import { guarantees } from "../support/guarantees.ts";
import { someCalibrator } from "./calibrators.ts";

const labels = 5;
const calibrator = someCalibrator(labels, 3);
const thresholds = {
  ...chooseThresholds({
    labelStart: Int32Array.from([0, 1, 2, 3, 4, 5]),
    signedWeight: [1, -1, 1, -2, 1],
    probabilities: [0.9, 0.2, 0.6, 0.5, 0.01],
  }),
  guarantees,
};

const through = (file: TensorFile): TensorFile => readSafetensors(writeSafetensors(file));

const readCalibrator = (file: TensorFile, count: number = labels, name = "m"): Calibrator | undefined =>
  calibratorFromFile(new TensorReader(file, name), count, calibrator.scores);
const readThresholds = (file: TensorFile): Thresholds => thresholdsFromFile(new TensorReader(file, "m"), labels);

/** A copy with some fields of its JSON changed, or tensors. */
function altered(part: TensorFile, key: string, fields: object, tensors: [string, Tensor | undefined][] = []) {
  const about = { ...JSON.parse(part.metadata[key]), ...fields };
  const map = new Map(part.tensors);
  for (const [name, tensor] of tensors) {
    if (tensor) map.set(name, tensor);
    else map.delete(name);
  }
  return { tensors: map, metadata: { [key]: JSON.stringify(about) } };
}
const doubles = (...values: number[]): Tensor => ({
  dtype: "F64",
  shape: [values.length],
  data: Float64Array.from(values),
});

describe("a calibrator in a file", () => {
  const part = calibratorToFile(calibrator);

  test("comes back as it was, with and without what it need not have", () => {
    for (const one of [calibrator, { ...calibrator, rankOffsets: Float64Array.from([0.2, 0, -0.1]) }])
      expect(readCalibrator(through(calibratorToFile(one)))).toEqual(one);
  });

  test("may have fewer labels than the model, not more", () => {
    expect(readCalibrator(part, labels + 1)).toEqual(calibrator);
    expect(() => readCalibrator(part, labels - 1, "m.safetensors")).toThrow(
      "m.safetensors: found 5 numbers in calibrator.labelOffsets, expected at most 4, one for each label",
    );
  });

  const term = { score: 0, shape: "log", centre: 0, width: 0.1 };
  const wrong: Record<string, [fields: object, tensors?: [string, Tensor | undefined][]]> = {
    "no scores": [{ scores: [] }],
    "scores that are no texts": [{ scores: [1, 2] }],
    "one score twice": [{ scores: ["gaussian", "gaussian"] }],
    "an unknown shape": [{ terms: [{ ...term, shape: "sine" }] }],
    "a term of no score": [{ terms: [{ ...term, score: 2 }] }],
    "a term of half a score": [{ terms: [{ ...term, score: 0.5 }] }],
    "a width of 0": [{ terms: [{ ...term, width: 0 }] }],
    "a centre far away": [{ terms: [{ ...term, centre: 1e300 }] }],
    "a term that is none": [{ terms: [null] }],
    "too many terms": [{ terms: new Array(65).fill(term) }],
    "another number of terms": [{ terms: [term] }],
    "a negative variance": [{ offsetVariance: -1 }],
    "a variance that is no number": [{ offsetVariance: "1" }],
    "knots that fall": [{}, [["calibrator.labelKnots", doubles(1, 0, 2)]]],
    "no knots": [{}, [["calibrator.pointKnots", doubles()]]],
    "a knot that is NaN": [{}, [["calibrator.pointKnots", doubles(0, NaN)]]],
    "no weights": [{}, [["calibrator.weights", undefined]]],
    "weights of another type": [
      {},
      [["calibrator.outer", { dtype: "F32", shape: [4], data: Float32Array.from([0, 1, 0, 0]) }]],
    ],
    "a weight below 0": [{}, [["calibrator.outer", doubles(0, 1, -0.1, 0)]]],
    "a weight without end": [{}, [["calibrator.outer", doubles(0, Infinity, 0, 0)]]],
    "an offset that is NaN": [{}, [["calibrator.labelOffsets", doubles(NaN)]]],
    "no strength": [{ strength: null }],
    "no outer curve": [{}, [["calibrator.outer", undefined]]],
  };
  for (const [name, [fields, tensors]] of Object.entries(wrong)) {
    test(`is refused with ${name}`, () => {
      const file = altered(part, "calibrator", fields, tensors);
      expect(() => readCalibrator(file)).toThrow(FormatError);
    });
  }

  test("is refused when its JSON is none", () => {
    for (const text of ["", "[]", "null", "{", "1"])
      expect(() => readCalibrator({ ...part, metadata: { calibrator: text } })).toThrow(FormatError);
  });

  test("whatever is accepted gives probabilities", () => {
    const number = fc.oneof(fc.double(), fc.constantFrom(0, 1, -1, 1e6, -1e6, 1e12, -1e12, 1e-9));
    const score = fc.double({ min: -3.4e38, max: 3.4e38, noNaN: true });
    fc.assert(
      fc.property(
        fc.constantFrom("labelKnots", "pointKnots", "weights", "labelOffsets", "outer"),
        fc.array(number, { minLength: 1, maxLength: 90 }),
        fc.tuple(score, score),
        (name, values, scores) => {
          const given = part.tensors.get(`calibrator.${name}`) as Tensor;
          const data = (given.data as Float64Array).map((own, i) => values[i] ?? own);
          const tensor: Tensor = { dtype: "F64", shape: given.shape, data };
          let found: Calibrator | undefined;
          try {
            found = readCalibrator(altered(part, "calibrator", {}, [[`calibrator.${name}`, tensor]]));
          } catch (error) {
            expect(error).toBeInstanceOf(FormatError);
            return;
          }
          const prepared = prepareCalibrator(found as Calibrator, {
            labelCounts: [0, 1, 5, 9, 3],
            points: 10,
          });
          const point = calibratePoint(
            prepared,
            scores.map((own) => new Array<number>(labels).fill(own)),
          );
          for (let k = 0; k < labels; k++) {
            const p = calibratedProbability(prepared, point, k);
            expect(p >= 0 && p <= 1).toBe(true);
          }
        },
      ),
    );
  });
});

describe("thresholds in a file", () => {
  const part = thresholdsToFile(thresholds);

  test("come back as they were", () => {
    expect(readThresholds(through(part))).toEqual(thresholds);
  });

  const wrong: Record<string, [fields: object, tensors?: [string, Tensor][]]> = {
    "an overall one above 1": [{ overall: 1.5 }],
    "no overall one": [{ overall: null }],
    "guarantees that are no list": [{ guarantees: { ...guarantees, precision: {} } }],
    "a guarantee above 1": [{ guarantees: { ...guarantees, precision: [{ target: 2, threshold: 0.5 }] } }],
    "no expectation": [{ expected: null }],
    "a label's below 0": [
      {},
      [["thresholds.f1", { dtype: "F32", shape: [5], data: Float32Array.from([0, 0, 0, 0, -1]) }]],
    ],
    "another number of labels": [{}, [["thresholds.f1", { dtype: "F32", shape: [4], data: new Float32Array(4) }]]],
  };
  for (const [name, [fields, tensors]] of Object.entries(wrong)) {
    test(`are refused with ${name}`, () => {
      expect(() => readThresholds(altered(part, "thresholds", fields, tensors))).toThrow(FormatError);
    });
  }
});
