// The kernels' scalar forms by their definitions, and their slopes by differences.

import { describe, expect, test } from "vitest";
import { hyperStart, isLinear, scalarKernel, stationary, termsOf } from "../../src/base/kernels.ts";
import { covarianceOf, hasTerms, kernelNames } from "../support/kernels.ts";

const hyper = [1.3, 0.7, 1.9] as const;

describe("a kernel", () => {
  for (const kernel of kernelNames) {
    test(`${kernel}: its scalar form is its definition`, () => {
      const { covariance, own } = scalarKernel(kernel, hyper);
      for (const x of [0, 0.3, 1, 2.5]) {
        expect(own(x)).toBeCloseTo(covarianceOf(kernel, hyper, x, 0), 13);
        for (const z of [0, 0.4, 1.7]) {
          for (const cosine of [-1, -0.2, 0, 0.9, 1]) {
            const product = cosine * Math.sqrt(x * z);
            const wanted = covarianceOf(kernel, hyper, product, Math.max(0, x + z - 2 * product));
            expect(covariance(product, x, z)).toBeCloseTo(wanted, 12);
          }
        }
      }
    });
    test(`${kernel}: has the terms its name says`, () => {
      const has = hasTerms(kernel);
      expect(termsOf(kernel).linear).toBe(has.linear);
      expect(termsOf(kernel).stationary !== undefined).toBe(has.stationary);
      expect(isLinear(kernel)).toBe(!has.stationary);
      expect(hyperStart(kernel)).toHaveLength(3);
    });
  }

  for (const [name, { value, slope }] of Object.entries(stationary)) {
    test(`${name}: its slope is -2 times the derivative`, () => {
      for (const t of [0.01, 0.3, 1, 4]) {
        const step = 1e-5;
        expect(slope(t)).toBeCloseTo((-2 * (value(t + step) - value(t - step))) / (2 * step), 7);
      }
      expect(value(0)).toBe(1);
    });
  }
});
