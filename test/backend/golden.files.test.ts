// The bound and every gradient on the GPU against reference values of another implementation.

import { describe, expect, test } from "vitest";
import { type SelfcheckCase, selfcheckCase } from "../../src/model/selfcheck.ts";
import { hasGpu, withGpu } from "../support/backends.ts";
import { golden } from "../support/golden.ts";

const cases = ["bound.json", "matern.json"].flatMap((file) => golden<SelfcheckCase[]>(file));

describe("the bound and its gradients on the GPU", () => {
  for (const quadrature of ["closed", 20] as const) {
    test.skipIf(!hasGpu)(`are the reference's to 1e-4, quadrature ${quadrature}`, async () => {
      await withGpu(async (backend) => {
        for (const problem of cases) {
          for (const [name, error] of Object.entries(await selfcheckCase(backend, problem, quadrature)))
            expect(error, `${name} of ${problem.name}`).toBeLessThan(1e-4);
        }
      });
    });
  }
});
