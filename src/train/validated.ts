// Figures on validation data, while a model is learned and of the one that comes out.

import { WasmBackend } from "../backend/wasm.ts";
import type { Core } from "../core/core.ts";
import type { Dataset } from "../data/dataset.ts";
import { isClosed, type TrainedModel } from "../model/model.ts";
import type { Predictor } from "../model/predictor.ts";
import { evaluate } from "../predict/evaluate.ts";
import { openPredictor } from "../predict/open.ts";

/** P@k, nDCG@k and, where it is asked for (it takes longer), the log loss. */
export async function validationFigures(
  predictor: Predictor,
  data: Dataset,
  logLoss: boolean,
): Promise<Record<string, number>> {
  const { ranking, calibration } = await evaluate(predictor, data, { calibration: logLoss });
  return { ...ranking.metrics, ...(calibration && { logLoss: calibration.logLoss }) };
}

/** The model with its figures: those of its steps, if there were any, were of one that was not calibrated yet. */
export async function withValidation<Model extends TrainedModel>(
  core: Core,
  model: Model,
  data: Dataset,
): Promise<Model> {
  const trained: TrainedModel = model;
  const latent = isClosed(trained) ? trained.latent : trained;
  const backend = new WasmBackend(core, latent?.phi instanceof Float64Array ? "f64" : "f32");
  const predictor = openPredictor(core, backend, model);
  try {
    const validation = await validationFigures(predictor, data, true);
    return { ...model, summary: { ...model.summary, validation } };
  } finally {
    predictor.free();
    backend.dispose();
  }
}
