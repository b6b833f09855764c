// Covariances that depend on |x - z| alone, in the order of the numbers that assembly/stationary.ts and
// shaders/covarianceOf.wgsl know them by, from 1.

export const stationaryNames = ["se", "matern32", "matern52"] as const;
export type StationaryName = (typeof stationaryNames)[number];

/** The terms of a covariance k(x, z) = a x.z + v g(|x - z|^2 / l^2). */
export interface CovarianceTerms {
  linear: boolean;
  stationary?: StationaryName | undefined;
}

/** The terms as one number: 1 for the linear one, twice its own number for the stationary one. */
export function termsCode({ linear, stationary }: CovarianceTerms): number {
  return (linear ? 1 : 0) + (stationary === undefined ? 0 : 2 * (stationaryNames.indexOf(stationary) + 1));
}
