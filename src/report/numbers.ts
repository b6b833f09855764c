// Numbers as people read them, and the round numbers on an axis. No locale and no logarithm: the same text everywhere.

import { counted, grouped } from "../base/numbers.ts";

export { counted, grouped };

/** The sizes of a data set. */
export const sizesLine = (rows: number, features: number, labels: number): string =>
  [counted(rows, "row"), counted(features, "feature"), counted(labels, "label")].join(", ");

/** Labels with so many training points: "1 to 9", "1,000+". */
export function countRange({ from, to }: { from: number; to?: number }): string {
  if (to === undefined) return `${grouped(from)}+`;
  return from === to ? grouped(from) : `${grouped(from)} to ${grouped(to)}`;
}

/** 0.5 -> "50.0 %" */
export const percent = (part: number, digits = 1): string => `${(100 * part).toFixed(digits)} %`;

/** 75 -> "1 min 15 s", 2.34 -> "2.3 s", 0.04 -> "40 ms" */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "?";
  if (seconds > 0 && seconds < 0.095) return `${Math.ceil(1000 * seconds)} ms`;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  const all = Math.round(seconds);
  if (all < 60) return `${all} s`;
  const minutes = Math.floor(all / 60);
  return minutes < 60 ? `${minutes} min ${all % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Bytes for people. */
export const sizeText = (bytes: number): string =>
  bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(2)} MB`;

/** Four digits that count: 12,346 and 0.01235 and 1.2e-9; a dash for what is no number. */
export function readable(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e12 || (size > 0 && size < 1e-4)) return value.toExponential(1);
  return size >= 1000 ? grouped(Math.round(value)) : String(Number(value.toPrecision(4)));
}

/** At most `most` round numbers from `from` to `to`: steps of 1, 2 or 5 times a power of ten. */
export function roundNumbers(from: number, to: number, most = 6): number[] {
  if (!(to > from)) return [from];
  const least = (to - from) / most;
  const power = Number(`1e${least.toExponential().split("e")[1]}`);
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= least) as number) * power;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}
