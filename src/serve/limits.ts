// What a server takes on before it says no.

import { finiteNumber, wholeNumber } from "../core/check.ts";
import { ArgumentError } from "../core/errors.ts";

export interface Limits {
  /** Longest body in bytes (default 1 MiB); a longer one is answered with 413. */
  bodyBytes: number;
  /** Most inputs in one request (default 1,000); more are answered with 400. */
  batch: number;
  /** Inputs that may wait at once (default 4,000); beyond, requests are answered with 503. */
  queue: number;
  /** Requests under way at once (default 256); beyond, they are answered with 503. */
  requests: number;
  /** Time a client has to send its request (default 10 s); a slower one is answered with 408. */
  seconds: number;
}

export const defaultLimits: Readonly<Limits> = {
  bodyBytes: 1 << 20,
  batch: 1000,
  queue: 4000,
  requests: 256,
  seconds: 10,
};

/** Longest wait that timers take. */
const MOST_SECONDS = 86_400;

/** Fills in the defaults and refuses what cannot be. */
export function completeLimits(given: Partial<Limits> = {}): Limits {
  const limits = { ...defaultLimits, ...given };
  for (const name of ["bodyBytes", "batch", "queue", "requests"] as const) wholeNumber(name, limits[name], 1);
  finiteNumber("seconds", limits.seconds);
  if (!(limits.seconds > 0 && limits.seconds <= MOST_SECONDS))
    throw new ArgumentError(
      "seconds",
      `found ${limits.seconds}, expected more than 0 and at most ${MOST_SECONDS}`,
    );
  return limits;
}
