// The bound and every gradient on the GPU against reference values of another implementation.
// @module-tag long

import { describe, expect, test } from "vitest";
import { withGpu } from "../support/backends.ts";
import { type SelfcheckCase, selfcheckCase } from "../support/boundcheck.ts";
import { golden } from "../support/golden.ts";

const cases = ["bound.json", "matern.json"].flatMap((file) => golden<SelfcheckCase[]>(file));

describe("the bound and its gradients on the GPU", () => {
  for (const quadrature of ["closed", 20] as const) {
    test(`are the reference's to 1e-4, quadrature ${quadrature}`, async () => {
      await withGpu(async (backend) => {
        for (const problem of cases) {
          for (const [name, error] of Object.entries(await selfcheckCase(backend, problem, quadrature)))
            expect(error, `${name} of ${problem.name}`).toBeLessThan(1e-4);
        }
      });
    });
  }
});
