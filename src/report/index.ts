// The HTML report of a training.

export { collectReport, type PointText, type ReportSource } from "./collect.ts";
export { type HistoryRecorder, recordHistory, type TrainingHistory } from "./history.ts";
export type { Measured, ReportInput, ReportModel, ReportRun, Sample } from "./input.ts";
export { htmlReport } from "./page.ts";
