// The labels: their utilities from the latent functions, the data term, and the gradients by Phi, b, m and s.
//
//   fbar = m Phi' + b      v = s' c'                  c [K,G] from Phi*Phi
//   g = d bound / d fbar,  h = d bound / d v          dPhi = g' m + 2 Phi * (h' s')       db = column sums of g
//   G = d bound / d m = g Phi                         H = d bound / d s
//
// Labels are Bernoulli with a logistic link, the paper's: p(y | f) = sigmoid(y f), y = 1 or -1. Either over all labels of every point, or over the present ones and a sample of the absent ones.

import type {
  Backend,
  DrawnColumns,
  LabelLists,
  LikelihoodInputs,
  PatternTensor,
  Tensor,
} from "../../backend/backend.ts";
import { type LabelledBatch, type ListedLabels, type ModelShape, type Parameters, Workspace } from "./shape.ts";

/** Phi [K,P], b [1,K], or their gradients. */
export type LabelParameters = Pick<Parameters, "phi" | "bias">;

export type LabelShape = Pick<ModelShape, "labels" | "factors" | "posterior">;

/** m [n,P] and s [G,n] of some points. */
export interface LatentPoints {
  mean: Tensor;
  variance: Tensor;
}

/** The variance v of the utilities from that of G groups of latent functions, by the form of the posterior. */
interface Spread {
  /** c from Phi*Phi [K,P]: how much a label's utility varies for each unit of a group's variance [K,G]. */
  labelScale(backend: Backend, phiSquare: Tensor, room: Workspace): Tensor;
  /** v as the likelihood takes it. */
  variance(backend: Backend, s: Tensor, c: Tensor, room: Workspace): LikelihoodInputs["variance"];
  /** From h = d bound / d v [B,K]: out = d bound / d s [G,B], and byLabel = h' s' [K,G]. */
  backward(backend: Backend, h: Tensor, s: Tensor, c: Tensor, out: Tensor, byLabel: Tensor): void;
}

/** A Sigma for each latent function, as in the paper: v = s' (Phi*Phi)'. */
const perFactor: Spread = {
  labelScale: (_backend, phiSquare) => phiSquare,
  variance(backend, s, c, room) {
    const v = room.tensor("v", s.columns, c.rows);
    backend.gemm(s, c, v, { transposeA: true, transposeB: true });
    return v;
  },
  backward(backend, h, s, c, out, byLabel) {
    backend.gemm(h, s, byLabel, { transposeA: true, transposeB: true });
    backend.gemm(c, h, out, { transposeA: true, transposeB: true });
  },
};

/** A column as a row. */
const flat = (backend: Backend, column: Tensor): Tensor => backend.reshape(column, 1, column.rows);

/** One Sigma for all latent functions: v_ik = s_i |phi_k|^2. One factorisation a step, and P is almost free. */
const shared: Spread = {
  labelScale(backend, phiSquare, room) {
    const c = room.tensor("c", phiSquare.rows, 1);
    backend.rowSums(phiSquare, flat(backend, c));
    return c;
  },
  variance: (backend, s, c) => ({ ofRow: s, ofLabel: flat(backend, c) }),
  backward(backend, h, s, c, out, byLabel) {
    backend.columnSums(h, byLabel, backend.reshape(s, h.rows, 1));
    backend.rowSums(h, out, flat(backend, c));
  },
};

const spreads: Record<ModelShape["posterior"], Spread> = { shared, perFactor };

/** Gradients of the data term by m and s, and its loss. */
export interface PointGradients {
  /** G [B,P] */
  dMean: Tensor;
  /** H [groups,B] */
  dVariance: Tensor;
  /** 1 x B: each point's expected loss over its labels */
  pointLoss: Tensor;
}

/** A pass over the labels of a batch. */
export interface LabelPass extends Pick<LabelledBatch, "labels" | "gradientDraw"> {
  latent: LatentPoints;
  parameters: LabelParameters;
  /** Gradients by Phi and b, and those by m and s with the loss, are written here. */
  gradient: LabelParameters;
  out: PointGradients;
  /** The factor -N/B of the data term. */
  scale: number;
  quadrature: ModelShape["quadrature"];
}

/** Loss and gradients of a batch's labels. */
export interface DataTerm {
  evaluate(pass: LabelPass): void;
  free(): void;
}

export type MakeDataTerm = (backend: Backend, shape: ModelShape) => DataTerm;

/** The present ones of listed labels, each the first and only label of a row of its own. */
function presentOf(signedWeight: ArrayLike<number>): LabelLists {
  let present = 0;
  const ends = Array.from(signedWeight, (weight) => (weight > 0 ? ++present : present));
  return { rowStart: Int32Array.from([0, ...ends]), labelIndex: new Int32Array(present) };
}

/** Utilities of the labels at some points, and the data term over all labels or over those listed. */
export class LabelLayer implements DataTerm {
  /** c [K,G] */
  scale: Tensor;
  /** Phi*Phi [K,P] */
  readonly #phiSquare: Tensor;
  readonly #spread: Spread;
  readonly #room: Workspace;
  readonly #backend: Backend;

  constructor(backend: Backend, { labels, factors, posterior }: LabelShape) {
    this.#backend = backend;
    this.#room = new Workspace(backend);
    this.#spread = spreads[posterior];
    this.#phiSquare = this.#room.tensor("Phi*Phi", labels, factors);
    this.scale = this.#phiSquare;
  }

  /** Phi*Phi and c. */
  prepare(phi: Tensor): void {
    this.#backend.map("square", phi, this.#phiSquare);
    this.scale = this.#spread.labelScale(this.#backend, this.#phiSquare, this.#room);
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

  /** fbar and v of listed labels [1,entries], and s' [n,G]; after prepare(). */
  listed(
    pattern: PatternTensor,
    { mean: latentMean, variance: s }: LatentPoints,
    { phi, bias }: LabelParameters,
  ): { mean: Tensor; variance: Tensor; sByPoint: Tensor } {
    const backend = this.#backend;
    const mean = this.#room.tensor("listed fbar", 1, pattern.entries);
    const variance = this.#room.tensor("listed v", 1, pattern.entries);
    const sByPoint = this.#room.tensor("s'", s.columns, s.rows);
    const ones = this.#ones("points", s.columns);
    backend.transpose(s, sByPoint);
    backend.sampledProducts(pattern, latentMean, phi, mean);
    backend.sampledProducts(pattern, ones, backend.reshape(bias, bias.columns, 1), variance);
    backend.combine("add", mean, variance, mean);
    backend.sampledProducts(pattern, sByPoint, this.scale, variance);
    return { mean, variance, sByPoint };
  }

  #ones(of: string, length: number): Tensor {
    const ones = this.#room.tensor(`ones of ${of}`, length, 1);
    this.#backend.fill(ones, 1);
    return ones;
  }

  evaluate(pass: LabelPass): void {
    const { labels, parameters, gradient } = pass;
    const product = this.#phiSquare;
    this.prepare(parameters.phi);
    const byLabel = "pattern" in labels ? this.#overListed(labels, pass) : this.#overAll(labels, pass);
    // dPhi += 2 Phi * (h' s'); one column stands for all factors where they share s. Phi*Phi is no longer needed.
    this.#backend.combine("multiply", parameters.phi, byLabel, product);
    this.#backend.blend(1, gradient.phi, 2, product, gradient.phi);
  }

  /** Over all labels of every point; returns h' s' [K,G]. */
  #overAll(positives: LabelLists, pass: LabelPass): Tensor {
    const backend = this.#backend;
    const { parameters, gradient, out, scale, quadrature, gradientDraw } = pass;
    const { mean, variance: s } = pass.latent;
    const [b, k] = [mean.rows, parameters.phi.rows];
    const utility = this.#room.tensor("fbar", b, k);
    const slope = this.#room.tensor("h", b, k);
    const byLabel = this.#room.tensor("h' s'", k, s.rows);
    this.utilities(parameters, mean, utility);
    const variance = this.#spread.variance(backend, s, this.scale, this.#room);
    // g takes the place of fbar
    backend.expectedLogLikelihood(
      { mean: utility, variance, positives, scale, quadrature },
      { rowValue: out.pointLoss, dMean: utility, dVariance: slope },
    );
    backend.columnSums(utility, gradient.bias);
    if (gradientDraw && backend.drawColumns) {
      const draw = { ...gradientDraw, always: positives.labelIndex };
      this.#drawnProducts(backend.drawColumns(utility, gradient.bias, draw), pass);
    } else {
      backend.gemm(utility, mean, gradient.phi, { transposeA: true });
      backend.gemm(utility, parameters.phi, out.dMean);
    }
    this.#spread.backward(backend, slope, s, this.scale, out.dVariance, byLabel);
    return byLabel;
  }

  /** g' m and g Phi over some columns of g, importance-sampled: most labels have hardly any gradient. */
  #drawnProducts({ columns, weighted }: DrawnColumns, { latent, parameters, gradient, out }: LabelPass): void {
    const backend = this.#backend;
    const { phi } = parameters;
    const ones = backend.tensor(1, columns.rows);
    const own = backend.tensor(columns.rows, phi.columns);
    backend.fill(ones, 1);
    backend.patternTimes(columns, ones, phi, own);
    backend.gemm(weighted, own, out.dMean);
    backend.gemm(weighted, latent.mean, own, { transposeA: true });
    backend.fill(gradient.phi, 0);
    backend.patternTransposeTimes(columns, ones, own, gradient.phi);
    backend.free(columns, weighted, ones, own);
  }

  /** Over the listed labels, with their weights; returns h' s' [K,G]. */
  #overListed({ pattern, signedWeight }: ListedLabels, pass: LabelPass): Tensor {
    const backend = this.#backend;
    const { latent, parameters, gradient, out, scale, quadrature } = pass;
    const [b, k] = [latent.mean.rows, parameters.phi.rows];
    const { mean, variance, sByPoint } = this.listed(pattern, latent, parameters);
    const groups = sByPoint.columns;
    const value = this.#room.tensor("listed loss", 1, pattern.entries);
    const hByPoint = this.#room.tensor("h c", b, groups);
    const byLabel = this.#room.tensor("h' s'", k, groups);
    const weight = backend.tensor(1, pattern.entries, Float64Array.from(signedWeight, Math.abs));
    // Every entry is a row with one label.
    const [m, v] = [mean, variance].map((row) => backend.reshape(row, pattern.entries, 1));
    backend.expectedLogLikelihood(
      { mean: m, variance: v, positives: presentOf(signedWeight), scale, quadrature },
      { rowValue: value, dMean: m, dVariance: v },
    );
    for (const each of [value, mean, variance]) backend.combine("multiply", each, weight, each);
    backend.free(weight);
    backend.patternTimes(pattern, value, this.#ones("labels", k), backend.reshape(out.pointLoss, b, 1));
    backend.fill(gradient.phi, 0);
    backend.patternTransposeTimes(pattern, mean, latent.mean, gradient.phi);
    backend.fill(gradient.bias, 0);
    const dBias = backend.reshape(gradient.bias, k, 1);
    backend.patternTransposeTimes(pattern, mean, this.#ones("points", b), dBias);
    backend.patternTimes(pattern, mean, parameters.phi, out.dMean);
    backend.patternTimes(pattern, variance, this.scale, hByPoint);
    backend.transpose(hByPoint, out.dVariance);
    backend.fill(byLabel, 0);
    backend.patternTransposeTimes(pattern, variance, sByPoint, byLabel);
    return byLabel;
  }

  free(): void {
    this.#room.free();
  }
}
