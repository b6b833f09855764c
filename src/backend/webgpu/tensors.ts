// The backend's tensors: a block of GPU memory and where in it they begin.

import { sameSize, wholeNumber } from "../../base/check.ts";
import { ArgumentError } from "../../base/errors.ts";
import type { SparseRows } from "../../base/sparse.ts";
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
  constructor(
    readonly block: Block,
    readonly rows: number,
    readonly columns: number,
    readonly offset: number,
    readonly owner: boolean,
  ) {}

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

  /** Writing to this tensor could change the other one. */
  overlaps(other: GpuTensor): boolean {
    const apart = this.offset + this.length <= other.offset || other.offset + other.length <= this.offset;
    return this.block === other.block && !apart && this.length * other.length > 0;
  }
}

/** Whole numbers. */
export interface GpuIndices extends IndexTensor, Operand {
  /** The greatest of them, so that no operation reads beyond the end. */
  greatest: number;
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
  byColumns: (Entries & { position: Block }) | undefined;

  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly byRows: Entries,
    /** The arrays it was made from, until they are no longer needed. */
    public arrays: SparseRows | undefined,
  ) {}

  blocks(): Block[] {
    const { byRows, byColumns } = this;
    const transposed = byColumns ? [byColumns.numbers, byColumns.values, byColumns.position] : [];
    return [byRows.numbers, byRows.values, ...transposed];
  }
}

/** Places of a batch x labels matrix, all their lists in one block. */
export interface GpuPattern extends PatternTensor {
  readonly block: Block;
  /** Labels that occur. */
  readonly labels: number;
  /**
   * Where each list begins; starts of rows begin at 0. Label and row of each entry; labels that occur, where the entries of each
   * start, and these entries.
   */
  readonly parts: Record<"places" | "rowsOfEntries" | "labelNames" | "labelStarts" | "byLabel", number>;
}

/** An argument of an operation, alive. */
export function alive<T extends { block: Block }>(argument: string, value: T): T {
  if (value.block.released) throw new ArgumentError(argument, "found one that was freed, expected a live one");
  return value;
}
