// How good a model's rankings and probabilities are.

export type { Cut, Guarantee, Guarantees, Threshold, ThresholdChoice, Thresholds } from "../base/prediction.ts";
export { topLabels } from "../base/top.ts";
export * from "./calibration.ts";
export * from "./confusion.ts";
export * from "./decisions.ts";
export * from "./evaluation.ts";
export * from "./expectation.ts";
export * from "./labelerror.ts";
export * from "./perlabel.ts";
export * from "./propensity.ts";
export * from "./ranking.ts";
export {
  type CalibrationError,
  type Reliability,
  type ReliabilityGroup,
  ReliabilityMeter,
  wilsonInterval,
} from "./reliability.ts";
export type { BestRow, FrequencyBand, LabelMeans, PrecisionRecall, WholeRow } from "./rows.ts";
export * from "./thresholds.ts";
export type { UnseenReport } from "./unseen.ts";
