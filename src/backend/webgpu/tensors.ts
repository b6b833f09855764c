// What the backend's tensors are: a block of GPU memory and where in it they begin.

import { sameSize, wholeNumber } from "../../core/check.ts";
import { ArgumentError } from "../../core/errors.ts";
import type { IndexTensor, PatternTensor, SparseTensor, Tensor } from "../backend.ts";
import type { Block } from "./memory.ts";

/** Part of a block that a shader can be given: `length` elements of four bytes from `offset` on. */
export interface Operand {
  readonly block: Block;
  readonly offset: number;
  readonly length: number;
}

/** A dense matrix, row by row and contiguous; a view where it is not the owner of its block. */
export class GpuTensor implements Tensor, Operand {
  readonly rows: number;
  readonly columns: number;
  readonly block: Block;
  readonly offset: number;
  readonly owner: boolean;

  constructor(block: Block, rows: number, columns: number, offset: number, owner: boolean) {
    this.block = block;
    this.rows = rows;
    this.columns = columns;
    this.offset = offset;
    this.owner = owner;
  }

  get length(): number {
    return this.rows * this.columns;
  }

  rowRange(from: number, to: number): GpuTensor {
    wholeNumber("from", from, 0, this.rows);
    wholeNumber("to", to, from, this.rows);
    return new GpuTensor(this.block, to - from, this.columns, this.offset + from * this.columns, false);
  }

  reshape(rows: number, columns: number): GpuTensor {
    sameSize("rows x columns", "elements", rows * columns, this.length);
    return new GpuTensor(this.block, rows, columns, this.offset, false);
  }

  /** Whether writing to this tensor could change the other one. */
  overlaps(other: GpuTensor): boolean {
    const apart = this.offset + this.length <= other.offset || other.offset + other.length <= this.offset;
    return this.block === other.block && !apart && this.length * other.length > 0;
  }
}

/** Whole numbers. */
export class GpuIndices implements IndexTensor, Operand {
  readonly block: Block;
  readonly offset = 0;
  readonly length: number;
  /** The greatest of them, so that no operation reads beyond the end. */
  greatest = 0;

  constructor(block: Block, length: number) {
    this.block = block;
    this.length = length;
  }
}

/** Entries by rows or by columns: starts and places in one block, values in another. */
export interface Entries {
  /** Where in the block the places begin; starts begin at 0. */
  places: number;
  numbers: Block;
  values: Block;
}

/** Sparse rows; the same by columns is made when it is first needed. */
export class GpuSparse implements SparseTensor {
  readonly rows: number;
  readonly columns: number;
  readonly byRows: Entries;
  byColumns: (Entries & { position: Block }) | undefined;
  /** The arrays it was made from, until they are no longer needed. */
  arrays: { rowStart: Int32Array; columnIndex: Int32Array; values: Float32Array } | undefined;

  constructor(rows: number, columns: number, byRows: Entries, arrays: NonNullable<GpuSparse["arrays"]>) {
    this.rows = rows;
    this.columns = columns;
    this.byRows = byRows;
    this.arrays = arrays;
  }

  blocks(): Block[] {
    const { byRows, byColumns } = this;
    const transposed = byColumns ? [byColumns.numbers, byColumns.values, byColumns.position] : [];
    return [byRows.numbers, byRows.values, ...transposed];
  }
}

/** Where in a pattern's block each list begins; starts of rows begin at 0. */
export interface PatternParts {
  /** Label and row of each entry. */
  places: number;
  rowsOfEntries: number;
  /** Labels that occur, where the entries of each start, and these entries. */
  labelNames: number;
  labelStarts: number;
  byLabel: number;
}

export function patternParts(rows: number, entries: number, labels: number): PatternParts {
  const places = rows + 1;
  const rowsOfEntries = places + entries;
  const labelNames = rowsOfEntries + entries;
  const labelStarts = labelNames + labels;
  return { places, rowsOfEntries, labelNames, labelStarts, byLabel: labelStarts + labels + 1 };
}

/** Places of a batch x labels matrix, all their lists in one block. */
export class GpuPattern implements PatternTensor {
  readonly rows: number;
  readonly columns: number;
  readonly entries: number;
  readonly block: Block;
  /** Labels that occur. */
  readonly labels: number;
  readonly parts: PatternParts;

  constructor(block: Block, rows: number, columns: number, entries: number, labels: number) {
    this.block = block;
    this.rows = rows;
    this.columns = columns;
    this.entries = entries;
    this.labels = labels;
    this.parts = patternParts(rows, entries, labels);
  }
}

/** A tensor of this backend, alive. */
export function alive<T extends { block: Block }>(argument: string, value: T): T {
  if (value.block.released)
    throw new ArgumentError(argument, "found one that was freed, expected a live one");
  return value;
}
