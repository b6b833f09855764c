// Fitting an SVGP, from a data set to the numbers of the part: rows, basis and start values are prepared on the core, the steps
// run on a device, and the parameters come back as plain arrays.

import type { Backend, Tensor } from "../../backend/backend.ts";
import { type OpenDevice, openDevice } from "../../backend/devices.ts";
import { Turns } from "../../base/progress.ts";
import { gemm } from "../../core/dense.ts";
import { type Matrix, matrix } from "../../core/matrix.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { FullTrainOptions } from "../options.ts";
import type { Cost, Fit, FitContext, ModelSchema } from "../part.ts";
import { type CheckpointIdentity, checkpointFromBytes, identityOf } from "./checkpoint.ts";
import { svgpFault } from "./faults.ts";
import { type ModelNumbers, SvgpPredictor } from "./predictor.ts";
import {
  type Copies,
  ended,
  interrupting,
  isFinishing,
  onDevices,
  reporting,
  restore,
  type Session,
  validating,
} from "./session.ts";
import { forEachName, groupsOf, partArrays, plainSigma, type SvgpPart } from "./shape.ts";
import { freePrepared, type Prepared, prepare, SAMPLE_POINTS, start } from "./start.ts";
import { runSteps, Trainer, type TrainingData } from "./trainer.ts";

export async function fitSvgp(context: FitContext): Promise<Fit<SvgpPart>> {
  const { core, data, options, run, note } = context;
  const identity = identityOf(context);
  const resumed = run.resume && checkpointFromBytes(run.resume, identity);
  const device = await openDevice(core, run.device, options.precision);
  if (run.device !== "wasm") note(`Training on ${device.about}`);
  const { labels } = data.labels;
  const { gradientLabels } = options;
  if (gradientLabels !== "all" && device.backend.drawColumns)
    note(`Gradients of about ${gradientLabels} of ${labels} labels a step, importance-sampled by gradient magnitude`);
  const prepared = await prepare(context, device.largestTensor).catch((error) => {
    device.dispose();
    throw error;
  });
  try {
    return await onDevices(device, resumed, context, (on, copies) => fitOn(on, prepared, context, copies, identity));
  } finally {
    // The parts and calibration that follow need the room.
    freePrepared(prepared);
  }
}

/** On one device: the start or a saved state, the steps, and the model that they end with. */
export async function fitOn(
  device: OpenDevice,
  prepared: Prepared,
  context: FitContext,
  copies: Copies,
  identity: CheckpointIdentity,
): Promise<Fit<SvgpPart>> {
  const { core, data, options, schema } = context;
  const { shape, ranks } = prepared;
  const { backend } = device;
  const uploaded = upload(backend, prepared, data);
  const own = ranks ? ranks.ownShape(shape) : shape;
  const trainer = new Trainer(backend, core, own, options, uploaded, ranks?.dataTerm);
  const predictor = async () => new SvgpPredictor(backend, await liveNumbers(trainer, prepared, schema));
  const session: Session = { device, trainer, shape, context, identity, ranks, predictor };
  try {
    if (copies.kept) restore(session, copies.kept);
    else await start(trainer, prepared, context);
    await copies.follow(session);
    await new Turns(context.work).take();
    const hooks = [...validating(session), copies, reporting(session), interrupting(session)];
    await runSteps(trainer, hooks, isFinishing(session));
    const summary = await ended(session);
    const part = await partOf(trainer, prepared, schema);
    device.check();
    const fault = svgpFault(part);
    if (fault) throw trainer.diverged(fault);
    return { part, summary };
  } finally {
    trainer.free();
    freeUploaded(backend, uploaded);
  }
}

/** The training data where the backend works: on WASM the core's own matrices, elsewhere copies that go up once. */
function upload(backend: Backend, { x, squares, basis, ranks }: Prepared, { labels }: Dataset): TrainingData {
  const up = (matrix: Matrix | undefined): Tensor | undefined =>
    backend.onCore || matrix === undefined ? matrix : backend.tensor(matrix.rows, matrix.columns, matrix.toArray());
  return {
    x: backend.onCore ? x : backend.sparse(x.toArrays()),
    squares: up(squares) as Tensor,
    labels: ranks ? ranks.ownLabels(labels) : labels,
    // The basis is looked at in a step only where the projections are not kept.
    basis: up(basis?.projected ? undefined : basis?.transposed),
    projected: up(basis?.projected),
    basisGram: up(basis?.gram),
  };
}

/** Frees what was uploaded; the core's own matrices stay. */
function freeUploaded(backend: Backend, { labels, ...tensors }: TrainingData): void {
  if (backend.onCore) return;
  for (const tensor of Object.values(tensors)) if (tensor) backend.free(tensor);
}

/** The trainer's own tensors, where they are; only Z' and sigma are made for it, and Phi and b where ranks share the labels. */
async function liveNumbers(
  { backend, parameters }: Trainer,
  { shape, basis, ranks }: Prepared,
  schema: ModelSchema,
): Promise<ModelNumbers> {
  const { inducingInputs, mu, logSigma, phi, bias, hyper } = parameters;
  const sigma = backend.tensor(logSigma.rows, logSigma.columns);
  const minSigma = backend.tensor(1, 1, [shape.minSigma]);
  plainSigma(backend, logSigma, minSigma, sigma);
  const z = basis && (await subspaceInputs(backend, inducingInputs, basis.transposed));
  const gathered = await ranks?.gatheredTensors(backend, parameters);
  return {
    schema,
    shape,
    tensors: { inducingInputs: z ?? inducingInputs, mu, sigma, phi, bias, hyper, ...gathered },
    // Numbers that run away are found by the ELBO.
    maxNorm: Number.POSITIVE_INFINITY,
    free: () => backend.free(sigma, minSigma, ...(z ? [z] : []), ...Object.values(gathered ?? {})),
  };
}

/** Z' = Xtilde' A' [D,M] */
async function subspaceInputs(backend: Backend, a: Tensor, basis: Matrix): Promise<Tensor> {
  const { core, precision, rows: features } = basis;
  const room = matrix(core, features, a.rows, precision);
  if (backend.onCore) return gemm(basis, a as Matrix, room, { transposeB: true });
  const own = matrix(core, a.rows, a.columns, precision).set(await backend.read(a));
  gemm(basis, own, room, { transposeB: true });
  const uploaded = backend.tensor(features, a.rows, room.toArray());
  own.free();
  room.free();
  return uploaded;
}

async function partOf(trainer: Trainer, prepared: Prepared, schema: ModelSchema): Promise<SvgpPart> {
  const { kernel, posterior, mean, factors, inducingPoints } = prepared.shape;
  const { tensors, free } = await liveNumbers(trainer, prepared, schema);
  const read = await Promise.all(partArrays.map((name) => trainer.backend.read(tensors[name])));
  free();
  const arrays = forEachName(partArrays, (name) => read[partArrays.indexOf(name)]);
  return { family: "svgp", kernel, posterior, mean, factors, inducingPoints, ...arrays };
}

/**
 * Cost of a whole training on the core, in products and sums that a matrix product would do in the same time. The factors were
 * fitted to the processor's seconds of trainings of several shapes (test/parts/estimate.test.ts).
 */
export function svgpCost(
  sizes: { points: number; features: number; labels: number; entries: number },
  options: FullTrainOptions,
): Cost {
  const { points: N, features: D, labels: K, entries } = sizes;
  const { factors: P, inducingPoints: M, batch: B, epochs, mean, posterior, precision } = options;
  const subspace = options.inducing === "subspace";
  const R = subspace ? options.rank : 0;
  const groups = groupsOf({ posterior, factors: P });
  const steps = Math.max(1, Math.round((epochs * N) / B));
  const meanRows = mean === "features" ? D : M;
  const { negatives } = options;
  const looked = negatives === "all" ? K : Math.min(K, 2 * negatives);
  const pushing = options.gradientLabels === "all" ? looked : Math.min(looked, options.gradientLabels);
  /** Products of a point and an inducing input. */
  const length = subspace ? R : entries / N;
  /** The start looks at a sample where there are very many points. */
  const begun = N < 2 * SAMPLE_POINTS ? 1 : SAMPLE_POINTS / N;
  const started = begun * entries;
  const basis = options.basis === "svd" ? 140 * started * R + 57 * D * R * R : 100 * started * R;
  const start = 35 * begun * N * length * M + 5000 * P * (meanRows + K);
  const step =
    B * (looked * (2 * P + 150) + pushing * 4 * P) +
    9 * B * length * M +
    groups * (4 * M ** 3 + 4 * B * M * M) +
    (55 * P * entries * B) / N +
    40 * P * (meanRows + K) +
    3.5e8;
  const numbers =
    N * R +
    Math.max(3 * D * R, D * (R + M) + 3 * P * meanRows + 5 * P * K) +
    (subspace ? 0 : 4 * D * M) +
    3 * groups * M * M +
    6 * B * looked;
  return {
    operations: basis + start + steps * step,
    bytes: 16 * entries + numbers * (precision === "f32" ? 4 : 8) + 30e6,
  };
}
