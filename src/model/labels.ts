// The labels: their utilities from the latent functions, the data term, and the gradients by Phi, b, m and s.
//
//   fbar = m Phi' + b      v = s' c'                  c [K,G] from Phi*Phi (posteriors/)
//   g = d bound / d fbar,  h = d bound / d v          dPhi = g' m + 2 Phi * (h' s')       db = column sums of g
//   G = d bound / d m = g Phi                         H = d bound / d s
//
// Either over all labels of every point, or over the present ones and a sample of the absent ones (drawn.ts: one sample for
// all points of a batch).

import type { Backend, DrawnColumns, LabelLists, Tensor } from "../backend/backend.ts";
import type { GradientDraw, ListedLabels } from "./batch.ts";
import { likelihoods } from "./likelihoods/index.ts";
import type { Likelihood } from "./likelihoods/likelihood.ts";
import type { PosteriorForm } from "./posteriors/form.ts";
import { groupsOf, posteriors } from "./posteriors/index.ts";
import type { ModelShape } from "./shape.ts";

export interface LabelParameters {
  /** Phi [K,P], b [1,K] */
  phi: Tensor;
  bias: Tensor;
}

export type LabelShape = Pick<ModelShape, "labels" | "factors" | "posterior" | "likelihood">;

/** m [n,P] and s [G,n] of some points. */
export interface LatentPoints {
  mean: Tensor;
  variance: Tensor;
}

/** Utilities of the labels at some points. */
export class LabelLayer {
  readonly likelihood: Likelihood;
  readonly form: PosteriorForm;
  /** Phi*Phi [K,P] */
  readonly phiSquare: Tensor;
  /** c [K,G] */
  scale: Tensor;
  #scaleRoom: Tensor | undefined;
  readonly #backend: Backend;
  readonly #shape: LabelShape;

  constructor(backend: Backend, shape: LabelShape) {
    this.#backend = backend;
    this.#shape = shape;
    this.likelihood = likelihoods[shape.likelihood];
    this.form = posteriors[shape.posterior];
    this.phiSquare = backend.tensor(shape.labels, shape.factors);
    this.scale = this.phiSquare;
  }

  /** What is needed of Phi. */
  prepare(phi: Tensor): void {
    const backend = this.#backend;
    backend.map("square", phi, this.phiSquare);
    this.scale = this.form.labelScale(backend, this.phiSquare, () => {
      this.#scaleRoom ??= backend.tensor(this.#shape.labels, groupsOf(this.#shape));
      return this.#scaleRoom;
    });
  }

  /** out = fbar [n,K] */
  utilities({ phi, bias }: LabelParameters, mean: Tensor, out: Tensor): void {
    this.#backend.gemm(mean, phi, out, { transposeB: true });
    this.#backend.combine("add", out, bias, out);
  }

  /** out = v [n,K]; after prepare(). */
  variance(s: Tensor, out: Tensor): void {
    this.#backend.gemm(s, this.scale, out, { transposeA: true, transposeB: true });
  }

  free(): void {
    this.#backend.free(this.phiSquare, ...(this.#scaleRoom ? [this.#scaleRoom] : []));
  }
}

/** What the data term says of the points. */
export interface PointGradients {
  /** G [B,P] */
  dMean: Tensor;
  /** H [groups,B] */
  dVariance: Tensor;
  /** 1 x B: each point's expected loss over its labels */
  pointLoss: Tensor;
}

/** What is special about the labels of a step. */
export interface LabelChoice {
  /** How much labels count [1,K], and whether the loss itself is asked for. */
  weights?: { weight: Tensor; valueWanted: boolean };
  draw?: GradientDraw | undefined;
}

export function allocatePointGradients(backend: Backend, shape: ModelShape): PointGradients {
  const { batch: b, factors: p } = shape;
  return {
    dMean: backend.tensor(b, p),
    dVariance: backend.tensor(groupsOf(shape), b),
    pointLoss: backend.tensor(1, b),
  };
}

/** The data term of a batch, which writes to `out`. */
export class DataTerm {
  readonly out: PointGradients;
  readonly #layer: LabelLayer;
  readonly #backend: Backend;
  readonly #shape: ModelShape;
  #allLabels: { utility: Tensor; slope: Tensor; byLabel: Tensor } | undefined;
  #variance: Tensor | undefined;

  constructor(backend: Backend, shape: ModelShape, out: PointGradients) {
    this.#backend = backend;
    this.#shape = shape;
    this.#layer = new LabelLayer(backend, shape);
    this.out = out;
  }

  /** Loss and gradients over all labels; `scale` is the factor -N/B of the data term. Present labels must count once. */
  overAllLabels(
    positives: LabelLists,
    { mean, variance: s }: LatentPoints,
    parameters: LabelParameters,
    gradient: LabelParameters,
    scale: number,
    { weights, draw }: LabelChoice = {},
  ): void {
    const backend = this.#backend;
    const layer = this.#layer;
    const { batch: b, labels: k, quadrature } = this.#shape;
    const { dMean, dVariance, pointLoss } = this.out;
    this.#allLabels ??= {
      utility: backend.tensor(b, k),
      slope: backend.tensor(b, k),
      byLabel: backend.tensor(k, groupsOf(this.#shape)),
    };
    const { utility, slope, byLabel } = this.#allLabels;
    layer.prepare(parameters.phi);
    layer.utilities(parameters, mean, utility);
    const variance = layer.form.spread(backend, s, layer.scale, () => {
      this.#variance ??= backend.tensor(b, k);
      return this.#variance;
    });
    const more = weights?.valueWanted ? this.#lossOfWeights(weights.weight, utility, s) : undefined;
    // g takes the place of fbar
    layer.likelihood.expectation(
      backend,
      { mean: utility, variance, positives, scale, quadrature },
      { rowValue: pointLoss, dMean: utility, dVariance: slope },
    );
    if (more) {
      backend.combine("add", pointLoss, more, pointLoss);
      backend.free(more);
    }
    if (weights) for (const each of [utility, slope]) backend.combine("multiply", each, weights.weight, each);
    backend.columnSums(utility, gradient.bias);
    if (draw && backend.drawColumns) {
      const drawn = backend.drawColumns(utility, gradient.bias, { ...draw, always: positives.labelIndex });
      this.#drawnProducts(drawn, mean, parameters.phi, gradient.phi);
    } else {
      backend.gemm(utility, mean, gradient.phi, { transposeA: true });
      backend.gemm(utility, parameters.phi, dMean);
    }
    layer.form.backward(backend, slope, s, layer.scale, dVariance, byLabel);
    this.#addVariancePart(parameters.phi, byLabel, gradient.phi);
  }

  /** g' m and g Phi with some columns of g alone. Most labels hardly push: what they would add is left to chance. */
  #drawnProducts({ columns, weighted }: DrawnColumns, mean: Tensor, phi: Tensor, dPhi: Tensor): void {
    const backend = this.#backend;
    const ones = backend.tensor(1, columns.rows);
    const own = backend.tensor(columns.rows, phi.columns);
    backend.fill(ones, 1);
    backend.patternTimes(columns, ones, phi, own);
    backend.gemm(weighted, own, this.out.dMean);
    backend.gemm(weighted, mean, own, { transposeA: true });
    backend.fill(dPhi, 0);
    backend.patternTransposeTimes(columns, ones, own, dPhi);
    backend.free(columns, weighted, ones, own);
  }

  /** 1 x B: sum_k (w_k - 1) E log(1 + exp f), what labels add to the loss that count more than once; all those are absent. */
  #lossOfWeights(weight: Tensor, utility: Tensor, s: Tensor): Tensor {
    const backend = this.#backend;
    const { batch: b, labels: k, quadrature } = this.#shape;
    const all = (): Tensor => backend.tensor(b, k);
    const [mean, variance, signedWeight, value, once] = [
      all(),
      all(),
      all(),
      all(),
      backend.tensor(1, k),
    ] as const;
    const flat = (tensor: Tensor): Tensor => backend.reshape(tensor, 1, b * k);
    backend.blend(1, utility, 0, utility, mean);
    this.#layer.variance(s, variance);
    backend.fill(once, 1);
    backend.combine("subtract", once, weight, once);
    backend.fill(signedWeight, 1);
    backend.combine("multiply", signedWeight, once, signedWeight);
    this.#layer.likelihood.listedExpectation(
      backend,
      { mean: flat(mean), variance: flat(variance), signedWeight: flat(signedWeight), scale: 1, quadrature },
      { value: flat(value), dMean: flat(mean), dVariance: flat(variance) },
    );
    const sums = backend.tensor(1, b);
    backend.rowSums(value, sums);
    backend.free(mean, variance, signedWeight, value, once);
    return sums;
  }

  /** The same over the listed labels, with their weights. */
  overListedLabels(
    { pattern, signedWeight }: ListedLabels,
    { mean: latentMean, variance: s }: LatentPoints,
    parameters: LabelParameters,
    gradient: LabelParameters,
    scale: number,
  ): void {
    const backend = this.#backend;
    const layer = this.#layer;
    const { batch: b, labels: k, quadrature } = this.#shape;
    const { dMean, dVariance, pointLoss } = this.out;
    const groups = groupsOf(this.#shape);
    const row = (): Tensor => backend.tensor(1, pattern.entries);
    const [mean, variance, value] = [row(), row(), row()] as const;
    const ones = { ofPoint: backend.tensor(b, 1), ofLabel: backend.tensor(k, 1) };
    backend.fill(ones.ofPoint, 1);
    backend.fill(ones.ofLabel, 1);
    const [sByPoint, hByPoint] = [backend.tensor(b, groups), backend.tensor(b, groups)] as const;
    const byLabel = backend.tensor(k, groups);
    backend.transpose(s, sByPoint);
    layer.prepare(parameters.phi);

    backend.sampledProducts(pattern, latentMean, parameters.phi, mean);
    backend.sampledProducts(pattern, ones.ofPoint, backend.reshape(parameters.bias, k, 1), variance);
    backend.combine("add", mean, variance, mean);
    backend.sampledProducts(pattern, sByPoint, layer.scale, variance);
    layer.likelihood.listedExpectation(
      backend,
      { mean, variance, signedWeight, scale, quadrature },
      { value, dMean: mean, dVariance: variance },
    );
    backend.patternTimes(pattern, value, ones.ofLabel, backend.reshape(pointLoss, b, 1));
    backend.fill(gradient.phi, 0);
    backend.patternTransposeTimes(pattern, mean, latentMean, gradient.phi);
    backend.fill(gradient.bias, 0);
    backend.patternTransposeTimes(pattern, mean, ones.ofPoint, backend.reshape(gradient.bias, k, 1));
    backend.patternTimes(pattern, mean, parameters.phi, dMean);
    backend.patternTimes(pattern, variance, layer.scale, hByPoint);
    backend.transpose(hByPoint, dVariance);
    backend.patternTransposeTimes(pattern, variance, sByPoint, byLabel);
    this.#addVariancePart(parameters.phi, byLabel, gradient.phi);
    backend.free(mean, variance, value, ones.ofPoint, ones.ofLabel, sByPoint, hByPoint, byLabel);
  }

  /** dPhi += 2 Phi * (h' s'); one column stands for all factors where they share s. */
  #addVariancePart(phi: Tensor, byLabel: Tensor, dPhi: Tensor): void {
    const backend = this.#backend;
    // Phi*Phi is made anew in the next step: its memory is free now.
    const { phiSquare: product } = this.#layer;
    backend.combine("multiply", phi, byLabel, product);
    backend.blend(1, dPhi, 2, product, dPhi);
  }

  free(): void {
    this.#layer.free();
    this.#backend.free(...Object.values(this.#allLabels ?? {}), ...(this.#variance ? [this.#variance] : []));
  }
}
