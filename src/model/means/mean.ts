// What a form of the mean of the latent functions, m_p(x) = E_q h_p(x), can do.

import type { Backend, Tensor } from "../../backend/backend.ts";
import type { Batch } from "../batch.ts";
import type { Covariances } from "../kernels/covariances.ts";
import type { LatentShape } from "../shape.ts";

export interface MeanFunction {
  /** out = m [B,P] */
  forward(mu: Tensor, batch: Batch, out: Tensor): void;
  /** Twice the mean's part of the KL, over all factors [1,1]. */
  readonly quadratic: Tensor;
  /** What the gradient needs of the KL and, where it is wanted, that term. */
  divergence(mu: Tensor, valueWanted: boolean): void;
  /** out = d bound / d mu, from G = d bound / d m and the weight of the KL; after divergence(). */
  gradient(mu: Tensor, batch: Batch, g: Tensor, klWeight: number, out: Tensor): void;
  /** The mean's part of the gradients by Kz and Kx; dKz and dKx are set. */
  throughCovariance(mu: Tensor, g: Tensor, klWeight: number, dKz: Tensor, dKx: Tensor): void;
  /** Adds the mean's own part of the gradient by log a, log v, log l. */
  throughHyper(klWeight: number, dHyper: Tensor): void;
  free(): void;
}

export interface MeanForm {
  /** Rows of mu [rows,P]. */
  rows(shape: Pick<LatentShape, "features" | "inducingPoints">): number;
  create(backend: Backend, shape: LatentShape, covariances: Covariances): MeanFunction;
}
