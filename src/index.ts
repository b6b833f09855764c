// mlgpf: extreme multi-label classification with calibrated probabilities.

export type { DeviceChoice } from "./backend/devices.ts";
export { ArgumentError, FileError, FormatError, NotFiniteError, OutOfMemoryError } from "./base/errors.ts";
export type {
  Prediction,
  Predictions,
  PredictOptions,
  Reason,
} from "./base/prediction.ts";
export { type CompactOptions, compactModel, type NumberType, type VarianceForm } from "./compact/index.ts";
export { type Core, type CoreOptions, createCore } from "./core/core.ts";
export * from "./data/index.ts";
export { type DatasetInput, type ReadSource, readBatches, readDataset } from "./io/dataset.ts";
export { readNames } from "./io/names.ts";
export type { FileSource } from "./io/source.ts";
export { forget, type Learned, learn } from "./learn/learn.ts";
export type { LearnOptions, Lessons } from "./learn/learner.ts";
export { type QueriedDocument, type QueryOptions, query } from "./learn/query.ts";
export * from "./metrics/index.ts";
export { modelFromBytes, modelToBytes } from "./model/file.ts";
export type { Model } from "./model/model.ts";
export type { Communicator } from "./mpi/communicator.ts";
export type { Part } from "./parts/index.ts";
export type { TrainOptions } from "./parts/options.ts";
export type { ModelSchema } from "./parts/part.ts";
export type { RankName, ScoreOptions, Scores } from "./parts/predictor.ts";
export type {
  NoteProgress,
  PreparationProgress,
  StepProgress,
  StepValue,
  TrainProgress,
} from "./parts/progress.ts";
export { LearningError } from "./parts/regression/documents.ts";
export { type LearningState, stateFromBytes, stateToBytes } from "./parts/regression/state.ts";
export type { TrainingSummary } from "./parts/run.ts";
export type { EvaluateOptions, Evaluation } from "./predict/evaluate.ts";
export type { LoadOptions } from "./predict/host.ts";
export type { ModelInput } from "./predict/input.ts";
export {
  evaluate,
  type LoadedModel,
  loadModel,
  type ModelFile,
  saveModel,
} from "./predict/load.ts";
export { type ReportOptions, report } from "./report/report.ts";
export { type AuditOptions, audit, type Suspect } from "./train/audit.ts";
export {
  makePlan,
  mergeParts,
  type PartOptions,
  planFromText,
  type Shard,
  type TrainingPlan,
  trainPart,
} from "./train/plan.ts";
export { type RecalibrateOptions, recalibrate } from "./train/recalibrate.ts";
export { type RunOptions, train } from "./train/train.ts";
