// Matérn with nu = 5/2: g = (1 + u + u^2 / 3) exp(-u), u = sqrt(5 t): functions that have two derivatives.

import { deterministicExp } from "../../data/elementary.ts";
import type { StationaryKernel } from "./stationary.ts";

const scaled = (t: number): number => Math.sqrt(5 * t);

export const matern52: StationaryKernel = {
  value(t) {
    const u = scaled(t);
    return (1 + u + (u * u) / 3) * deterministicExp(-u);
  },
  slope(t) {
    const u = scaled(t);
    return (5 / 3) * (1 + u) * deterministicExp(-u);
  },
  start: [2, 1],
};
