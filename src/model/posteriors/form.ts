// A form of the posterior: which latent functions share a Sigma, and with it a variance s at each point. G groups of
// factors have a Sigma each. What follows is how the variance of the labels' utilities comes from s [G,B] and Phi:
//
//   v = s' c'        c [K,G]: how much a label's utility varies for each unit of a group's variance

import type { Backend, LikelihoodInputs, Tensor } from "../../backend/backend.ts";

/** Gives a tensor to write to, made when it is first asked for. */
export type Room = () => Tensor;

export interface PosteriorForm {
  /** G */
  groups(factors: number): number;
  /** c from Phi*Phi [K,P], in the room [K,G] where it needs one. */
  labelScale(backend: Backend, phiSquare: Tensor, room: Room): Tensor;
  /** v as the likelihood takes it, in the room [B,K] where it is written down. */
  spread(backend: Backend, s: Tensor, c: Tensor, room: Room): LikelihoodInputs["variance"];
  /** From h = d bound / d v [B,K]: out = d bound / d s [G,B], and byLabel = h' s' [K,G]. */
  backward(backend: Backend, h: Tensor, s: Tensor, c: Tensor, out: Tensor, byLabel: Tensor): void;
}
