// The data term: utilities of the labels, their expected log-likelihood, and the gradients by Phi, b, m and s.
//
//   fbar = m Phi' + b      v = s (Phi*Phi)'
//   g = d bound / d fbar,  h = d bound / d v          dPhi = g' m + 2 Phi * (h' s)        db = column sums of g
//   G = d bound / d m = g Phi                         H = d bound / d s = h (Phi*Phi)
//
// Either over all labels of every point, or over the present ones and a sample of the absent ones.

import type { Backend, LabelLists, Tensor } from "../backend/backend.ts";
import type { ListedLabels } from "./batch.ts";
import type { Parameters } from "./parameters.ts";
import { groupsOf, type ModelShape } from "./shape.ts";

export class Likelihood {
  /** m [B,P] */
  readonly mean: Tensor;
  /** G [B,P] */
  readonly dMean: Tensor;
  /** H [groups,B] */
  readonly dVariance: Tensor;
  /** 1 x B: each point's sum of E log(1 + exp(-y f)) over its labels */
  readonly pointLoss: Tensor;
  /** Phi * Phi [K,P] and its row sums [1,K] */
  readonly #phiSquare: Tensor;
  readonly #labelScale: Tensor;
  readonly #backend: Backend;
  readonly #shape: ModelShape;
  readonly #shared: boolean;
  #allLabels: { utility: Tensor; slope: Tensor; variance: Tensor; ofLabel: Tensor } | undefined;

  constructor(backend: Backend, shape: ModelShape) {
    const { batch: b, factors: p, labels: k } = shape;
    this.#backend = backend;
    this.#shape = shape;
    this.#shared = groupsOf(shape) === 1 && shape.covariance === "shared";
    this.mean = backend.tensor(b, p);
    this.dMean = backend.tensor(b, p);
    this.dVariance = backend.tensor(groupsOf(shape), b);
    this.pointLoss = backend.tensor(1, b);
    this.#phiSquare = backend.tensor(k, p);
    this.#labelScale = backend.tensor(1, k);
  }

  /** What is needed of Phi; m is written by the mean function. */
  forward({ phi }: Parameters): void {
    const backend = this.#backend;
    backend.map("square", phi, this.#phiSquare);
    backend.rowSums(this.#phiSquare, this.#labelScale);
  }

  /** Loss and gradients over all labels; `scale` is the factor -N/B of the data term. */
  overAllLabels(
    positives: LabelLists,
    s: Tensor,
    parameters: Parameters,
    gradient: Parameters,
    scale: number,
  ): void {
    const backend = this.#backend;
    const { batch: b, labels: k, factors: p, quadrature } = this.#shape;
    this.#allLabels ??= {
      utility: backend.tensor(b, k),
      slope: backend.tensor(b, k),
      variance: this.#shared ? backend.tensor(0, 0) : backend.tensor(b, k),
      ofLabel: this.#shared ? backend.tensor(k, 1) : backend.tensor(k, p),
    };
    const { utility, slope, variance, ofLabel } = this.#allLabels;
    backend.gemm(this.mean, parameters.phi, utility, { transposeB: true });
    backend.combine("add", utility, parameters.bias, utility);
    if (!this.#shared) backend.gemm(s, this.#phiSquare, variance, { transposeA: true, transposeB: true });
    const spread = this.#shared ? { ofRow: s, ofLabel: this.#labelScale } : variance;
    // g takes the place of fbar
    backend.expectedLogLikelihood(
      { mean: utility, variance: spread, positives, scale, quadrature },
      { rowValue: this.pointLoss, dMean: utility, dVariance: slope },
    );
    backend.gemm(utility, this.mean, gradient.phi, { transposeA: true });
    backend.columnSums(utility, gradient.bias);
    backend.gemm(utility, parameters.phi, this.dMean);
    if (this.#shared) {
      backend.columnSums(slope, ofLabel, backend.reshape(s, b, 1));
      backend.rowSums(slope, this.dVariance, this.#labelScale);
    } else {
      backend.gemm(slope, s, ofLabel, { transposeA: true, transposeB: true });
      backend.gemm(this.#phiSquare, slope, this.dVariance, { transposeA: true, transposeB: true });
    }
    this.#addVariancePart(parameters.phi, ofLabel, gradient.phi);
  }

  /** The same over the listed labels, with their weights. */
  overListedLabels(
    labels: ListedLabels,
    s: Tensor,
    parameters: Parameters,
    gradient: Parameters,
    scale: number,
  ): void {
    const backend = this.#backend;
    const { batch: b, labels: k, factors: p, quadrature } = this.#shape;
    const { pattern, signedWeight } = labels;
    const row = (): Tensor => backend.tensor(1, pattern.entries);
    const [mean, variance, value] = [row(), row(), row()] as const;
    const ones = { ofPoint: backend.tensor(b, 1), ofLabel: backend.tensor(k, 1) };
    backend.fill(ones.ofPoint, 1);
    backend.fill(ones.ofLabel, 1);
    const sByPoint = backend.tensor(b, groupsOf(this.#shape));
    backend.transpose(s, sByPoint);
    const scaleOfLabel = this.#shared ? backend.reshape(this.#labelScale, k, 1) : this.#phiSquare;

    backend.sampledProducts(pattern, this.mean, parameters.phi, mean);
    backend.sampledProducts(pattern, ones.ofPoint, backend.reshape(parameters.bias, k, 1), variance);
    backend.combine("add", mean, variance, mean);
    backend.sampledProducts(pattern, sByPoint, scaleOfLabel, variance);
    backend.listedLogLikelihood(
      { mean, variance, signedWeight, scale, quadrature },
      { value, dMean: mean, dVariance: variance },
    );
    backend.patternTimes(pattern, value, ones.ofLabel, backend.reshape(this.pointLoss, b, 1));
    backend.fill(gradient.phi, 0);
    backend.patternTransposeTimes(pattern, mean, this.mean, gradient.phi);
    backend.fill(gradient.bias, 0);
    backend.patternTransposeTimes(pattern, mean, ones.ofPoint, backend.reshape(gradient.bias, k, 1));
    backend.patternTimes(pattern, mean, parameters.phi, this.dMean);
    const hByPoint = backend.tensor(b, groupsOf(this.#shape));
    backend.patternTimes(pattern, variance, scaleOfLabel, hByPoint);
    backend.transpose(hByPoint, this.dVariance);
    const ofLabel = backend.tensor(k, this.#shared ? 1 : p);
    backend.patternTransposeTimes(pattern, variance, sByPoint, ofLabel);
    this.#addVariancePart(parameters.phi, ofLabel, gradient.phi);
    backend.free(mean, variance, value, ones.ofPoint, ones.ofLabel, sByPoint, hByPoint, ofLabel);
  }

  /** dPhi += 2 Phi * (h' s); h' s [K,1] stands for all factors where they share s. */
  #addVariancePart(phi: Tensor, ofLabel: Tensor, dPhi: Tensor): void {
    const backend = this.#backend;
    backend.combine("multiply", phi, ofLabel, this.#phiSquare);
    backend.blend(1, dPhi, 2, this.#phiSquare, dPhi);
  }

  free(): void {
    this.#backend.free(
      this.mean,
      this.dMean,
      this.dVariance,
      this.pointLoss,
      this.#phiSquare,
      this.#labelScale,
    );
    if (this.#allLabels) this.#backend.free(...Object.values(this.#allLabels));
  }
}
