// The training loop: one batch after another, the bound's gradient, a step of Adam for every parameter.

import type { Backend, IndexTensor, PatternTensor, SparseTensor, Tensor } from "../backend/backend.ts";
import type { Core } from "../core/core.ts";
import { NotFiniteError } from "../core/errors.ts";
import type { LabelSets } from "../data/dataset.ts";
import { areFinite } from "../data/finite.ts";
import { FormatError, shownJson } from "../io/errors.ts";
import type { LabelledBatch } from "../model/batch.ts";
import { Bound, type BoundValue } from "../model/bound.ts";
import type { LatentModel } from "../model/model.ts";
import {
  allocateParameters,
  freeParameters,
  type ParameterName,
  type Parameters,
  parameterNames,
} from "../model/parameters.ts";
import { hyperFault, latentFault } from "../model/reach.ts";
import type { ModelShape } from "../model/shape.ts";
import type { LabelShare } from "../ranks/share.ts";
import { BatchOrder, presentLabels, sampledLabels } from "./batches.ts";
import { CHECKPOINT, type SavedTensor, type TrainingState } from "./checkpoint.ts";
import { CoordinateSteps, inverseRoot, needsCoordinates } from "./coordinates.ts";
import { drawnLabels, drawStart, LabelDraw } from "./draw.ts";
import type { FullTrainOptions } from "./options.ts";
import { hasRowSteps, klWeightAt, MeanRowSteps, rateAt } from "./rowsteps.ts";

/** The data of a training, on the device. */
export interface TrainingData {
  x: SparseTensor;
  /** |x_i|^2 [N,1] */
  squares: Tensor;
  /** Of all points; with ranks only the labels of this one. */
  labels: LabelSets;
  share?: LabelShare;
  /** Xtilde' [D,R] and Xtilde Xtilde' (where it is not I), in a subspace. */
  basis?: Tensor;
  basisGram?: Tensor;
  /** X Xtilde' [N,R], where memory allows. */
  projected?: Tensor;
}

/** Batches whose second moments stand for those of all points. */
const COORDINATE_BATCHES = 8;

const named = (kind: string, parameters: Parameters): [string, Tensor][] =>
  parameterNames.map((name) => [`${kind}.${name}`, parameters[name]]);

export class Trainer {
  readonly steps: number;
  step = 0;
  /** How often a factorisation needed its diagonal raised. */
  raised = 0;
  readonly #parameters: Parameters;
  readonly #first: Parameters;
  readonly #second: Parameters;
  readonly #bound: Bound;
  readonly #coordinates: CoordinateSteps | undefined;
  readonly #rowSteps: MeanRowSteps | undefined;
  readonly #order: BatchOrder;
  readonly #draw: LabelDraw | undefined;
  readonly #learned: ParameterName[];
  readonly #rows: IndexTensor;
  readonly #squares: Tensor;
  readonly #projected: Tensor | undefined;
  readonly #backend: Backend;
  readonly #core: Core;
  readonly #shape: ModelShape;
  readonly #options: FullTrainOptions;
  readonly #data: TrainingData;
  /** Whether the last step's KL was computed. */
  #valued = true;

  constructor(
    backend: Backend,
    core: Core,
    shape: ModelShape,
    options: FullTrainOptions,
    data: TrainingData,
  ) {
    this.#backend = backend;
    this.#core = core;
    this.#shape = shape;
    this.#options = options;
    this.#data = data;
    this.#parameters = allocateParameters(backend, shape);
    this.#first = allocateParameters(backend, shape);
    this.#second = allocateParameters(backend, shape);
    this.steps = Math.max(1, Math.round((options.epochs * shape.points) / shape.batch));
    const byRows = hasRowSteps(backend, shape, options);
    this.#bound = new Bound(backend, shape, data.basisGram, !byRows, data.share);
    this.#coordinates = needsCoordinates(shape) ? new CoordinateSteps(backend, shape) : undefined;
    const moments = { first: this.#first, second: this.#second };
    this.#rowSteps = byRows
      ? new MeanRowSteps(backend, data.x, this.#parameters, moments, options, this.steps)
      : undefined;
    this.#order = new BatchOrder(core, shape.points, shape.batch, options.seed);
    const { labelsPerStep } = options;
    this.#draw =
      labelsPerStep === "all" ? undefined : new LabelDraw(core, data.labels, labelsPerStep, options.seed);
    this.#learned = parameterNames.filter(
      (name) =>
        !(name === "inducingInputs" && options.fixedInducing) &&
        !(name === "hyper" && options.fixedKernel) &&
        !(name === "mu" && byRows),
    );
    this.#rows = backend.indices(shape.batch);
    this.#squares = backend.tensor(shape.batch, 1);
    this.#projected = shape.inducing === "subspace" ? backend.tensor(shape.batch, shape.rank) : undefined;
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

  /** Chooses the coordinates of the mean, where the kernel needs some, by what the first batches show. */
  async chooseCoordinates(): Promise<void> {
    const { inducingPoints: m, batch: size, points } = this.#shape;
    const backend = this.#backend;
    if (this.#coordinates === undefined) return;
    const moments = backend.tensor(m, m);
    const { latent } = this.#bound;
    const parameters = this.#bound.latentParameters(this.parameters);
    latent.ofInducing(parameters);
    const batches = Math.min(COORDINATE_BATCHES, Math.ceil(points / size));
    for (let at = 0; at < batches; at++) {
      const { batch, extras } = this.#batch(at);
      latent.ofBatch(parameters, batch);
      backend.syrk(latent.covariances.kx, moments, { transpose: true, alpha: 1 / (batches * size), beta: 1 });
      backend.free(...extras);
    }
    backend.blend(1, moments, 1 / points, latent.covariances.kz, moments);
    const root = inverseRoot(this.#core, await backend.read(moments), m);
    backend.write(this.#coordinates.transform, root);
    this.#coordinates.enter(this.parameters.mu);
    backend.free(moments);
  }

  /** One step up the bound; `valueWanted` is whether value() will be asked for. */
  advance(valueWanted = true): void {
    const backend = this.#backend;
    const { batch, extras } = this.#batch(this.step);
    if (valueWanted) this.#settle();
    this.#rowSteps?.enter(this.#rows, this.step);
    this.#evaluate(batch, valueWanted);
    const { gradient, dMean } = this.#bound;
    this.#rowSteps?.step(dMean, this.step);
    const step = { rate: rateAt(this.step, this.steps, this.#options), step: this.step + 1 };
    for (const name of this.#learned) {
      const way = name === "mu" && this.#coordinates ? this.#coordinates : backend;
      way.adam(this.#parameters[name], gradient[name], this.#first[name], this.#second[name], step);
    }
    backend.free(...extras);
    this.step++;
  }

  #evaluate(batch: LabelledBatch, valueWanted: boolean): void {
    const { fixedInducing, fixedKernel } = this.#options;
    this.#valued = valueWanted;
    try {
      this.#bound.evaluate(this.#parameters, batch, {
        klWeight: klWeightAt(this.step, this.steps, this.#options),
        learnInducing: !fixedInducing,
        learnHyper: !fixedKernel,
        valueWanted,
      });
    } catch (error) {
      throw error instanceof NotFiniteError ? this.#wentWrong("NaN or Infinity") : error;
    }
  }

  #wentWrong(found: string, expected = "finite numbers"): Error {
    const { klWeight, klStart } = this.#options;
    const heavy = Math.max(klWeight, klStart) > 1 ? ", lower `klWeight` and `klStart`" : "";
    return new Error(
      `found ${found} at step ${this.step}, expected ${expected}: lower \`learningRate\`${heavy} or raise \`floor\``,
    );
  }

  /** A state that is worth keeping; refuses one with numbers that have run away. */
  async soundState(): Promise<TrainingState> {
    await this.#countRaised();
    const state = await this.state();
    for (const [name, { values }] of state.tensors)
      if (!areFinite(values)) throw this.#wentWrong(`NaN or Infinity in ${name}`);
    return state;
  }

  /** The model with these numbers; refuses one that no command could open. */
  sound(model: LatentModel): LatentModel {
    const fault = latentFault(model);
    if (fault) throw this.#wentWrong(fault.found, fault.expected);
    return model;
  }

  #batch(step: number): { batch: LabelledBatch; extras: (PatternTensor | Tensor)[] } {
    const backend = this.#backend;
    const { x, basis, projected, squares, labels } = this.#data;
    const rows = this.#order.rows(step);
    backend.writeIndices(this.#rows, rows);
    backend.gatherRows(squares, this.#rows, this.#squares);
    const batch: LabelledBatch = {
      x,
      rows: this.#rows,
      squares: backend.reshape(this.#squares, 1, this.#shape.batch),
      labels: presentLabels(labels, rows),
    };
    if (this.#projected !== undefined) {
      if (projected !== undefined) backend.gatherRows(projected, this.#rows, this.#projected);
      else backend.sparseTimes(x, this.#rows, basis as Tensor, this.#projected);
      batch.projected = this.#projected;
    }
    const { seed, negatives, gradientLabels: count } = this.#options;
    if (count !== "all")
      batch.gradientDraw = { count, start: drawStart(this.#core, seed, step, "gradients") };
    if (this.#draw) {
      const drawn = drawnLabels(backend, labels.labels, this.#draw.at(step, rows));
      batch.labels = drawn;
      return { batch, extras: [drawn.drawn, drawn.weight] };
    }
    if (negatives === "all") return { batch, extras: [] };
    const { lists, signedWeight } = sampledLabels(this.#core, labels, rows, negatives, seed, step);
    const pattern = backend.pattern(labels.labels, lists);
    const weights = backend.tensor(1, pattern.entries, signedWeight);
    batch.labels = { pattern, signedWeight: weights };
    return { batch, extras: [pattern, weights] };
  }

  /** Every tensor that decides how the training goes on, by name. */
  #tensors(): [string, Tensor][] {
    return [
      ...named("parameters", this.parameters),
      ...named("first", this.#first),
      ...named("second", this.#second),
      ...(this.#coordinates ? ([["coordinates.mu", this.#coordinates.transform]] as [string, Tensor][]) : []),
    ];
  }

  /**
   * Everything that decides how the training goes on. All reads are enqueued before the first is waited for: what comes
   * is this step's state, even if other steps are taken meanwhile.
   */
  async state(): Promise<TrainingState> {
    const { step, raised } = this;
    return { step, tensors: await this.#read(this.#tensors()), extra: { raised } };
  }

  /** The parameters alone, saved as `kind`. */
  async readParameters(kind: string): Promise<TrainingState["tensors"]> {
    return await this.#read(named(kind, this.parameters));
  }

  async #read(entries: [string, Tensor][]): Promise<TrainingState["tensors"]> {
    const reading = entries.map(async ([name, tensor]): Promise<[string, SavedTensor]> => {
      const { rows, columns } = tensor;
      return [name, { rows, columns, values: await this.#backend.read(tensor) }];
    });
    return new Map(await Promise.all(reading));
  }

  /** Goes back to a state. */
  restore({ step, tensors, extra: { raised }, file = CHECKPOINT }: TrainingState): void {
    if (step > this.steps)
      throw new FormatError(file, `step ${step}`, `at most ${this.steps}, the last of this training`);
    if (!Number.isSafeInteger(raised) || (raised as number) < 0)
      throw new FormatError(file, `raised ${shownJson(raised)}`, "a whole number");
    this.#write(this.#tensors(), tensors, file);
    this.step = step;
    this.#rowSteps?.restart(step);
    this.raised = raised as number;
  }

  /** Sets the parameters alone to those saved as `kind`. */
  setParameters(tensors: TrainingState["tensors"], kind: string, file?: string): void {
    this.#write(named(kind, this.parameters), tensors, file);
    this.#rowSteps?.restart(this.step);
  }

  #write(entries: [string, Tensor][], saved: TrainingState["tensors"], file = CHECKPOINT): void {
    for (const [name, tensor] of entries) {
      const { rows, columns } = tensor;
      const values = saved.get(name);
      if (values?.rows !== rows || values.columns !== columns) {
        const found = values ? `a tensor ${name} of another shape` : `no tensor ${name}`;
        throw new FormatError(file, found, `one of ${rows} x ${columns}`);
      }
      this.#backend.write(tensor, values.values);
    }
  }

  async #countRaised(): Promise<void> {
    const { raised, failed } = await this.#backend.factorisationReport();
    this.raised += raised;
    if (failed >= 0) throw this.#wentWrong(`a C of factor ${failed} that is not positive definite`);
  }

  /** Terms of the bound at the last step's batch, if they were wanted. Refuses numbers that have gone wrong, so that none is ever saved. */
  async value(): Promise<BoundValue> {
    if (!this.#valued) throw new Error(`found no KL of step ${this.step}, expected one that was wanted`);
    const [value, hyper] = await Promise.all([
      this.#bound.value(),
      this.#backend.read(this.#parameters.hyper),
      this.#countRaised(),
    ]);
    const bound = value.dataTerm - value.divergence;
    if (!Number.isFinite(bound)) throw this.#wentWrong(`a bound of ${bound}`);
    const wild = hyperFault(hyper);
    if (wild) throw this.#wentWrong(wild.found, wild.expected);
    return value;
  }

  free(): void {
    const backend = this.#backend;
    this.#bound.free();
    this.#coordinates?.free();
    this.#rowSteps?.free();
    for (const parameters of [this.#parameters, this.#first, this.#second])
      freeParameters(backend, parameters);
    backend.free(this.#rows, this.#squares, ...(this.#projected ? [this.#projected] : []));
  }
}
