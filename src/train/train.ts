// Training in one call: from a data set and options to a model.

import type { Backend, Tensor } from "../backend/backend.ts";
import { WasmBackend } from "../backend/wasm.ts";
import { finiteNumber } from "../core/check.ts";
import { type Core, createCore } from "../core/core.ts";
import { type Csr, csr, rowSquares } from "../core/csr.ts";
import { gemm } from "../core/dense.ts";
import { ArgumentError } from "../core/errors.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import { type Dataset, labelFrequencies, rowsWithLabels, selectRows } from "../data/dataset.ts";
import type { ModelShape } from "../model/shape.ts";
import { evaluate } from "../predict/evaluate.ts";
import type { TrainedModel } from "../predict/model.ts";
import { Predictor } from "../predict/predictor.ts";
import { type CheckpointIdentity, checkpointFromBytes, checkpointToBytes, dataDigest } from "./checkpoint.ts";
import { applyTransform, type FeatureTransform, fitTransform } from "./features.ts";
import { completeOptions, type FullTrainOptions, type TrainOptions } from "./options.ts";
import type { StepProgress, TrainProgress } from "./progress.ts";
import { type Basis, basisGram, inducingStart, makeBasis, projectAll, startParameters } from "./start.ts";
import { Trainer, type TrainingData } from "./trainer.ts";

/** How a training runs: nothing here changes the model that comes out. */
export interface RunOptions {
  threads?: number | "auto";
  /** Fused multiply-add: faster, but bytes may differ between kinds of CPU. */
  relaxed?: boolean;
  /** Bytes that may be taken to keep the projections of all points; beyond it they are made step by step. */
  memoryBudget?: number;
  onProgress?: (progress: TrainProgress) => void;
  /** Ends the training with the signal's reason; the last checkpoint stays. */
  signal?: AbortSignal;
  /** Data to measure on while training. */
  validation?: Dataset;
  /** Given the state of the training every so often, and when it is cancelled. */
  onCheckpoint?: (bytes: Uint8Array<ArrayBuffer>) => void | Promise<void>;
  checkpointSeconds?: number;
  /** A checkpoint to go on from. */
  resume?: Uint8Array;
}

const MEMORY_BUDGET = 2 ** 30;
const REPORT_MILLISECONDS = 400;
const VALIDATIONS = 10;

/** Trains a model. Points without labels say nothing and are left out. */
export async function train(
  dataset: Dataset,
  options: TrainOptions & RunOptions = {},
): Promise<TrainedModel> {
  const labelled = rowsWithLabels(dataset.labels);
  if (labelled.length === 0)
    throw new ArgumentError("dataset", "found no point with a label, expected at least one");
  const data = labelled.length === dataset.features.rows ? dataset : selectRows(dataset, labelled);
  const full = completeOptions(options, {
    points: data.features.rows,
    features: data.features.columns,
    labels: data.labels.labels,
  });
  const core = await createCore({
    ...(options.threads === undefined ? {} : { threads: options.threads }),
    ...(options.relaxed === undefined ? {} : { relaxed: options.relaxed }),
  });
  try {
    options.onProgress?.({
      stage: "note",
      text: `${core.threadsReason}${core.relaxed ? ", relaxed SIMD" : ""}`,
    });
    const dropped = dataset.features.rows - labelled.length;
    return await trainOn(core, new WasmBackend(core, full.precision), data, dropped, full, options);
  } finally {
    core.dispose();
  }
}

async function trainOn(
  core: Core,
  backend: Backend,
  data: Dataset,
  dropped: number,
  options: FullTrainOptions,
  run: RunOptions,
): Promise<TrainedModel> {
  const transform = fitTransform(data.features, options.idf, options.normalise);
  const x = csr(core, applyTransform(data.features, transform), options.precision);
  const work = {
    ...(run.signal ? { signal: run.signal } : {}),
    onProgress: (p: { stage: string; fraction: number }) => run.onProgress?.(p as TrainProgress),
  };
  const basis = options.inducing === "subspace" ? await makeBasis(x, options, work) : undefined;
  const projected = basis && keepProjections(x, basis, options, run);
  const shape = shapeOf(data, options);
  const trainer = new Trainer(backend, core, shape, options, trainingData(x, data, basis, projected));
  const identity: CheckpointIdentity = { options: JSON.stringify(options), data: dataDigest(data) };
  if (run.resume) trainer.restore(checkpointFromBytes(run.resume, identity));
  else {
    const start = await inducingStart(x, projected, basis, options, work);
    startParameters(backend, core, shape, trainer.parameters, start.toArray(), data.labels, options.seed);
    start.free();
  }
  const snapshot = (): Promise<TrainedModel> =>
    modelOf(backend, shape, trainer, basis, data, dropped, transform, options);
  return await loop(backend, shape, trainer, snapshot, identity, run);
}

/** X Xtilde' for all points, if it fits the memory budget; says which way it went. */
function keepProjections(
  x: Csr,
  basis: Basis,
  options: FullTrainOptions,
  run: RunOptions,
): Matrix | undefined {
  const bytes = x.rows * options.rank * (options.precision === "f32" ? 4 : 8);
  const kept = bytes <= finiteNumber("memoryBudget", run.memoryBudget ?? MEMORY_BUDGET);
  const size = `${(bytes / 2 ** 20).toFixed(0)} MB`;
  run.onProgress?.({
    stage: "note",
    text: kept
      ? `projections of all points are kept (${size})`
      : `projections are made step by step (keeping them would take ${size})`,
  });
  return kept ? projectAll(x, basis) : undefined;
}

function shapeOf(data: Dataset, options: FullTrainOptions): ModelShape {
  return {
    points: data.features.rows,
    features: data.features.columns,
    labels: data.labels.labels,
    factors: options.factors,
    inducing: options.inducingPoints,
    rank: options.rank,
    batch: options.batch,
    kernel: options.kernel,
    inducingInputs: options.inducing,
    covariance: options.covariance,
    mean: options.mean,
    floor: options.floor,
    quadrature: options.quadrature,
  };
}

function trainingData(
  x: Csr,
  data: Dataset,
  basis: Basis | undefined,
  projected: Matrix | undefined,
): TrainingData {
  const squares = rowSquares(x, matrix(x.core, x.rows, 1, x.precision));
  return {
    x,
    squares,
    labels: data.labels,
    ...(basis ? { basis: basis.turned } : {}),
    ...(basis && !basis.orthonormal ? { basisGram: basisGram(basis) } : {}),
    ...(projected ? { projected } : {}),
  };
}

/** The steps, with reports, validations, checkpoints and cancelling between them. */
async function loop(
  backend: Backend,
  shape: ModelShape,
  trainer: Trainer,
  snapshot: () => Promise<TrainedModel>,
  identity: CheckpointIdentity,
  run: RunOptions,
): Promise<TrainedModel> {
  const begin = performance.now();
  const firstStep = trainer.step;
  const validateEvery = Math.ceil(trainer.steps / VALIDATIONS);
  const saveEvery = 1000 * (run.checkpointSeconds ?? 30);
  let reported = 0;
  let saved = begin;
  let validation: Record<string, number> | undefined;
  const save = async (): Promise<void> =>
    await run.onCheckpoint?.(checkpointToBytes(await trainer.state(), identity));
  while (trainer.step < trainer.steps) {
    trainer.advance();
    const last = trainer.step === trainer.steps;
    if (run.validation && (trainer.step % validateEvery === 0 || last)) {
      const predictor = new Predictor(backend, await snapshot());
      validation = (await evaluate(predictor, run.validation)).ranking.metrics;
      predictor.free();
    }
    const now = performance.now();
    if (now - reported < REPORT_MILLISECONDS && !last) continue;
    reported = now;
    run.onProgress?.(await stepProgress(trainer, shape, (now - begin) / 1000, firstStep, validation));
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    if (run.signal?.aborted && !last) {
      await save();
      run.signal.throwIfAborted();
    }
    if (run.onCheckpoint && now - saved > saveEvery && !last) {
      saved = now;
      await save();
    }
  }
  const model = await snapshot();
  if (validation) model.summary.validation = validation;
  return model;
}

async function stepProgress(
  trainer: Trainer,
  shape: ModelShape,
  seconds: number,
  firstStep: number,
  validation: Record<string, number> | undefined,
): Promise<StepProgress> {
  const { dataTerm, divergence } = await trainer.value();
  const perSecond = (trainer.step - firstStep) / seconds;
  return {
    stage: "training",
    step: trainer.step,
    steps: trainer.steps,
    epoch: (trainer.step * shape.batch) / shape.points,
    dataTerm,
    divergence,
    bound: dataTerm - divergence,
    pointsPerSecond: perSecond * shape.batch,
    secondsLeft: (trainer.steps - trainer.step) / perSecond,
    ...(validation ? { validation } : {}),
  };
}

/** The model as it is now, in plain arrays. */
async function modelOf(
  backend: Backend,
  shape: ModelShape,
  trainer: Trainer,
  basis: Basis | undefined,
  data: Dataset,
  dropped: number,
  transform: FeatureTransform,
  options: FullTrainOptions,
): Promise<TrainedModel> {
  const { parameters } = trainer;
  const scope = new Scope();
  const { logSigma } = parameters;
  const sigma = backend.tensor(logSigma.rows, logSigma.columns);
  const floor = backend.tensor(1, 1, [shape.floor]);
  backend.map("exp", logSigma, sigma);
  backend.combine("add", sigma, floor, sigma);
  const { dataTerm, divergence } = await trainer.value();
  const model: TrainedModel = {
    kernel: shape.kernel,
    mean: shape.mean,
    features: shape.features,
    labels: shape.labels,
    factors: shape.factors,
    inducing: shape.inducing,
    groups: logSigma.rows,
    inducingInputs: await inducingInputs(backend, basis, parameters.inducing, scope),
    mu: await backend.read(parameters.mu),
    sigma: await backend.read(sigma),
    phi: await backend.read(parameters.phi),
    bias: await backend.read(parameters.bias),
    hyper: await backend.read(parameters.hyper),
    transform,
    labelCounts: Int32Array.from(labelFrequencies(data.labels)),
    summary: {
      options: { ...options, basis: typeof options.basis === "string" ? options.basis : "given" },
      points: shape.points,
      droppedPoints: dropped,
      steps: trainer.step,
      epochs: (trainer.step * shape.batch) / shape.points,
      dataTerm,
      divergence,
      raisedFactorisations: trainer.raised,
    },
  };
  if (data.labelNames) model.labelNames = data.labelNames;
  if (data.featureNames) model.featureNames = data.featureNames;
  if (data.vectoriser) model.vectoriser = data.vectoriser.toJSON();
  backend.free(sigma, floor);
  scope.free();
  return model;
}

/** Z' [D,M]: in a subspace Xtilde' A'. */
async function inducingInputs(
  backend: Backend,
  basis: Basis | undefined,
  inducing: Tensor,
  scope: Scope,
): Promise<Float32Array | Float64Array> {
  const values = await backend.read(inducing);
  if (basis === undefined) return values;
  const { core, precision, rows } = basis.turned;
  const a = scope.keep(matrix(core, inducing.rows, inducing.columns, precision)).set(values);
  return gemm(basis.turned, a, scope.keep(matrix(core, rows, inducing.rows, precision)), {
    transposeB: true,
  }).toArray();
}
