// The bound and its gradients for one batch: section by section what the paper's model says.
//
//   bound = -(N/B) sum_i sum_k E log(1 + exp(-y f)) - sum_p KL_p

import type { Backend, Tensor } from "../backend/backend.ts";
import { sumOf } from "../core/matrix.ts";
import { areListed, type LabelledBatch } from "./batch.ts";
import { DataTerm } from "./labels.ts";
import { Latent, type LatentGradient, type LatentParameters } from "./latent.ts";
import { allocateParameters, freeParameters, type Parameters, plainSigma } from "./parameters.ts";
import type { ModelShape } from "./shape.ts";

export interface BoundOptions {
  /** How much the KL counts: 1 is the paper's bound. */
  klWeight: number;
  /** Whether Z and the kernel's hyper-parameters are learned; without either, the gradients by Kz and Kx are not needed. */
  learnInducing: boolean;
  learnHyper: boolean;
  /**
   * Whether the KL will be asked for; the steps themselves do not need it.
   * @default yes
   */
  valueWanted?: boolean;
}

export interface BoundValue {
  /** -(N/B) times the batch's expected loss */
  dataTerm: number;
  /** sum_p KL_p, unweighted */
  divergence: number;
}

export class Bound {
  readonly gradient: Parameters;
  readonly latent: Latent;
  readonly #data: DataTerm;
  readonly #sigma: Tensor;
  readonly #floor: Tensor;
  readonly #backend: Backend;
  readonly #shape: ModelShape;
  readonly #meanGradient: boolean;

  /** Without `meanGradient` the one by mu is left to whoever has dMean: gradient.mu has no elements. */
  constructor(backend: Backend, shape: ModelShape, basisGram?: Tensor, meanGradient = true) {
    this.#backend = backend;
    this.#shape = shape;
    this.#meanGradient = meanGradient;
    this.gradient = allocateParameters(backend, shape, meanGradient ? undefined : "mu");
    this.latent = new Latent(backend, shape, basisGram);
    this.#data = new DataTerm(backend, shape);
    this.#sigma = backend.tensor(this.gradient.logSigma.rows, this.gradient.logSigma.columns);
    this.#floor = backend.tensor(1, 1, [shape.floor]);
  }

  /** G = d bound / d m [B,P] of the last batch. */
  get dMean(): Tensor {
    return this.#data.dMean;
  }

  /** The latent functions' parameters, with sigma itself. */
  latentParameters({ inducingInputs, mu, hyper, logSigma }: Parameters): LatentParameters {
    plainSigma(this.#backend, logSigma, this.#floor, this.#sigma);
    return { inducingInputs, mu, hyper, sigma: this.#sigma };
  }

  /** Computes everything for this batch; `gradient` and `value()` hold the outcome. */
  evaluate(parameters: Parameters, batch: LabelledBatch, options: BoundOptions): void {
    const { latent, gradient } = this;
    const data = this.#data;
    const scale = -this.#shape.points / this.#shape.batch;

    const own = this.latentParameters(parameters);
    latent.ofInducing(own);
    latent.factorise(own);
    latent.ofBatch(own, batch);
    latent.forwardMean(own, batch);
    latent.forwardVariance(batch);
    latent.divergence(own, options.learnHyper || options.valueWanted !== false);

    if (areListed(batch.labels)) data.overListedLabels(batch.labels, latent, parameters, gradient, scale);
    else data.overAllLabels(batch.labels, latent, parameters, gradient, scale);
    latent.backward(own, batch, data.dMean, data.dVariance, options.klWeight, this.#wanted(options));
    this.#throughLogarithm();
  }

  /** Where the gradients go; by sigma for now, where logSigma's place is. */
  #wanted({ learnInducing, learnHyper }: BoundOptions): LatentGradient {
    const { mu, logSigma, hyper, inducingInputs } = this.gradient;
    return {
      ...(this.#meanGradient ? { mu } : {}),
      sigma: logSigma,
      ...(learnInducing || learnHyper ? { hyper } : {}),
      ...(learnInducing ? { inducingInputs } : {}),
    };
  }

  /** d sigma / d logSigma = sigma - floor */
  #throughLogarithm(): void {
    const backend = this.#backend;
    const { logSigma } = this.gradient;
    backend.combine("subtract", this.#sigma, this.#floor, this.#sigma);
    backend.combine("multiply", logSigma, this.#sigma, logSigma);
  }

  /** The terms of the bound at the last batch; the KL is the last one that was wanted. */
  async value(): Promise<BoundValue> {
    // All reads are asked for before the first is waited for: one journey to the device.
    const [losses, divergence] = await Promise.all([
      this.#backend.read(this.#data.pointLoss),
      this.latent.divergenceValue(),
    ]);
    return { dataTerm: (-this.#shape.points / this.#shape.batch) * sumOf(losses), divergence };
  }

  free(): void {
    freeParameters(this.#backend, this.gradient);
    this.latent.free();
    this.#data.free();
    this.#backend.free(this.#sigma, this.#floor);
  }
}
