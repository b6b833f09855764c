// A trained model's figures on validation data, as it will be used: with its calibrator.

import { WasmBackend } from "../backend/wasm.ts";
import type { Core } from "../core/core.ts";
import type { Dataset } from "../data/dataset.ts";
import type { TrainedModel } from "../model/model.ts";
import { evaluate } from "../predict/evaluate.ts";
import { precisionOf } from "../predict/host.ts";
import { openPredictor } from "../predict/open.ts";

/** Rankings and log loss of a model on data that it was not trained on. */
export async function figuresOn(
  core: Core,
  model: TrainedModel,
  validation: Dataset,
): Promise<Record<string, number>> {
  const backend = new WasmBackend(core, precisionOf(model));
  const predictor = openPredictor(core, backend, model);
  try {
    const { ranking, calibration } = await evaluate(predictor, validation, { calibration: true });
    return { ...ranking.metrics, ...(calibration && { logLoss: calibration.logLoss }) };
  } finally {
    predictor.free();
    backend.dispose();
  }
}
