// Squared exponential (radial basis function): g(t) = exp(-t / 2), the smoothest of all.

import { deterministicExp } from "../../data/elementary.ts";
import type { StationaryKernel } from "./stationary.ts";

export const se: StationaryKernel = {
  value: (t) => deterministicExp(-t / 2),
  slope: (t) => deterministicExp(-t / 2),
  // Wide, with the slope of the linear kernel: v = l^2.
  start: [2, 1],
};
