// What a server takes on before it says no.

import { finiteNumber, wholeNumber } from "../core/check.ts";
import { ArgumentError } from "../core/errors.ts";

/** Bounds of what one client and all together can ask for. */
export interface Limits {
  /** Longest body in bytes (default 1 MiB), unpacked; a longer one is answered with 413. */
  bodyBytes: number;
  /** Most inputs in one request (default 1,000); more are answered with 400. */
  batch: number;
  /** Most labels in one answer, over all its inputs (default 50,000); more are answered with 400. */
  labels: number;
  /** Requests under way at once, from the end of their body until their answer is sent (default 256); beyond: 503. */
  requests: number;
  /** Bytes that large requests hold at once: bodies, and answers that are not sent yet (default 128 MiB); beyond: 503. */
  heldBytes: number;
  /** Time a client has to send its request, and again to take its answer (default 10 s); a slower one is given up. */
  seconds: number;
}

export const defaultLimits: Readonly<Limits> = {
  bodyBytes: 1 << 20,
  batch: 1000,
  labels: 50_000,
  requests: 256,
  heldBytes: 128 << 20,
  seconds: 10,
};

/**
 * A request up to this size is small: it is answered in the thread that has the sockets, at once, and its bytes are not
 * counted: 256 of them at once take a few megabytes, and each a few milliseconds.
 */
export const SMALL: Readonly<{ bodyBytes: number; inputs: number; labels: number }> = {
  bodyBytes: 16 << 10,
  inputs: 16,
  labels: 1000,
};

/**
 * A request that asks why takes as much as one for every word that is left out in turn: it is never small, and may have so
 * many inputs and bytes, so many labels for each input and so many words for each label.
 */
export const EXPLAINED: Readonly<{ bodyBytes: number; inputs: number; labels: number; words: number }> = {
  bodyBytes: 64 << 10,
  inputs: 16,
  labels: 20,
  words: 20,
};

/** Heap that a byte of a body can take while it is read and predicted. */
export const HEAP_PER_BYTE = 64;

/** Longest wait that timers take. */
const MOST_SECONDS = 86_400;

/** Fills in the defaults and refuses what cannot be. */
export function completeLimits(given: Partial<Limits> = {}): Limits {
  const limits = { ...defaultLimits, ...given };
  for (const name of ["bodyBytes", "batch", "labels", "requests", "heldBytes"] as const)
    wholeNumber(name, limits[name], 1);
  finiteNumber("seconds", limits.seconds);
  if (!(limits.seconds > 0 && limits.seconds <= MOST_SECONDS))
    throw new ArgumentError(
      "seconds",
      `found ${limits.seconds}, expected more than 0 and at most ${MOST_SECONDS}`,
    );
  return limits;
}
