// Checks of arguments. Each returns what it checked and names the argument when it throws.

import { ArgumentError } from "./errors.ts";

/** A whole number from `from` to `to`. */
export function wholeNumber(argument: string, value: number, from: number, to: number = 2 ** 31 - 1): number {
  if (!Number.isInteger(value) || value < from || value > to) {
    const range = to === 2 ** 31 - 1 ? `of at least ${from}` : `from ${from} to ${to}`;
    throw new ArgumentError(argument, `found ${String(value)}, expected a whole number ${range}`);
  }
  return value;
}

/** A finite number. */
export function finiteNumber(argument: string, value: number): number {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new ArgumentError(argument, `found ${String(value)}, expected a finite number`);
  }
  return value;
}

/** Lengths that must agree. */
export function sameSize(argument: string, what: string, found: number, expected: number): void {
  if (found !== expected) throw new ArgumentError(argument, `found ${found} ${what}, expected ${expected}`);
}

/** One of a few words. */
export function oneOf<T extends string>(argument: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value)) {
    throw new ArgumentError(argument, `found ${String(value)}, expected ${allowed.join(" or ")}`);
  }
  return value;
}
