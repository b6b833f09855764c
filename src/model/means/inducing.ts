// The mean through the inducing inputs, as in the paper: m = Kx mu, and the KL holds 1/2 mu' Kz mu.

import type { MeanForm } from "./mean.ts";

export const inducing: MeanForm = {
  rows: ({ inducingPoints }) => inducingPoints,
  create(backend, shape, covariances) {
    const kzMu = backend.tensor(shape.inducingPoints, shape.factors);
    const rows = backend.tensor(1, shape.inducingPoints);
    const quadratic = backend.tensor(1, 1);
    return {
      quadratic,
      forward: (mu, _batch, out) => backend.gemm(covariances.kx, mu, out),
      divergence(mu) {
        backend.gemm(covariances.kz, mu, kzMu);
        backend.rowSums(mu, rows, kzMu);
        backend.rowSums(rows, quadratic);
      },
      // dmu = Kx' G - Kz mu
      gradient(_mu, _batch, g, klWeight, out) {
        backend.gemm(covariances.kx, g, out, { transposeA: true });
        backend.blend(1, out, -klWeight, kzMu, out);
      },
      // dKz = -1/2 mu mu',  dKx = G mu'
      throughCovariance(mu, g, klWeight, dKz, dKx) {
        backend.syrk(mu, dKz, { alpha: -klWeight / 2 });
        backend.gemm(g, mu, dKx, { transposeB: true });
      },
      throughHyper() {},
      free: () => backend.free(kzMu, rows, quadratic),
    };
  },
};
