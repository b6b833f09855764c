// Training in one call: from a data set and options to a model.

import { openDevice } from "../backend/devices.ts";
import { learnChange } from "../closed/change.ts";
import type { ExactChoice } from "../closed/choose.ts";
import { closedOn } from "../closed/device/closed.ts";
import { changeOf, type Documents } from "../closed/documents.ts";
import { stateIdentity } from "../closed/state.ts";
import { type Core, createCore } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import type { WorkOptions } from "../core/progress.ts";
import { checkDataset } from "../data/check.ts";
import { compactColumns, isScattered, mapColumns } from "../data/columns.ts";
import { type Dataset, labelFrequencies, rowsWithLabels, selectRows } from "../data/dataset.ts";
import { denseNote, isDense } from "../data/transform.ts";
import { type DatasetInput, datasetFrom } from "../io/dataset.ts";
import { type KernelName, termsOf } from "../model/kernels/index.ts";
import {
  type ClosedModel,
  type ExactPart,
  frameOf,
  type LatentModel,
  type ModelCommon,
  type ModelFrame,
  type TrainedModel,
  type TrainingSummary,
} from "../model/model.ts";
import { dataFor, readingLike } from "../predict/reading.ts";
import { type ClosedForm, chosenLikelihood, closedForm } from "./choose.ts";
import { chooseDense } from "./dense.ts";
import { estimateExact, estimateInducing } from "./estimate.ts";
import { choicesFor, type ExactWork, trainExact } from "./exact.ts";
import { explained } from "./explained.ts";
import { calibrateHeldOut, type Split, splitData } from "./heldOut.ts";
import { trainInducing } from "./inducing.ts";
import { trainLatent } from "./latent.ts";
import { checkLengths } from "./lengths.ts";
import { type Learning, linearRows, trainLinear } from "./linear.ts";
import { completeOptions, type FullTrainOptions, type TrainOptions } from "./options.ts";
import { transformFor } from "./prepare.ts";
import type { TrainProgress } from "./progress.ts";
import { completeRunOptions, type FullRunOptions, type RunOptions } from "./run.ts";
import {
  checkIds,
  documentsOf,
  exactState,
  type LinearModel,
  learnedModel,
  linearState,
  noted,
  withIds,
} from "./state.ts";
import { withValidation } from "./validated.ts";

export type { RunOptions } from "./run.ts";

/** Everything that a training needs, whichever likelihood it has. */
interface Job {
  core: Core;
  data: Dataset;
  /** The points to learn from and those to calibrate on, where some are held out. */
  split: Split | undefined;
  /** Points without labels, left out. */
  dropped: number;
  full: FullTrainOptions;
  /** What the Gaussian likelihood goes through. */
  form: ClosedForm;
  /** Where features are dense: what the caller has named of the options that are chosen by looking at them. */
  dense: Pick<TrainOptions, "kernel" | "normalise"> | undefined;
  run: FullRunOptions;
  work: WorkOptions;
  note: (text: string) => void;
}

/** Trains a model of latent functions. Points without labels say nothing and are left out. */
export async function train(
  input: DatasetInput,
  options: TrainOptions & RunOptions & { likelihood: "bernoulli" },
): Promise<LatentModel>;
/**
 * Trains a model on a data set, or on a file or rows that are read first: `train("docs.jsonl")`,
 * `train([{ text: "...", labels: ["..."] }])`. Points without labels say nothing and are left out.
 *
 * @param input What to learn from.
 * @param options What decides the model (`TrainOptions`) and how the training runs (`RunOptions`).
 * @throws {DataError} Rows that cannot be read, with file and line.
 * @throws {ArgumentError} An option that cannot be, with its name.
 * @throws {unknown} The reason of `signal`, when it stops the training.
 * @example
 * ```ts
 * const model = await train("docs.jsonl", { seed: 1, onProgress: (progress) => console.log(progress.stage) });
 * ```
 */
export async function train(input: DatasetInput, options?: TrainOptions & RunOptions): Promise<TrainedModel>;
/** Trains a model. */
export async function train(
  input: DatasetInput,
  options: TrainOptions & RunOptions = {},
): Promise<TrainedModel> {
  const given = completeRunOptions(options);
  const dataset = await datasetFrom(input);
  checkDataset(dataset);
  const data = dataToLearn(dataset, options);
  const { rows: points, columns: features } = data.features;
  const dense = data.vectoriser === undefined && isDense(data.features);
  const chosen = chosenLikelihood(options, data, dense);
  const asked = { ...options, ...chosen?.options };
  const form = closedForm(asked, data, dense);
  const split = splitFor(data, asked, form);
  const sizes = {
    points: split ? split.fitted.features.rows : points,
    features,
    labels: data.labels.labels,
    dense,
  };
  const full = completeOptions(asked, sizes);
  const { validation: measured, ...settings } = given;
  const held = measured && (await dataFor(readingLike(dataset), measured));
  const validation = held && mapColumns(held, data.columnIds);
  const run: FullRunOptions = { ...settings, ...(validation && { validation }) };
  if (run.onState) checkLearning(data, full, form, chosen?.reason);
  if (run.ranks) checkRanks(full, run);
  checkLengths(data.features, transformFor(data, full));
  const core = await createCore({ threads: run.threads, relaxed: run.relaxed });
  try {
    const note = (text: string): void => run.onProgress?.({ stage: "note", text });
    note(`${core.threadsReason}${core.relaxed ? ", relaxed SIMD" : ""}`);
    if (chosen) note(chosen.reason);
    const work: WorkOptions = {
      ...(run.signal ? { signal: run.signal } : {}),
      onProgress: (progress) => run.onProgress?.(progress as TrainProgress),
    };
    const dropped = dataset.features.rows - points;
    if (dropped > 0) note(`${dropped} of ${dataset.features.rows} points have no labels and are left out`);
    const named = dense ? options : undefined;
    const job = { core, data, split, dropped, full, form, dense: named, run, work, note };
    const model = await trainJob(job).catch((error) => {
      throw explained(error, full);
    });
    return held && model.calibrator ? await withValidation(core, model, held) : model;
  } finally {
    core.dispose();
  }
}

/** The points that have labels; where most columns do not occur, on those that do. */
function dataToLearn(dataset: Dataset, { basis }: TrainOptions): Dataset {
  const labelled = rowsWithLabels(dataset.labels);
  if (labelled.length === 0)
    throw new ArgumentError("dataset", "found no point with a label, expected at least one");
  const data = labelled.length === dataset.features.rows ? dataset : selectRows(dataset, labelled);
  // A basis of one's own has a number for every column.
  return typeof basis !== "object" && isScattered(data) ? compactColumns(data) : data;
}

/** What is held out to calibrate on, where it is wanted, points are not left out for it and there are enough. */
function splitFor(
  data: Dataset,
  { likelihood, calibration = true }: TrainOptions,
  form: ClosedForm,
): Split | undefined {
  const leftOut = likelihood === "gaussian" && form !== "linear";
  return calibration && !leftOut ? splitData(data) : undefined;
}

/** Refuses what could not go on learning, before any work is done. */
function checkLearning(
  data: Dataset,
  { likelihood }: FullTrainOptions,
  form: ClosedForm,
  why?: string,
): void {
  if (likelihood === "bernoulli")
    throw new ArgumentError(
      "likelihood",
      `found ${why ? `auto, which is bernoulli here (${why})` : "bernoulli"}: it is learned step by step and cannot go on learning, ` +
        "expected gaussian or both",
    );
  if (likelihood === "gaussian" && form === "inducing")
    throw new ArgumentError(
      "kernel",
      `found ${data.features.rows} points, too many for each to be kept, where some carry the mean for all: that cannot go on learning, ` +
        "expected linear or fewer points",
    );
  checkIds(data);
}

/** Refuses what ranks cannot compute together. */
function checkRanks(
  { likelihood, negatives, labelsPerStep }: FullTrainOptions,
  { device }: FullRunOptions,
): void {
  const expected = { likelihood: "bernoulli", negatives: "all", labelsPerStep: "all", device: "wasm" };
  const found: Record<string, unknown> = { likelihood, negatives, labelsPerStep, device };
  for (const [name, value] of Object.entries(expected))
    if (found[name] !== value)
      throw new ArgumentError(name, `found ${found[name]} with ranks, expected ${value}`);
}

async function trainJob(job: Job): Promise<TrainedModel> {
  const { likelihood } = job.full;
  if (likelihood === "gaussian" && job.form !== "linear") return await trainKernel(job);
  if (likelihood === "bernoulli") return await trainBernoulli(job);
  return await trainHeldOut(job);
}

/** Through a kernel, calibrated by leaving points out. */
async function trainKernel(job: Job): Promise<ClosedModel> {
  const { core, data, form, run, note } = job;
  const { rows: points } = data.features;
  const estimate = form === "exact" ? estimateExact : estimateInducing;
  note(estimate(core, points, data.labels.labels, job.dense !== undefined));
  const { full, choices } = await exactChoices(job);
  const frame = frameFor(data, full, points);
  const common = commonFor(data, frame);
  if (form === "inducing") {
    const { fit, device } = await onDevice(job, (on) =>
      trainInducing(core, data, frame, choices, full.seed, on, note),
    );
    const { figures, ...closed } = fit;
    const summary = closedSummary(job, full, figures, device);
    return { ...common, likelihood: "gaussian", ...closed, summary };
  }
  const { fit, device } = await onDevice(job, (on) =>
    trainExact(core, data, frame, choices, full.seed, on, note),
  );
  const { figures, order, ...closed } = fit;
  const summary = closedSummary(job, full, figures, device);
  const model: ClosedModel = { ...common, likelihood: "gaussian", ...closed, summary };
  if (run.onState === undefined) return model;
  const state = exactState(model, documentsOf(selectRows(data, order), (model.closed as ExactPart).rows));
  await run.onState(state);
  return noted(model, stateIdentity(state));
}

/** The summary of a model in closed form, with figures on points that were left out. */
const closedSummary = (
  { core, data, dropped, split }: Job,
  full: FullTrainOptions,
  figures: Record<string, number>,
  device: string | undefined,
): TrainingSummary => ({
  ...summaryFor(full, (split?.fitted ?? data).features.rows, dropped),
  ...(device !== undefined && { device }),
  ...(core.relaxed && { relaxed: true as const }),
  leftOut: figures,
});

/** The covariances that the exact form chooses from; dense features have been looked at by then, and leave one. */
async function exactChoices(job: Job): Promise<{ full: FullTrainOptions; choices: readonly ExactChoice[] }> {
  const { core, data, full, dense, work, note } = job;
  if (dense === undefined) return { full, choices: choicesFor(full.kernel, data.features.rows) };
  const frameOf = (some: Dataset, kernel: KernelName, normalise: boolean): ModelFrame =>
    frameFor(some, { ...full, kernel, normalise }, some.features.rows);
  const named = { ...(dense.kernel && { kernel: full.kernel }), normalise: dense.normalise, seed: full.seed };
  const { kernel, normalise, choice, reason } = await chooseDense(core, data, frameOf, named, work);
  note(reason);
  return { full: { ...full, kernel, normalise }, choices: [choice] };
}

/** Fits a closed form with the GPU that was asked for or found, if any, and says which it was. */
async function onDevice<T>(
  { core, run, work, note }: Job,
  fitOn: (on: ExactWork) => Promise<T>,
): Promise<{ fit: T; device?: string }> {
  if (run.device === "wasm") return { fit: await fitOn(work) };
  const device = await openDevice(core, run.device, "f32");
  try {
    note(`the closed form on ${device.about}`);
    if (device.backend.onCore) return { fit: await fitOn(work) };
    return { fit: await fitOn({ ...work, device: closedOn(device, note) }), device: device.about };
  } finally {
    device.dispose();
  }
}

/** Step by step; calibrated on points held out, where there are enough and it is wanted. */
async function trainBernoulli(job: Job): Promise<LatentModel> {
  const { core, data, split, dropped, full, run, work } = job;
  sayDense(job);
  if (split === undefined) return await trainLatent(core, data, dropped, full, run);
  sayHeldOut(job, split.heldOut);
  const model = await trainLatent(core, split.fitted, dropped, full, run);
  if (run.ranks && run.ranks.rank > 0) return model;
  const parts = { frame: frameOf(model), latent: model };
  const { figures, ...honest } = await calibrateHeldOut(core, parts, split.heldOut, work);
  return { ...model, ...honest, summary: { ...model.summary, leftOut: figures } };
}

/** The linear closed form, with the latent functions beside it or alone, calibrated on points held out. */
async function trainHeldOut(job: Job): Promise<TrainedModel> {
  const { core, data, split, dropped, full, run, work } = job;
  if (split === undefined) return await trainKernel(job);
  sayDense(job);
  sayHeldOut(job, split.heldOut);
  const { fitted, heldOut } = split;
  const frame = frameFor(fitted, full, fitted.features.rows);
  const latent = full.likelihood === "both" ? await trainLatent(core, fitted, dropped, full, run) : undefined;
  const given = { data: fitted, unseen: heldOut.features };
  const { fit, device } = await onDevice(job, (on) =>
    trainLinear(core, given, frame, on, run.onState !== undefined),
  );
  const { learning, ...numbers } = fit;
  try {
    const closed = { ...numbers, labels: frame.labels };
    const { figures, ...honest } = await calibrateHeldOut(core, { frame, closed, latent }, heldOut, work);
    const model: LinearModel = {
      ...commonFor(data, frame),
      likelihood: latent ? "both" : "gaussian",
      ...closed,
      ...honest,
      summary: closedSummary(job, full, figures, device),
      ...(latent && { latent }),
    };
    return learning ? await withState(model, learning, split, job) : model;
  } finally {
    learning?.free();
  }
}

/** What was held out is learned too once it has served; the state goes to whoever asked for it. */
async function withState(
  model: LinearModel,
  learning: Learning,
  split: Split,
  job: Job,
): Promise<ClosedModel> {
  const { columns } = model.closed;
  const [fitted, heldOut] = [split.fitted, split.heldOut].map((part) =>
    documentsOf(part, linearRows(part.features, model, columns)),
  ) as [Documents, Documents];
  const change = changeOf(withIds(fitted), { learn: heldOut });
  await learnChange(learning.learned, { linear: true }, change, job.work);
  const whole = learnedModel(model, learning, change);
  const state = linearState(whole, learning, withIds(change.after));
  await job.run.onState?.(state);
  return noted(whole, stateIdentity(state));
}

const sayDense = ({ dense, full, note }: Job): void => {
  if (dense && !full.normalise) note(denseNote(!termsOf(full.kernel).linear));
};

const sayHeldOut = ({ note }: Job, { features }: Dataset): void =>
  note(`${features.rows} points are held out to make the probabilities honest`);

/** What a closed model knows of its features and labels. */
export function frameFor(data: Dataset, full: FullTrainOptions, points: number): ModelFrame {
  return {
    features: data.features.columns,
    labels: data.labels.labels,
    points,
    transform: transformFor(data, full),
    labelCounts: Int32Array.from(labelFrequencies(data.labels)),
    ...(data.labelNames ? { labelNames: data.labelNames } : {}),
    ...(data.columnIds ? { columnIds: data.columnIds } : {}),
  };
}

function commonFor(data: Dataset, { points: _, ...frame }: ModelFrame): Omit<ModelCommon, "summary"> {
  return {
    ...frame,
    ...(data.featureNames ? { featureNames: data.featureNames } : {}),
    ...(data.vectoriser ? { vectoriser: data.vectoriser.toJSON() } : {}),
  };
}

/** The summary's account of the options. */
export function summaryFor(full: FullTrainOptions, points: number, dropped: number): TrainingSummary {
  const options = { ...full, basis: typeof full.basis === "string" ? full.basis : "given" };
  return { options, points, droppedPoints: dropped };
}
