// The steps of a training: for each the points of a minibatch, the gradient of the ELBO and a step of Adam for every
// parameter, with hooks between the steps.

import type {
  Backend,
  IndexTensor,
  LabelLists,
  PatternTensor,
  RowSteps,
  SparseTensor,
  Tensor,
} from "../../backend/backend.ts";
import { NotFiniteError } from "../../base/errors.ts";
import { isLinear } from "../../base/kernels.ts";
import { deterministicCos } from "../../base/math.ts";
import { type LabelSets, selectLabels } from "../../base/sparse.ts";
import { STREAMS } from "../../base/streams.ts";
import type { Core } from "../../core/core.ts";
import { choice, permutation, uniformNumbers } from "../../core/random.ts";
import { inverseRoot } from "../../core/spectral.ts";
import type { FullTrainOptions } from "../options.ts";
import { Bound, type BoundValue } from "./bound.ts";
import { hyperFault, type SvgpFault } from "./faults.ts";
import type { MakeDataTerm } from "./labels.ts";
import {
  allocateParameters,
  forEachName,
  freeParameters,
  type LabelledBatch,
  type ModelShape,
  type ParameterName,
  type Parameters,
  parameterNames,
  rowOf,
  Workspace,
} from "./shape.ts";

/** Gives the points of any step: an endless run through new orders of all points, so that every minibatch is full. */
function batchOrder(core: Core, { batch, points }: ModelShape, seed: number): (step: number) => Int32Array {
  let epoch = -1;
  let order = new Int32Array(0);
  const pointAt = (place: number): number => {
    if (epoch !== Math.floor(place / points)) {
      epoch = Math.floor(place / points);
      order = permutation(core, points, { seed, stream: STREAMS.epochOrder + epoch });
    }
    return order[place % points];
  };
  return (step) => Int32Array.from({ length: batch }, (_, i) => pointAt(step * batch + i));
}

/**
 * The labels that the points have, and of the others `count` sampled for each point. A sampled one stands for all that
 * could have been: its weight is -(absent / sampled), a present one's is 1.
 */
export function sampledLabels(
  core: Core,
  { labels, rowStart: starts, labelIndex }: LabelSets,
  rows: Int32Array,
  count: number,
  seed: number,
  step: number,
): { lists: LabelLists; signedWeight: Float64Array } {
  const rowStart = new Int32Array(rows.length + 1);
  const listed: number[] = [];
  const weights: number[] = [];
  rows.forEach((row, i) => {
    const present = labelIndex.subarray(starts[row], starts[row + 1]);
    const absent = labels - present.length;
    const sampled = Math.min(count, absent);
    const stream = (STREAMS.negatives + step * rows.length + i) % 2 ** 32;
    for (const label of present) listed.push(label);
    for (const label of choice(core, labels, sampled, { seed, stream }, present)) listed.push(label);
    for (let e = rowStart[i]; e < listed.length; e++)
      weights.push(e < rowStart[i] + present.length ? 1 : -absent / sampled);
    rowStart[i + 1] = listed.length;
  });
  const lists = { rowStart, labelIndex: Int32Array.from(listed) };
  return { lists, signedWeight: Float64Array.from(weights) };
}

/** The random number in [0, 1) with which the labels of a step are drawn whose gradients are computed. */
export function drawStart(core: Core, seed: number, step: number): number {
  return uniformNumbers(core, 1, { seed, stream: (STREAMS.gradientLabels + 2 * step) % 2 ** 32 })[0];
}

/** Part of the mean eigenvalue below which a direction is noise in single precision. */
const RIDGE = 1e-4;
/** A coordinate of nu has unit effect on the mean, where one of mu has that of a single inducing point. */
const COORDINATE_RATE = 0.05;
/** Batches whose second moments stand for those of all points. */
const COORDINATE_BATCHES = 8;

/** An optimiser, of a backend's operations: what is kept of a parameter, a step up its gradient, and steps that touch few rows. */
const adam = (backend: Backend) => ({
  init: ({ rows, columns }: Tensor) => ({
    first: backend.tensor(rows, columns),
    second: backend.tensor(rows, columns),
  }),
  update: backend.adam,
  rowSteps: backend.rowSteps,
});
type Optimiser = ReturnType<typeof adam>;
type Moments = ReturnType<Optimiser["init"]>;

/**
 * Adam in coordinates nu in which the mean learns evenly, applied to mu = T nu: mu += T (its step from T' gradient). For kernels with a
 * stationary term.
 *
 * There the columns of Kx are nearly alike: all inducing points see a point from about as far. Adam on mu (m = Kx mu)
 * then moves along one direction only and stalls. T is fixed at the start such that in nu the curvature of the ELBO is about the
 * same in all directions:
 *
 *   T = (Kx'Kx / n + Kz / N + ridge I)^-1/2
 *
 * the mean's second moments over some points, the KL's curvature beside N of them. Any T is right: it changes the way, not the ELBO.
 * Bibtex, se, P = 30, 20 epochs: 53.0 / 31.8 / 23.6 (P@1/3/5).
 */
const inCoordinates =
  (backend: Backend, { update }: Optimiser, transform: Tensor, room: Workspace): Optimiser["update"] =>
  (mu, gradient, moments, step) => {
    const own = room.tensor("gradient by nu", mu.rows, mu.columns);
    const moved = room.tensor("step of nu", mu.rows, mu.columns);
    backend.gemm(transform, gradient, own);
    backend.fill(moved, 0);
    update(moved, own, moments, { ...step, rate: COORDINATE_RATE * step.rate });
    backend.gemm(transform, moved, mu, { beta: 1 });
  };

/** The data of a training, on the device. */
export interface TrainingData {
  x: SparseTensor;
  /** |x_i|^2 [N,1] */
  squares: Tensor;
  /** Labels of all points. */
  labels: LabelSets;
  /** In a subspace: Xtilde' [D,R] or X Xtilde' [N,R], and Xtilde Xtilde' where it is not the identity. */
  basis?: Tensor | undefined;
  projected?: Tensor | undefined;
  basisGram?: Tensor | undefined;
}

export class Trainer {
  readonly steps: number;
  step = 0;
  /** Factorisations that needed their diagonal raised. */
  raised = 0;
  readonly #parameters: Parameters;
  readonly #moments: Record<ParameterName, Moments>;
  readonly #bound: Bound;
  readonly #learned: ParameterName[];
  /** T [M,M], where the mean learns in coordinates of its own, and what moves mu. */
  readonly #transform: Tensor | undefined;
  readonly #optimiser: Optimiser;
  readonly #moveMean: Optimiser["update"];
  /** Steps on mu that touch few rows, and 1 / a [1,1] for them. */
  readonly #rowSteps: RowSteps | undefined;
  readonly #inverse: Tensor;
  readonly #order: (step: number) => Int32Array;
  readonly #rows: IndexTensor;
  readonly #room: Workspace;
  readonly #core: Core;
  readonly #shape: ModelShape;
  readonly #options: FullTrainOptions;
  readonly #data: TrainingData;
  /** The last step's KL was computed. */
  #valued = true;

  constructor(
    readonly backend: Backend,
    core: Core,
    shape: ModelShape,
    options: FullTrainOptions,
    data: TrainingData,
    dataTerm?: MakeDataTerm,
  ) {
    const { inducingPoints: m, points, batch, mean } = shape;
    const { fixedInducing, fixedKernel } = options;
    this.#core = core;
    this.#shape = shape;
    this.#options = options;
    this.#data = data;
    this.steps = Math.max(1, Math.round((options.epochs * points) / batch));
    this.#parameters = allocateParameters(backend, shape);
    this.#optimiser = adam(backend);
    this.#moments = forEachName(parameterNames, (name) => this.#optimiser.init(this.#parameters[name]));
    this.#inverse = backend.tensor(1, 1);
    this.#rowSteps = mean === "features" && fixedKernel ? this.#makeRowSteps() : undefined;
    const meanGradient = this.#rowSteps === undefined;
    this.#bound = new Bound(backend, shape, { basisGram: data.basisGram, meanGradient, dataTerm });
    this.#room = new Workspace(backend);
    this.#transform = mean === "inducing" && !isLinear(shape.kernel) ? backend.tensor(m, m) : undefined;
    this.#moveMean = this.#transform
      ? inCoordinates(backend, this.#optimiser, this.#transform, this.#room)
      : this.#optimiser.update;
    const isFixed: Partial<Record<ParameterName, boolean>> = {
      inducingInputs: fixedInducing,
      hyper: fixedKernel,
      mu: !meanGradient,
    };
    this.#learned = parameterNames.filter((name) => !isFixed[name]);
    this.#order = batchOrder(core, shape, options.seed);
    this.#rows = backend.indices(batch);
  }

  #makeRowSteps(): RowSteps | undefined {
    const { steps } = this;
    const at = (step: number) => ({ rate: this.#rateAt(step), pull: this.#klWeightAt(step) });
    const [{ mu }, moments] = [this.#parameters, this.#moments.mu];
    return this.#optimiser.rowSteps?.(this.#data.x, mu, moments, this.#inverse, { steps, at });
  }

  /** Adam's step length: from `learningRate` at the first step down to 0 after the last, along half a cosine. */
  #rateAt(step: number): number {
    return this.#options.learningRate * ((1 + deterministicCos((Math.PI * step) / this.steps)) / 2);
  }

  /** Weight of the KL in a step: from `klStart` to `klWeight`, rising linearly over the first `klWarmup` of the steps. */
  #klWeightAt(step: number): number {
    const { klStart, klWeight, klWarmup } = this.#options;
    const length = klWarmup * this.steps;
    if (length <= 0 || step >= length) return klWeight;
    return klStart + ((klWeight - klStart) * step) / length;
  }

  /** The parameters as they are after the steps that were taken. */
  get parameters(): Parameters {
    this.#settle();
    return this.#parameters;
  }

  /** Takes the steps that weights missed whose features were in no batch: takes time, and changes nothing to come. */
  #settle(): void {
    this.#rowSteps?.settle(this.step);
  }

  /** Chooses the coordinates of the mean, where the kernel needs some, from the first minibatches; after the start values. */
  async chooseCoordinates(): Promise<void> {
    const { inducingPoints: m, batch: size, points } = this.#shape;
    const { backend } = this;
    const transform = this.#transform;
    if (transform === undefined) return;
    const moments = backend.tensor(m, m);
    const { latent } = this.#bound;
    const parameters = this.#bound.latentParameters(this.parameters);
    latent.ofInducing(parameters);
    const batches = Math.min(COORDINATE_BATCHES, Math.ceil(points / size));
    for (let at = 0; at < batches; at++) {
      const { batch, extras } = this.#batch(at);
      latent.covariances.ofBatch(parameters.inducingInputs, batch, parameters.hyper);
      backend.syrk(latent.covariances.kx, moments, { transpose: true, alpha: 1 / (batches * size), beta: 1 });
      backend.free(...extras);
    }
    backend.blend(1, moments, 1 / points, latent.covariances.kz, moments);
    backend.write(transform, inverseRoot(this.#core, await backend.read(moments), m, RIDGE));
    // The start values of mu are taken for nu.
    const { mu } = parameters;
    const moved = this.#room.tensor("step of nu", mu.rows, mu.columns);
    backend.gemm(transform, mu, moved);
    backend.blend(1, moved, 0, moved, mu);
    backend.free(moments);
  }

  /** One step up the ELBO; `valueWanted` says that value() will be asked for. */
  advance(valueWanted = true): void {
    const { backend } = this;
    const { batch, extras } = this.#batch(this.step);
    if (valueWanted) this.#settle();
    this.#enterRows();
    // A GPU's step repeats the one before it, and the value costs little there.
    this.#evaluate(batch, valueWanted || !backend.onCore);
    const { gradient, dMean } = this.#bound;
    this.#rowSteps?.step(dMean, this.step);
    const step = { rate: this.#rateAt(this.step), step: this.step + 1 };
    for (const name of this.#learned) {
      const move = name === "mu" ? this.#moveMean : this.#optimiser.update;
      move(this.#parameters[name], gradient[name], this.#moments[name], step);
    }
    backend.free(...extras);
    this.step++;
    backend.flush?.();
  }

  /** Brings the weights of the batch's features up to this step. */
  #enterRows(): void {
    if (this.#rowSteps === undefined) return;
    this.backend.map("exp", rowOf(this.backend, this.#parameters.hyper, 0), this.#inverse);
    this.backend.map("reciprocal", this.#inverse, this.#inverse);
    this.#rowSteps.enter(this.#rows, this.step);
  }

  #evaluate(batch: LabelledBatch, valueWanted: boolean): void {
    const { fixedInducing, fixedKernel } = this.#options;
    this.#valued = valueWanted;
    try {
      this.#bound.evaluate(this.#parameters, batch, {
        klWeight: this.#klWeightAt(this.step),
        learnInducing: !fixedInducing,
        learnHyper: !fixedKernel,
        valueWanted,
      });
    } catch (error) {
      throw error instanceof NotFiniteError ? this.diverged({ found: "NaN or Infinity" }) : error;
    }
  }

  /** The minibatch of a step, and what is to be freed after it. */
  #batch(step: number): { batch: LabelledBatch; extras: PatternTensor[] } {
    const { backend } = this;
    const { x, basis, projected, squares, labels } = this.#data;
    const { batch: size, rank, inducing } = this.#shape;
    const rows = this.#order(step);
    const ofBatch = this.#room.tensor("|x|^2", size, 1);
    backend.writeIndices(this.#rows, rows);
    backend.gatherRows(squares, this.#rows, ofBatch);
    const batch: LabelledBatch = {
      x,
      rows: this.#rows,
      squares: backend.reshape(ofBatch, 1, size),
      labels: selectLabels(labels, rows),
    };
    if (inducing === "subspace") {
      batch.projected = this.#room.tensor("X Xtilde'", size, rank);
      if (projected) backend.gatherRows(projected, this.#rows, batch.projected);
      else backend.sparseTimes(x, this.#rows, basis as Tensor, batch.projected);
    }
    const { seed, negatives, gradientLabels: count } = this.#options;
    if (count !== "all") batch.gradientDraw = { count, start: drawStart(this.#core, seed, step) };
    if (negatives === "all") return { batch, extras: [] };
    const { lists, signedWeight } = sampledLabels(this.#core, labels, rows, negatives, seed, step);
    const pattern = backend.pattern(labels.labels, lists);
    batch.labels = { pattern, signedWeight };
    return { batch, extras: [pattern] };
  }

  /** Terms of the ELBO at the last step's batch, if they were wanted. Refuses numbers that have gone wrong, so that none is ever saved. */
  async value(): Promise<BoundValue> {
    if (!this.#valued) throw new Error(`found no KL of step ${this.step}, expected one that was wanted`);
    const [value, hyper] = await Promise.all([
      this.#bound.value(),
      this.backend.read(this.#parameters.hyper),
      this.countRaised(),
    ]);
    const bound = value.dataTerm - value.divergence;
    if (!Number.isFinite(bound)) throw this.diverged({ found: `a bound of ${bound}` });
    const fault = hyperFault(hyper);
    if (fault) throw this.diverged(fault);
    return value;
  }

  /** Counts factorisations that needed their diagonal raised; refuses one that failed even so. */
  async countRaised(): Promise<void> {
    const { raised, failed } = await this.backend.factorisationReport();
    this.raised += raised;
    if (failed >= 0) throw this.diverged({ found: `a C of factor ${failed} that is not positive definite` });
  }

  /** The error of a training whose numbers have run away, with the options that help. */
  diverged({ found, expected = "finite numbers" }: Partial<SvgpFault>): Error {
    const { klWeight, klStart } = this.#options;
    const heavy = Math.max(klWeight, klStart) > 1 ? ", lower `klWeight` and `klStart`" : "";
    return new Error(
      `found ${found} at step ${this.step}, expected ${expected}: lower \`learningRate\`${heavy} or raise \`minSigma\``,
    );
  }

  /** Every tensor that decides how the training goes on, by name. */
  tensors(): [string, Tensor][] {
    const { parameters } = this;
    const kinds = Object.keys(this.#moments.mu) as (keyof Moments)[];
    return [
      ...parameterNames.map((name): [string, Tensor] => [`parameters.${name}`, parameters[name]]),
      ...kinds.flatMap((kind) =>
        parameterNames.map((name): [string, Tensor] => [`${kind}.${name}`, this.#moments[name][kind]]),
      ),
      ...(this.#transform ? [["coordinates.mu", this.#transform] as [string, Tensor]] : []),
    ];
  }

  /** Goes on from tensors that were set to what they are after so many steps, with so many factorisations raised. */
  restart(step: number, raised: number): void {
    this.step = step;
    this.raised = raised;
    this.#rowSteps?.restart(step);
  }

  free(): void {
    const { backend } = this;
    this.#bound.free();
    this.#rowSteps?.free();
    this.#room.free();
    freeParameters(backend, this.#parameters);
    for (const state of Object.values(this.#moments)) backend.free(...Object.values(state));
    backend.free(this.#rows, this.#inverse, ...(this.#transform ? [this.#transform] : []));
  }
}

/** A step, as hooks see it. */
export interface Step {
  /** Which it is, from 1. */
  readonly step: number;
  /** No other follows, and the next one is to be the last. */
  last: boolean;
  finish: boolean;
  /** The value of the ELBO is wanted. */
  valued: boolean;
  /** When the last step ended, in milliseconds. */
  now: number;
}

/** Something that happens around steps. */
export interface Hook {
  /** Before a step: whether the value of the ELBO is wanted after it. */
  before?(step: Step): boolean;
  after(step: Step): Promise<void>;
}

/** Takes all steps that are left. */
export async function runSteps(trainer: Trainer, hooks: readonly Hook[], finish: boolean): Promise<void> {
  const { steps } = trainer;
  let at: Step = { step: 0, last: trainer.step >= steps, finish, valued: false, now: performance.now() };
  while (!at.last) {
    const step = trainer.step + 1;
    at = { ...at, step, last: step >= steps || at.finish, valued: false };
    for (const hook of hooks) if (hook.before?.(at)) at.valued = true;
    trainer.advance(at.valued);
    at.now = performance.now();
    for (const hook of hooks) await hook.after(at);
  }
}
