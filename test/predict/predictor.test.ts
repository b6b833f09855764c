// Scores of the predictor against double loops over the model's arrays.

import { describe, expect, test } from "vitest";
import { wasmBackend } from "../../src/backend/wasm.ts";
import type { SparseRows } from "../../src/base/sparse.ts";
import { createCore, type Precision } from "../../src/core/index.ts";
import type { Scores } from "../../src/parts/predictor.ts";
import { SvgpPredictor, uploadModel } from "../../src/parts/svgp/predictor.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { expectation, inverse, sigmoid } from "../support/fullgp.ts";
import { covarianceOf } from "../support/kernels.ts";
import { type ModelForm, modelSizes, type RandomModel, randomModel } from "../support/models.ts";
import { topicData } from "../support/problems.ts";
import { at, dense, worst } from "../support/reference.ts";

const forms: ModelForm[] = (["shared", "perFactor"] as const).flatMap((groups) => [
  { kernel: "linear", groups, mean: "features" },
  { kernel: "linear", groups, mean: "inducing" },
  { kernel: "se", groups, mean: "inducing" },
  { kernel: "linear+se", groups, mean: "inducing" },
]);
const titleOf = ({ kernel, groups, mean }: ModelForm): string => `${kernel}, ${groups}, mean through the ${mean}`;
const { features: d, labels: k, factors: p, inducing: m } = modelSizes;

/** Points scored in blocks of 256: two blocks. */
const points = topicData({ points: 300, features: d, labels: k }, 5).features;
const some: SparseRows = topicData({ points: 9, features: d, labels: k }, 6).features;
const empty: SparseRows = {
  rows: 1,
  columns: d,
  rowStart: Int32Array.from([0, 0]),
  columnIndex: new Int32Array(0),
  values: new Float32Array(0),
};

type Wanted = Required<Omit<Scores, "rows" | "firstRow" | "beyond">>;

async function scores(
  { parts: [part], schema }: RandomModel,
  features: SparseRows,
  precision: Precision = "f64",
): Promise<Wanted> {
  const core = await createCore({ threads: 1 });
  const backend = wasmBackend(core, precision);
  const before = core.arena.used;
  const predictor = new SvgpPredictor(backend, uploadModel(backend, part, schema));
  const parts: Scores[] = [];
  for await (const part of predictor.score(features, { probability: true, variance: true })) parts.push(part);
  predictor.free();
  backend.dispose();
  expect(core.arena.used).toBe(before);
  core.dispose();
  const all = (name: "utility" | "variance" | "probability"): Float64Array =>
    Float64Array.from(parts.flatMap((part) => Array.from(part[name] as Float64Array)));
  return { utility: all("utility"), variance: all("variance"), probability: all("probability") };
}

/** k(x, z) */
function covariance(model: SvgpPart, x: number[], z: number[]): number {
  const hyper = Array.from(model.hyper, Math.exp);
  let [inner, distance] = [0, 0];
  x.forEach((value, j) => {
    inner += value * z[j];
    distance += (value - z[j]) * (value - z[j]);
  });
  return covarianceOf(model.kernel, hyper, inner, distance);
}

/** Everything by its definition; x as rows. */
function reference({ parts: [model] }: RandomModel, x: number[][]): Wanted {
  const z = Array.from({ length: m }, (_, j) =>
    Array.from({ length: d }, (_, feature) => at(model.inducingInputs, m, feature, j)),
  );
  const inverses = Array.from(
    { length: p },
    (_, factor) =>
      inverse(
        z.map((zi, i) =>
          z.map((zj, j) => {
            const sigma = at(model.sigma, m, model.posterior === "shared" ? 0 : factor, i);
            return covariance(model, zi, zj) + (i === j ? sigma : 0);
          }),
        ),
      ).inverse,
  );
  const out: Record<keyof Wanted, number[]> = { utility: [], variance: [], probability: [] };
  for (const xi of x) {
    const kx = z.map((zj) => covariance(model, xi, zj));
    for (let label = 0; label < k; label++) {
      let [mean, variance] = [model.bias[label], 0];
      for (let factor = 0; factor < p; factor++) {
        const phi = at(model.phi, p, label, factor);
        let [h, s] = [0, covariance(model, xi, xi)];
        (model.mean === "features" ? xi : kx).forEach((value, j) => {
          h += value * at(model.mu, p, j, factor);
        });
        for (let j = 0; j < m; j++) {
          for (let l = 0; l < m; l++) s -= kx[j] * inverses[factor]?.[j]?.[l] * kx[l];
        }
        mean += phi * h;
        variance += phi * phi * s;
      }
      out.utility.push(mean);
      out.variance.push(variance);
      out.probability.push(expectation(sigmoid, mean, variance));
    }
  }
  return {
    utility: Float64Array.from(out.utility),
    variance: Float64Array.from(out.variance),
    probability: Float64Array.from(out.probability),
  };
}

const rowsOf = (features: SparseRows): number[][] => {
  const full = dense(features);
  return Array.from({ length: features.rows }, (_, i) => Array.from(full.slice(i * d, (i + 1) * d)));
};

function expectScores(found: Wanted, wanted: Wanted, tolerance: number, ofProbability: number): void {
  for (const name of ["utility", "variance"] as const) {
    const scale = Math.max(1, ...Array.from(wanted[name], Math.abs));
    expect(worst(found[name], wanted[name]) / scale, name).toBeLessThan(tolerance);
  }
  expect(worst(found.probability, wanted.probability), "probability").toBeLessThan(ofProbability);
}

describe("the predictor", () => {
  for (const form of forms) {
    test(`${titleOf(form)}: utilities, variances and probabilities by their definitions`, async () => {
      const model = randomModel(form);
      expectScores(await scores(model, some), reference(model, rowsOf(some)), 1e-11, 1e-7);
      expectScores(await scores(model, empty), reference(model, rowsOf(empty)), 1e-11, 1e-7);
    });

    test(`${titleOf(form)}: single precision is near`, async () => {
      const model = randomModel({ ...form, precision: "f32" });
      expectScores(await scores(model, some, "f32"), reference(model, rowsOf(some)), 1e-4, 1e-4);
    });

    test(`${titleOf(form)}: one point at a time is all at once`, async () => {
      const model = randomModel(form);
      const all = await scores(model, points);
      for (const i of [0, 1, 255, 256, 299]) {
        const [begin, end] = [points.rowStart[i], points.rowStart[i + 1]];
        const one = {
          rows: 1,
          columns: d,
          rowStart: Int32Array.from([0, end - begin]),
          columnIndex: points.columnIndex.slice(begin, end),
          values: points.values.slice(begin, end),
        };
        const alone = await scores(model, one);
        for (const name of ["utility", "variance", "probability"] as const)
          expect(Array.from(alone[name])).toEqual(Array.from(all[name].slice(i * k, (i + 1) * k)));
      }
    });
  }

  test("weights columns and scales rows to unit length as the model says", async () => {
    const model = randomModel({ kernel: "linear+se", groups: "shared" });
    const columnWeights = Float32Array.from({ length: d }, (_, j) => 1 + j / 4);
    const transform = { columnWeights, normalise: true };
    const x = rowsOf(some).map((row) => {
      const weighted = row.map((value, j) => value * columnWeights[j]);
      const length = Math.sqrt(weighted.reduce((sum, value) => sum + value * value, 0));
      return weighted.map((value) => value / length);
    });
    expectScores(
      await scores({ ...model, schema: { ...model.schema, transform } }, some),
      reference(model, x),
      1e-6,
      1e-6,
    );
  });

  test("frees its memory when its reader stops early", async () => {
    const core = await createCore({ threads: 1 });
    const backend = wasmBackend(core, "f64");
    const before = core.arena.used;
    const { parts, schema } = randomModel({ kernel: "se", groups: "shared" });
    const predictor = new SvgpPredictor(backend, uploadModel(backend, parts[0], schema));
    for await (const { rows } of predictor.score(points)) {
      expect(rows).toBe(256);
      break;
    }
    predictor.free();
    expect(core.arena.used).toBe(before);
    core.dispose();
  });

  test("refuses points of another width", async () => {
    const model = randomModel({ kernel: "linear", groups: "shared" });
    const wide = { ...some, columns: d + 1 };
    await expect(scores(model, wide)).rejects.toThrow(/found .*, expected/);
  });
});
