// Checks of arguments and numbers. Each returns what it checked and names the argument when it throws.

import { ArgumentError, excerpt } from "./errors.ts";

/** An object of JSON: neither null nor a list. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The entries that have a value. */
export const defined = <T extends object>(entries: T): Defined<T> =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Defined<T>;

/** A value in a few words, for a message. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? excerpt(value) : String(value);
}

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
  if (typeof value !== "number" || !Number.isFinite(value))
    throw new ArgumentError(argument, `found ${String(value)}, expected a finite number`);
  return value;
}

/** A finite number above 0. */
export function positiveNumber(argument: string, value: number): number {
  if (finiteNumber(argument, value) > 0) return value;
  throw new ArgumentError(argument, `found ${value}, expected a number above 0`);
}

/** Lengths that must agree. */
export function sameSize(argument: string, what: string, found: number, expected: number): void {
  if (found !== expected) throw new ArgumentError(argument, `found ${found} ${what}, expected ${expected}`);
}

/** One of a few words. */
export function oneOf<T extends string>(argument: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value))
    throw new ArgumentError(argument, `found ${String(value)}, expected ${allowed.join(" or ")}`);
  return value;
}

export function areFinite(values: ArrayLike<number>): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value - value !== 0) return false;
  }
  return true;
}
