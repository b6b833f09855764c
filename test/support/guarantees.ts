// Made-up guarantees, for models whose own do not matter.

import type { Guarantees } from "../../src/base/prediction.ts";

export const guarantees: Guarantees = {
  evidence: "leave-one-out",
  rows: 300,
  recall: [
    { target: 0.5, threshold: 0.4 },
    { target: 0.9, threshold: 0.1 },
  ],
  precision: [
    { target: 0.5, confidence: 0.9, threshold: 0.3 },
    { target: 0.9, confidence: 0.9, threshold: 0.7 },
    { target: 0.5, confidence: 0.95, threshold: 0.35 },
  ],
  expectedRecall: { rest: 0.2, intercept: 0.1, slope: 0.9 },
};
