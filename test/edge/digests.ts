// Compact models and what was recorded of them: SHA-256 of the file, and of the predictions for 1,000 texts.

import type { CompactOptions } from "../../src/compact/index.ts";
import type { TrainedModel } from "../../src/model/model.ts";
import { calibrated, closedModel, textModel } from "./support.ts";

export function sameCases(): Record<string, { model: TrainedModel; options: CompactOptions }> {
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
      model: closedModel({ form: "exact", points: 60, stack: 7, seed: 5 }),
      options: {},
    },
    "Gaussian, linear in the features, the largest weights": {
      model: closedModel({ form: "linear", seed: 7 }),
      options: { size: 0.02 },
    },
    "both likelihoods": { model: closedModel({ form: "both", seed: 6 }), options: {} },
  };
}

export const edgeDigests: Record<string, [file: string, predictions: string]> = {
  "linear, as by default": [
    "a14484e40f3de4293bce2484ec3034333b1a5956c75bd1270f85f9048bd6b782",
    "1b469037f389f7b9baf0d13efa8c31584df38954d45e266543dd961889b4d653",
  ],
  "linear, half precision, low rank": [
    "8b8bd7ae72b4a9bc6c72e9f0d6a86b6319d9cf4a895398be64fd5a70fbeb9e43",
    "75a0ffbbc064941ea464e7c9526ffae6a3b9dab12db4ccb724e9309739b3a570",
  ],
  "linear+se, single precision, exact": [
    "dff64ce905397dcdfa4417a70e6a93f2cf0b20afa8d3b08913c4e9d55a663067",
    "8d392d6e656efae0eee83948d528c3954d535760f6a4617d4cbe864465537ae3",
  ],
  "linear, calibrated": [
    "58394b58d4384beab676b31bd1600e142093b427739697ba132ae93a3b01eb25",
    "1af99973b7af74abb01c564f5265b07f1c706a220a4e4a5b791ce085b96a91b0",
  ],
  "Gaussian, every point in the mean": [
    "ed77971392065fa7ee76e5da7455eea23a035e3bc4e6007cb73c77b0628448d2",
    "2f7765179a0bf1cd313a7699048f3643e70a885660f87a3c302dcb09bf4edafc",
  ],
  "Gaussian, linear in the features, the largest weights": [
    "bc53ec6dcaf8d41ed8f3db33b88cb3278b4638f31be132cf14ed2876eb5030e2",
    "38b42d67f3e383cf468bc0af5f1aed6061bf3054100b4e25e057ba7604e8e8f2",
  ],
  "both likelihoods": [
    "6b1dee9be1e2217b9f32b07aec882bd29609d653d38bbffbf0954fc6a2fd8963",
    "7cafe20258790b8ca588eca6a3be5b1b86bf330a66893d6834b285daa54bd74e",
  ],
};
