// A model's numbers on a device: uploaded from a trained model, or those that a training is learning.

import type { Backend, Tensor } from "../backend/backend.ts";
import type { LabelParameters, LabelShape } from "./labels.ts";
import type { LatentParameters } from "./latent.ts";
import { means } from "./means/index.ts";
import { frameOf, type LatentModel, type ModelFrame } from "./model.ts";
import { groupsOf } from "./posteriors/index.ts";
import { latentReach } from "./reach.ts";
import type { LatentShape } from "./shape.ts";

export interface ModelNumbers {
  frame: ModelFrame;
  /** Its forms and sizes; Z is there in full, as Z' [D,M]. */
  shape: Omit<LatentShape, "batch" | "rank" | "inducing"> & LabelShape;
  tensors: LatentParameters & LabelParameters;
  /** The longest row for which every number stays one. */
  reach: number;
  /** Frees what was made for this. */
  free(): void;
}

export function uploadModel(backend: Backend, model: LatentModel): ModelNumbers {
  const { features: d, labels: k, factors: p, inducingPoints: m } = model;
  const tensors = {
    inducingInputs: backend.tensor(d, m, model.inducingInputs),
    mu: backend.tensor(means[model.mean].rows(model), p, model.mu),
    sigma: backend.tensor(groupsOf(model), m, model.sigma),
    phi: backend.tensor(k, p, model.phi),
    bias: backend.tensor(1, k, model.bias),
    hyper: backend.tensor(1, 3, model.hyper),
  } satisfies Record<string, Tensor>;
  return {
    frame: frameOf(model),
    shape: model,
    tensors,
    reach: latentReach(model),
    free: () => backend.free(...Object.values(tensors)),
  };
}
