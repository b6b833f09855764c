// The weight of the KL, and the mean through the features against the mean through the inducing inputs.

import { describe, expect, test } from "vitest";
import { type ModelShape, parameterNames, parameterSizes } from "../../../src/parts/svgp/shape.ts";
import { boundAt, expectClose, type ParameterValues, withBackend } from "../../support/bounds.ts";
import { randomNumbers } from "../../support/numbers.ts";
import { randomRows, smallSizes } from "../../support/problems.ts";
import { product, transposed, worst } from "../../support/reference.ts";

const { points: b, features: d, labels: k, factors: p, inducing: m } = smallSizes;
const batch = { X: randomRows(b, d, 71), labels: [[2], [], [0, 5], [], [1]] };

type Form = Pick<ModelShape, "kernel" | "posterior" | "mean">;
const forms: Form[] = (["shared", "perFactor"] as const).flatMap((posterior) => [
  { kernel: "linear+se", posterior, mean: "inducing" },
  { kernel: "linear", posterior, mean: "inducing" },
  { kernel: "linear", posterior, mean: "features" },
]);

const shapeOf = (form: Form): ModelShape => ({
  points: 3 * b,
  features: d,
  labels: k,
  factors: p,
  inducingPoints: m,
  rank: 0,
  batch: b,
  inducing: "free",
  minSigma: 0.01,
  quadrature: 64,
  ...form,
});

function randomParameters(shape: ModelShape): ParameterValues {
  const sizes = parameterSizes(shape);
  const entries = parameterNames.map((name, i) => {
    const [rows, columns] = sizes[name];
    return [name, Array.from(randomNumbers(rows * columns, 72 + i))] as const;
  });
  return Object.fromEntries(entries) as ParameterValues;
}

const titleOf = ({ kernel, posterior, mean }: Form): string => `${kernel}, ${posterior}, mean through the ${mean}`;

describe("the weight of the KL", () => {
  for (const form of forms) {
    test(`scales its part of every gradient: ${titleOf(form)}`, async () => {
      await withBackend(async (backend) => {
        const shape = shapeOf(form);
        const values = randomParameters(shape);
        const at = async (klWeight: number): Promise<ParameterValues> =>
          (await boundAt(backend, shape, values, batch, klWeight)).gradient;
        const [none, one, some] = [await at(0), await at(1), await at(0.3)];
        for (const name of parameterNames) {
          const line = none[name].map((value, j) => value + 0.3 * (one[name][j] - value));
          expectClose(some[name], line, name);
          const ofDataAlone = name === "phi" || name === "bias";
          expect(worst(none[name], one[name]) === 0, `the KL has no part in ${name}`).toBe(ofDataAlone);
        }
      });
    });

    test(`gradients are slopes of the weighted value: ${titleOf(form)}`, async () => {
      await withBackend(async (backend) => {
        const shape = shapeOf(form);
        const values = randomParameters(shape);
        const { gradient } = await boundAt(backend, shape, values, batch, 0.4);
        const step = 1e-5;
        for (const name of parameterNames) {
          const moved = async (i: number, by: number): Promise<number> => {
            const other = values[name].map((value, j) => (i === j ? value + by : value));
            return (await boundAt(backend, shape, { ...values, [name]: other }, batch, 0.4)).bound;
          };
          const slopes: number[] = [];
          for (let i = 0; i < values[name].length; i++)
            slopes.push(((await moved(i, step)) - (await moved(i, -step))) / (2 * step));
          expectClose(gradient[name], slopes, name, 1e-6);
        }
      });
    });
  }
});

describe("the mean through the features", () => {
  for (const posterior of ["shared", "perFactor"] as const) {
    test(`is the one through the inducing inputs where its weights are a Z' mu, ${posterior}`, async () => {
      await withBackend(async (backend) => {
        const shape = shapeOf({ kernel: "linear", posterior, mean: "inducing" });
        const values = randomParameters(shape);
        const a = Math.exp(values.hyper[0]);
        const scaledZ = values.inducingInputs.map((value) => a * value); // a Z' [D,M]
        const weights = Array.from(product(d, p, m, scaledZ, values.mu));
        const through = await boundAt(backend, shape, values, batch);
        const direct = await boundAt(backend, { ...shape, mean: "features" }, { ...values, mu: weights }, batch);
        expectClose([direct.bound], [through.bound], "bound");
        for (const name of ["phi", "bias", "logSigma"] as const)
          expectClose(direct.gradient[name], through.gradient[name], name);
        // dmu = a Z dweights
        const byMu = product(m, p, d, transposed(d, m, scaledZ), direct.gradient.mu);
        expectClose(through.gradient.mu, byMu, "mu");
      });
    });
  }
});
