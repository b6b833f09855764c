// Compact models and what was recorded of them: SHA-256 of the file, and of the predictions for 1,000 texts.

import type { CompactOptions } from "../../src/compact/index.ts";
import type { Model } from "../../src/model/model.ts";
import { calibrated, closedModel, textModel } from "./support.ts";

export function sameCases(): Record<string, { model: Model; options: CompactOptions }> {
  return {
    "linear, as by default": { model: textModel(), options: {} },
    "linear, half precision, low rank": {
      model: textModel({ mean: "inducing", seed: 2 }),
      options: { type: "f16", variance: "low-rank", rank: 5 },
    },
    "linear+se, single precision, exact": {
      model: textModel({ kernel: "linear+se", seed: 3 }),
      options: { type: "f32", variance: "exact" },
    },
    "linear, calibrated": { model: calibrated(textModel({ seed: 4 })), options: {} },
    "Gaussian, every point in the mean": {
      model: closedModel({ form: "gpr", points: 60, coupling: 7, seed: 5 }),
      options: {},
    },
    "Gaussian, linear in the features, the largest weights": {
      model: closedModel({ form: "linear", seed: 7 }),
      options: { size: 0.02 },
    },
    "both likelihoods": { model: closedModel({ form: "linear+svgp", seed: 6 }), options: {} },
  };
}

export const edgeDigests: Record<string, [file: string, predictions: string]> = {
  "linear, as by default": [
    "b0e3838157937d9120a0f76ec5e13e120225a540e292843c893a5dd7da609b14",
    "1b469037f389f7b9baf0d13efa8c31584df38954d45e266543dd961889b4d653",
  ],
  "linear, half precision, low rank": [
    "10297f8b7b045401f709148883da08f077932c0d46d61f1f13201a881ebe109f",
    "75a0ffbbc064941ea464e7c9526ffae6a3b9dab12db4ccb724e9309739b3a570",
  ],
  "linear+se, single precision, exact": [
    "06e0fa059ba79f8672dc41ecc594e9615a29d8f1ee86824bd3a9c0e1a15804db",
    "8d392d6e656efae0eee83948d528c3954d535760f6a4617d4cbe864465537ae3",
  ],
  "linear, calibrated": [
    "8c7119537d2e9f982e83c8e2d0df3b49e358945f26286dffa51873a37fcdc0fd",
    "1f05d1ec84f1e3fbc013608c2c9e8754b90dc51c4c107455e4226c7f7408ecc2",
  ],
  "Gaussian, every point in the mean": [
    "8a5968c7fa369ea250bb3556554054cc73dc8ccad2da3260501aa9a1fca16686",
    "10f7cdb79dc6c1e60a26b5badc2157615d0a27bfdb6a7afddef3ae76f04f5078",
  ],
  "Gaussian, linear in the features, the largest weights": [
    "a14b5745e06331e9f0dfeacb71c09ec8c7e666ca5aa802c2e616479bf8ce5d08",
    "0f02d88b5edaeb0cef2b216dbfd6f59867e48cbb6bd0240454ee7833dc8846f2",
  ],
  "both likelihoods": [
    "c06f80ac414fe1a7b10e6a5ffbc4956228a216a90c1bce46ffdaeefda5f1cc79",
    "fb549349c3c49157e2ce1808f157b630f68ec9035cd8cb5253a3b8283b1d40b0",
  ],
};
