// The bound and every gradient against reference values of another implementation, in double precision.

import { describe, expect, test } from "vitest";
import { wasmBackend } from "../../../src/backend/wasm.ts";
import { createCore } from "../../../src/core/index.ts";
import { type SelfcheckCase, selfcheckCase } from "../../support/boundcheck.ts";
import { golden } from "../../support/golden.ts";

const settings = [
  { precision: "f64", quadrature: 128, tolerance: 1e-9 },
  { precision: "f64", quadrature: "closed", tolerance: 1e-7 },
  { precision: "f32", quadrature: "closed", tolerance: 1e-4 },
  { precision: "f32", quadrature: 20, tolerance: 1e-4 },
] as const;

describe("the bound and its gradients", () => {
  for (const [file, count] of [
    ["bound.json", 14],
    ["matern.json", 8],
  ] as const) {
    const cases = golden<SelfcheckCase[]>(file);
    for (const { precision, quadrature, tolerance } of settings) {
      for (const threads of [1, 2]) {
        test(`are those of ${file} to ${tolerance}, ${precision}, quadrature ${quadrature}, ${threads} thread(s)`, async () => {
          const core = await createCore({ threads });
          const backend = wasmBackend(core, precision);
          const before = core.arena.used;
          expect(cases.length).toBe(count);
          for (const problem of cases) {
            const errors = await selfcheckCase(backend, problem, quadrature);
            for (const [name, error] of Object.entries(errors))
              expect(error, `${name} of ${problem.name}`).toBeLessThan(tolerance);
          }
          backend.dispose();
          expect(core.arena.used).toBe(before);
          core.dispose();
        });
      }
    }
  }
});
