// Matérn with nu = 3/2: g = (1 + u) exp(-u), u = sqrt(3 t): functions that have one derivative.

import { deterministicExp } from "../../data/elementary.ts";
import type { StationaryKernel } from "./stationary.ts";

const scaled = (t: number): number => Math.sqrt(3 * t);

export const matern32: StationaryKernel = {
  value(t) {
    const u = scaled(t);
    return (1 + u) * deterministicExp(-u);
  },
  slope: (t) => 3 * deterministicExp(-scaled(t)),
  // As wide as the squared exponential where it matters: rows of unit length are at most 2 apart.
  start: [2, 1],
};
