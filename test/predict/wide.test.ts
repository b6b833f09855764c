// A file may say that its model has any number of features: what is allocated goes by what is in the file and in the rows.

import { expect, test } from "vitest";
import { wasmBackend } from "../../src/backend/wasm.ts";
import { createCore } from "../../src/core/core.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { predictRows } from "../../src/predict/load.ts";
import { openPredictor } from "../../src/predict/open.ts";
import { closedModel } from "../edge/support.ts";
import { watchAllocations } from "../support/allocations.ts";

const WIDE = 2 ** 28;

test.each(["linear", "gpr", "sgpr"] as const)("%s", async (form) => {
  const sizes = { features: 20, labels: 7, factors: 3, inducing: 4 };
  const model = closedModel({ ...sizes, form, points: 5 });
  const { vectoriser: _, ...schema } = model.schema;
  const core = await createCore({ threads: 1 });
  const predict = async (features: number): Promise<unknown> => {
    const parts = model.parts.map((part) =>
      "rows" in part ? { ...part, rows: { ...part.rows, columns: features } } : part,
    );
    const wide = modelFromBytes(modelToBytes({ ...model, schema: { ...schema, features }, parts }));
    const predictor = openPredictor(core, wasmBackend(core, "f32"), wide);
    try {
      const row = {
        rows: 1,
        columns: features,
        rowStart: Int32Array.of(0, 2),
        columnIndex: Int32Array.of(4, 7),
        values: Float32Array.of(3, -4),
      };
      return (await predictRows(predictor, row, { topK: 3 }))[0];
    } finally {
      predictor.free();
    }
  };
  const narrow = await predict(20);
  const watch = watchAllocations();
  try {
    expect(await predict(WIDE)).toEqual(narrow);
  } finally {
    watch.stop();
  }
  expect(watch.greatest).toBeLessThan(2 ** 16);
  core.dispose();
});
