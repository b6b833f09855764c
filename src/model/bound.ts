// The bound and its gradients for one batch: section by section what the paper's model says.
//
//   bound = -(N/B) sum_i sum_k E log(1 + exp(-y f)) - sum_p KL_p

import type { Backend, Tensor } from "../backend/backend.ts";
import { ArgumentError } from "../core/errors.ts";
import { sumOf } from "../core/matrix.ts";
import type { LabelShare } from "../ranks/share.ts";
import { areDrawn, areListed, type DrawnLabels, type LabelledBatch } from "./batch.ts";
import { DrawnTerm } from "./drawn.ts";
import { allocatePointGradients, DataTerm, type PointGradients } from "./labels.ts";
import { Latent, type LatentGradient, type LatentParameters } from "./latent.ts";
import { allocateParameters, freeParameters, type Parameters, plainSigma } from "./parameters.ts";
import { RankedTerm } from "./ranked.ts";
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
  readonly #points: PointGradients;
  /** Made when first needed: each has room for its labels. */
  #data: DataTerm | undefined;
  #drawn: DrawnTerm | undefined;
  readonly #ranked: RankedTerm | undefined;
  readonly #sigma: Tensor;
  readonly #floor: Tensor;
  readonly #backend: Backend;
  readonly #shape: ModelShape;
  readonly #meanGradient: boolean;

  /**
   * Without `meanGradient` the one by mu is left to whoever has dMean: gradient.mu has no elements. With `share` the labels
   * of `shape` are those of one rank, and the bound is over those of all.
   */
  constructor(
    backend: Backend,
    shape: ModelShape,
    basisGram?: Tensor,
    meanGradient = true,
    share?: LabelShare,
  ) {
    this.#backend = backend;
    this.#shape = shape;
    this.#meanGradient = meanGradient;
    this.gradient = allocateParameters(backend, shape, meanGradient ? undefined : "mu");
    this.latent = new Latent(backend, shape, basisGram);
    this.#points = allocatePointGradients(backend, shape);
    this.#ranked = share && new RankedTerm(backend, shape, share, this.#points);
    this.#sigma = backend.tensor(this.gradient.logSigma.rows, this.gradient.logSigma.columns);
    this.#floor = backend.tensor(1, 1, [shape.floor]);
  }

  /** G = d bound / d m [B,P] of the last batch. */
  get dMean(): Tensor {
    return this.#points.dMean;
  }

  /** The latent functions' parameters, with sigma itself. */
  latentParameters({ inducingInputs, mu, hyper, logSigma }: Parameters): LatentParameters {
    plainSigma(this.#backend, logSigma, this.#floor, this.#sigma);
    return { inducingInputs, mu, hyper, sigma: this.#sigma };
  }

  /** Computes everything for this batch; `gradient` and `value()` hold the outcome. */
  evaluate(parameters: Parameters, batch: LabelledBatch, options: BoundOptions): void {
    const { latent } = this;
    const { dMean, dVariance } = this.#points;
    const valueWanted = options.valueWanted !== false;

    const own = this.latentParameters(parameters);
    latent.ofInducing(own);
    latent.factorise(own);
    latent.ofBatch(own, batch);
    latent.forwardMean(own, batch);
    latent.forwardVariance(batch);
    latent.divergence(own, options.learnHyper || valueWanted);

    this.#dataTerm(parameters, batch, valueWanted);
    latent.backward(own, batch, dMean, dVariance, options.klWeight, this.#wanted(options));
    this.#throughLogarithm();
  }

  #dataTerm(
    parameters: Parameters,
    { labels, gradientDraw: draw }: LabelledBatch,
    valueWanted: boolean,
  ): void {
    const { latent, gradient } = this;
    const scale = -this.#shape.points / this.#shape.batch;
    if (this.#ranked) {
      if (areDrawn(labels) || areListed(labels))
        throw new ArgumentError("labels", "found a sample of them with ranks, expected all");
      this.#ranked.overAllLabels(labels, latent, parameters, gradient, scale);
      return;
    }
    if (areDrawn(labels)) {
      this.#drawnTerm(labels).evaluate(labels, latent, parameters, gradient, scale, valueWanted, draw);
      return;
    }
    this.#data ??= new DataTerm(this.#backend, this.#shape, this.#points);
    const data = this.#data;
    if (areListed(labels)) data.overListedLabels(labels, latent, parameters, gradient, scale);
    else data.overAllLabels(labels, latent, parameters, gradient, scale, { draw });
  }

  /** The term for draws of this size, which hardly ever changes. */
  #drawnTerm({ drawn }: DrawnLabels): DrawnTerm {
    if (this.#drawn?.labels !== drawn.rows) {
      this.#drawn?.free();
      this.#drawn = new DrawnTerm(this.#backend, this.#shape, drawn.rows, this.#points);
    }
    return this.#drawn as DrawnTerm;
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
      this.#backend.read(this.#points.pointLoss),
      this.latent.divergenceValue(),
    ]);
    return { dataTerm: (-this.#shape.points / this.#shape.batch) * sumOf(losses), divergence };
  }

  free(): void {
    freeParameters(this.#backend, this.gradient);
    this.latent.free();
    this.#data?.free();
    this.#drawn?.free();
    this.#ranked?.free();
    this.#backend.free(...Object.values(this.#points), this.#sigma, this.#floor);
  }
}
