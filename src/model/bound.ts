// The bound and its gradients for one batch: section by section what the paper's model says.
//
//   bound = -(N/B) sum_i sum_k E log(1 + exp(-y f)) - sum_p KL_p

import type { Backend, Tensor } from "../backend/backend.ts";
import { sumOf } from "../core/matrix.ts";
import { areListed, type Batch } from "./batch.ts";
import { freeInputs, type InducingInputs, subspaceInputs } from "./inducing.ts";
import { Kernel } from "./kernel.ts";
import { Likelihood } from "./likelihood.ts";
import { featureMean, inducingMean, type MeanFunction } from "./mean.ts";
import { allocateParameters, freeParameters, type Parameters } from "./parameters.ts";
import { divergenceOf, Posterior } from "./posterior.ts";
import type { ModelShape } from "./shape.ts";

export interface BoundOptions {
  /** How much the KL counts: 1 is the paper's bound. */
  klWeight: number;
  /** Whether Z and the kernel's hyper-parameters are learned; without either, the gradients by Kz and Kx are not needed. */
  learnInducing: boolean;
  learnHyper: boolean;
}

export interface BoundValue {
  /** -(N/B) times the batch's expected loss */
  dataTerm: number;
  /** sum_p KL_p, unweighted */
  divergence: number;
}

export class Bound {
  readonly gradient: Parameters;
  readonly kernel: Kernel;
  readonly posterior: Posterior;
  readonly likelihood: Likelihood;
  readonly #inputs: InducingInputs;
  readonly #mean: MeanFunction;
  readonly #dKz: Tensor;
  readonly #dKx: Tensor;
  readonly #dkxx: Tensor;
  readonly #backend: Backend;
  readonly #shape: ModelShape;

  constructor(backend: Backend, shape: ModelShape, basisGram?: Tensor) {
    this.#backend = backend;
    this.#shape = shape;
    this.gradient = allocateParameters(backend, shape);
    this.kernel = new Kernel(backend, shape);
    this.posterior = new Posterior(backend, shape);
    this.likelihood = new Likelihood(backend, shape);
    this.#inputs =
      shape.inducingInputs === "subspace" ? subspaceInputs(backend, shape, basisGram) : freeInputs(backend);
    this.#mean = (shape.mean === "features" ? featureMean : inducingMean)(backend, shape, this.kernel);
    this.#dKz = backend.tensor(shape.inducing, shape.inducing);
    this.#dKx = backend.tensor(shape.batch, shape.inducing);
    this.#dkxx = backend.tensor(1, shape.batch);
  }

  /** Kz, Kx and kxx of this batch, in `kernel`. */
  covariances({ inducing, hyper }: Parameters, batch: Batch): void {
    const { kernel } = this;
    this.#inputs.innerProducts(inducing, batch, kernel.lz, kernel.lx);
    kernel.forward(batch.squares, hyper);
  }

  /** Computes everything for this batch; `gradient` and `value()` hold the outcome. */
  evaluate(parameters: Parameters, batch: Batch, options: BoundOptions): void {
    const { kernel, posterior, likelihood, gradient } = this;
    const { mu, logSigma } = parameters;
    const scale = -this.#shape.points / this.#shape.batch;

    this.covariances(parameters, batch);
    posterior.forward(kernel.kz, kernel.kx, kernel.kxx, logSigma);
    posterior.divergence();
    this.#mean.forward(mu, batch, likelihood.mean);
    this.#mean.divergence(mu);
    likelihood.forward(parameters);

    if (areListed(batch.labels))
      likelihood.overListedLabels(batch.labels, posterior.variance, parameters, gradient, scale);
    else likelihood.overAllLabels(batch.labels, posterior.variance, parameters, gradient, scale);
    this.#mean.gradient(mu, batch, likelihood.dMean, options.klWeight, gradient.mu);
    this.#throughCovariances(parameters, batch, options);
  }

  /** The gradients by sigma and, where they are learned, by Z and the hyper-parameters. */
  #throughCovariances(parameters: Parameters, batch: Batch, options: BoundOptions): void {
    const backend = this.#backend;
    const { kernel, posterior, likelihood, gradient } = this;
    const learnCovariance = options.learnInducing || options.learnHyper;
    const [dKz, dKx] = learnCovariance ? [this.#dKz, this.#dKx] : [undefined, undefined];
    if (dKz && dKx) this.#mean.throughCovariance(parameters.mu, likelihood.dMean, options.klWeight, dKz, dKx);
    posterior.backward(likelihood.dVariance, options.klWeight, gradient.logSigma, dKz, dKx);
    if (dKz === undefined || dKx === undefined) return;
    backend.columnSums(likelihood.dVariance, this.#dkxx);
    kernel.backward(batch.squares, parameters.hyper, dKz, dKx, this.#dkxx, gradient.hyper);
    this.#mean.throughHyper(options.klWeight, gradient.hyper);
    if (options.learnInducing) this.#inputs.gradient(parameters.inducing, batch, dKz, dKx, gradient.inducing);
  }

  /** The terms of the bound at the last batch. */
  async value(): Promise<BoundValue> {
    // All reads are asked for before the first is waited for: one journey to the device.
    const [losses, [quadratic], terms] = await Promise.all([
      this.#backend.read(this.likelihood.pointLoss),
      this.#backend.read(this.#mean.quadratic),
      this.posterior.terms(),
    ]);
    return {
      dataTerm: (-this.#shape.points / this.#shape.batch) * sumOf(losses),
      divergence: divergenceOf(this.#shape, quadratic as number, terms),
    };
  }

  free(): void {
    freeParameters(this.#backend, this.gradient);
    this.kernel.free();
    this.posterior.free();
    this.likelihood.free();
    this.#inputs.free();
    this.#mean.free();
    this.#backend.free(this.#dKz, this.#dKx, this.#dkxx);
  }
}
