// The latent functions at some points, from rows to means and variances: the one pass that training and predicting share.
//
//   m = Kx mu (or X mu)      s_i = kxx_i - Kx_i. C^-1 Kx_i.'      C = Kz + diag(sigma)

import type { Backend, Tensor } from "../backend/backend.ts";
import type { Batch } from "./batch.ts";
import { type InducingInputs, inducingForms } from "./inducing.ts";
import { Covariances } from "./kernels/covariances.ts";
import { means } from "./means/index.ts";
import type { MeanFunction } from "./means/mean.ts";
import { divergenceOf, PosteriorCovariance } from "./posteriors/covariance.ts";
import type { LatentShape } from "./shape.ts";
import { firstPart } from "./views.ts";

/** What decides the latent functions. */
export interface LatentParameters {
  /** A [M,R], or Z' [D,M] where Z is free */
  inducingInputs: Tensor;
  /** mu [M,P], or [D,P] where the mean goes through the features */
  mu: Tensor;
  /** sigma [G,M] */
  sigma: Tensor;
  /** log a, log v, log l [1,3] */
  hyper: Tensor;
}

/** Where the gradients go; what is not asked for is not computed. */
export interface LatentGradient {
  mu?: Tensor;
  sigma: Tensor;
  hyper?: Tensor;
  inducingInputs?: Tensor;
}

export class Latent {
  readonly covariances: Covariances;
  readonly #posterior: PosteriorCovariance;
  readonly #inputs: InducingInputs;
  readonly #mean: MeanFunction;
  readonly #backend: Backend;
  readonly #shape: LatentShape;
  /** m [B,P], with room for a full batch. */
  readonly #meanRoom: Tensor;
  #forGradients: { dKz: Tensor; dKx: Tensor; dkxx: Tensor } | undefined;
  /** m [n,P] of the points that were looked at last. */
  mean: Tensor;

  constructor(backend: Backend, shape: LatentShape, basisGram?: Tensor) {
    this.#backend = backend;
    this.#shape = shape;
    this.covariances = new Covariances(backend, shape);
    this.#posterior = new PosteriorCovariance(backend, shape);
    this.#inputs = inducingForms[shape.inducing].create(backend, shape, basisGram);
    this.#mean = means[shape.mean].create(backend, shape, this.covariances);
    this.#meanRoom = backend.tensor(shape.batch, shape.factors);
    this.mean = this.#meanRoom;
  }

  /** s [G,n] of the points that were looked at last. */
  get variance(): Tensor {
    return this.#posterior.variance;
  }

  /** Kz, once for these parameters. */
  ofInducing({ inducingInputs, hyper }: LatentParameters): void {
    this.#inputs.gram(inducingInputs, this.covariances.lz);
    this.covariances.ofInducing(hyper);
  }

  /** C^-1, once for these parameters; after ofInducing(). */
  factorise({ sigma }: LatentParameters): void {
    this.#posterior.factorise(this.covariances.kz, sigma);
  }

  /** Kx of these points. */
  ofBatch({ inducingInputs, hyper }: LatentParameters, batch: Batch): void {
    this.covariances.take(batch.rows.length);
    this.#inputs.products(inducingInputs, batch, this.covariances.lx);
    this.covariances.ofBatch(batch.squares, hyper);
  }

  /** m at these points; after ofBatch(). */
  forwardMean({ mu }: LatentParameters, batch: Batch): void {
    this.mean = firstPart(this.#backend, this.#meanRoom, batch.rows.length, this.#shape.factors);
    this.#mean.forward(mu, batch, this.mean);
  }

  /** s at these points; after ofBatch() and factorise(). */
  forwardVariance(batch: Batch): void {
    this.covariances.own(batch.squares);
    this.#posterior.forward(this.covariances.kx, this.covariances.kxx);
  }

  /** What the gradients need of the KL and, where its value is wanted, its terms. */
  divergence({ mu, sigma }: LatentParameters, valueWanted = true): void {
    this.#posterior.divergence(sigma);
    this.#mean.divergence(mu, valueWanted);
  }

  /** sum_p KL_p, as divergence() computed it. */
  async divergenceValue(): Promise<number> {
    const [[quadratic], terms] = await Promise.all([
      this.#backend.read(this.#mean.quadratic),
      this.#posterior.terms(),
    ]);
    return divergenceOf(this.#shape, quadratic as number, terms);
  }

  /** From G = d bound / d m [B,P] and H = d bound / d s [G,B] to the gradients by the parameters. */
  backward(
    parameters: LatentParameters,
    batch: Batch,
    dMean: Tensor,
    dVariance: Tensor,
    klWeight: number,
    gradient: LatentGradient,
  ): void {
    const { mu, sigma } = parameters;
    if (gradient.mu) this.#mean.gradient(mu, batch, dMean, klWeight, gradient.mu);
    if (gradient.hyper === undefined) {
      this.#posterior.backward(dVariance, sigma, klWeight, gradient.sigma, undefined, undefined);
      return;
    }
    const { inducingPoints: m, batch: b } = this.#shape;
    const backend = this.#backend;
    this.#forGradients ??= {
      dKz: backend.tensor(m, m),
      dKx: backend.tensor(b, m),
      dkxx: backend.tensor(1, b),
    };
    const { dKz, dKx, dkxx } = this.#forGradients;
    this.#mean.throughCovariance(mu, dMean, klWeight, dKz, dKx);
    this.#posterior.backward(dVariance, sigma, klWeight, gradient.sigma, dKz, dKx);
    backend.columnSums(dVariance, dkxx);
    this.covariances.backward(batch.squares, parameters.hyper, dKz, dKx, dkxx, gradient.hyper);
    this.#mean.throughHyper(klWeight, gradient.hyper);
    if (gradient.inducingInputs)
      this.#inputs.gradient(parameters.inducingInputs, batch, dKz, dKx, gradient.inducingInputs);
  }

  free(): void {
    this.covariances.free();
    this.#posterior.free();
    this.#inputs.free();
    this.#mean.free();
    this.#backend.free(this.#meanRoom, ...Object.values(this.#forGradients ?? {}));
  }
}
