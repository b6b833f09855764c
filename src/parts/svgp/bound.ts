// The ELBO of the SVGP and its gradients for one minibatch:
//
//   bound = -(N/B) sum_i sum_k E log(1 + exp(-y f)) - sum_p KL_p

import type { Backend, Tensor } from "../../backend/backend.ts";
import { sumOf } from "../../core/matrix.ts";
import { type DataTerm, LabelLayer, type MakeDataTerm, type PointGradients } from "./labels.ts";
import { Latent, type LatentParameters } from "./posterior.ts";
import {
  allocateParameters,
  freeParameters,
  groupsOf,
  type LabelledBatch,
  type ModelShape,
  type Parameters,
  plainSigma,
} from "./shape.ts";

export interface BoundOptions {
  /** Weight of the KL: 1 is the paper's ELBO. */
  klWeight: number;
  /** Z and the kernel's hyper-parameters are learned; without either, the gradients by Kz and Kx are not needed. */
  learnInducing: boolean;
  learnHyper: boolean;
  /** The KL will be asked for (default true); the steps themselves do not need it. */
  valueWanted?: boolean;
}

export interface BoundValue {
  /** -(N/B) times the batch's expected loss */
  dataTerm: number;
  /** sum_p KL_p, unweighted */
  divergence: number;
}

export interface BoundForm {
  /** Xtilde Xtilde', where the basis is not orthonormal. */
  basisGram?: Tensor | undefined;
  /** If not, gradient.mu has no elements, and dMean serves whoever computes it (default true). */
  meanGradient?: boolean;
  /** The data term, if it is not that of all labels in one piece. */
  dataTerm?: MakeDataTerm | undefined;
}

export class Bound {
  readonly gradient: Parameters;
  readonly latent: Latent;
  readonly #points: PointGradients;
  readonly #data: DataTerm;
  readonly #sigma: Tensor;
  readonly #minSigma: Tensor;
  readonly #backend: Backend;
  readonly #quadrature: ModelShape["quadrature"];
  /** -N/B */
  readonly #scale: number;
  readonly #meanGradient: boolean;

  constructor(backend: Backend, shape: ModelShape, form: BoundForm = {}) {
    const { basisGram, meanGradient = true, dataTerm } = form;
    this.#backend = backend;
    this.#quadrature = shape.quadrature;
    this.#scale = -shape.points / shape.batch;
    this.#meanGradient = meanGradient;
    this.gradient = allocateParameters(backend, shape, meanGradient ? undefined : "mu");
    this.latent = new Latent(backend, shape, basisGram);
    this.#data = dataTerm?.(backend, shape) ?? new LabelLayer(backend, shape);
    const { batch, factors, inducingPoints } = shape;
    const groups = groupsOf(shape);
    this.#points = {
      dMean: backend.tensor(batch, factors),
      dVariance: backend.tensor(groups, batch),
      pointLoss: backend.tensor(1, batch),
    };
    this.#sigma = backend.tensor(groups, inducingPoints);
    this.#minSigma = backend.tensor(1, 1, [shape.minSigma]);
  }

  /** G = d bound / d m [B,P] of the last batch. */
  get dMean(): Tensor {
    return this.#points.dMean;
  }

  /** The latent functions' parameters, with sigma itself. */
  latentParameters({ inducingInputs, mu, hyper, logSigma }: Parameters): LatentParameters {
    plainSigma(this.#backend, logSigma, this.#minSigma, this.#sigma);
    return { inducingInputs, mu, hyper, sigma: this.#sigma };
  }

  /** Computes everything for this batch; `gradient` and `value()` hold the outcome. */
  evaluate(parameters: Parameters, batch: LabelledBatch, options: BoundOptions): void {
    const { latent, gradient } = this;
    const { klWeight, learnInducing, learnHyper, valueWanted = true } = options;

    const own = this.latentParameters(parameters);
    latent.ofInducing(own);
    latent.factorise(own);
    latent.forwardMean(own, batch);
    latent.forwardVariance(batch);
    latent.divergence(own, learnHyper || valueWanted);

    const [out, scale, quadrature] = [this.#points, this.#scale, this.#quadrature];
    this.#data.evaluate({ ...batch, latent, parameters, gradient, out, scale, quadrature });

    const { dMean, dVariance } = this.#points;
    latent.backward(own, batch, dMean, dVariance, klWeight, {
      mu: this.#meanGradient ? gradient.mu : undefined,
      // By sigma for now, where logSigma's place is.
      sigma: gradient.logSigma,
      hyper: learnInducing || learnHyper ? gradient.hyper : undefined,
      inducingInputs: learnInducing ? gradient.inducingInputs : undefined,
    });
    // d sigma / d logSigma = sigma - minSigma
    const { logSigma } = gradient;
    this.#backend.combine("subtract", this.#sigma, this.#minSigma, this.#sigma);
    this.#backend.combine("multiply", logSigma, this.#sigma, logSigma);
  }

  /** The terms of the ELBO at the last batch; the KL is the last one that was wanted. */
  async value(): Promise<BoundValue> {
    // All reads are asked for before the first is waited for: one journey to the device.
    const [losses, divergence] = await Promise.all([
      this.#backend.read(this.#points.pointLoss),
      this.latent.divergenceValue(),
    ]);
    return { dataTerm: this.#scale * sumOf(losses), divergence };
  }

  free(): void {
    freeParameters(this.#backend, this.gradient);
    this.latent.free();
    this.#data.free();
    this.#backend.free(...Object.values(this.#points), this.#sigma, this.#minSigma);
  }
}
