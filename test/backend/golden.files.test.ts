// The bound and every gradient on the GPU against reference values computed by automatic differentiation.

import { describe, expect, test } from "vitest";
import { type SelfcheckCase, selfcheckCase } from "../../src/model/selfcheck.ts";
import { hasGpu, withGpu } from "../support/backends.ts";
import { sharedFile } from "../support/shared.ts";

const file = sharedFile("golden/bound.json");
const cases: SelfcheckCase[] = file ? JSON.parse(new TextDecoder().decode(file)) : [];

describe("the bound and its gradients on the GPU", () => {
  for (const quadrature of ["closed", 20] as const) {
    test.skipIf(file === undefined || !hasGpu)(
      `are the reference's to 1e-4, quadrature ${quadrature}`,
      async () => {
        await withGpu(async (backend) => {
          expect(cases.length).toBe(14);
          for (const problem of cases) {
            for (const [name, error] of Object.entries(await selfcheckCase(backend, problem, quadrature)))
              expect(error, `${name} of ${problem.name}`).toBeLessThan(1e-4);
          }
        });
      },
    );
  }
});
