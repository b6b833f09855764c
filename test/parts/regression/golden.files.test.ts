// The closed form against reference values computed in double precision.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Precision } from "../../../src/core/index.ts";
import { type ClosedCase, closedForms } from "../../support/closedcheck.ts";
import { coreKinds, withCore } from "../../support/cores.ts";

const { cases } = JSON.parse(readFileSync("test/golden/closed-form.json", "utf8")) as { cases: ClosedCase[] };
const tolerances: Record<Precision, number> = { f32: 1e-4, f64: 1e-9 };

for (const kind of coreKinds) {
  for (const precision of ["f32", "f64"] as const) {
    describe(`closed form, ${precision}, ${kind.name}`, () => {
      for (const problem of cases) {
        for (const [form, errorsOf] of Object.entries(closedForms)) {
          test(`${form} form of "${problem.name}"`, async () => {
            await withCore(kind, async (core) => {
              const errors = await errorsOf(core, precision, problem);
              for (const [name, error] of Object.entries(errors))
                expect(error, name).toBeLessThan(tolerances[precision]);
            });
          });
        }
      }
    });
  }
}
