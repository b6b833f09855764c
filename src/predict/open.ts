// A trained model as a predictor: on its device where it is one of latent functions, with the closed form and the
// calibrator on the core.

import type { Backend } from "../backend/backend.ts";
import type { Core } from "../core/core.ts";
import { LatentPredictor } from "../model/latentPredictor.ts";
import { frameOf, isClosed, type TrainedModel } from "../model/model.ts";
import { uploadModel } from "../model/numbers.ts";
import type { Predictor } from "../model/predictor.ts";
import { CalibratedPredictor } from "./calibrated.ts";
import { ScoreSource } from "./scores.ts";

export function openPredictor(core: Core, backend: Backend, model: TrainedModel): Predictor {
  const own = isClosed(model) ? model.latent : model;
  const latent = own && new LatentPredictor(backend, uploadModel(backend, own));
  const { calibrator } = model;
  if (calibrator === undefined) return latent as LatentPredictor;
  const source = new ScoreSource(core, frameOf(model), isClosed(model) ? model : undefined, latent);
  return new CalibratedPredictor(core, source, calibrator, () => latent?.free());
}
