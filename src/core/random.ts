// Random numbers that depend only on seed, stream and index.

import { wholeNumber } from "../base/check.ts";
import type { Core } from "./core.ts";
import { integers, type Matrix, matrix, scoped } from "./matrix.ts";
import { areContiguous, compatible } from "./shapes.ts";

/** Which sequence of random numbers. */
export interface RandomKey {
  /** Any whole number up to 2^53. */
  seed: number;
  /** Sequences of different streams have nothing to do with each other. */
  stream: number;
}

function words({ seed, stream }: RandomKey): [low: number, high: number, stream: number] {
  wholeNumber("seed", seed, 0, Number.MAX_SAFE_INTEGER);
  wholeNumber("stream", stream, 0, 2 ** 32 - 1);
  return [seed >>> 0, Math.floor(seed / 2 ** 32), stream];
}

function fillWith(kernel: "uniform" | "normal", out: Matrix, key: RandomKey): Matrix {
  compatible({ out });
  areContiguous({ out });
  out.kernels[kernel](...words(key), out.rows * out.columns, out.address);
  return out;
}

/** Uniform numbers in [0, 1). */
export function fillUniform(out: Matrix, key: RandomKey): Matrix {
  return fillWith("uniform", out, key);
}

/** Standard normal numbers. */
export function fillNormal(out: Matrix, key: RandomKey): Matrix {
  return fillWith("normal", out, key);
}

/** Uniform numbers in [0, 1), 53 bits each. */
export function uniformNumbers(core: Core, count: number, key: RandomKey): Float64Array {
  return scoped((scope) => fillUniform(scope.keep(matrix(core, 1, count, "f64")), key).toArray() as Float64Array);
}

/** 0 ... n - 1 in random order. */
export function permutation(core: Core, n: number, key: RandomKey): Int32Array<ArrayBuffer> {
  return scoped((scope) => {
    const out = scope.keep(integers(core, n));
    core.kernels.permutation(...words(key), n, out.address);
    return out.toArray();
  });
}

/** k different numbers of 0 ... n - 1, rising, every set equally likely; none of the `excluded` (rising). */
export function choice(
  core: Core,
  n: number,
  k: number,
  key: RandomKey,
  excluded: ArrayLike<number> = [],
): Int32Array<ArrayBuffer> {
  wholeNumber("n", n, 0);
  wholeNumber("k", k, 0, n - excluded.length);
  for (let i = 0; i < excluded.length; i++)
    wholeNumber("excluded", excluded[i], i === 0 ? 0 : excluded[i - 1] + 1, n - 1);
  return scoped((scope) => {
    const out = scope.keep(integers(core, k));
    const without = scope.keep(integers(core, excluded));
    const work = scope.keep(integers(core, Math.ceil(n / 4)));
    core.kernels.choice(...words(key), n, k, without.address, excluded.length, out.address, work.address);
    return out.toArray();
  });
}
