// mlgpf: extreme multi-label classification with honest probabilities.

export type { DeviceChoice } from "./backend/devices.ts";
export { LearningError } from "./closed/documents.ts";
export { type LearningState, stateFromBytes, stateToBytes } from "./closed/state.ts";
export { type CompactOptions, compactModel, type NumberType, type VarianceForm } from "./compact/index.ts";
export { type Core, type CoreOptions, createCore } from "./core/core.ts";
export { ArgumentError, NotFiniteError, OutOfMemoryError } from "./core/errors.ts";
export * from "./data/index.ts";
export type { FileSource } from "./io/bytes.ts";
export { type DatasetInput, type ReadSource, readBatches, readDataset } from "./io/dataset.ts";
export { FileError, FormatError } from "./io/errors.ts";
export { type AskOptions, ask, type Question } from "./learn/ask.ts";
export { forget, type Learned, learn } from "./learn/learn.ts";
export type { LearnOptions, Lessons } from "./learn/learner.ts";
export * from "./metrics/index.ts";
export type {
  Prediction,
  Predictions,
  PredictOptions,
  Reason,
} from "./metrics/prediction.ts";
export { modelFromBytes, modelToBytes } from "./model/file.ts";
export type { TrainedModel, TrainingSummary } from "./model/model.ts";
export type { RankName, ScoreOptions, Scores } from "./model/predictor.ts";
export type { EvaluateOptions, Evaluation } from "./predict/evaluate.ts";
export type { ModelInput } from "./predict/input.ts";
export {
  type LoadedModel,
  type LoadOptions,
  loadModel,
  type ModelFile,
} from "./predict/load.ts";
export { evaluate } from "./predict/measure.ts";
export { saveModel } from "./predict/save.ts";
export type { Communicator } from "./ranks/communicator.ts";
export { type ReportOptions, report } from "./report/report.ts";
export type { EarlyStopping, TrainOptions } from "./train/options.ts";
export {
  makePlan,
  mergeParts,
  type PartOptions,
  planFromText,
  type Shard,
  type TrainingPlan,
  trainPart,
} from "./train/plan.ts";
export type {
  NoteProgress,
  PreparationProgress,
  StepProgress,
  StepValue,
  TrainProgress,
} from "./train/progress.ts";
export { type RecalibrateOptions, recalibrate } from "./train/recalibrate.ts";
export { type RunOptions, train } from "./train/train.ts";
