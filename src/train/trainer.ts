// The training loop: one batch after another, the bound's gradient, a step of Adam for every parameter.

import type { Backend, IndexTensor, PatternTensor, SparseTensor, Tensor } from "../backend/backend.ts";
import type { Core } from "../core/core.ts";
import { NotFiniteError } from "../core/errors.ts";
import type { LabelSets } from "../data/dataset.ts";
import type { Batch } from "../model/batch.ts";
import { Bound, type BoundValue } from "../model/bound.ts";
import {
  allocateParameters,
  freeParameters,
  type ParameterName,
  type Parameters,
  parameterNames,
} from "../model/parameters.ts";
import type { ModelShape } from "../model/shape.ts";
import { BatchOrder, presentLabels, sampledLabels } from "./batches.ts";
import type { TrainingState } from "./checkpoint.ts";
import type { FullTrainOptions } from "./options.ts";
import { cosineDecay, warmUp } from "./schedule.ts";

/** The data of a training, on the device. */
export interface TrainingData {
  x: SparseTensor;
  /** |x_i|^2 [N,1] */
  squares: Tensor;
  labels: LabelSets;
  /** Xtilde' [D,R] and Xtilde Xtilde' (where it is not I), in a subspace. */
  basis?: Tensor;
  basisGram?: Tensor;
  /** X Xtilde' [N,R], where memory allows. */
  projected?: Tensor;
}

export class Trainer {
  readonly parameters: Parameters;
  readonly steps: number;
  step = 0;
  /** How often a factorisation needed its diagonal raised. */
  raised = 0;
  readonly #first: Parameters;
  readonly #second: Parameters;
  readonly #bound: Bound;
  readonly #order: BatchOrder;
  readonly #learned: ParameterName[];
  readonly #rows: IndexTensor;
  readonly #squares: Tensor;
  readonly #projected: Tensor | undefined;
  readonly #backend: Backend;
  readonly #core: Core;
  readonly #shape: ModelShape;
  readonly #options: FullTrainOptions;
  readonly #data: TrainingData;

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
    this.parameters = allocateParameters(backend, shape);
    this.#first = allocateParameters(backend, shape);
    this.#second = allocateParameters(backend, shape);
    this.#bound = new Bound(backend, shape, data.basisGram);
    this.#order = new BatchOrder(core, shape.points, shape.batch, options.seed);
    this.steps = Math.max(1, Math.round((options.epochs * shape.points) / shape.batch));
    this.#learned = parameterNames.filter(
      (name) => !(name === "inducing" && options.fixedInducing) && !(name === "hyper" && options.fixedKernel),
    );
    this.#rows = backend.indices(shape.batch);
    this.#squares = backend.tensor(shape.batch, 1);
    this.#projected =
      shape.inducingInputs === "subspace" ? backend.tensor(shape.batch, shape.rank) : undefined;
  }

  /** One step up the bound. */
  advance(): void {
    const backend = this.#backend;
    const { learningRate } = this.#options;
    const { batch, extras } = this.#batch();
    this.#evaluate(batch);
    const rate = learningRate * cosineDecay(this.step, this.steps);
    for (const name of this.#learned) {
      backend.adam(this.parameters[name], this.#bound.gradient[name], this.#first[name], this.#second[name], {
        rate,
        step: this.step + 1,
      });
    }
    backend.free(...extras);
    this.step++;
  }

  #evaluate(batch: Batch): void {
    const { fixedInducing, fixedKernel, klStart, klWeight, klWarmup } = this.#options;
    try {
      this.#bound.evaluate(this.parameters, batch, {
        klWeight: warmUp(this.step, this.steps, klStart, klWeight, klWarmup),
        learnInducing: !fixedInducing,
        learnHyper: !fixedKernel,
      });
    } catch (error) {
      throw error instanceof NotFiniteError ? this.#wentWrong("NaN or Infinity") : error;
    }
  }

  #wentWrong(found: string): Error {
    return new Error(
      `found ${found} at step ${this.step}, expected finite numbers: lower learningRate or raise floor`,
    );
  }

  #batch(): { batch: Batch; extras: (PatternTensor | Tensor)[] } {
    const backend = this.#backend;
    const { x, basis, projected, squares, labels } = this.#data;
    const rows = this.#order.rows(this.step);
    backend.writeIndices(this.#rows, rows);
    backend.gatherRows(squares, this.#rows, this.#squares);
    const batch: Batch = {
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
    if (this.#options.negatives === "all") return { batch, extras: [] };
    const { lists, signedWeight } = sampledLabels(
      this.#core,
      labels,
      rows,
      this.#options.negatives,
      this.#options.seed,
      this.step,
    );
    const pattern = backend.pattern(labels.labels, lists);
    const weights = backend.tensor(1, pattern.entries, signedWeight);
    batch.labels = { pattern, signedWeight: weights };
    return { batch, extras: [pattern, weights] };
  }

  #states(): Record<string, Parameters> {
    return { parameters: this.parameters, first: this.#first, second: this.#second };
  }

  /** Everything that decides how the training goes on. */
  async state(): Promise<TrainingState> {
    const tensors: TrainingState["tensors"] = new Map();
    for (const [kind, parameters] of Object.entries(this.#states())) {
      for (const name of parameterNames) {
        const { rows, columns } = parameters[name];
        tensors.set(`${kind}.${name}`, { rows, columns, values: await this.#backend.read(parameters[name]) });
      }
    }
    return { step: this.step, tensors, extra: { raised: this.raised } };
  }

  /** Goes back to a state. */
  restore(state: TrainingState): void {
    for (const [kind, parameters] of Object.entries(this.#states())) {
      for (const name of parameterNames) {
        const saved = state.tensors.get(`${kind}.${name}`);
        if (saved === undefined) throw new Error(`the checkpoint has no ${kind}.${name}`);
        this.#backend.write(parameters[name], saved.values);
      }
    }
    this.step = state.step;
    this.raised = Number(state.extra.raised ?? 0);
  }

  /** Terms of the bound at the last step's batch. Refuses numbers that have gone wrong, so that none is ever saved. */
  async value(): Promise<BoundValue> {
    const { raised, failed } = await this.#backend.factorisationReport();
    this.raised += raised;
    if (failed >= 0) throw this.#wentWrong(`a C of factor ${failed} that is not positive definite`);
    const value = await this.#bound.value();
    const bound = value.dataTerm - value.divergence;
    if (!Number.isFinite(bound)) throw this.#wentWrong(`a bound of ${bound}`);
    return value;
  }

  free(): void {
    const backend = this.#backend;
    this.#bound.free();
    for (const parameters of [this.parameters, this.#first, this.#second])
      freeParameters(backend, parameters);
    backend.free(this.#rows, this.#squares, ...(this.#projected ? [this.#projected] : []));
  }
}
