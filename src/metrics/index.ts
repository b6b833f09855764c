// How good a model's rankings and probabilities are.

export {
  type AllPairs,
  type CalibrationFigures,
  CalibrationMeter,
  type CalibrationOptions,
  type CalibrationReport,
  type FrequencyGroup,
} from "./calibration.ts";
export type { Cut, Threshold, ThresholdChoice, Thresholds } from "./cut.ts";
export {
  DecisionMeter,
  type DecisionOptions,
  type DecisionReport,
  type PrecisionRecall,
} from "./decisions.ts";
export {
  type Evaluation,
  EvaluationMeter,
  type EvaluationOptions,
  type EvaluationSubject,
  everyFigure,
  type FullEvaluation,
  isFull,
} from "./evaluation.ts";
export { type Expectation, ExpectationMeter } from "./expectation.ts";
export { wilsonInterval } from "./interval.ts";
export { labelsAsCsv, labelsAsJson, type NamedLabelFigures } from "./labelfile.ts";
export { type LabelFigures, LabelMeter } from "./perlabel.ts";
export { inversePropensities, type PropensityOptions } from "./propensity.ts";
export { RankingMeter, type RankingOptions, type RankingReport, rankingMetrics } from "./ranking.ts";
export {
  calibrationError,
  type Reliability,
  type ReliabilityGroup,
  ReliabilityMeter,
} from "./reliability.ts";
export { tailOrder, tailWeights } from "./tail.ts";
export {
  defaultThresholds,
  type ThresholdFigures,
  ThresholdMeter,
  type ThresholdReport,
} from "./thresholds.ts";
export { topLabels } from "./top.ts";
