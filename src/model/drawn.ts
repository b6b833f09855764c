// The data term over labels that were drawn for the batch: that of a small model with these labels alone, in which a label
// stands for 1 / (its probability to be drawn) labels. On average over the draws it is the data term over all labels.
//
//   loss_i = sum over drawn k of w_k E log(1 + exp(-y f))       w_k = 1 where a point of the batch has the label
//
// All points look at the same labels, so that everything is a dense product, [B,P] by [P,drawn].

import type { Backend, Tensor } from "../backend/backend.ts";
import type { DrawnLabels, GradientDraw } from "./batch.ts";
import { DataTerm, type LabelParameters, type LatentPoints, type PointGradients } from "./labels.ts";
import type { ModelShape } from "./shape.ts";

export class DrawnTerm {
  readonly labels: number;
  readonly #backend: Backend;
  readonly #term: DataTerm;
  readonly #own: LabelParameters;
  readonly #gradient: LabelParameters;
  /** 1 x drawn */
  readonly #ones: Tensor;

  /** For draws of so many labels. */
  constructor(backend: Backend, shape: ModelShape, labels: number, out: PointGradients) {
    this.labels = labels;
    this.#backend = backend;
    this.#term = new DataTerm(backend, { ...shape, labels }, out);
    const make = (): LabelParameters => ({
      phi: backend.tensor(labels, shape.factors),
      bias: backend.tensor(1, labels),
    });
    this.#own = make();
    this.#gradient = make();
    this.#ones = backend.tensor(1, labels);
    backend.fill(this.#ones, 1);
  }

  /** Loss and gradients; those by Phi and b are zero where no label was drawn. */
  evaluate(
    { drawn, weight, positives }: DrawnLabels,
    latent: LatentPoints,
    parameters: LabelParameters,
    gradient: LabelParameters,
    scale: number,
    valueWanted: boolean,
    draw?: GradientDraw,
  ): void {
    const backend = this.#backend;
    const ones = this.#ones;
    const column = (row: Tensor): Tensor => backend.reshape(row, row.columns, 1);
    backend.patternTimes(drawn, ones, parameters.phi, this.#own.phi);
    backend.patternTimes(drawn, ones, column(parameters.bias), column(this.#own.bias));
    this.#term.overAllLabels(positives, latent, this.#own, this.#gradient, scale, {
      weights: { weight, valueWanted },
      draw,
    });
    backend.fill(gradient.phi, 0);
    backend.fill(gradient.bias, 0);
    backend.patternTransposeTimes(drawn, ones, this.#gradient.phi, gradient.phi);
    backend.patternTransposeTimes(drawn, ones, column(this.#gradient.bias), column(gradient.bias));
  }

  free(): void {
    this.#term.free();
    for (const { phi, bias } of [this.#own, this.#gradient]) this.#backend.free(phi, bias);
    this.#backend.free(this.#ones);
  }
}
