// A Sigma for each latent function, as in the paper: v = s' (Phi*Phi)'.

import type { PosteriorForm } from "./form.ts";

export const perFactor: PosteriorForm = {
  groups: (factors) => factors,
  labelScale: (_backend, phiSquare) => phiSquare,
  spread(backend, s, c, room) {
    const v = room();
    backend.gemm(s, c, v, { transposeA: true, transposeB: true });
    return v;
  },
  backward(backend, h, s, c, out, byLabel) {
    backend.gemm(h, s, byLabel, { transposeA: true, transposeB: true });
    backend.gemm(c, h, out, { transposeA: true, transposeB: true });
  },
};
