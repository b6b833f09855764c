// Checks that tensors fit together, before anything is recorded.

import { sameSize } from "../../core/check.ts";
import { ArgumentError } from "../../core/errors.ts";
import type { Tensor } from "../backend.ts";
import type { GpuTensor } from "./tensors.ts";

export function hasShape(argument: string, value: Tensor, rows: number, columns: number): void {
  if (value.rows !== rows || value.columns !== columns)
    throw new ArgumentError(
      argument,
      `found ${value.rows} x ${value.columns}, expected ${rows} x ${columns}`,
    );
}

export function isVector(argument: string, value: Tensor, length: number): void {
  if (value.rows !== 1 && value.columns !== 1 && value.rows * value.columns !== 0)
    throw new ArgumentError(
      argument,
      `found ${value.rows} x ${value.columns}, expected a vector of ${length}`,
    );
  sameSize(argument, "elements", value.rows * value.columns, length);
}

export function isSquare(argument: string, value: Tensor): number {
  if (value.rows !== value.columns)
    throw new ArgumentError(argument, `found ${value.rows} x ${value.columns}, expected a square matrix`);
  return value.rows;
}

/** `count` square matrices one below the other: (count n) x n. */
export function isStack(argument: string, value: Tensor, count: number): number {
  if (count * value.columns !== value.rows)
    throw new ArgumentError(
      argument,
      `found ${value.rows} x ${value.columns}, expected ${count} square matrices one below the other`,
    );
  return value.columns;
}

export function apart(argument: string, out: GpuTensor, inputs: Record<string, GpuTensor | undefined>): void {
  for (const [name, input] of Object.entries(inputs)) {
    if (input !== undefined && out.overlaps(input))
      throw new ArgumentError(argument, `found the same memory as ${name}, expected a matrix of its own`);
  }
}
