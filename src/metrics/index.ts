// How good a model's rankings and probabilities are.

export { calibrationError, type ReliabilityBin } from "./bins.ts";
export {
  type CalibrationFigures,
  CalibrationMeter,
  type CalibrationOptions,
  type CalibrationReport,
  type FrequencyGroup,
} from "./calibration.ts";
export { type LabelFigures, LabelMeter } from "./perlabel.ts";
export { inversePropensities, type PropensityOptions } from "./propensity.ts";
export { RankingMeter, type RankingOptions, type RankingReport, rankingMetrics } from "./ranking.ts";
export { topLabels } from "./top.ts";
