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
    "ed6f8482d6a0b71b35c1f937b0fbde311444a4120f83377542ad6da3652be72a",
    "1b469037f389f7b9baf0d13efa8c31584df38954d45e266543dd961889b4d653",
  ],
  "linear, half precision, low rank": [
    "82273a02fdf08a88f3a894e4e246723d33ae007daac4d2f24c2d07cc107a90d9",
    "75a0ffbbc064941ea464e7c9526ffae6a3b9dab12db4ccb724e9309739b3a570",
  ],
  "linear+se, single precision, exact": [
    "5f4a7b01b8d26ca8c9ebda299ea8111cdd93fc87e12865786387869067cbc3ad",
    "8d392d6e656efae0eee83948d528c3954d535760f6a4617d4cbe864465537ae3",
  ],
  "linear, calibrated": [
    "6ca26424e272120664d62189ce20db8a715a4964eb47a92a6d50b7aa09df659d",
    "1f05d1ec84f1e3fbc013608c2c9e8754b90dc51c4c107455e4226c7f7408ecc2",
  ],
  "Gaussian, every point in the mean": [
    "248efc538203f73f03a0f71221152e4c67bdc089b3b0c9199894144decf93830",
    "10f7cdb79dc6c1e60a26b5badc2157615d0a27bfdb6a7afddef3ae76f04f5078",
  ],
  "Gaussian, linear in the features, the largest weights": [
    "27fcc961ccadf6120537868e8df9cccd00706baa391c60cfa72f3f524f332569",
    "0f02d88b5edaeb0cef2b216dbfd6f59867e48cbb6bd0240454ee7833dc8846f2",
  ],
  "both likelihoods": [
    "86dd7d03ead2fc6c9044dad097e11e5c0913f5744bea3499902937a2c5131105",
    "fb549349c3c49157e2ce1808f157b630f68ec9035cd8cb5253a3b8283b1d40b0",
  ],
};
