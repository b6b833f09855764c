// What a stationary kernel says about itself: v g(t) with t = |x - z|^2 / l^2 and g(0) = 1.

export interface StationaryKernel {
  /** g(t) */
  value(t: number): number;
  /** -2 g'(t): the derivative of g by log l is t times it, the one by |x - z|^2 is -1 / 2 l^2 times it. */
  slope(t: number): number;
  /** log v and log l at the start of a training. */
  readonly start: readonly [logVariance: number, logLength: number];
}
