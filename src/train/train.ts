// Training in one call: from a data set and options to a model. The parts are fitted one after another, then the calibrator to scores
// of points that they have not seen.

import { wasmBackend } from "../backend/wasm.ts";
import { ArgumentError, NotFiniteError } from "../base/errors.ts";
import { termsOf } from "../base/kernels.ts";
import { counted, grouped } from "../base/numbers.ts";
import { Turns, type WorkOptions } from "../base/progress.ts";
import { checkSingle, firstEqualRows, labelFrequencies, rowsWithLabels, type SparseRows } from "../base/sparse.ts";
import type { CalibratedFit } from "../calibrate/calibrate.ts";
import { type Core, createCore } from "../core/core.ts";
import { NotPositiveError } from "../core/inverse.ts";
import { checkDataset, compactColumns, type Dataset, isScattered, labelledPart, mapColumns } from "../data/dataset.ts";
import type { ReadOptions } from "../data/options.ts";
import { comparedFrom, denseNote, type FeatureTransform, isDense, refuseLongRows } from "../data/transform.ts";
import { type DatasetInput, datasetFrom } from "../io/dataset.ts";
import { summaryFigures } from "../metrics/evaluation.ts";
import { type Model, withUnseen } from "../model/model.ts";
import { estimate } from "../parts/estimate.ts";
import { families, type Part } from "../parts/index.ts";
import {
  completeOptions,
  type FullTrainOptions,
  type TrainOptions,
  toldOptions,
  trainOptions,
} from "../parts/options.ts";
import type { Fit, FitContext } from "../parts/part.ts";
import type { Predictor } from "../parts/predictor.ts";
import type { TrainProgress } from "../parts/progress.ts";
import { changeOf, checkIds, documentsOf, withIds } from "../parts/regression/documents.ts";
import { completeRunOptions, type FullRunOptions, type RunOptions } from "../parts/run.ts";
import { schemaFor } from "../parts/schema.ts";
import { type Split, splitData } from "../parts/split.ts";
import { evaluatePredictor } from "../predict/evaluate.ts";
import { openPredictor, precisionOf } from "../predict/open.ts";
import { dataFor, readingLike } from "../predict/reading.ts";
import { calibrateByLoo, calibrateHeldOut, lossByLoo, moverFor, planMover } from "./calibrate.ts";
import { type ChosenParts, chosenParts, fittedFamilies } from "./choose.ts";
import { holdOut, type Read, readAlready } from "./holdout.ts";
import { noted, stateOf } from "./state.ts";

export type { RunOptions } from "../parts/run.ts";

/**
 * Trains a model on a data set, or on a file or rows that are read first: `train("docs.jsonl")`,
 * `train([{ text: "...", labels: ["..."] }])`, `train("docs.csv", { text: "abstract", labels: "subjects" })`. Rows whose labels are there and empty are points with no label; rows without the key are
 * unlabelled and left out.
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
export async function train(input: DatasetInput, options: TrainOptions & RunOptions = {}): Promise<Model> {
  const { validation: measured, text, labels, id, ...settings } = completeRunOptions(options);
  const keys: ReadOptions = { ...(text && { text }), ...(labels && { labels }), ...(id && { id }) };
  const part = typeof measured === "string" ? /^([\d.]+)\s*%$/.exec(measured)?.[1] : undefined;
  const halves =
    part === undefined ? undefined : await holdOut(readerOf(input, keys), Number(part) / 100, options.seed ?? 0);
  const dataset = halves?.kept ?? (await datasetFrom(input, keys));
  const turns = new Turns(options);
  await turns.take();
  checkDataset(dataset);
  if (turns.due) await turns.take();
  const data = dataToLearn(dataset);
  const dense = data.vectoriser === undefined && isDense(data.features);
  const chosen = chosenParts(options, data, dense);
  if (turns.due) await turns.take();
  const firstEqual = firstEqualRows(data.features, comparedFrom(data));
  if (turns.due) await turns.take();
  const split = (options.calibration ?? true) && !byLoo(chosen) ? splitData(data, firstEqual) : undefined;
  const fitted = split?.fitted ?? data;
  const full = optionsFor(options, chosen, fitted, dense);
  if (full.exclusive) checkSingle(data.labels);
  const held = halves?.held ?? (measured && (await dataFor(readingLike(dataset), measured, keys)));
  const validation = held && mapColumns(held, data.columnIds);
  const run: FullRunOptions = { ...settings, ...(validation && { validation }) };
  if (run.onState) checkLearning(chosen, data);
  if (run.mpi) checkRanks(chosen, full, run);
  if (turns.due) await turns.take();
  const schema = schemaFor(fitted, full);
  if (turns.due) await turns.take();
  checkLengths(data.features, schema.transform);
  const core = await createCore({ threads: run.threads, relaxed: run.relaxed, wide: run.wide });
  try {
    const note = (text: string): void => run.onProgress?.({ stage: "note", text });
    note([core.threadsReason, core.relaxed ? "relaxed SIMD" : core.wideReason].filter(Boolean).join(", "));
    if (chosen.reason) note(chosen.reason);
    const dropped = dataset.features.rows - data.features.rows;
    if (dropped > 0)
      note(`${grouped(dropped)} of ${counted(dataset.features.rows, "row")} are unlabelled and left out`);
    sayData(data, firstEqual, full.exclusive, note);
    if (turns.due) await turns.take();
    const work: WorkOptions = {
      ...(run.signal && { signal: run.signal }),
      onProgress: (progress) => run.onProgress?.(progress as TrainProgress),
    };
    const context: FitContext = {
      core,
      data: fitted,
      heldOut: split?.heldOut,
      schema,
      options: full,
      dense: dense ? options : undefined,
      run,
      work,
      note,
      looLoss: (fit, own, quiet) => lossByLoo({ core, schema: own, work: quiet }, fit as Fit<Part>),
      measure: validationFigures,
    };
    const model = await trainParts(context, chosen, split, dropped).catch((error) => {
      throw explained(error, full);
    });
    return held && model.calibrator ? await withValidation(core, model, held) : model;
  } finally {
    core.dispose();
  }
}

/** Reads what a caller gave, as often as it takes; a data set is what it is. */
function readerOf(input: DatasetInput, keys: ReadOptions): Read {
  const isRead = typeof input === "object" && input !== null && ("dataset" in input || "features" in input);
  return async (options) =>
    isRead ? await readAlready(await datasetFrom(input))(options) : await datasetFrom(input, { ...keys, ...options });
}

/** The rows whose labels are known, also those that have none; where most columns do not occur, on those that do. */
function dataToLearn(dataset: Dataset): Dataset {
  const data = labelledPart(dataset);
  if (data.labels.labelIndex.length === 0)
    throw new ArgumentError("dataset", "found no row with a label, expected at least one");
  return isScattered(data) ? compactColumns(data) : data;
}

/** Every part has leave-one-out scores: then no point need be held out. */
const byLoo = ({ names }: ChosenParts): boolean => names.every((name) => families[name].loo);

function optionsFor(
  options: TrainOptions,
  { names }: ChosenParts,
  { features, labels }: Dataset,
  dense: boolean,
): FullTrainOptions {
  const wanted = names.join("+");
  const sizes = { points: features.rows, features: features.columns, labels: labels.labels, dense };
  const { defaultKernel } = families[names[0]];
  const full = completeOptions({ ...options, model: wanted }, { ...sizes, defaultKernel });
  if (!full.calibration && !(names.length === 1 && families[names[0]].predictor))
    throw new ArgumentError("calibration", `found false with the model ${wanted}, whose scores are no probabilities`);
  return full;
}

/** Refuses what could not go on learning, before any work is done. */
function checkLearning({ names, reason }: ChosenParts, data: Dataset): void {
  const learning = fittedFamilies.filter((name) => families[name].learning);
  if (!families[names[0]].learning)
    throw new ArgumentError(
      "model",
      `found ${names.join("+")}, which cannot go on learning${reason ? ` (${reason})` : ""}, expected ${learning.join(" or ")}`,
    );
  checkIds(data);
}

/** Refuses what ranks cannot compute together. */
function checkRanks({ names }: ChosenParts, { negatives }: FullTrainOptions, { device }: FullRunOptions): void {
  const found: Record<string, unknown> = { model: names.join("+"), negatives, device };
  for (const [name, value] of Object.entries({ model: "svgp", negatives: "all", device: "wasm" }))
    if (found[name] !== value) throw new ArgumentError(name, `found ${found[name]} with ranks, expected ${value}`);
}

async function trainParts(
  context: FitContext,
  { names }: ChosenParts,
  split: Split | undefined,
  dropped: number,
): Promise<Model> {
  const { core, data, options, run, work, note } = context;
  if (names.some((name) => families[name].loo === undefined)) sayDense(context);
  if (split) note(`${split.heldOut.features.rows} rows are held out for calibration`);
  const costs = names.flatMap((name) => families[name].cost?.(data, context.dense !== undefined, options) ?? []);
  const onDevice = names.some((name) => families[name].onDevice);
  for (const name of ["wasm", "auto"].includes(run.device as string) ? [] : names)
    if (!families[name].onDevice) note(`The GPU is not used: ${families[name].title} is computed on WASM`);
  note(estimate(core, costs, split?.heldOut.features.rows, onDevice && run.device === "webgpu"));
  const fits: Fit<Part>[] = [];
  try {
    for (const name of names) {
      const { fit } = families[name];
      fits.push(await (fit as NonNullable<typeof fit>)(context));
    }
    const [first] = fits;
    const schema = first.schema ?? context.schema;
    const parts = fits.map(({ part }) => part);
    let model: Model = { schema, parts, summary: summaryOf(context, fits, dropped) };
    if (typeof options.names === "object" && !data.features.texts)
      note("Names of labels are not used: the rows are no texts, or too many of them to keep");
    const planned = await planMover({ schema, names: options.names, texts: data.features.texts ?? [] }, work);
    const mover = moverFor({ schema, work, note }, planned);
    const { onLeftOut } = run;
    const told =
      onLeftOut &&
      ((rows: readonly number[], probabilities: ArrayLike<number>) => onLeftOut({ data, schema, rows, probabilities }));
    if (first.loo) model = calibrated(model, await calibrateByLoo({ core, schema, work }, first, mover, told));
    else if (split && !(run.mpi && run.mpi.rank > 0))
      model = calibrated(model, await calibrateHeldOut(core, model, split.heldOut, work, mover));
    return run.onState ? await withState(model, first, split, context) : model;
  } finally {
    for (const fit of fits) fit.free?.();
  }
}

/** The model with its calibrator, thresholds and figures; parts that follow the first come in behind it. */
function calibrated(
  model: Model,
  { figures, calibrator, thresholds, parts }: CalibratedFit & { parts: readonly Part[] },
): Model {
  const summary = { ...model.summary, leftOut: figures };
  return withUnseen({ ...model, parts, calibrator, thresholds, summary });
}

function summaryOf({ core, options }: FitContext, fits: readonly Fit<Part>[], dropped: number): Model["summary"] {
  const full = fits[0].options ?? options;
  return {
    options: toldOptions(full),
    droppedPoints: dropped,
    ...(core.relaxed && { relaxed: true as const }),
    // Where two say the same, the first has it.
    ...Object.assign({}, ...fits.map(({ summary }) => summary).reverse()),
  };
}

/** Held-out points are learned too once they have served; the state goes to whoever asked for it. */
async function withState(
  model: Model,
  { learning }: Fit<Part>,
  split: Split | undefined,
  { run, work }: FitContext,
): Promise<Model> {
  const { learner, documents } = learning as NonNullable<Fit<Part>["learning"]>;
  if (!split) {
    const state = stateOf(model, learner, documents);
    await run.onState?.(state);
    return noted(model, state);
  }
  const heldOut = documentsOf(split.heldOut, learner.rows(split.heldOut.features));
  const change = changeOf(withIds(documents), { learn: heldOut });
  const { part } = await learner.learn(change, model.schema, work);
  const whole = { ...model, parts: [part, ...model.parts.slice(1)] };
  const state = stateOf(whole, learner, withIds(change.after));
  await run.onState?.(state);
  const { points, labelCounts } = state.totals as NonNullable<typeof state.totals>;
  const schema = { ...model.schema, points, labelCounts: Int32Array.from(labelCounts) };
  return noted({ ...whole, schema }, state);
}

/** Tells what a person should know of the data before the figures. */
function sayData(
  { labels, labelNames }: Dataset,
  firstEqual: Int32Array | undefined,
  exclusive: boolean,
  note: (text: string) => void,
): void {
  const none = labels.rows - rowsWithLabels(labels).length;
  if (none > 0)
    note(`${grouped(none)} of ${counted(labels.rows, "row")} have an empty set of labels and are learned as such`);
  else if (!exclusive && labels.labels > 1 && labels.labelIndex.length === labels.rows)
    note("Every row has exactly one label; --exclusive (`exclusive: true`) makes its probabilities sum to one");
  const copies = firstEqual?.reduce((sum, first, row) => sum + (first === row ? 0 : 1), 0) ?? 0;
  if (copies > 0)
    note(
      `${grouped(copies)} of ${counted(labels.rows, "row")} have the same words as an earlier one; copies are left out and held out together`,
    );
  const counts = labelFrequencies(labels);
  const every = [...counts.keys()].filter((label) => labels.rows > 1 && counts[label] === labels.rows);
  if (every.length > 0)
    note(
      `WARNING: every row has the label ${labelNames?.[every[0]] ?? every[0]}: a model can learn nothing about it. ` +
        "Rows without it are needed too",
    );
}

const sayDense = ({ dense, options, note }: FitContext): void => {
  if (dense && !options.normalise) note(denseNote(!termsOf(options.kernel).linear));
};

/** Errors of the core in the words of a training: what its user can change. */
function explained(error: unknown, { normalise }: FullTrainOptions): unknown {
  const found = faultOf(error);
  if (found === undefined) return error;
  const remedies = normalise
    ? "another `kernel` or a lower `learningRate`"
    : "`normalise` the rows or scale the features";
  return new Error(`found ${found}, expected features of a moderate size: ${remedies}`, { cause: error });
}

function faultOf(error: unknown): string | undefined {
  if (error instanceof NotPositiveError) return "a covariance of the points that is not positive definite";
  if (!(error instanceof NotFiniteError) || error.argument in trainOptions) return undefined;
  return "NaN or Infinity in what was computed from the features";
}

/** Beyond it products of covariances leave single precision. */
const LONGEST_ROW = 1e9;

/** Refuses rows that are too long once they are weighted; ones that are scaled to unit length need only be finite. */
function checkLengths({ rows, rowStart, columnIndex, values }: SparseRows, transform: FeatureTransform): void {
  const faultIn = refuseLongRows(LONGEST_ROW, transform);
  for (let i = 0; i < rows; i++) {
    const [from, to] = [rowStart[i], rowStart[i + 1]];
    const fault = faultIn({ columnIndex: columnIndex.subarray(from, to), values: values.subarray(from, to) });
    if (fault === undefined) continue;
    const remedy = transform.normalise ? "" : ": `normalise` the rows, or scale the features";
    throw new ArgumentError("features", `found row ${i} of ${fault.found}, expected ${fault.expected}${remedy}`);
  }
}

/** P@k, nDCG@k and, where it is asked for (it takes longer), the log loss: of the classes, where probabilities sum to one. */
export async function validationFigures(
  predictor: Predictor,
  data: Dataset,
  logLoss: boolean,
): Promise<Record<string, number>> {
  const evaluation = await evaluatePredictor(predictor, data, { calibration: logLoss });
  const loss = evaluation.singleLabel?.logLoss ?? evaluation.calibration?.logLoss;
  return { ...summaryFigures(evaluation), ...(loss !== undefined && { logLoss: loss }) };
}

/** The model with its figures: those of its steps, if there were any, were of one that was not calibrated yet. */
async function withValidation(core: Core, model: Model, data: Dataset): Promise<Model> {
  const backend = wasmBackend(core, precisionOf(model));
  const predictor = openPredictor(core, backend, model);
  try {
    const validation = await validationFigures(predictor, data, true);
    return { ...model, summary: { ...model.summary, validation } };
  } finally {
    predictor.free();
    backend.dispose();
  }
}
