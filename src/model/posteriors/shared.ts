// One Sigma for all latent functions: v_ik = s_i |phi_k|^2. One factorisation a step, and P is almost free.

import type { Backend, Tensor } from "../../backend/backend.ts";
import type { PosteriorForm } from "./form.ts";

/** A column as a row. */
const flat = (backend: Backend, column: Tensor): Tensor => backend.reshape(column, 1, column.rows);

export const shared: PosteriorForm = {
  groups: () => 1,
  labelScale(backend, phiSquare, room) {
    const c = room();
    backend.rowSums(phiSquare, flat(backend, c));
    return c;
  },
  spread: (backend, s, c) => ({ ofRow: s, ofLabel: flat(backend, c) }),
  backward(backend, h, s, c, out, byLabel) {
    backend.columnSums(h, byLabel, backend.reshape(s, h.rows, 1));
    backend.rowSums(h, out, flat(backend, c));
  },
};
