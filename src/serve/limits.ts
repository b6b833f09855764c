// Bounds of the work that a server takes on.

import { finiteNumber, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";

/** Bounds of one request, and of all together. */
export interface Limits {
  /** Longest body in bytes (default 1 MiB), unpacked; a longer one is answered with 413. */
  bodyBytes: number;
  /** Most inputs in one request (default 1,000); more are answered with 400. */
  batch: number;
  /** Most labels in one reply, over all its inputs (default 50,000); more are answered with 400. */
  answerLabels: number;
  /** Requests under way at once, from the end of their body until their answer is sent (default 256); beyond: 503. */
  requests: number;
  /** Bytes held at once by large requests, answers that are not sent and documents that are not learned (default 128 MiB); beyond: 503. */
  heldBytes: number;
  /** Time a client has to send its request, and again to take its answer (default 10 s); a slower one is given up. */
  seconds: number;
}

/** Limits of a server that is given none. */
export const defaultLimits: Readonly<Limits> = {
  bodyBytes: 1 << 20,
  batch: 1000,
  answerLabels: 50_000,
  requests: 256,
  heldBytes: 128 << 20,
  seconds: 10,
};

/** A request up to this size is answered at once; its bytes are not counted: 256 of them take a few megabytes. */
export const SMALL: Readonly<{ bodyBytes: number; inputs: number; labels: number }> = {
  bodyBytes: 16 << 10,
  inputs: 16,
  labels: 1000,
};

/** Bounds of a request with `explain`, which predicts an input again without each of its words: it is never small. */
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

export function completeLimits(given: Partial<Limits> = {}): Limits {
  const limits = { ...defaultLimits, ...given };
  for (const name of ["bodyBytes", "batch", "answerLabels", "requests", "heldBytes"] as const)
    wholeNumber(name, limits[name], 1);
  finiteNumber("seconds", limits.seconds);
  if (!(limits.seconds > 0 && limits.seconds <= MOST_SECONDS))
    throw new ArgumentError("seconds", `found ${limits.seconds}, expected more than 0 and at most ${MOST_SECONDS}`);
  return limits;
}
